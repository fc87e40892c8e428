"""Sessions at a table in memory: whole games, late and repeated messages, crashes, and who is convicted."""

from __future__ import annotations

import dataclasses
from collections import Counter, deque

import pytest

from otto_protocol.encoding import encode, to_value
from otto_protocol.errors import DecodeError, IllegalMove, LocalError
from otto_protocol.hashing import Drbg, random_below, tagged_hash
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Verified
from otto_protocol.match.events import Convicted, Diverged, Record, StepDone
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.roster import TableRules
from otto_protocol.rules import moves
from tests.protocol.lab_games import PLAYERS, RNG, all_steps, eager, played, sign_at

SHORT = {2: "a", 3: "d", 4: "e", 5: "d"}
"""Seeds of games that end soon."""


# -- whole games ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 6))
def test_a_whole_game_ends_the_same_for_everybody_and_verifies(players: int) -> None:
    lab = played(players, SHORT[players])
    ends = {(one.over, one.replica.digest, one.replica.totals, one.replica.step) for one in lab.sessions}
    assert len(ends) == 1
    assert lab.session(0).over
    assert not any(one.convicted for one in lab.sessions)
    verdict = lab.audit(players - 1)
    assert isinstance(verdict, Verified)
    assert (verdict.digest, verdict.totals) == (lab.session(0).replica.digest, lab.session(0).replica.totals)
    assert len({one.transcript() for one in lab.sessions}) == 1


@pytest.mark.parametrize("players", [6, 8, 10])
def test_a_large_table_plays_its_first_turns(players: int) -> None:
    lab = Lab(players, Drbg(b"large"))
    while not all(one.replica.state and one.replica.play.turn >= 2 for one in lab.sessions):
        assert any([lab.turn_of(seat, eager) for seat in range(players)])
    assert not any(one.convicted for one in lab.sessions)
    at = {one.replica.step: one.replica.digest for one in lab.sessions}
    for one in lab.sessions:
        for event in one.take_events():
            if isinstance(event, StepDone):
                assert at.setdefault(event.before.step, event.before.digest) == event.before.digest


def test_a_match_of_two_games_and_every_kind_of_player() -> None:
    assert len(played(2, games=2).session(0).replica.results) == 2
    for player in PLAYERS:
        assert isinstance(played(2, player=player).audit(), Verified)


def test_everybody_has_the_same_table_words_and_another_key_each_game() -> None:
    lab = played(2, games=2)
    assert len({one.replica.table_number for one in lab.sessions}) == 1
    assert lab.session(0).replica.table_number < 2**33


# -- what comes late, twice, or from nobody ------------------------------------------------------------


class Rough(Lab):
    """A network that turns the order around and brings half of all messages twice."""

    def send(self, seat: int, record: Record) -> None:
        super().send(seat, record)
        for other, queue in enumerate(self.queues):
            if other != seat:
                queue.rotate(random_below(len(queue) + 1, self.rng))
                if random_below(2, self.rng):
                    queue.append(record.data)


def test_a_rough_network_changes_nothing() -> None:
    lab = Rough(3, Drbg(b"rough"))
    lab.play(eager)
    assert {one.over for one in lab.sessions} == {True}
    assert len({one.replica.digest for one in lab.sessions}) == 1
    assert not any(one.convicted for one in lab.sessions)


def test_a_message_is_new_once() -> None:
    lab = Lab(2, Drbg(b"once"))
    lab.session(0).work()
    data = lab.session(0).take_records()[0].data
    assert lab.session(1).receive(data)
    assert not lab.session(1).receive(data)


