"""Tables in memory that lose seats: silence, LEAVE, restarts from the journal, cut networks, late messages.

Time is a count of rounds in which nobody has anything to do: then peers suspect whom they do not hear, vote,
and tell each other all that they hold, as those on a network do every second. Every message ever sent is
looked at: a seat that signs two contents for one place fails the test at once.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Self

from otto_protocol.crypto.group import add, mul_secret
from otto_protocol.hashing import Drbg, random_below
from otto_protocol.lab import PATIENCE, Chooser, Lab
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Verified, audit
from otto_protocol.match.contradictions import contradiction
from otto_protocol.match.events import Record
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session
from otto_protocol.match.signed_points import card_under
from otto_protocol.quorum import is_majority
from otto_protocol.roster import TableRules
from otto_protocol.rules import GamePhase, clockwise
from otto_protocol.rules.cards import deck_size
from tests.protocol.lab_games import RNG, duellist

BIG = os.environ.get("OTTO_BIG") == "1"

Kind = str


def author(data: bytes) -> int | None:
    """Whose message it is; None for evidence."""
    parsed = m.parse(data)
    return parsed.seat if isinstance(parsed, m.Signed) else None


def kind_of(session: Session) -> Kind:
    """What the table does at this seat: "play lead", "heal shuffle", ..."""
    replica = session.replica
    if replica.phase is MatchPhase.PLAY:
        return "play " + str(replica.play.phase.value)
    return replica.phase.value


class LosingTable(Lab):
    """A table of which seats get lost. `here` are the seats that hear somebody."""

    def __init__(self, players: int, seed: str, decks: int = 1, games: int = 1) -> None:
        super().__init__(players, Drbg(seed.encode()), TableRules(decks, games))
        self.cuts: list[frozenset[int]] = [frozenset(range(players))]  # parts of the network
        self.signed: list[list[m.Message]] = [[] for _ in range(players)]
        self.watch: Callable[[], None] | None = None  # called whenever a seat has done something
        self.lost: list[bytes] = []  # what somebody should have heard, and did not

    def fork(self, seed: str) -> Self:
        """The same table once more, to go on differently."""
        other = self.copy(Drbg(seed.encode()))
        other.watch, other.cuts, other.lost = None, list(self.cuts), list(self.lost)
        other.signed = [list(said) for said in self.signed]
        return other

    # -- who hears whom ------------------------------------------------------------------------------

    @property
    def here(self) -> list[int]:
        """The seats that are in a part of the network, and in the match."""
        return sorted(s for part in self.cuts for s in part if not self.sessions[s].out)

    def lose(self, *seats: int) -> None:
        """These seats are silent from now on. Part of what they have said last is lost with them."""
        self.cuts = [part - frozenset(seats) for part in self.cuts]
        authors = frozenset(seats)
        for seat in self.here:
            kept: deque[bytes] = deque()
            for data in self.queues[seat]:
                if author(data) in authors and random_below(2, self.rng):
                    self.lost.append(data)
                else:
                    kept.append(data)
            self.queues[seat] = kept

    def cut(self, *parts: Collection[int]) -> None:
        """Only within a part do seats hear each other."""
        self.cuts = [frozenset(part) for part in parts]
        for queue in self.queues:
            queue.clear()

    def stop(self, seat: int) -> None:
        """Nobody hears the seat any more."""
        self.cuts = [part - {seat} for part in self.cuts]

    def restart(self, seat: int, records: Iterable[tuple[bytes, bytes]] | None = None) -> None:
        """The process of a seat begins again with its journal (or with `records`)."""
        kept = list(self.records[seat] if records is None else records)
        session = Session(self.start, self.identities[seat], self.seeds[seat], self.rng)
        session.restore(kept)
        self.records[seat] = kept
        self.sessions[seat] = session
        self.queues[seat].clear()

    def send(self, seat: int, record: Record) -> None:
        """Check that it contradicts nothing that this seat has said, and deliver."""
        message = m.parse_content(m.parse_signed(record.data))
        for other in self.signed[seat]:
            fault = contradiction(other, message)
            assert fault is None, fault
        self.signed[seat].append(message)
        for part in self.cuts:
            if seat in part:
                for other_seat in part - {seat}:
                    self.queues[other_seat].append(record.data)

    def turn_of(self, seat: int, choose: Chooser) -> bool:
        """As in a `Lab`; `watch` is called before."""
        if self.watch is not None:
            self.watch()
        return super().turn_of(seat, choose)

    # -- time ----------------------------------------------------------------------------------------

    def run(self, until: Callable[[LosingTable], bool], choose: Chooser = duellist) -> bool:
        """Play until this holds; False when nothing moves any more, whatever time passes."""
        waiting, before = 0, self._standing()
        while not until(self):
            if self._busy(choose):
                continue
            now = self._standing()
            waiting, before = (0 if now != before else waiting + 1), now
            if waiting > PATIENCE:
                return False
            self.pass_time()
        return True

    def _busy(self, choose: Chooser) -> bool:
        """Everybody does a few things, in a random order."""
        here, busy = self.here, False
        for _ in range(2 * len(here)):
            seat = here[random_below(len(here), self.rng)]
            for _ in range(random_below(4, self.rng)):
                if not self.turn_of(seat, choose):
                    break
                busy = True
        return busy or any(self.turn_of(seat, choose) for seat in here)

    def _standing(self) -> object:
        return [(one.replica.view, one.replica.step, len(one.spoken()), one.out) for one in self.sessions]

    def pass_time(self) -> None:
        """A second goes by: peers vote, and tell each other what they hold."""
        for part in self.cuts:
            there = [seat for seat in sorted(part) if not self.sessions[seat].out]
            for seat in there:
                session = self.sessions[seat]
                session.suspect(set(range(len(self.sessions))) - part)
                if random_below(3, self.rng):
                    session.vote()
                self.flush(seat)
            for seat in there:
                at = self.sessions[seat].replica
                for other in sorted(part - {seat}):
                    self.queues[seat].extend(self.sessions[other].messages_since(at.view, at.step))

    # -- what must hold ------------------------------------------------------------------------------

    def check_end(self, *, verify: bool = True) -> None:
        """All who are here have ended with the same, nobody is blamed, and the transcript verifies."""
        ended = [self.sessions[seat] for seat in self.here]
        assert ended
        assert all(one.over for one in ended), self.standing()
        assert len({(one.replica.digest, one.replica.totals) for one in ended}) == 1
        assert not any(one.convicted for one in self.sessions)
        if verify:
            verdict = audit(ended[-1].transcript(), RNG)
            assert isinstance(verdict, Verified), verdict
            assert verdict.digest == ended[0].replica.digest
            assert verdict.totals == ended[0].replica.totals

    def standing(self) -> list[tuple[object, ...]]:
        """Where everybody is, for a failed test."""
        return [
            (s, one.replica.view, one.replica.step, kind_of(one), one.awaited(), one.out)
            for s, one in enumerate(self.sessions)
        ]

    def has_quorum(self) -> bool:
        """Whether some part may go on without all others."""
        newest = max(one.replica.view for one in self.sessions)
        for part in self.cuts:
            there = {seat for seat in part if not self.sessions[seat].out}
            for one in (self.sessions[seat] for seat in there):
                if one.replica.view == newest and is_majority(
                    there, set(one.replica.live) - set(one.convicted) - set(one.log.leaves)
                ):
                    return True
        return False

    def check_cards(self) -> None:
        """The cards are exactly one deck: opened with the keys of all seats, which only this table has."""
        replica = self.sessions[self.here[0]].replica
        if replica.live != tuple(self.here):
            return  # who is away has not learnt its last cards yet
        state = replica.play
        slots = [*state.pile, *(s for row in (*state.hands, *state.collections) for s in row)]
        assert len(slots) == len(set(slots))
        assert len(slots) + len(state.spent) == deck_size(state.decks)
        ids = [*state.spent, *(self._opened(replica, slot) for slot in state.pile)]
        for seat, (hand, collection) in enumerate(zip(state.hands, state.collections, strict=True)):
            if (hand or collection) and seat in replica.live:
                cards = self.sessions[seat].secret.cards
                ids += [cards[slot] for slot in (*hand, *collection)]
        assert sorted(ids) == list(range(deck_size(state.decks)))

    def _opened(self, replica: Replica, slot: int) -> int:
        a, b = replica.pile[slot]
        share = add(*(mul_secret(self.sessions[seat].speaker.key, a) for seat in replica.live))
        assert share is not None
        return card_under((a, b), share)


def check_order(before: Replica, after: Replica) -> None:
    """After a loss the turn is the same one, or it is the next seat's."""
    old, new = before.play, after.play
    state = (old.turn, old.leader, old.phase, new.turn, new.leader, new.phase, new.order, after.live)
    if old.phase is GamePhase.CHOOSE or new.phase is GamePhase.END:
        return
    if new.turn == old.turn:
        assert new.leader == old.leader, state
    elif new.turn == old.turn + 1:
        assert new.leader == clockwise(new.order, frozenset(after.live), old.leader)[0], state
