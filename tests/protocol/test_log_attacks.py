"""What one lying seat, or plain bad luck, did to the log when it was attacked: each of these once worked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import pack
from otto_protocol.hashing import Drbg
from otto_protocol.lab import make_start
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Failed, Proven, Unfinished, audit, judge
from otto_protocol.match.contradictions import opens
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.roster import TableRules


class Table:
    """Sessions of some seats; what one of them says reaches those that the test names."""

    def __init__(self, seats: int, name: str = "") -> None:
        self.rng = Drbg(f"attacks {seats} {name}".encode())
        made = [IdentityKey.generate(self.rng) for _ in range(seats)]
        self.start = make_start(made, TableRules(), self.rng)
        by_key = {one.public: one for one in made}
        self.identities = [by_key[member.key] for member in self.start.roster.members]
        self.seeds = [self.rng(32) for _ in made]
        self.sessions = [self.fresh(seat) for seat in range(seats)]
        self.disk: list[list[tuple[bytes, bytes]]] = [[] for _ in made]

    def fresh(self, seat: int) -> Session:
        return Session(self.start, self.identities[seat], self.seeds[seat], self.rng)

    def restored(self, seat: int, records: Iterable[tuple[bytes, bytes]]) -> Session:
        session = self.fresh(seat)
        session.restore(records)
        return session

    def store(self, seat: int) -> list[bytes]:
        """Store what is new to a seat; the messages of its own."""
        records = self.sessions[seat].take_records()
        self.disk[seat] += [(one.data, one.note) for one in records]
        return [one.data for one in records if one.own]

    def give(self, seat: int, *messages: bytes) -> None:
        for data in messages:
            self.sessions[seat].receive(data)
        self.store(seat)

    def sync(self, asking: int, asked: int) -> None:
        here = self.sessions[asking].replica
        self.give(asking, *self.sessions[asked].messages_since(here.view, here.step))

    def talk(self, seats: Iterable[int]) -> None:
        """Until none of these learns anything new from another."""
        seats = list(seats)
        while True:
            before = sum(len(self.disk[seat]) for seat in seats)
            for asking in seats:
                for asked in seats:
                    if asked != asking:
                        self.sync(asking, asked)
            if sum(len(self.disk[seat]) for seat in seats) == before:
                return

    def do(self, seat: int) -> bool:
        session = self.sessions[seat]
        if not session.work():
            decisions = session.decisions()
            if not decisions:
                return False
            session.act(decisions[0])
        return True

    def round(self, seats: Iterable[int]) -> None:
        """Each of these does one thing, if it can, and all of them learn of it."""
        seats = list(seats)
        for seat in seats:
            self.do(seat)
            self.store(seat)
        self.talk(seats)

    def play(self, until: Callable[[Session], bool], seats: Iterable[int] | None = None) -> None:
        seats = list(range(len(self.sessions)) if seats is None else seats)
        for _ in range(2000):
            if until(self.sessions[seats[0]]):
                return
            self.round(seats)
        raise AssertionError("the table stands still")

    def vote(self, seats: Iterable[int], suspects: Iterable[int] = ()) -> None:
        """These vote until nobody of them has a vote to give."""
        seats, suspects = list(seats), list(suspects)
        for seat in seats:
            self.sessions[seat].suspect(suspects)
        for _ in range(20):
            voted = [self.sessions[seat].vote() for seat in seats]
            for seat in seats:
                self.store(seat)
            self.talk(seats)
            if not any(voted):
                return
        raise AssertionError("the votes do not end")

    def header(self, seat: int, like: int | None = None) -> m.Header:
        replica = self.sessions[seat if like is None else like].replica
        return m.Header(replica.match, replica.view, replica.step, seat, replica.digest)

    def sign(self, header: m.Header, body: m.Body) -> bytes:
        return m.wire(m.sign(self.identities[header.seat], header, body))

    def verdict(self, seat: int) -> object:
        return audit(self.sessions[seat].transcript(), self.rng)


def at_step(number: int) -> Callable[[Session], bool]:
    return lambda session: session.replica.step >= number


def in_play(session: Session) -> bool:
    return session.replica.phase is MatchPhase.PLAY


def test_a_vote_in_the_last_round_of_all_leaves_the_others_room_to_vote() -> None:
    table = Table(3)
    table.play(at_step(2))
    table.give(0, table.sign(table.header(2), m.Vote(2**32 - 1, (1,), (), ())))
    table.sessions[0].vote()
    table.vote((0, 1), suspects=[2])
    assert [table.sessions[seat].replica.live for seat in (0, 1)] == [(0, 1), (0, 1)]


def test_a_leave_that_was_signed_before_the_view_opened_is_told_in_the_transcript() -> None:
    table = Table(4)
    table.play(at_step(2))
    table.vote((0, 1, 2), suspects=[3])
    leaving = Session(table.start, table.identities[2], table.seeds[2], table.rng)
    leaving.restore([one for one in table.disk[2] if not _is_enter_of(one[0], 2)][: _votes_end(table, 2)])
    assert leaving.replica.view == 0
    assert leaving.leave()
    leave = leaving.take_records()[-1].data
    table.give(0, leave)
    table.give(1, leave)
    table.vote((0, 1))
    assert table.sessions[0].replica.live == (0, 1)
    assert isinstance(table.verdict(0), Unfinished)


def _is_enter_of(data: bytes, seat: int) -> bool:
    signed = m.parse(data)
    return (
        isinstance(signed, m.Signed)
        and signed.seat == seat
        and isinstance(m.parse_content(signed).body, m.Enter)
    )


def _votes_end(table: Table, seat: int) -> int:
    """Up to which record a seat had voted, and nobody's ENTER had come."""
    bodies = [
        m.parse_content(one).body
        for data, _ in table.disk[seat]
        if isinstance(one := m.parse(data), m.Signed)
    ]
    own = [m.parse(data) for data, _ in table.disk[seat]]
    return next(
        number + 1
        for number, (body, signed) in enumerate(zip(bodies, own, strict=True))
        if isinstance(body, m.Vote) and isinstance(signed, m.Signed) and signed.seat == seat
    )


