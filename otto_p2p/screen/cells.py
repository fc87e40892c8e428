"""Text in terminal cells: how wide it is, and only such characters as every terminal gives the same width.

Joined and styled emoji, flags and skin tones are what terminals disagree on (a border behind them would
move), so they are taken apart into characters that are drawn alike everywhere.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from rich.cells import cell_len
from wcwidth import wcwidth

UNKNOWN = "?"
ELLIPSIS = "…"
_JOINER = "\u200d"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0000, 0xE0080)
# Marks that stand beside their letter, and jamo: zero, one or two cells, as the terminal likes.
_UNSETTLED = ("Mc", "Me")
_MOST_MARKS = 3
# At the end of a name: without it, equal names could not be told apart.
_TAG = re.compile(r" #[a-z2-7-]{4,19}$")
_ASCII = {ELLIPSIS: ".", "·": "-", "×": "x", "█": "#"}


@functools.lru_cache(maxsize=4096)
def settled(char: str) -> str:
    """What is shown for one character: itself, or a stand-in whose width nobody disputes ("" for none)."""
    code = ord(char)
    if char == _JOINER:
        return "+"
    if 0xFE00 <= code <= 0xFE0F or code in _TAGS:
        return ""
    if code in _FLAG_LETTERS:
        return chr(code - _FLAG_LETTERS[0] + ord("A"))
    if code in _SKIN_TONES:
        return str(code - _SKIN_TONES[0] + 1)
    if 0x1160 <= code <= 0x11FF or unicodedata.category(char) in _UNSETTLED or wcwidth(char) < 0:
        return UNKNOWN
    if not wcwidth(char) and unicodedata.category(char) != "Mn":
        return UNKNOWN
    if wcwidth(char) and cell_len(char) != wcwidth(char):  # newer than one of the two tables
        return UNKNOWN
    return char


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """(characters, cells) of each thing that is drawn in cells of its own; cells is 1 or 2."""
    base, width, marks = "", 0, 0
    for raw in text:
        for char in settled(raw):
            cells = wcwidth(char)
            if cells == 0:
                if base and marks < _MOST_MARKS:
                    base += char
                    marks += 1
                continue
            if base:
                yield base, width
            base, width, marks = char, cells, 0
    if base:
        yield base, width


def width(text: str) -> int:
    """How many cells the text takes."""
    return len(text) if text.isascii() else sum(cells for _, cells in clusters(text))


def fit(text: str, cells: int) -> str:
    """The text in exactly so many cells: cut with an ellipsis, or filled with spaces."""
    if text.isascii() and len(text) <= cells:
        return text.ljust(cells)
    whole = list(clusters(text))
    used = sum(size for _, size in whole)
    if used > cells:
        if (tag := _TAG.search(text)) is not None and len(tag[0]) < cells:
            return fit(text[: tag.start()], cells - len(tag[0])) + tag[0]
        short = _beginning(text, cells - 1) + ELLIPSIS if cells else ""
        return short + " " * (cells - width(short))
    return "".join(part for part, _ in whole) + " " * (cells - used)


def _beginning(text: str, cells: int) -> str:
    """As much of the text as there is room for."""
    beginning, used = "", 0
    for part, size in clusters(text):
        used += size
        if used > cells:
            break
        beginning += part
    return beginning


def wrap(text: str, cells: int, most: int | None = None) -> list[str]:
    """The text in lines of at most so many cells, broken at spaces where that is possible.

    With `most`, the last of so many lines ends in an ellipsis when there is more.
    """
    lines, line, used = [], "", 0
    for word in text.split(" "):
        size = width(word)
        while size > cells:  # a path or a name without spaces
            head = ""
            for part, part_cells in clusters(word):
                if used + width(head) + part_cells + bool(line) > cells:
                    break
                head += part
            lines.append(f"{line} {head}" if line and head else line or head)
            word = "".join(part for part, _ in clusters(word))[len(head) :]
            line, used, size = "", 0, width(word)
        if used + size + bool(line) > cells:
            lines.append(line)
            line, used = word, size
        else:
            line, used = (f"{line} {word}", used + size + 1) if line else (word, size)
    lines.append(line)
    if most is not None and len(lines) > most:
        lines = [*lines[: most - 1], _beginning(lines[most - 1], cells - 1) + ELLIPSIS]
    return lines


@functools.lru_cache(maxsize=4096)
def ascii_for(cluster: str, size: int) -> str:
    """A stand-in of the same width for a terminal that has only ASCII: the bare letter, else "?"."""
    if cluster.isascii():
        return cluster
    if cluster in _ASCII:
        return _ASCII[cluster]
    bare = "".join(c for c in unicodedata.normalize("NFKD", cluster) if c.isascii() and c.isprintable())
    return bare if len(bare) == size else UNKNOWN * size