def test_bytes_that_no_member_signed_are_refused_and_blame_nobody() -> None:
    lab = Lab(2, Drbg(b"strangers"))
    lab.session(0).work()
    data = lab.session(0).take_records()[0].data
    good = m.parse_signed(data)
    stranger = Lab(2, Drbg(b"elsewhere")).identities[0]
    copied = stranger.sign(m.SIGNATURE_TAG, lab.session(1).replica.match, good.content)
    for bad in (
        dataclasses.replace(good, signature=bytes(64)),
        dataclasses.replace(good, signature=copied),
        dataclasses.replace(good, seat=1),
        dataclasses.replace(good, seat=7),
        dataclasses.replace(good, content=good.content + b"\0"),
    ):
        with pytest.raises(DecodeError):
            lab.session(1).receive(encode(to_value(bad)))
    for junk in (b"", data[:-1], data + b"\0", bytes(100)):
        with pytest.raises(DecodeError):
            lab.session(1).receive(junk)
    assert not lab.session(1).convicted
    assert lab.session(1).receive(data)


@pytest.mark.parametrize("ahead", [2, 1_000_000])
def test_a_message_from_further_ahead_than_anybody_can_be_is_dropped(ahead: int) -> None:
    lab = Lab(2, Drbg(b"ahead"))
    replica = lab.session(1).replica
    header = m.Header(replica.match, 0, ahead, 0, replica.digest)
    far = m.sign(lab.identities[0], header, m.GoOn(b""))
    assert not lab.session(1).receive(m.wire(far))
    near = m.sign(lab.identities[0], dataclasses.replace(header, step=1), m.GoOn(b""))
    assert lab.session(1).receive(m.wire(near))


def test_a_peer_that_heard_nothing_catches_up_from_another() -> None:
    lab = played(3, SHORT[3])
    late = Session(lab.start, lab.identities[2], lab.seeds[2], RNG)
    while not late.over:
        batch = lab.session(0).messages_since(late.replica.view, late.replica.step)[:50]
        for data in batch:
            late.receive(data)
    assert late.replica.digest == lab.session(0).replica.digest


# -- who is convicted ----------------------------------------------------------------------------------


def midgame(players: int = 3, seed: bytes = b"mid") -> Lab:
    """A table in its second turn or later, where all have heard all, and wait for the leader's card."""
    lab = Lab(players, Drbg(seed))

    def is_to_lead() -> bool:
        decisions = [move for one in lab.sessions for move in one.decisions()]
        return (
            lab.session(0).replica.state is not None
            and lab.session(0).replica.play.turn >= 1
            and any(isinstance(move, moves.Lead) for move in decisions)
        )

    assert lab.play_until(is_to_lead, eager)
    while any(lab.queues) or any([one.work() for one in lab.sessions]):
        for seat in range(players):
            lab.flush(seat)
            while lab.queues[seat]:
                lab.hear(seat, lab.queues[seat].popleft())
            lab.flush(seat)
    for one in lab.sessions:
        one.take_events()
    return lab


def convicted(session: Session) -> list[tuple[int, str]]:
    """(seat, rule) of the convictions among the new events."""
    events = session.take_events()
    return [(e.conviction.seat, e.conviction.rule) for e in events if isinstance(e, Convicted)]


def test_p01_two_contents_for_one_step() -> None:
    lab = midgame()
    replica = lab.session(0).replica
    seat = 1
    one, other = (sign_at(replica, lab.identities[seat], seat, m.GoOn(bytes(n))) for n in (0, 32))
    ahead = [
        m.sign(lab.identities[seat], dataclasses.replace(x.header, step=replica.step + 1), x.body)
        for x in (one, other)
    ]
    assert lab.session(0).receive(m.wire(ahead[0]))
    assert lab.session(0).receive(m.wire(ahead[1]))
    assert convicted(lab.session(0)) == [(seat, "P1")]
    evidence = lab.session(0).convicted[seat].evidence
    assert evidence == m.Evidence((ahead[0].signed, ahead[1].signed))
    assert lab.session(2).receive(encode(to_value(evidence)))  # also where nothing of it was heard
    assert convicted(lab.session(2)) == [(seat, "P1")]