def test_a_transcript_verifies_after_several_losses_one_after_the_other() -> None:
    table = Table(5)
    table.play(at_step(2))
    for seat in range(4):
        assert table.do(seat)
        table.store(seat)
    table.talk(range(4))
    table.vote(range(4), suspects=[4])
    for leaver in (3, 2):
        assert table.sessions[leaver].leave()
        table.store(leaver)
        table.talk(range(leaver + 1))
        table.vote(range(leaver))
    assert table.sessions[0].replica.live == (0, 1)
    assert isinstance(table.verdict(0), Unfinished)


def test_an_evidence_file_convinces_after_a_view_in_which_messages_stood() -> None:
    table = Table(4)
    table.play(at_step(2))
    for seat in range(3):
        assert table.do(seat)
        table.store(seat)
    table.talk(range(3))
    table.vote(range(3), suspects=[3])
    table.play(lambda session: session.replica.step >= session.log.view.first + 2, range(3))
    table.give(0, table.sign(table.header(2), m.Challenge(0)))
    conviction = table.sessions[0].convicted[2]
    verdict = judge(table.sessions[0].evidence(conviction), table.rng)
    assert isinstance(verdict, Proven), verdict


def test_whoever_has_left_cannot_spoil_the_transcripts_of_the_others() -> None:
    table = Table(3)
    table.play(at_step(2))
    assert table.sessions[2].leave()
    table.store(2)
    table.talk(range(3))
    table.vote((0, 1))
    assert table.sessions[0].replica.live == (0, 1)
    illegal = m.parse(table.sign(table.header(2, like=0), m.Challenge(0)))
    assert isinstance(illegal, m.Signed)
    table.give(0, pack(m.Evidence((illegal,))), m.wire(m.Message(None, None, illegal)))  # type: ignore[arg-type]
    assert isinstance(table.verdict(0), Unfinished)


