"""Killed at every persisted write of a match: the seat goes on from its journal, and signs nothing twice.

`LosingTable.send` looks at everything that is ever sent: two contents for one place fail the test at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import pytest

from otto_protocol.hashing import random_below
from otto_protocol.lab import Chooser
from otto_protocol.match.events import Record
from otto_protocol.match.phases import MatchPhase
from tests.protocol.lab_games import eager
from tests.protocol.losing_tables import BIG, LosingTable


class Mortal(LosingTable):
    """A seat dies at most of its writes: before what it has written is sent, or after."""

    mortal = True
    deaths = 0

    def __init__(self, players: int, seed: str) -> None:
        super().__init__(players, seed)
        self.dead: set[int] = set()
        self.left: set[int] = set()

    def store(self, seat: int, record: Record) -> None:
        if seat not in self.dead:  # else it died at the message before: this one was never made
            super().store(seat, record)

    def send(self, seat: int, record: Record) -> None:
        if seat in self.dead:
            return
        fate = random_below(3, self.rng) if self.mortal else 2
        parts, self.cuts = self.cuts, self.cuts if fate else []
        super().send(seat, record)
        self.cuts = parts
        if fate < 2:
            self.dead.add(seat)

    def turn_of(self, seat: int, choose: Chooser) -> bool:
        before = len(self.records[seat])
        done = super().turn_of(seat, choose)
        if self.mortal and len(self.records[seat]) > before and random_below(6, self.rng) == 0:
            self.dead.add(seat)  # somebody else's message was written
        self._revive()
        return done

    def flush(self, seat: int) -> None:
        super().flush(seat)
        self._revive()

    def _revive(self) -> None:
        while self.dead:
            seat = self.dead.pop()
            self.deaths += 1
            self.restart(seat)
            self.greet(seat)

    def leave(self, seat: int) -> None:
        super().leave(seat)
        self.left.add(seat)

    def greet(self, seat: int) -> None:
        """A new link: both sides send what the other one lacks. Who has left says so again.

        (A LEAVE that nobody has stored is a silence: of two, the other one would wait.)
        """
        at = self.sessions[seat].replica
        for gone in self.left - {seat}:
            self.queues[seat].extend(self.sessions[gone].messages_since(at.view, at.step))
        for part in self.cuts:
            for other in part - {seat} if seat in part else ():
                for lacking, giving in ((seat, other), (other, seat)):
                    at = self.sessions[lacking].replica
                    self.queues[lacking].extend(self.sessions[giving].messages_since(at.view, at.step))


def plays_at(turn: int, view: int) -> Callable[[LosingTable], bool]:
    def reached(table: LosingTable) -> bool:
        return all(
            one.replica.view == view
            and one.replica.phase is MatchPhase.PLAY
            and one.replica.play.turn >= turn
            for one in (table.sessions[seat] for seat in table.here)
        )

    return reached


@pytest.mark.parametrize("seed", range(20 if BIG else 2))
def test_killed_at_writes_of_a_whole_match_with_a_heal(seed: int) -> None:
    table = Mortal(3, f"mortal {seed}")
    assert table.run(plays_at(2, 0)), table.standing()
    table.lose(2)
    assert table.run(plays_at(4, 1)), table.standing()
    table.leave(1)
    assert table.run(lambda now: now.sessions[0].over), table.standing()
    table.check_end()
    print(f"{table.deaths} deaths, {[len(kept) for kept in table.records]} records")
    assert table.deaths > 50


class Doomed(Mortal):
    """One seat dies at each of its writes, in turn before and after it is sent; the others live."""

    doomed = 0

    def send(self, seat: int, record: Record) -> None:
        if seat in self.dead:
            return
        parts = self.cuts
        if seat == self.doomed and self.deaths % 2:
            self.cuts = []
        LosingTable.send(self, seat, record)
        self.cuts = parts
        if seat == self.doomed:
            self.dead.add(seat)

    def turn_of(self, seat: int, choose: Chooser) -> bool:
        before = len(self.records[seat])
        done = LosingTable.turn_of(self, seat, choose)
        if seat == self.doomed and len(self.records[seat]) > before:
            self.dead.add(seat)
        self._revive()
        return done


@pytest.mark.skipif(not BIG, reason="OTTO_BIG=1 plays whole games")
@pytest.mark.parametrize("seat", [0, 1])
def test_killed_at_each_write_of_a_whole_game(seat: int) -> None:
    """A short one: 34 turns to its natural end."""
    table = Doomed(2, "doomed 3")
    table.doomed = seat
    assert table.run(lambda now: all(one.over for one in now.sessions), eager), table.standing()
    table.check_end()
    writes = len(table.records[seat])
    print(
        f"seat {seat}: {table.deaths} deaths, {writes} writes, {table.sessions[seat].replica.play.turn} turns"
    )
    assert table.deaths == writes > 200


class Watched(LosingTable):
    """Keeps a copy of the whole table at each write of a seat: written, and not sent yet."""

    watched = -1
    points: list[LosingTable]

    def store(self, seat: int, record: Record) -> None:
        super().store(seat, record)
        if seat == self.watched:
            self.points.append(self.fork(f"write {len(self.records[seat])}"))

    def fork(self, seed: str) -> Self:
        other = super().fork(seed)
        other.watched = -1
        return other


@pytest.mark.parametrize("seat", [0, 1] if BIG else [1])
def test_killed_at_each_write_of_a_match_with_a_heal(seat: int) -> None:
    """One run for each write: equal digests at the end, nothing signed twice, the transcript verifies."""
    table = Watched(3, "writes")
    table.watched, table.points = seat, []
    assert table.run(plays_at(1, 0)), table.standing()
    table.lose(2)
    assert table.run(plays_at(2, 1)), table.standing()
    table.leave(1 - seat)
    assert table.run(lambda now: now.sessions[seat].over)
    kept = table.records[seat]
    assert len(table.points) == len(kept) > 50
    for count, point in enumerate(table.points if BIG else table.points[seat::5]):
        point.restart(seat)
        if point.sessions[1 - seat].out:  # its LEAVE was on the way, and comes again on a new link
            point.queues[seat].extend(point.sessions[1 - seat].messages_since(0, 0))
        if 2 in point.here:
            point.lose(2)
        if 1 - seat in point.here:
            assert point.run(plays_at(1, 1)), (count, point.standing())
            point.leave(1 - seat)
        assert point.run(lambda now: now.sessions[seat].over), (count, point.standing())
        point.check_end(verify=count % 10 == 0)
    print(f"seat {seat}: killed at each of {len(table.points)} writes")


def test_all_die_at_once_again_and_again() -> None:
    table = LosingTable(3, "all at once")
    deaths = 0
    for goal in (plays_at(0, 0), plays_at(2, 0), plays_at(3, 1)):
        while not goal(table):
            steps = sum(one.replica.step for one in table.sessions) + 2
            table.run(lambda now, steps=steps: sum(one.replica.step for one in now.sessions) >= steps)  # type: ignore[misc]
            for seat in table.here:
                table.restart(seat)
                deaths += 1
        if table.sessions[0].replica.view == 0 and table.sessions[0].replica.play.turn >= 2:
            table.leave(0)
    table.leave(1)
    assert table.run(lambda now: now.sessions[2].over)
    table.check_end()
    print(f"{deaths} deaths")
    assert deaths > 60