def test_p01_one_content_with_two_signatures_is_no_fault() -> None:
    lab = Lab(2, Drbg(b"twice"))
    lab.session(0).work()
    data = lab.session(0).take_records()[0].data
    again = dataclasses.replace(
        m.parse_signed(data),
        signature=lab.identities[0].sign(
            m.SIGNATURE_TAG, lab.session(1).replica.match, m.parse_signed(data).content
        ),
    )
    lab.session(1).receive(data)
    assert not lab.session(1).receive(encode(to_value(again)))
    assert not lab.session(1).convicted


def raw(lab: Lab, seat: int, content: bytes) -> bytes:
    """Any bytes, properly signed by a seat."""
    signature = lab.identities[seat].sign(m.SIGNATURE_TAG, lab.session(0).replica.match, content)
    return encode((seat, content, signature))


def test_p02_a_signed_content_that_is_no_message() -> None:
    lab = midgame()
    good = sign_at(lab.session(0).replica, lab.identities[1], 1, m.GoOn(b"")).signed.content
    for number, content in enumerate((b"", b"\xc0", good + b"\0", bytes([0xDC, 0, 3]) + good[1:])):
        session = midgame(seed=b"mid").session(0) if number else lab.session(0)
        assert session.receive(raw(lab, 1, content))
        assert convicted(session) == [(1, "P2")]


def leading(lab: Lab) -> tuple[int, Session]:
    """The seat that all wait for, and the session of another one."""
    (leader,) = lab.session(0).awaited()
    return leader, lab.session((leader + 1) % 3)


def test_p03_a_message_that_the_phase_does_not_allow() -> None:
    lab = midgame()
    leader, other = leading(lab)
    wrong = sign_at(other.replica, lab.identities[leader], leader, m.KeyCommit(bytes(32)))
    assert other.receive(m.wire(wrong))
    assert convicted(other) == [(leader, "P3")]


def test_p15_a_message_for_another_match_signed_for_this_one() -> None:
    lab = midgame()
    replica = lab.session(0).replica
    header = m.Header(bytes(32), replica.view, replica.step, 1, replica.digest)
    content = m.sign(lab.identities[1], header, m.GoOn(b"")).signed.content
    assert lab.session(0).receive(raw(lab, 1, content))
    assert convicted(lab.session(0)) == [(1, "P15")]


def test_another_log_is_no_fault_whatever_it_says() -> None:
    lab = midgame()
    leader, other = leading(lab)
    replica = other.replica
    header = m.Header(replica.match, replica.view, replica.step, leader, bytes(32))
    assert other.receive(m.wire(m.sign(lab.identities[leader], header, m.KeyCommit(bytes(32)))))
    events = other.take_events()
    assert not other.convicted
    assert Diverged(leader, replica.step) in events


def test_p07_a_bad_shuffle_proof_convicts_its_maker_at_every_peer() -> None:
    class Forger(Lab):
        def send(self, seat: int, record: Record) -> None:
            message = m.parse_content(m.parse_signed(record.data))
            if seat == 1 and isinstance(message.body, m.ShuffleProof):
                bad = m.ShuffleProof(message.body.proof[:-1] + b"\0")
                record = Record(m.wire(m.sign(self.identities[1], message.header, bad)), own=True)
            super().send(seat, record)

    lab = Forger(3, Drbg(b"forger"))
    for _ in range(200):
        for seat in range(3):
            lab.turn_of(seat, eager)
    for seat in (0, 2):
        (conviction,) = lab.session(seat).convicted.values()
        assert (conviction.seat, conviction.rule) == (1, "P7")


# -- the player ----------------------------------------------------------------------------------------