def test_three_votes_of_one_round_do_not_keep_two_honest_peers_apart() -> None:
    table = Table(3)
    table.play(at_step(2))
    log = table.sessions[2].log
    body = log.proposal(frozenset())
    header = table.header(2)
    elsewhere = m.Header(header.match, header.view, header.step, 2, bytes(32))
    wanted = table.sign(header, m.Vote(1, body.gone, body.excluded, body.owns))
    lies = [table.sign(elsewhere, m.Vote(1, gone, (), ())) for gone in ((), (0,))]
    table.give(1, lies[0])
    assert table.sessions[1].vote()
    (vote_of_1,) = table.store(1)
    table.give(0, vote_of_1)
    assert table.sessions[0].vote()
    (vote_of_0,) = table.store(0)
    table.give(1, vote_of_0, lies[1])
    table.give(0, wanted)
    assert table.sessions[0].replica.view == 1
    assert 2 in table.sessions[1].convicted
    table.talk((0, 1))
    for _ in range(4):
        table.vote((0, 1), suspects=[2])
    assert [table.sessions[seat].replica.live for seat in (0, 1)] == [(0, 1), (0, 1)]


def test_evidence_with_steps_that_nobody_stands_on_leaves_nothing_behind() -> None:
    table = Table(3)
    table.play(at_step(3))
    last = table.sessions[0].log.path[-1].before
    honest = [one for one in last if one.header.seat != 2]
    header = table.header(2)
    signed = m.parse(table.sign(m.Header(header.match, header.view, header.step, 2, bytes(32)), m.Ack()))
    assert isinstance(signed, m.Signed)
    known = len(table.sessions[0].log.view.known)
    lie = next(one for one in last if one.header.seat == 2)
    for number in range(20):
        there = m.Header(lie.header.match, 0, lie.header.step + number + 1, 2, lie.header.previous)
        twin = m.sign(table.identities[2], there, lie.body)
        table.give(0, pack(m.Evidence((signed,), tuple(one.signed for one in (*honest, twin)))))
    assert len(table.sessions[0].log.view.known) == known


def test_a_convict_cannot_fill_the_journal_with_second_versions_of_old_messages() -> None:
    table = Table(2)
    table.play(at_step(6))
    session = table.sessions[0]
    own = [one for step in session.log.steps for one in step if one.header.seat == 1]
    stored = len(table.disk[0])
    for one in own:
        table.give(0, table.sign(one.header, m.Challenge(0)))
        table.give(0, table.sign(one.header, m.Challenge(1)))
    assert 1 in session.convicted
    assert len(table.disk[0]) <= stored + 2


def test_a_leave_of_a_removed_seat_changes_nothing_that_a_restart_would_lose() -> None:
    table = Table(3)
    table.play(at_step(2))
    assert table.sessions[2].leave()
    (leave,) = table.store(2)
    table.vote((0, 1), suspects=[2])
    assert table.sessions[0].replica.live == (0, 1)
    table.give(0, leave)
    again = table.restored(0, table.disk[0])
    assert again.log.leaves == table.sessions[0].log.leaves


def test_evidence_that_convicts_nobody_carries_nothing_into_a_transcript() -> None:
    table = Table(3)
    table.play(at_step(3))
    transcript = table.sessions[0].transcript()
    wrapped = []
    for item in transcript.items:
        signed = m.parse(item)
        assert isinstance(signed, m.Signed)
        wrapped.append(pack(m.Evidence((signed,))))
    verdict = audit(type(transcript)(transcript.version, transcript.start, tuple(wrapped)), table.rng)
    assert isinstance(verdict, Failed), verdict


