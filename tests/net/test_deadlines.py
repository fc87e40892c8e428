"""The turn clock, and who is silent or overdue; times are numbers."""

from __future__ import annotations

from otto_p2p.table.deadlines import Deadlines
from otto_p2p.table.timing import TableTiming

TIMING = TableTiming()
HEARD = {1: 0.5, 2: 0.5}


def test_the_clock_of_a_question_runs_out_once() -> None:
    deadlines = Deadlines(120, 150, 0.0, TIMING)
    assert not deadlines.time_is_up(1000.0)  # nothing was asked
    deadlines.asked("lead", 1000.0)
    deadlines.asked("lead", 1100.0)  # others have moved: it is the same question
    assert not deadlines.time_is_up(1119.0)
    assert deadlines.waited(1119.0) == 119.0
    assert deadlines.time_is_up(1120.0)
    assert not deadlines.time_is_up(1121.0)
    deadlines.asked("exchange", 1122.0)
    assert not deadlines.time_is_up(1241.0)
    assert deadlines.time_is_up(1242.0)


def test_an_answered_question_has_no_clock_and_a_table_may_have_none() -> None:
    deadlines = Deadlines(120, 150, 0.0, TIMING)
    deadlines.asked("lead", 0.0)
    deadlines.asked(None, 10.0)
    assert not deadlines.time_is_up(500.0)
    unhurried = Deadlines(0, 150, 0.0, TIMING)
    unhurried.asked("lead", 0.0)
    assert not unhurried.time_is_up(1e6)
    assert unhurried.suspects(1e6, HEARD, {1}, (), voting=False) == frozenset()


def test_who_is_silent_is_waited_for_as_long_as_nobody_hurries() -> None:
    deadlines = Deadlines(120, 150, 0.0, TIMING)
    silence = {1: 149.0, 2: 0.1, 3: TIMING.hurried + 1}
    assert deadlines.suspects(20.0, silence, (), (), voting=False) == frozenset()
    assert deadlines.suspects(20.0, silence | {1: 151.0}, (), (), voting=False) == {1}
    assert deadlines.suspects(20.0, silence, (), {3}, voting=False) == {3}
    assert deadlines.suspects(20.0, silence, (), {2}, voting=False) == frozenset()  # it is heard
    assert (
        deadlines.suspects(20.0, silence, (), (), voting=True) == frozenset()
    )  # a vote alone hurries nobody
    assert deadlines.suspects(20.0, silence, (), {1, 3}, voting=True) == {1, 3}


def test_when_somebody_comes_back_the_others_may_come_as_well() -> None:
    deadlines = Deadlines(120, 150, 0.0, TIMING)
    silence = {1: 200.0, 2: 0.1}
    assert deadlines.suspects(200.0, silence, (), (), voting=True) == {1}
    deadlines.returned(1.0, 200.0)  # it was away for a moment only
    assert deadlines.suspects(200.5, silence, (), (), voting=True) == {1}
    deadlines.returned(199.0, 201.0)
    assert deadlines.suspects(201.5, silence, (), (), voting=True) == frozenset()
    deadlines.returned(6.0, 208.0)  # again and again: not for ever
    assert deadlines.suspects(201.5 + TIMING.returning, silence, (), (), voting=True) == {1}


def test_who_is_heard_and_does_not_move_is_overdue_at_all_others_in_the_same_vote() -> None:
    first, second = Deadlines(120, 150, 0.0, TIMING), Deadlines(120, 150, 3.0, TIMING)
    assert first.suspects(270.0, HEARD, {1}, (), voting=False) == frozenset()
    assert first.suspects(271.0, HEARD, {1}, (), voting=False) == {1}
    assert second.suspects(271.1, HEARD, {1}, (), voting=True) == {1}  # a bit early: somebody has voted
    assert first.suspects(272.0, HEARD, {1}, (), voting=True) == {1}
    for deadlines in (first, second):
        # Nobody who is only sealed by its vote becomes overdue while the vote lasts.
        assert deadlines.suspects(900.0, HEARD, {1, 2}, (), voting=True) == {1}
        deadlines.moved_on(901.0)
        assert deadlines.suspects(902.0, HEARD, {2}, (), voting=False) == frozenset()


def test_a_long_vote_about_somebody_else_makes_nobody_overdue() -> None:
    deadlines = Deadlines(120, 150, 0.0, TIMING)
    for now in range(200, 1000, 50):
        assert deadlines.suspects(float(now), {1: float(now), 2: 0.1}, {2}, (), voting=True) == {1}
