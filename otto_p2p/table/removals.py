"""Whom this peer would go on without, and when it says so: what one match knows of its own votes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from otto_p2p.table.deadlines import Deadlines
from otto_p2p.table.engine import CallVote
from otto_p2p.table.settings import Settings
from otto_p2p.table.snapshots import Standing
from otto_p2p.table.timing import TableTiming


@dataclass(slots=True)
class ViewVotes:
    """The ballots of one view, as far as they decide how this peer votes; the next view begins anew."""

    named: dict[int, tuple[int, ...]] = field(
        default_factory=dict
    )  # by voter: whom its last ballot leaves out
    own: int = 0  # how many ballots this seat has signed
    last_own: float = -math.inf  # when it signed the last one


class Removals:
    """The votes of the seat `me`. Times are seconds of one monotonic clock that the caller reads."""

    def __init__(self, me: int, settings: Settings, timing: TableTiming, deadlines: Deadlines) -> None:
        self._me = me
        self._consent = 1 if settings.automatic else timing.consent
        self._timing = timing
        self._deadlines = deadlines
        self._dropped: frozenset[int] = frozenset()  # whom the player does not want to wait for
        self._view = ViewVotes()
        self._called = -math.inf  # when the engine was asked to vote last

    def drop(self, seat: int) -> None:
        """The player does not want to wait for this seat."""
        self._dropped |= {seat}

    def view_opened(self) -> None:
        """Nobody has voted in this view yet."""
        self._view = ViewVotes()

    def voted(self, voter: int, gone: tuple[int, ...], now: float) -> list[int]:
        """A ballot was taken; the other seats that this one has not named before, and wants to go on without."""
        if voter == self._me:
            self._view.own += 1
            self._view.last_own = now
        before = self._view.named.get(voter, ())
        self._view.named[voter] = gone
        return [seat for seat in gone if voter not in (self._me, seat) and seat not in before]

    def due(self, standing: Standing, silence: Mapping[int, float], now: float) -> CallVote | None:
        """Say whom this peer would go on without, when there is somebody, or a vote is under way."""
        suspects = self._suspects(standing, silence, now)
        reason = suspects or standing.voting or standing.accused
        if standing.over or standing.out or not reason or now - self._called < self._timing.vote_again:
            return None
        self._called = now
        rarely = now - self._view.last_own >= self._timing.rarely
        return CallVote(suspects, self._view.own < self._timing.often or rarely)

    def _suspects(self, standing: Standing, silence: Mapping[int, float], now: float) -> frozenset[int]:
        named = Counter(seat for gone in self._view.named.values() for seat in gone)
        hurried = [seat for seat in silence if seat in self._dropped or named[seat] >= self._consent]
        return self._deadlines.suspects(now, silence, standing.awaited, hurried, voting=standing.voting)
