"""A seat leaves a table in memory: the others vote, heal and play on; what a heal refuses (P12 to P14)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import pytest

from otto_protocol.crypto.group import G
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.errors import PeerFault
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Failed, Verified, audit
from otto_protocol.match.ballots import Ballots
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.proposals import Contradiction
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session, StepDone, ViewOpened
from tests.protocol.lab_games import RNG, eager

NO_POINT = b"\x02" + b"\xff" * 32


class Leavable(Lab):
    """A table that seats can leave; `seen` has every finished step."""

    def __init__(self, players: int, seed: bytes) -> None:
        super().__init__(players, Drbg(seed))
        self.seen: list[tuple[Replica, tuple[m.Signed, ...]]] = []
        self.views: list[ViewOpened] = []

    def drive(self, until: Callable[[Session], bool], seat: int | None = None) -> None:
        """Play until this holds at a seat (or all that are there); who has nothing else to do votes."""
        there = [one for one in self.sessions if not one.out]
        for _ in range(5_000):
            if all(until(one) for one in there if seat in (None, one.seat)):
                return
            busy = [self.turn_of(one.seat, eager) for one in there]
            for one in there:
                if not any(busy) and one.vote(again=True):
                    busy.append(True)
                for outgoing in one.take_outgoing():
                    self.send(one.seat, outgoing)
                self.note(one)
            assert any(busy), [(one.seat, one.replica.phase, one.awaited()) for one in there]
        raise AssertionError("it takes too long")

    def note(self, session: Session) -> None:
        """Keep what happened at the first seat that is still there."""
        watched = session.seat == min(one.seat for one in self.sessions if not one.out)
        for event in session.take_events():
            if isinstance(event, StepDone) and watched:
                self.seen.append((event.before, session.log[event.before.step]))
            if isinstance(event, ViewOpened) and watched:
                self.views.append(event)

    def leave(self, seat: int) -> None:
        """The seat signs LEAVE, and hears and says nothing any more."""
        assert self.sessions[seat].leave()
        for outgoing in self.sessions[seat].take_outgoing():
            self.send(seat, outgoing)


def at(phase: MatchPhase, turn: int = 0) -> Callable[[Session], bool]:
    def reached(session: Session) -> bool:
        replica = session.replica
        playing = replica.state is not None and replica.play.turn >= turn
        return (playing or turn == 0) and replica.phase is phase

    return reached


def over(session: Session) -> bool:
    return session.over


@functools.cache
def left(players: int, gone: int, phase: MatchPhase, turn: int) -> Leavable:
    """A whole match that a seat leaves in this phase."""
    lab = Leavable(players, f"left {players} {gone} {phase.value}".encode())
    lab.drive(at(phase, turn), gone)
    lab.leave(gone)
    lab.drive(over)
    return lab


CASES = [
    (3, 0, MatchPhase.SHUFFLE, 0),
    (3, 1, MatchPhase.PLAY, 3),
    (3, 2, MatchPhase.DRAW, 1),
    (4, 1, MatchPhase.PLAY, 2),
    (2, 1, MatchPhase.PLAY, 2),
    (2, 0, MatchPhase.DEAL, 0),
]


@pytest.mark.parametrize(("players", "gone", "phase", "turn"), CASES)
def test_r20_the_others_play_on_and_the_transcript_verifies(
    players: int, gone: int, phase: MatchPhase, turn: int
) -> None:
    lab = left(players, gone, phase, turn)
    there = [one for one in lab.sessions if one.seat != gone]
    assert len({(one.replica.digest, one.replica.totals) for one in there}) == 1
    assert {one.replica.view for one in there} == {1}
    assert not any(one.convicted for one in there)
    verdict = audit(there[0].transcript(), RNG)
    assert isinstance(verdict, Verified), verdict
    assert verdict.digest == there[0].replica.digest
    assert [event.gone for event in lab.views] == [(gone,)]


@pytest.mark.parametrize(("players", "gone", "phase", "turn"), [CASES[1], CASES[3]])
def test_r20_hands_stay_and_the_cards_are_one_deck(
    players: int, gone: int, phase: MatchPhase, turn: int
) -> None:
    lab = left(players, gone, phase, turn)
    before, after = lab.views[0].before.play, lab.views[0].after.play
    for seat in set(range(players)) - {gone}:
        held = {*before.hands[seat], *before.collections[seat]}
        assert held == {*after.hands[seat], *after.collections[seat]}
    healed = next(r for r, _ in lab.seen if r.view == 1 and r.phase is MatchPhase.PLAY).play
    places = [*healed.pile, *(slot for row in (*healed.hands, *healed.collections) for slot in row)]
    assert len(places) == len(set(places))
    assert len(places) + len(healed.spent) == 152
    assert healed.hands[gone] == healed.collections[gone] == ()


def test_the_audit_refuses_a_removal_without_its_ballots() -> None:
    lab = left(3, 1, MatchPhase.PLAY, 3)
    transcript = lab.sessions[0].transcript()
    kinds = [m.parse_content(signed).body for signed in transcript.messages]
    votes = [n for n, body in enumerate(kinds) if isinstance(body, m.VOTES)]
    assert len(votes) >= 4
    for n in votes:
        messages = (*transcript.messages[:n], *transcript.messages[n + 1 :])
        verdict = audit(dataclasses.replace(transcript, messages=messages), RNG)
        if isinstance(kinds[n], m.Leave) or len(votes) <= 5:  # more ballots than needed may be there
            assert isinstance(verdict, Failed)


# -- what a heal refuses -------------------------------------------------------------------------------


def heal_step(phase: MatchPhase) -> tuple[Replica, dict[int, m.Body]]:
    """The heal of the sample match at this phase, and what was said in it."""
    for replica, said in left(3, 1, MatchPhase.PLAY, 3).seen:
        if replica.phase is phase:
            return replica, {signed.seat: m.parse_content(signed).body for signed in said}
    raise LookupError(phase)


def fault(replica: Replica, seat: int, body: m.Body) -> str:
    with pytest.raises(PeerFault) as caught:
        replica.check(seat, body)
    assert caught.value.culprit == seat
    return caught.value.rule


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def test_p12_a_healing_key_without_its_proof() -> None:
    replica, said = heal_step(MatchPhase.HEAL_PROVE)
    (seat, body), (_, other) = said.items()
    assert isinstance(body, m.HealProof)
    assert isinstance(other, m.HealProof)
    replica.check(seat, body)
    for changed in (
        dataclasses.replace(body, key=NO_POINT),
        dataclasses.replace(body, key=G.encode()),
        dataclasses.replace(body, possession=b""),
        dataclasses.replace(body, possession=flipped(body.possession)),
        dataclasses.replace(body, key=other.key, possession=other.possession),
    ):
        assert fault(replica, seat, changed) == "P12"


def test_p13_cards_that_are_not_raised_as_they_must_be() -> None:
    replica, said = heal_step(MatchPhase.RAISE)
    (seat, body), (_, other) = said.items()
    assert isinstance(body, m.Raise)
    assert isinstance(other, m.Raise)
    replica.check(seat, body)
    for changed in (
        dataclasses.replace(body, pile=body.pile[66:]),
        dataclasses.replace(body, hidden=body.hidden + body.hidden[:66]),
        dataclasses.replace(body, pile=body.pile[66:132] + body.pile[:66] + body.pile[132:]),
        dataclasses.replace(body, hidden=NO_POINT + body.hidden[33:]),
        dataclasses.replace(body, proof=flipped(body.proof)),
        dataclasses.replace(body, proof=other.proof),
        other,
    ):
        assert fault(replica, seat, changed) == "P13"


def test_p14_tags_that_are_not_what_they_must_be() -> None:
    replica, said = heal_step(MatchPhase.TAGS)
    (seat, body), (_, other) = said.items()
    assert isinstance(body, m.Tags)
    replica.check(seat, body)
    for changed in (
        dataclasses.replace(body, pile=body.pile[33:]),
        dataclasses.replace(body, hidden=body.hidden + G.encode()),
        dataclasses.replace(body, pile=G.encode() + body.pile[33:]),
        dataclasses.replace(body, hidden=NO_POINT + body.hidden[33:]),
        dataclasses.replace(body, proof=b""),
        dataclasses.replace(body, proof=flipped(body.proof)),
        other,
    ):
        assert fault(replica, seat, changed) == "P14"


# -- ballots that contradict each other ----------------------------------------------------------------


IDENTITIES = [IdentityKey.generate(Drbg(bytes([seat]))) for seat in range(3)]


def ballot(seat: int, number: int, step: int = 7, **fields: object) -> m.Message:
    opens = bytes(32) if fields.get("cite") else b""
    body = dataclasses.replace(m.Ballot(number, (2,), (), b"", 0, opens), **fields)  # type: ignore[arg-type]
    return m.sign(IDENTITIES[seat], m.Header(bytes(32), 0, step, seat, bytes([step]) * 32), body)


def leave(seat: int, last: int, cite: int = 0) -> m.Message:
    return m.sign(IDENTITIES[seat], m.Header(bytes(32), 0, 7, seat, bytes(32)), m.Leave(last, cite))


def contradiction(*messages: m.Message) -> str:
    """The rule that two messages of one seat break; in whatever order they arrive."""
    rules = set()
    for order in (messages, messages[::-1]):
        ballots = Ballots({0, 1, 2})
        assert ballots.add(order[0])
        with pytest.raises(Contradiction) as caught:
            ballots.add(order[1])
        assert caught.value.fault.culprit == messages[0].header.seat
        assert set(caught.value.messages) == set(messages)
        rules.add(caught.value.fault.rule)
    (rule,) = rules
    return rule


def test_p16_two_ballots_in_one_round() -> None:
    assert contradiction(ballot(1, 3), ballot(1, 3, gone=())) == "P16"
    assert contradiction(ballot(1, 3), ballot(1, 3, step=8)) == "P16"


def test_p17_a_later_ballot_cites_less() -> None:
    assert contradiction(ballot(1, 3, cite=2), ballot(1, 4)) == "P17"
    assert contradiction(ballot(1, 5, cite=4), ballot(1, 6, cite=3)) == "P17"


def test_p18_a_ballot_after_leave() -> None:
    assert contradiction(leave(1, 2), ballot(1, 3)) == "P18"
    assert contradiction(leave(1, 3, cite=1), ballot(1, 3, cite=2)) == "P18"
    assert contradiction(leave(1, 3), leave(1, 2)) == "P18"


def test_p19_two_own_messages_for_one_step() -> None:
    assert contradiction(ballot(1, 3, own=bytes(32)), ballot(1, 4)) == "P19"
    assert contradiction(ballot(1, 3, own=bytes(32)), ballot(1, 4, own=bytes([1]) * 32)) == "P19"


def test_ballots_of_an_honest_seat_do_not_contradict() -> None:
    ballots = Ballots({0, 1, 2})
    honest = [
        ballot(1, 1, gone=()),
        ballot(1, 2),
        ballot(1, 4, cite=3),
        ballot(1, 5, step=8, own=bytes(32), cite=3),
    ]
    for one in honest:
        assert ballots.add(one)
        assert not ballots.add(one)
    assert ballots.add(leave(1, 5, cite=3))
    assert not ballots.add(leave(1, 5, cite=3))


def test_ballots_that_make_no_sense_are_ignored() -> None:
    ballots = Ballots({0, 1, 2})
    for bad in (
        ballot(1, 0),
        ballot(1, 1, cite=1),
        ballot(1, 2, cite=1, opens=b""),
        ballot(1, 2, opens=bytes(32)),
        ballot(1, 1, gone=(2, 0)),
        ballot(1, 1, gone=(2, 2)),
        ballot(1, 1, excluded=(0,)),
        ballot(1, 1, gone=(0, 1, 2)),
        ballot(1, 1, gone=(5,)),
        ballot(1, 2**31),
    ):
        assert not ballots.add(bad)
    assert not ballots.any
