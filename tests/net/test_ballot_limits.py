"""A flood of ballots by one seat: what others keep and pass on is bounded, and they go on all the same."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from otto_p2p.net.frames import MatchMessage
from otto_p2p.storage.journal import Journal
from otto_p2p.table import ballot_limits as allowances
from otto_p2p.table import engine as engines
from otto_p2p.table.ballot_limits import ANOTHER, Allowance, voter
from otto_p2p.table.deadlines import Deadlines
from otto_p2p.table.engine import CallVote, Engine, Incoming, Lacking, Report
from otto_p2p.table.removals import Removals
from otto_p2p.table.settings import Settings
from otto_p2p.table.timing import TableTiming
from otto_protocol.encoding import pack
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.session import Session
from tests.net.tables import Peer, inside, run_here, running, settings, until
from tests.net.virtual_lan import VirtualLan

ANNA, BOB, FLOOD = range(3)  # seats
BALLOTS = 30


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A smaller flood is as good, and takes less time."""
    monkeypatch.setattr(allowances, "BALLOTS", BALLOTS)


class Three:
    """Anna and Bob with engines and journals, and a seat that signs what it likes."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.lab = Lab(3, Drbg(b"flood"))
        self.keys = [identity.public for identity in self.lab.identities]
        self.now = 0.0
        self.engines = []
        for seat in (ANNA, BOB):
            journal = stack.enter_context(contextlib.closing(Journal(folder / str(seat))))
            session = self.lab.session(seat)
            session.may_deal = False
            journal.begin(session.replica.match, pack(self.lab.start), bytes(32))
            engine = Engine(self.lab.start.roster, self.opened(seat), None, journal, print, run=run_here)
            trio.run(engine.open)
            self.engines.append(engine)

    def opened(self, seat: int) -> Callable[[object], Session]:
        return lambda _: self.lab.session(seat)

    def visit(self, seat: int, *items: engines.Item) -> Report:
        return self.engines[seat]._absorb(list(items), self.now)

    def ballots(self, first: int, last: int) -> list[bytes]:
        """Ballots of the flooding seat for these rounds, for going on with everybody."""
        replica = self.lab.session(ANNA).replica
        header = m.Header(replica.match, replica.view, replica.step, FLOOD, replica.digest)
        identity = self.lab.identities[FLOOD]
        rounds = range(first, last + 1)
        return [m.wire(m.sign(identity, header, m.Vote(number, (), (), ()))) for number in rounds]

    def stored(self, seat: int) -> int:
        """How many ballots of the flooding seat are on the disk of this one."""
        engine = self.engines[seat]
        records = engine._journal.records(engine.match)
        return sum(voter(data) == FLOOD for data, _ in records)


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Three]:
    with contextlib.ExitStack() as stack:
        yield Three(tmp_path, stack)


def test_what_is_kept_and_passed_on_of_a_flood_is_bounded(three: Three) -> None:
    flood = three.ballots(1, 3 * BALLOTS)
    report = three.visit(ANNA, *(Incoming(three.keys[FLOOD], data) for data in flood))
    assert len(report.heard) == BALLOTS == three.stored(ANNA)
    report = three.visit(ANNA, *(Incoming(three.keys[FLOOD], data) for data in flood))
    assert not report.heard
    three.now += 5 * ANOTHER
    report = three.visit(ANNA, *(Incoming(three.keys[FLOOD], data) for data in flood[BALLOTS:]))
    assert [item.data for item in report.heard] == flood[BALLOTS : BALLOTS + 5]


def test_a_flood_does_not_keep_out_what_somebody_else_has_counted(three: Three) -> None:
    """Who floods one and tells the other something else cannot part the two."""
    flood = three.ballots(1, 2 * BALLOTS)
    three.visit(ANNA, *(Incoming(three.keys[FLOOD], data) for data in flood[:BALLOTS]))
    three.visit(BOB, *(Incoming(three.keys[FLOOD], data) for data in flood[BALLOTS:]))
    (answer,) = three.visit(BOB, Lacking(three.keys[ANNA], 0, 0)).answers
    report = three.visit(ANNA, *(Incoming(three.keys[BOB], data) for data in answer.messages))
    assert len(report.heard) == BALLOTS
    assert three.stored(ANNA) == 2 * BALLOTS


def test_the_others_go_on_without_who_floods(three: Three) -> None:
    for seat in (ANNA, BOB):
        for data in three.ballots(1, 3 * BALLOTS):
            three.visit(seat, Incoming(three.keys[FLOOD], data))
    for _ in range(4):
        three.now += 1.0
        for seat, other in ((ANNA, BOB), (BOB, ANNA)):
            report = three.visit(seat, CallVote(frozenset({FLOOD}), True))
            three.visit(other, *(Incoming(three.keys[seat], data) for data in report.outgoing))
    views = [three.lab.session(seat).replica for seat in (ANNA, BOB)]
    assert [(one.view, one.live) for one in views] == [(1, (ANNA, BOB))] * 2
    assert views[0].digest == views[1].digest


def test_a_new_view_begins_with_nothing_taken() -> None:
    allowance = Allowance([b"anna", b"bob"])
    allowance.enter(0, 100.0)
    for _ in range(BALLOTS):
        assert allowance.admits(b"bob", 1, 100.0)
        allowance.take(b"bob", 1)
    assert not allowance.admits(b"bob", 1, 100.0)
    assert allowance.admits(b"bob", 0, 100.0)
    assert allowance.admits(b"anna", 1, 100.0)
    allowance.enter(1, 101.0)
    assert allowance.admits(b"bob", 1, 101.0)


def test_an_answer_that_was_too_long_goes_on(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else who lacks more ballots than fit into one answer would get the first ones for ever."""
    monkeypatch.setattr(engines, "MAX_ANSWERS", 10)
    flood = three.ballots(1, 25)
    three.visit(ANNA, *(Incoming(three.keys[FLOOD], data) for data in flood))
    got: list[bytes] = []
    for expected in (10, 10, 5, 10):
        (answer,) = three.visit(ANNA, Lacking(three.keys[BOB], 0, 0)).answers
        assert len(answer.messages) == expected
        assert answer.complete == (expected == 5)
        got += answer.messages
    assert got == flood + flood[:10]
    three.visit(ANNA, Lacking(three.keys[BOB], 0, 0))
    (answer,) = three.visit(ANNA, Lacking(three.keys[BOB], 0, 1)).answers
    assert list(answer.messages) == flood[:10]  # it has come further: from there on