def test_an_old_copy_of_the_journal_takes_its_own_messages_of_the_next_view_back() -> None:
    table = Table(3)
    table.play(at_step(2))
    old = list(table.disk[0])
    table.vote((0, 1), suspects=[2])
    table.play(lambda session: session.replica.step >= session.log.view.first + 1, (0, 1))
    ahead = table.sessions[1].messages_since(1, 0)
    table.sessions[0] = table.restored(0, old)
    table.give(0, *ahead)
    table.sync(0, 1)
    assert table.sessions[0].replica.digest == table.sessions[1].replica.digest


def test_an_old_copy_of_the_journal_without_the_secret_of_a_heal_waits() -> None:
    table = Table(3)
    table.play(in_play)
    table.vote((0, 1), suspects=[2])
    table.play(lambda session: session.replica.phase is MatchPhase.HEAL_PROVE, (0, 1))
    old = list(table.disk[0])
    table.play(lambda session: session.replica.phase is MatchPhase.RAISE, (0, 1))
    table.sessions[0] = table.restored(0, old)
    table.sync(0, 1)
    assert table.sessions[0].replica.phase is MatchPhase.RAISE
    while table.do(0):
        pass
    assert 0 in table.sessions[0].awaited()


def test_a_vote_inside_evidence_is_not_taken_past_whoever_counts_votes() -> None:
    table = Table(3)
    table.play(at_step(2))
    vote = m.parse(table.sign(table.header(2), m.Vote(1, (1,), (), ())))
    leave = m.parse(table.sign(table.header(2), m.Leave(3)))
    assert isinstance(vote, m.Signed)
    assert isinstance(leave, m.Signed)
    table.give(0, pack(m.Evidence((vote,))), pack(m.Evidence((vote, leave))))
    assert not table.sessions[0].log.view.ballots


def test_a_seat_does_not_have_more_of_its_messages_kept_by_naming_them_in_its_own_votes() -> None:
    table = Table(3)
    table.play(at_step(2))
    step = table.sessions[0].replica.step
    for number in range(1, 9):
        header = table.header(2)
        away = m.Header(header.match, header.view, step, 2, bytes([number]) * 32)
        lie = m.sign(table.identities[2], away, m.Ack())
        table.give(0, table.sign(away, m.Vote(number, (), (), (m.Own(2, lie.content_hash()),))), m.wire(lie))
    assert len(table.sessions[0].log.view.places[step][2]) <= 2


def test_a_vote_of_our_own_that_cannot_be_read_yet_is_not_contradicted() -> None:
    table = Table(3)
    table.play(at_step(2))
    old = list(table.disk[0])
    assert table.do(1)
    (said,) = table.store(1)
    table.give(0, said)
    table.sessions[0].suspect([2])
    assert table.sessions[0].vote()
    (vote,) = table.store(0)
    table.sessions[0] = table.restored(0, old)
    table.give(0, vote)
    table.sessions[0].suspect([1])
    assert table.sessions[0].vote(), "in the next round"
    assert table.sessions[0].leave()
    table.give(1, vote, *table.store(0))
    assert not table.sessions[1].convicted


def test_a_match_that_is_over_is_not_opened_again_by_votes_of_most_seats() -> None:
    table = Table(3, "over")
    table.play(lambda session: session.replica.phase is MatchPhase.RESULT)
    for seat in range(3):
        assert table.do(seat)
    last = [table.store(seat)[0] for seat in range(3)]
    ahead = table.restored(0, table.disk[0])
    for data in last[1:]:
        ahead.receive(data)
    assert ahead.over
    here = ahead.replica
    votes, entry = [], b""
    for seat in (1, 2):
        header = m.Header(here.match, here.view, here.step, seat, here.digest)
        vote = m.sign(table.identities[seat], header, m.Vote(1, (0,), (), ()))
        votes.append(m.wire(vote))
        entry = table.sign(header, m.Enter(1, opens(vote)))
    for data in (*votes, entry):
        ahead.receive(data)
    opened = ahead.log.count().opened()
    assert opened is not None
    assert not ahead.log.open_view(opened)