def test_moves_are_refused_with_their_rule_and_nothing_is_signed() -> None:
    lab = midgame()
    leader = next(one for one in lab.sessions if one.decisions())
    other = next(one for one in lab.sessions if not one.decisions())
    with pytest.raises(LocalError, match="nothing to decide"):
        other.act(moves.Exchange(other.seat, True))
    with pytest.raises(IllegalMove) as caught:
        leader.act(moves.Exchange(leader.seat, True))
    assert caught.value.rule
    held = leader.secret.cards[leader.replica.play.hands[leader.seat][0]]
    with pytest.raises(IllegalMove) as caught:
        leader.act(moves.Lead(leader.seat, 9, 2**31))
    assert caught.value.rule == "T6"
    assert held is not None
    assert not leader.take_records()


def test_r04_the_number_that_is_said_is_true() -> None:
    lab = midgame()
    leader = next(one for one in lab.sessions if one.decisions())
    true = next(move for move in leader.decisions() if isinstance(move, moves.Lead))
    with pytest.raises(IllegalMove):
        leader.act(dataclasses.replace(true, number=(true.number + 1) % 10))


def test_nobody_deals_before_the_lobby_allows_it() -> None:
    lab = Lab(2, Drbg(b"bound"))
    lab.session(1).may_deal = False
    lab.play(eager)
    assert {one.replica.phase for one in lab.sessions} == {MatchPhase.DEAL}
    assert lab.session(1).at_first_deal
    lab.session(1).may_deal = True
    lab.play(eager)
    assert lab.session(0).over


def test_a_hand_is_known_to_its_owner_alone() -> None:
    lab = midgame()
    for one in lab.sessions:
        own = {*one.replica.play.hands[one.seat], *one.replica.play.collections[one.seat]}
        assert own <= one.secret.cards.keys()
        rest = [slot for seat in range(3) if seat != one.seat for slot in one.replica.play.hands[seat]]
        rest += [*one.replica.play.pile, *one.replica.play.collections[(one.seat + 1) % 3]]
        assert not one.secret.cards.keys() & set(rest)


# -- crashes -------------------------------------------------------------------------------------------


def restored(lab: Lab, seat: int, count: int | None = None) -> Session:
    """A seat's session after a crash, from the first `count` of its records."""
    session = Session(lab.start, lab.identities[seat], lab.seeds[seat], Drbg(b"after the crash"))
    session.restore(lab.records[seat][:count])
    return session


def test_every_prefix_of_a_journal_gives_the_digest_that_was_there() -> None:
    lab = played(2, SHORT[2])
    digests = {replica.step: replica.digest for replica, _ in all_steps(2, SHORT[2])}
    total = len(lab.records[0])
    points = sorted({*range(0, 40), *range(40, total, 37), total})
    steps = []
    for count in points:
        session = restored(lab, 0, count)
        assert session.replica.digest == digests[session.replica.step]
        assert not session.convicted
        steps.append(session.replica.step)
    assert steps == sorted(steps)
    assert steps[-1] == lab.session(0).replica.step


def test_where_a_seat_spoke_on_another_log_it_does_not_speak_again() -> None:
    lab = midgame()
    leader = next(one for one in lab.sessions if one.decisions())
    replica = leader.replica
    header = m.Header(replica.match, replica.view, replica.step, leader.seat, bytes(32))
    said = m.wire(m.sign(lab.identities[leader.seat], header, m.GoOn(b"")))
    lab.records[leader.seat].append((said, b""))
    session = restored(lab, leader.seat)
    assert session.replica.digest == replica.digest
    assert session.decisions() == []
    assert not session.work()


