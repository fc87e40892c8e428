"""Cells: every text has the width that terminals give it, or a stand-in that has."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from wcwidth import wcswidth

from otto_p2p.screen.board import Board
from otto_p2p.screen.cells import ascii_for, clusters, fit, settled, width, wrap

NAMES = [
    "Anna",
    "Jānis Bērziņš",
    "❤️",
    "👨‍👩‍👧",
    "👍🏽",
    "🇱🇻",
    "1️⃣",
    "漢字の名前",
    "Ἀλέξανδρος",
    "मराठी",
    "ไทย",
    "한국어",
    "שלום",
    "مرحبا",
    "e\u0301\u0302\u0303\u0304\u0305",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8, 20])
def test_a_name_takes_exactly_its_cells(name: str, cells: int) -> None:
    """Field report 35. Broken by: letting a joiner or a style selector through."""
    shown = fit(name, cells)
    assert wcswidth(shown) == cells
    assert cell_len(shown) == cells


def test_a_tag_outlives_its_name() -> None:
    """Two who are called alike are told apart in a narrow column, too."""
    assert fit("Maximilian #abcd", 12) == "Maxim… #abcd"
    assert fit("漢字の名前 #abcd", 11) == "漢字… #abcd"
    assert fit("Maximilian #abcd", 5) == "Maxi…"
    assert fit("Ann", 5) == "Ann  "


def test_whatever_passes_has_a_settled_width() -> None:
    """It is as wide for the library that draws as for the one that measures; a sample of all of Unicode."""
    emoji = (*range(0x2300, 0x2C00), *range(0x1F000, 0x1FB00))
    for code in (*range(0x20, 0x20000, 11), *range(0x20000, sys.maxunicode, 997), *emoji):
        char = chr(code)
        shown = settled(char)
        if shown and not 0xD800 <= code <= 0xDFFF:
            assert cell_len("x" + shown) - 1 == width("x" + shown) - 1, hex(code)


def test_joined_emoji_stay_different() -> None:
    assert fit("👨‍👩‍👧", 9).strip() != fit("👨", 9).strip()
    assert fit("🇱🇻", 4) == "LV  "


@given(st.text(max_size=60), st.integers(1, 30))
def test_wrapped_lines_fit_and_lose_nothing(text: str, cells: int) -> None:
    lines = wrap(text, max(2, cells))
    assert all(width(line) <= max(2, cells) for line in lines)
    kept = "".join(part for line in lines for part, _ in clusters(line)).replace(" ", "")
    assert kept == "".join(part for part, _ in clusters(text)).replace(" ", "")


def test_more_lines_than_allowed_end_in_an_ellipsis() -> None:
    assert wrap("one two three four", 5, 2) == ["one", "two…"]
    assert wrap("three four five", 5, 2) == ["three", "four…"]


@pytest.mark.parametrize(
    ("char", "size", "shown"), [("ā", 1, "a"), ("漢", 2, "??"), ("…", 1, "."), ("×", 1, "x"), ("x", 1, "x")]
)
def test_ascii_keeps_the_width(char: str, size: int, shown: str) -> None:
    assert ascii_for(char, size) == shown


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_what_stands_behind_a_name_does_not_move(name: str, ascii_only: bool) -> None:
    board = Board(20, 1, ascii_only=ascii_only)
    board.put(10, 0, "|")
    board.put(0, 0, fit(name, 10))
    (line,) = board.lines()
    text = "".join(span.text for span in line)
    assert wcswidth(text) == 20
    assert wcswidth(text[: text.index("|")]) == 10


def test_half_a_wide_character_is_never_left() -> None:
    board = Board(6, 1)
    board.put(0, 0, "漢漢漢")
    board.put(1, 0, "x")
    assert board.text() == " x漢漢"
    board.put(5, 0, "漢")
    assert wcswidth("".join(span.text for span in board.lines()[0])) == 6
