"""Who of a match is away, and since when; times are numbers."""

from __future__ import annotations

from otto_p2p.table.absences import ROUND_ABOUT, Presence

ANNA, BOB, STRANGER = b"anna", b"bob", b"stranger"


def test_who_goes_and_comes_back() -> None:
    presence = Presence((ANNA, BOB), (BOB, STRANGER), 100.0)
    assert presence.away() == {ANNA: ("unlinked", 100.0)}
    assert presence.back(ANNA, 103.0) == 3.0
    assert presence.back(ANNA, 104.0) is None  # it was here
    assert presence.lost(BOB, "silent", 110.0)
    assert not presence.lost(BOB, "silent", 111.0)  # that is no news
    assert presence.away() == {BOB: ("silent", 110.0)}
    assert presence.lost(BOB, "left", 112.0)
    assert presence.back(BOB, 115.0) == 3.0
    assert not presence.lost(STRANGER, "left", 116.0)
    assert presence.away() == {}


def test_who_is_heard_through_others_is_found_once() -> None:
    presence = Presence((ANNA, BOB), (ANNA, BOB), 0.0)
    presence.lost(ANNA, "lost", 50.0)
    heard: dict[bytes, float] = {ANNA: 49.0, BOB: 60.0}
    assert presence.found_round_about(heard.get) == frozenset()
    heard[ANNA] = 50.5 + ROUND_ABOUT
    assert presence.found_round_about(heard.get) == {ANNA}
    assert presence.found_round_about(heard.get) == frozenset()
    presence.back(ANNA, 60.0)
    assert presence.found_round_about(heard.get) == frozenset()
    presence.lost(ANNA, "lost", 70.0)
    heard[ANNA] = 73.0
    assert presence.found_round_about(heard.get) == {ANNA}  # it went once more


def test_silence_counts_from_the_beginning_of_the_match() -> None:
    presence = Presence((ANNA,), (), 100.0)
    assert presence.silence(ANNA, {}.get, 103.0) == 3.0
    assert presence.silence(ANNA, {ANNA: 20.0}.get, 103.0) == 3.0
    assert presence.silence(ANNA, {ANNA: 102.0}.get, 103.0) == 1.0