class Crashing(Lab):
    """Seats lose their memory at random: before a message is stored, before it is sent, or after that."""

    def __init__(self, players: int, seed: bytes) -> None:
        self.crashes: Counter[str] = Counter()
        self.signed: dict[tuple[int, int, int], set[bytes]] = {}
        super().__init__(players, Drbg(seed), TableRules())

    def send(self, seat: int, record: Record) -> None:
        message = m.parse_content(m.parse_signed(record.data))
        place = (message.header.view, message.header.step, seat)
        self.signed.setdefault(place, set()).add(message.signed.content)
        fate = random_below(30, self.rng)
        if fate == 0:
            self.crash(seat, "stored, not sent")
        else:
            super().send(seat, record)
            if fate == 1:
                self.crash(seat, "sent")

    def turn_of(self, seat: int, choose: object) -> bool:
        if random_below(150, self.rng) == 0 and not self.sessions[seat].over:
            self.crash(seat, "idle")
        return super().turn_of(seat, choose)  # type: ignore[arg-type]

    def crash(self, seat: int, when: str) -> None:
        """Start again from what is stored; then everybody gets from the others what it lacks."""
        self.crashes[when] += 1
        session = self.sessions[seat] = restored(self, seat)
        self.queues[seat] = deque()
        for other, peer in enumerate(self.sessions):
            if other != seat:
                self.queues[seat] += peer.messages_since(session.replica.view, session.replica.step)
                self.queues[other] += session.messages_since(peer.replica.view, peer.replica.step)


def test_crashes_at_any_point_cost_nothing_and_no_step_is_signed_twice() -> None:
    lab = Crashing(2, b"crashes d")
    lab.play(eager)
    assert min(lab.crashes.values()) > 2
    assert len(lab.crashes) == 3
    assert {one.over for one in lab.sessions} == {True}
    assert len({one.replica.digest for one in lab.sessions}) == 1
    assert not any(one.convicted for one in lab.sessions)
    assert {len(contents) for contents in lab.signed.values()} == {1}
    assert isinstance(lab.audit(), Verified)


def test_all_crash_at_once_and_go_on() -> None:
    lab = Crashing(3, b"all at once")
    for _ in range(6):
        for _ in range(200):
            lab.turn_of(random_below(3, lab.rng), eager)
        for seat in range(3):
            lab.sessions[seat] = restored(lab, seat)
            lab.queues[seat].clear()
        for seat in range(3):
            lab.crash(seat, "all")
    assert not any(one.convicted for one in lab.sessions)
    assert {len(contents) for contents in lab.signed.values()} == {1}
    assert lab.session(0).replica.step > 30


def test_a_restored_session_says_again_what_it_said_before() -> None:
    lab = played(2, SHORT[2])
    for count in range(1, 60):
        session = restored(lab, 0, count)
        own = {
            m.parse_content(m.parse_signed(data)).header.step
            for data, _ in lab.records[0][:count]
            if m.parse_signed(data).seat == 0
        }
        while session.work():
            pass
        for record in session.take_records():
            message = m.parse_content(m.parse_signed(record.data))
            assert message.header.step not in own
            assert record.data in {data for data, _ in lab.records[0]}, message


@pytest.mark.parametrize("kind", [m.Choose, m.Lead, m.LayDuel, m.OttoCommit])
def test_an_own_promise_that_the_journal_lost_is_recalled(kind: type[m.Body]) -> None:
    player = {m.LayDuel: "duellist", m.OttoCommit: "patient"}.get(kind, "eager")
    lab = played(2, player=player)
    messages = [m.parse_content(m.parse_signed(data)) for data, _ in lab.records[0]]
    seat = next(one.header.seat for one in messages if isinstance(one.body, kind))
    messages = [m.parse_content(m.parse_signed(data)) for data, _ in lab.records[seat]]
    lost = next(n for n, one in enumerate(messages) if isinstance(one.body, kind) and one.header.seat == seat)
    session = restored(lab, seat, lost)
    while not session.over:
        for data in lab.session(1 - seat).messages_since(session.replica.view, session.replica.step)[:40]:
            session.receive(data)
    assert session.replica.digest == lab.session(seat).replica.digest
    assert session.secret == lab.session(seat).secret


def test_a_journal_of_another_secret_is_noticed() -> None:
    lab = played(2, SHORT[2])
    other = Session(lab.start, lab.identities[0], tagged_hash("another seed"), RNG)
    with pytest.raises(AssertionError):  # an own message that this seed did not make
        other.restore(lab.records[0][:60])
