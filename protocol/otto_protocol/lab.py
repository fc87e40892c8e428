"""A whole table in memory, for experiments and tests.

>>> from otto_protocol.hashing import Drbg
>>> from otto_protocol.lab import Lab
>>> lab = Lab(players=3, rng=Drbg(b"any seed"))
>>> lab.play()
>>> lab.session(0).over
True
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Rng, random_below
from otto_protocol.lobby.record import seating_rank, sign_ready
from otto_protocol.match.audit import Verdict, audit
from otto_protocol.match.events import Record
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript
from otto_protocol.roster import PROTOCOL_VERSION, RULES_VERSION, Member, Roster, Start, TableRules
from otto_protocol.rules import moves
from otto_protocol.rules.legal import SeatView

Chooser = Callable[[SeatView, Sequence[moves.Move]], moves.Move]


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

    def session(self, seat: int) -> Session:
        """The session of a seat."""
        return self.sessions[seat]

    def send(self, seat: int, record: Record) -> None:
        """Deliver one message of a seat to all others; override to lose, delay or change it."""
        for other, queue in enumerate(self.queues):
            if other != seat:
                queue.append(record.data)

    def turn_of(self, seat: int, choose: Chooser) -> bool:
        """Let one seat do one thing: hear a message, work, or decide. False if there was nothing to do."""
        session, queue = self.sessions[seat], self.queues[seat]
        if queue:
            session.receive(queue.popleft())
        elif session.work():
            pass
        elif decisions := session.decisions():
            view = session.seat_view()
            assert view is not None
            session.act(choose(view, decisions))
        else:
            return False
        for record in session.take_records():
            self.records[seat].append((record.data, record.note))
            if record.own:
                self.send(seat, record)
        return True

    def play(self, choose: Chooser | None = None) -> None:
        """Run until nobody has anything left to do; `choose` decides for everybody (default: at random)."""
        picked = choose or self.at_random
        idle: set[int] = set()
        while len(idle) < len(self.sessions):
            seat = random_below(len(self.sessions), self.rng)
            if self.turn_of(seat, picked):
                idle.clear()
            else:
                idle.add(seat)

    def at_random(self, view: SeatView, decisions: Sequence[moves.Move]) -> moves.Move:
        """A uniformly random decision."""
        return decisions[random_below(len(decisions), self.rng)]

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
