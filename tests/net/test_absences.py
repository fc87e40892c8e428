"""Who of a match is away, and since when; times are numbers."""

from __future__ import annotations

from otto_p2p.table.absences import Absences
from otto_p2p.table.timing import TableTiming

TIMING = TableTiming()
ANNA, BOB, STRANGER = b"anna", b"bob", b"stranger"


def test_who_goes_and_comes_back() -> None:
    absences = Absences((ANNA, BOB), (BOB, STRANGER), 100.0, TIMING)
    assert absences.away() == {ANNA: ("unlinked", 100.0)}
    assert absences.back(ANNA, 103.0) == 3.0
    assert absences.back(ANNA, 104.0) is None  # it was here
    assert absences.lost(BOB, "silent", 110.0)
    assert not absences.lost(BOB, "silent", 111.0)  # that is no news
    assert absences.away() == {BOB: ("silent", 110.0)}
    assert absences.lost(BOB, "left", 112.0)
    assert absences.back(BOB, 115.0) == 3.0
    assert not absences.lost(STRANGER, "left", 116.0)
    assert absences.away() == {}


def test_who_is_heard_through_others_is_found_once() -> None:
    absences = Absences((ANNA, BOB), (ANNA, BOB), 0.0, TIMING)
    absences.lost(ANNA, "lost", 50.0)
    heard: dict[bytes, float] = {ANNA: 49.0, BOB: 60.0}
    assert absences.found_indirect(heard.get) == frozenset()
    heard[ANNA] = 50.5 + TIMING.indirect
    assert absences.found_indirect(heard.get) == {ANNA}
    assert absences.found_indirect(heard.get) == frozenset()
    absences.back(ANNA, 60.0)
    assert absences.found_indirect(heard.get) == frozenset()
    absences.lost(ANNA, "lost", 70.0)
    heard[ANNA] = 73.0
    assert absences.found_indirect(heard.get) == {ANNA}  # it went once more


def test_silence_counts_from_the_beginning_of_the_match() -> None:
    absences = Absences((ANNA,), (), 100.0, TIMING)
    assert absences.silence(ANNA, {}.get, 103.0) == 3.0
    assert absences.silence(ANNA, {ANNA: 20.0}.get, 103.0) == 3.0
    assert absences.silence(ANNA, {ANNA: 102.0}.get, 103.0) == 1.0
