"""A seat leaves a table in memory: the others vote, heal and play on; what a heal refuses (P12 to P14)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import pytest

from otto_protocol.crypto.group import G
from otto_protocol.errors import PeerFault
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Failed, Verified, audit
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session
from otto_protocol.match.views import Change, Completed, Opened
from tests.protocol.lab_games import RNG, changes, eager

NO_POINT = b"\x02" + b"\xff" * 32


class Leavable(Lab):
    """A table that seats can leave."""

    def __init__(self, players: int, seed: bytes) -> None:
        super().__init__(players, Drbg(seed))

    def drive(self, until: Callable[[Session], bool], seat: int | None = None) -> None:
        """Play until this holds at a seat (or all that are there); a seat with nothing else to do votes."""
        there = [one for one in self.sessions if not one.out]
        for _ in range(5_000):
            if all(until(one) for one in there if seat in (None, one.seat)):
                return
            busy = [self.turn_of(one.seat, eager) for one in there]
            for one in there:
                if not any(busy) and one.vote():
                    busy.append(True)
                self.flush(one.seat)
            assert any(busy), [(one.seat, one.replica.phase, one.awaited()) for one in there]
        raise AssertionError("it takes too long")

    @functools.cached_property
    def happened(self) -> list[Change]:
        """Every step and view of the match, when it is over."""
        return changes(next(one for one in self.sessions if one.over).transcript())

    @property
    def views(self) -> list[Opened]:
        """The view changes."""
        return [change for change in self.happened if isinstance(change, Opened)]

    @property
    def seen(self) -> list[Completed]:
        """The steps that were completed."""
        return [change for change in self.happened if isinstance(change, Completed)]


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
    assert [event.gone for event in lab.views] == [{gone}]


@pytest.mark.parametrize(("players", "gone", "phase", "turn"), [CASES[1], CASES[3]])
def test_r20_hands_stay_and_the_cards_are_one_deck(
    players: int, gone: int, phase: MatchPhase, turn: int
) -> None:
    lab = left(players, gone, phase, turn)
    before, after = lab.views[0].before.play, lab.views[0].after.play
    for seat in set(range(players)) - {gone}:
        held = {*before.hands[seat], *before.collections[seat]}
        assert held == {*after.hands[seat], *after.collections[seat]}
    replicas = [step.before for step in lab.seen]
    healed = next(one for one in replicas if one.view == 1 and one.phase is MatchPhase.PLAY).play
    places = [*healed.pile, *(slot for row in (*healed.hands, *healed.collections) for slot in row)]
    assert len(places) == len(set(places))
    assert len(places) + len(healed.spent) == 152
    assert healed.hands[gone] == healed.collections[gone] == ()


def test_the_audit_refuses_a_removal_without_its_ballots() -> None:
    lab = left(3, 1, MatchPhase.PLAY, 3)
    transcript = lab.sessions[0].transcript()
    bodies = [m.parse_content(m.parse_signed(item)).body for item in transcript.items]
    ballots = [n for n, body in enumerate(bodies) if isinstance(body, m.BALLOTS)]
    assert [type(bodies[n]) for n in ballots] == [m.Leave, m.Vote, m.Vote, m.Enter]
    for n in ballots:
        items = (*transcript.items[:n], *transcript.items[n + 1 :])
        assert isinstance(audit(dataclasses.replace(transcript, items=items), RNG), Failed)


# -- what a heal refuses -------------------------------------------------------------------------------


def heal_step(phase: MatchPhase) -> tuple[Replica, dict[int, m.Body]]:
    """The heal of the sample match at this phase, and what was said in it."""
    for step in left(3, 1, MatchPhase.PLAY, 3).seen:
        if step.before.phase is phase:
            return step.before, {seat: one.message.body for seat, one in step.spoken.items()}
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
