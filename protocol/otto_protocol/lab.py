"""A whole table in memory, for experiments and tests: docs/library.md shows what it is good for.

Time is something that the caller lets go by: `play` runs until nobody has anything left to do, and `second`
is a second in which nothing moves: seats tell each other what they hold, and vote about those that are
silent, gone or convicted.
"""

from __future__ import annotations

import contextlib
import copy
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Self

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Rng, random_below
from otto_protocol.lobby.record import seating_rank, sign_ready
from otto_protocol.match.audit import Verdict, audit
from otto_protocol.match.events import Record
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript
from otto_protocol.roster import PROTOCOL_VERSION, RULES_VERSION, Member, Roster, Start, TableRules
from otto_protocol.rules import SeatView, moves

PATIENCE = 14  # seconds without any progress: nothing will ever move again

Chooser = Callable[[SeatView, Sequence[moves.SeatMove]], moves.SeatMove]
"""Decides for a seat: (what it may know, its legal moves) -> one of them."""


class Lab:
    """Sessions of `players` seats that hear each other through queues, in random order of delivery."""

    def __init__(self, players: int, rng: Rng, table_rules: TableRules | None = None) -> None:
        self.rng = rng
        self.identities = [IdentityKey.generate(rng) for _ in range(players)]
        self.start = make_start(self.identities, table_rules or TableRules(), rng)
        by_key = {identity.public: identity for identity in self.identities}
        self.identities = [by_key[member.key] for member in self.start.roster.members]
        self.seeds = [rng(32) for _ in self.identities]
        self.sessions = [
            Session(self.start, identity, seed, rng)
            for identity, seed in zip(self.identities, self.seeds, strict=True)
        ]
        self.queues: list[deque[bytes]] = [deque() for _ in self.sessions]
        self.records: list[list[tuple[bytes, bytes]]] = [[] for _ in self.sessions]
        self.gone: set[int] = set()  # seats whose program does not run any more
        self.quiet = 0  # seconds in which nothing has moved

    def copy(self, rng: Rng) -> Self:
        """The same table once more, to go on differently, with its own randomness."""
        other = copy.copy(self)
        other.rng, other.gone = rng, set(self.gone)
        other.sessions = [session.copy(rng) for session in self.sessions]
        other.queues = [deque(queue) for queue in self.queues]
        other.records = [list(kept) for kept in self.records]
        return other

    def session(self, seat: int) -> Session:
        """The session of a seat."""
        return self.sessions[seat]

    @property
    def here(self) -> list[int]:
        """The seats whose programs run, ascending."""
        return [seat for seat in range(len(self.sessions)) if seat not in self.gone]

    # -- one thing after the other -------------------------------------------------------------------

    def send(self, seat: int, record: Record) -> None:
        """Deliver one message of a seat to all others; override to lose, delay or change it."""
        self.deliver(seat, record.data, self.here)

    def store(self, seat: int, record: Record) -> None:
        """Put what is new to a seat in its own records, and wipe the note that it makes useless."""
        self.records[seat].append((record.data, record.note))
        if record.forget:
            kept = self.records[seat]
            kept[:] = [(data, b"" if data == record.forget else note) for data, note in kept]

    def deliver(self, seat: int, data: bytes, to: Collection[int]) -> None:
        """Put bytes of a seat in the queues of others."""
        for other in to:
            if other != seat and other not in self.gone:
                self.queues[other].append(data)

    def flush(self, seat: int) -> None:
        """Store what is new to a seat, and send what it has to say."""
        for record in self.sessions[seat].take_records():
            self.store(seat, record)
            if record.own:
                self.send(seat, record)

    def hear(self, seat: int, data: bytes) -> None:
        """Bytes arrive at a seat; what is no message of the match is dropped."""
        with contextlib.suppress(DecodeError):
            self.sessions[seat].receive(data)

    def turn_of(self, seat: int, choose: Chooser) -> bool:
        """Let one seat do one thing: hear a message, work, or decide. False if there was nothing to do."""
        session, queue = self.sessions[seat], self.queues[seat]
        if queue:
            self.hear(seat, queue.popleft())
        elif session.work():
            pass
        elif decisions := session.decisions():
            known = session.seat_view()
            assert known is not None
            session.act(choose(known, decisions))
        else:
            return False
        self.flush(seat)
        return True

    def play(self, choose: Chooser | None = None) -> None:
        """Run until nobody has anything left to do; `choose` decides for everybody (default: at random)."""
        picked, here = choose or self.at_random, self.here
        idle: set[int] = set()
        while len(idle) < len(here):
            seat = here[random_below(len(here), self.rng)]
            if self.turn_of(seat, picked):
                idle.clear()
            else:
                idle.add(seat)

    def play_until(self, holds: Callable[[], bool], choose: Chooser | None = None) -> bool:
        """Like `play`, but stop as soon as this holds; False if it never does."""
        picked, here = choose or self.at_random, self.here
        while not holds():
            if not any([self.turn_of(seat, picked) for seat in here]):
                return False
        return True

    def at_random(self, known: SeatView, decisions: Sequence[moves.SeatMove]) -> moves.SeatMove:
        """A uniformly random decision."""
        return decisions[random_below(len(decisions), self.rng)]

    # -- time, and seats that are lost ---------------------------------------------------------------

    def leave(self, seat: int) -> None:
        """A seat leaves the match in an orderly way, and its program ends."""
        self.sessions[seat].leave()
        self.flush(seat)
        self.stop(seat)

    def stop(self, seat: int) -> None:
        """The program of a seat ends without a word. What it has sent still arrives."""
        self.gone.add(seat)
        self.queues[seat].clear()

    def second(self, choose: Chooser | None = None) -> bool:
        """A second in which nothing moves; afterwards everybody plays on. False if nothing came of it but votes."""
        progress, knowledge = self.progress(), self.knowledge()
        self.exchange()
        self.play(choose)
        if self.knowledge() == knowledge:
            self.vote()
            self.play(choose)
        moved = self.progress() != progress
        self.quiet = 0 if moved else self.quiet + 1
        return moved

    def to_the_end(self, choose: Chooser | None = None) -> bool:
        """Play until the match is over for all but those that everybody else has convicted.

        False if nothing moves any more before that: too few are left.
        """
        self.quiet = 0
        self.play(choose)
        while not all(self._is_done(seat) for seat in self.here):
            if not self.second(choose) and self.quiet > PATIENCE:
                return False
        return True

    def _is_done(self, seat: int) -> bool:
        session, others = self.sessions[seat], [self.sessions[one] for one in self.here if one != seat]
        return session.over or session.out or (bool(others) and all(seat in one.convicted for one in others))

    def exchange(self, seats: Sequence[int] | None = None) -> None:
        """These seats (all of them unless given) tell each other what they hold."""
        seats = self.here if seats is None else seats
        for seat in seats:
            at = self.sessions[seat].replica
            for other in seats:
                if other != seat:
                    held = self.sessions[other].messages_since(at.view, at.step)
                    self.queues[seat].extend(held)

    def vote(self) -> None:
        """All sign the ballots that are due."""
        for seat in self.here:
            session = self.sessions[seat]
            session.suspect(self.suspects(seat))
            session.vote()
            self.flush(seat)

    def suspects(self, seat: int) -> set[int]:
        """Whom a seat would go on without, now that nothing moves.

        Whoever is awaited now is silent: everybody else has said what there was to say. Next to a convict all
        are silent, and ballots are all that is awaited.
        """
        session = self.sessions[seat]
        silent = set() if session.accused() else set(session.awaited())
        voters = {ballot.header.seat for ballot in session.log.view.ballots.all()}
        if voters and self.quiet > 1:
            silent |= set(session.replica.live) - voters
        return silent - {seat} | self.gone

    def progress(self) -> list[object]:
        """What changes when the match goes on, or somebody is convicted."""
        return [
            (one.replica.view, one.replica.digest, sorted(one.spoken()), sorted(one.convicted), one.out)
            for one in (self.sessions[seat] for seat in self.here)
        ]

    def knowledge(self) -> list[object]:
        """What changes when somebody learns something: ballots, too."""
        logs = [self.sessions[seat].log for seat in self.here]
        return [*self.progress(), *((log.view.ballots.all(), sorted(log.leaves)) for log in logs)]

    # -- what came of it -----------------------------------------------------------------------------

    def transcript(self, seat: int = 0) -> Transcript:
        """The transcript that a seat holds."""
        return self.sessions[seat].transcript()

    def audit(self, seat: int = 0) -> Verdict:
        """The verdict on the transcript of a seat."""
        return audit(self.transcript(seat), self.rng)


def make_start(identities: Sequence[IdentityKey], table_rules: TableRules, rng: Rng) -> Start:
    """A START certificate that all `identities` sign, at a new table."""
    table = rng(16)
    keys = sorted((identity.public for identity in identities), key=lambda key: seating_rank(table, key))
    members = tuple(Member(key, f"player {seat}") for seat, key in enumerate(keys))
    roster = Roster(PROTOCOL_VERSION, RULES_VERSION, table, 1, table_rules, members)
    by_key = {identity.public: identity for identity in identities}
    return Start(roster, tuple(sign_ready(by_key[member.key], roster) for member in members))