def test_after_many_rounds_in_one_view_a_peer_votes_rarely(three: Three) -> None:
    """More rarely than others' allowance grows: honest ballots are never put off."""
    timing = TableTiming()
    standing = three.visit(ANNA, Incoming(three.keys[FLOOD], three.ballots(1, 1)[0])).standing
    assert standing.voting
    removals = Removals(ANNA, Settings("Anna"), timing, Deadlines(120, 150, 0.0, timing))
    asked: list[float] = []
    for tick in range(int(300 / timing.tick)):
        now = tick * timing.tick
        vote = removals.due(standing, {}, now)
        if vote is not None and vote.again:  # as if there was a reason to vote again each time
            asked.append(now)
            removals.voted(ANNA, (), now)
    assert asked[: timing.often] == [second * timing.vote_again for second in range(timing.often)]
    more = range(1, len(asked) - timing.often + 1)
    assert asked[timing.often :] == [timing.often - 1 + timing.rarely * number for number in more]
    assert len(asked) > timing.often + 7
    assert all(count <= BALLOTS + at / ANOTHER for count, at in enumerate(asked, 1))
    removals.view_opened()
    assert removals.due(standing, {}, 301.0) == CallVote(frozenset(), True)


async def test_a_table_plays_on_through_a_flood(tmp_path: Path, autojump_clock: MockClock) -> None:
    """Cil signs hundreds of ballots beside what its peer says; it is put out for it, or followed and outvoted."""
    lan = VirtualLan()
    peers = [Peer(tmp_path, name, settings(name, 3), lan) for name in ("Anna", "Bob", "Cil")]
    anna, bob, cil = peers
    async with running(peers):
        await until(lambda: anna.turn >= 1)
        assert cil.table.match is not None
        seat = cil.table.match.seat
        with inside():
            replica = cil.table.match.engine._session.replica
        header = m.Header(replica.match, replica.view, replica.step, seat, replica.digest)
        for number in range(1, 10 * BALLOTS):
            body = m.Vote(number, (), (), ())
            data = m.wire(m.sign(cil.journal.identity, header, body))
            cil.mesh.send_to((anna.mesh.key, bob.mesh.key), MatchMessage(data))
        turn = anna.turn
        await until(lambda: min(anna.turn, bob.turn) >= turn + 2)
        records = anna.journal.records(replica.match)
        own = [data for data, _ in records if voter(data) == seat]
        assert 0 < len(own) <= 2 * BALLOTS  # from Cil, and what only Bob had room for


def test_only_ballots_are_counted(three: Three) -> None:
    replica = three.lab.session(ANNA).replica
    header = m.Header(replica.match, 2**32 - 1, 2**32 - 1, FLOOD, bytes(32))
    body = m.Vote(2**32 - 1, (), (), tuple(m.Own(seat, bytes(32)) for seat in range(10)))
    longest = m.wire(m.sign(three.lab.identities[FLOOD], header, body))
    assert voter(longest) == FLOOD
    session = three.lab.session(ANNA)
    assert session.work()
    (record,) = session.take_records()
    assert voter(record.data) is None
    assert voter(b"garbage") is None
    assert voter(three.ballots(1, 1)[0]) == FLOOD
