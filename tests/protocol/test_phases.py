"""The phase table: it is whole, games take no step outside it, and who may say what in which phase."""

from __future__ import annotations

import copy
import itertools

import pytest

from otto_protocol.errors import PeerFault
from otto_protocol.match import messages as m
from otto_protocol.match.phases import (
    BEFORE_DEAL,
    LOSS,
    SPEAKERS,
    TRANSITIONS,
    MatchEvent,
    MatchPhase,
    Who,
    after,
)
from tests.protocol.lab_games import PLAYERS, all_steps
from tests.protocol.test_messages import fill


def walked() -> set[tuple[MatchPhase, MatchPhase]]:
    """(before, after) of every step of the sample games."""
    found = set()
    for player in PLAYERS:
        games = 2 if player == "eager" else 1
        steps = all_steps(2, games=games, player=player)
        found |= {(one[0].phase, other[0].phase) for one, other in itertools.pairwise(steps)}
    return found


def test_every_phase_has_speakers_and_only_the_end_has_none() -> None:
    assert set(SPEAKERS) == set(MatchPhase)
    assert [phase for phase, row in SPEAKERS.items() if row.who is Who.NOBODY] == [MatchPhase.OVER]
    assert all(bool(row.messages) == (row.who is not Who.NOBODY) for row in SPEAKERS.values())


def test_every_message_belongs_to_a_phase() -> None:
    spoken = {kind for row in SPEAKERS.values() for kind in row.messages}
    assert spoken | set(m.BALLOTS) | {m.Ack} == set(m.KINDS)
    assert not spoken & {*m.BALLOTS, m.Ack}  # those belong to a view; Ack stands in every phase


def test_every_phase_is_reached_and_left() -> None:
    reached = {MatchPhase.KEY_COMMIT}
    while more := {to for (start, _), to in TRANSITIONS.items() if start in reached} - reached:
        reached |= more
    assert reached == set(MatchPhase)
    assert {start for start, _ in TRANSITIONS} == set(MatchPhase) - {MatchPhase.OVER}


def test_every_phase_but_the_end_survives_a_loss() -> None:
    for phase in MatchPhase:
        rows = [event for start, event in TRANSITIONS if start is phase and event in LOSS]
        assert bool(rows) == (phase is not MatchPhase.OVER), phase
    assert all(after(phase, MatchEvent.RESTART) is MatchPhase.KEY_COMMIT for phase in BEFORE_DEAL)


def test_games_take_only_steps_of_the_table() -> None:
    allowed = {(start, to) for (start, _), to in TRANSITIONS.items()}
    assert walked() <= allowed


def test_games_take_every_step_of_the_table_that_needs_no_loss() -> None:
    healing = {MatchPhase.HEAL_SHUFFLE, MatchPhase.HEAL_PROVE, MatchPhase.RAISE, MatchPhase.TAGS}
    rare = {
        (MatchPhase.DRAW, MatchPhase.RESHUFFLE),
        (MatchPhase.PLAY, MatchPhase.RESHUFFLE),
    }  # one of them at a time
    expected = {
        (start, to)
        for (start, event), to in TRANSITIONS.items()
        if event not in LOSS and start not in healing
    }
    assert expected - walked() <= rare
    assert rare & walked()


@pytest.mark.parametrize("phase", MatchPhase, ids=lambda phase: phase.value)
def test_p03_every_phase_refuses_every_message_of_another(phase: MatchPhase) -> None:
    replica = copy.copy(all_steps(2)[20][0])
    replica.phase = phase
    for kind in m.KINDS:
        if kind in SPEAKERS[phase].messages or (kind is m.Ack and phase is not MatchPhase.OVER):
            continue
        for seat in replica.live:
            with pytest.raises(PeerFault) as caught:
                replica.check(seat, fill(kind, False))
            assert (caught.value.culprit, caught.value.rule) == (seat, "P3")


def test_p03_every_phase_takes_its_messages_from_whom_it_wants_them_and_acks_from_the_others() -> None:
    seen: set[tuple[MatchPhase, type[m.Body]]] = set()
    for player in PLAYERS:
        for replica, spoken in all_steps(2, player=player):
            for seat, one in spoken.items():
                if seat in replica.wanted():
                    seen.add((replica.phase, type(one.message.body)))
                else:
                    assert one.message.body == m.Ack()
    healing = {MatchPhase.HEAL_SHUFFLE, MatchPhase.HEAL_PROVE, MatchPhase.RAISE, MatchPhase.TAGS}
    expected = {(p, kind) for p, row in SPEAKERS.items() if p not in healing for kind in row.messages}
    assert seen == expected


def test_p03_a_seat_from_which_nothing_is_wanted_says_nothing_but_ack() -> None:
    found = set()
    for replica, spoken in all_steps(3, "b"):
        bodies = [one.message.body for one in spoken.values() if one.message.body != m.Ack()]
        for seat in replica.wanted():
            with pytest.raises(PeerFault):
                replica.check(seat, m.Ack())
        for seat in set(replica.live) - set(replica.wanted()):
            body = bodies[0] if bodies else m.GoOn(b"")
            with pytest.raises(PeerFault) as caught:
                replica.check(seat, body)
            assert (caught.value.culprit, caught.value.rule) == (seat, "P3")
            found.add(replica.phase)
    assert {MatchPhase.SHUFFLE, MatchPhase.PLAY, MatchPhase.RESHUFFLE, MatchPhase.OVER} <= found
