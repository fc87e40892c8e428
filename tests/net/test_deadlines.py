"""The turn clock, and who is silent or overdue; times are numbers."""

from __future__ import annotations

from otto_p2p.table.deadlines import RETURNING, UNHEARD, Patience

HEARD = {1: 0.5, 2: 0.5}


def test_the_clock_of_a_question_runs_out_once() -> None:
    patience = Patience(120, 150, 0.0)
    assert not patience.time_is_up(1000.0)  # nothing was asked
    patience.asked("lead", 1000.0)
    patience.asked("lead", 1100.0)  # others have moved: it is the same question
    assert not patience.time_is_up(1119.0)
    assert patience.waited(1119.0) == 119.0
    assert patience.time_is_up(1120.0)
    assert not patience.time_is_up(1121.0)
    patience.asked("exchange", 1122.0)
    assert not patience.time_is_up(1241.0)
    assert patience.time_is_up(1242.0)


def test_an_answered_question_has_no_clock_and_a_table_may_have_none() -> None:
    patience = Patience(120, 150, 0.0)
    patience.asked("lead", 0.0)
    patience.asked(None, 10.0)
    assert not patience.time_is_up(500.0)
    unhurried = Patience(0, 150, 0.0)
    unhurried.asked("lead", 0.0)
    assert not unhurried.time_is_up(1e6)
    assert unhurried.suspects(1e6, HEARD, {1}, (), voting=False) == frozenset()


def test_who_is_silent_is_waited_for_as_long_as_nobody_hurries() -> None:
    patience = Patience(120, 150, 0.0)
    silence = {1: 149.0, 2: 0.1, 3: UNHEARD + 1}
    assert patience.suspects(20.0, silence, (), (), voting=False) == frozenset()
    assert patience.suspects(20.0, silence | {1: 151.0}, (), (), voting=False) == {1}
    assert patience.suspects(20.0, silence, (), {3}, voting=False) == {3}
    assert patience.suspects(20.0, silence, (), {2}, voting=False) == frozenset()  # it is heard
    assert patience.suspects(20.0, silence, (), (), voting=True) == frozenset()  # a vote alone hurries nobody
    assert patience.suspects(20.0, silence, (), {1, 3}, voting=True) == {1, 3}


def test_when_somebody_comes_back_the_others_may_come_as_well() -> None:
    patience = Patience(120, 150, 0.0)
    silence = {1: 200.0, 2: 0.1}
    assert patience.suspects(200.0, silence, (), (), voting=True) == {1}
    patience.returned(1.0, 200.0)  # it was away for a moment only
    assert patience.suspects(200.5, silence, (), (), voting=True) == {1}
    patience.returned(199.0, 201.0)
    assert patience.suspects(201.5, silence, (), (), voting=True) == frozenset()
    patience.returned(6.0, 208.0)  # again and again: not for ever
    assert patience.suspects(201.5 + RETURNING, silence, (), (), voting=True) == {1}


def test_who_is_heard_and_does_not_move_is_overdue_at_all_others_in_the_same_vote() -> None:
    first, second = Patience(120, 150, 0.0), Patience(120, 150, 3.0)
    assert first.suspects(270.0, HEARD, {1}, (), voting=False) == frozenset()
    assert first.suspects(271.0, HEARD, {1}, (), voting=False) == {1}
    assert second.suspects(271.1, HEARD, {1}, (), voting=True) == {1}  # a bit early: somebody has voted
    assert first.suspects(272.0, HEARD, {1}, (), voting=True) == {1}
    for patience in (first, second):
        # Nobody who is only sealed by its vote becomes overdue while the vote lasts.
        assert patience.suspects(900.0, HEARD, {1, 2}, (), voting=True) == {1}
        patience.moved_on(901.0)
        assert patience.suspects(902.0, HEARD, {2}, (), voting=False) == frozenset()


def test_a_long_vote_about_somebody_else_makes_nobody_overdue() -> None:
    patience = Patience(120, 150, 0.0)
    for now in range(200, 1000, 50):
        assert patience.suspects(float(now), {1: float(now), 2: 0.1}, {2}, (), voting=True) == {1}
