"""A board of cells to paint on: whatever is put there, every other cell stays where it is.

A painted board is a tuple of lines, a line is a tuple of spans. Lines compare by value, so a surface redraws
only those that changed; a span may carry the name of what a mouse click on it means.
"""

from __future__ import annotations

from dataclasses import dataclass

from otto_p2p.screen.cells import ascii_for, clusters


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one look: `style` is a name in `palette`, `target` what a click on it means ("" nothing)."""

    text: str
    style: str = ""
    target: str = ""


Line = tuple[Span, ...]
Glyphs = dict[str, str]

UNICODE: Glyphs = {
    "symbols": "▲●◆■",
    "thin": "╭╮╰╯─│",
    "thick": "┏┓┗┛━┃",
    "back": "▒",
    "pointer": "▲",
    "small-back": "▮",
    "leader": "▶",
    "awaited": "●",
    "done": "✓",
    "todo": "·",
    "now": "▶",
    "full": "█",
    "empty": "░",
    "away": "!",
    "left": "◀",
    "right": "▶",
    "new": "*",
    "bar": "│",
    "arrows": "←→",
    "star": "★",
    "ticked": "■",
    "open": "□",
}
ASCII: Glyphs = {
    "symbols": "^o#=",
    "thin": "..''-|",
    "thick": "####=#",
    "back": ":",
    "pointer": "^",
    "small-back": "#",
    "leader": ">",
    "awaited": "*",
    "done": "+",
    "todo": ".",
    "now": ">",
    "full": "#",
    "empty": ".",
    "away": "!",
    "left": "<",
    "right": ">",
    "new": "*",
    "bar": "|",
    "arrows": "<>",
    "star": "*",
    "ticked": "x",
    "open": "_",
}


class Board:
    """`width` x `height` cells. Everything outside is clipped."""

    def __init__(self, width: int, height: int, *, ascii_only: bool = False) -> None:
        self.width, self.height = width, height
        self.glyphs = ASCII if ascii_only else UNICODE
        self._ascii = ascii_only
        self._text = [[" "] * width for _ in range(height)]
        self._look: list[list[tuple[str, str]]] = [[("", "")] * width for _ in range(height)]

    def put(
        self, x: int, y: int, text: str, style: str = "", target: str = "", *, limit: int | None = None
    ) -> int:
        """Write text from cell (x, y) on, at most to column `limit`; the column after it."""
        end = self.width if limit is None else min(limit, self.width)
        if not 0 <= y < self.height:
            return x
        row, looks, look = self._text[y], self._look[y], (style, target)
        parts = ((char, 1) for char in text) if text.isascii() else clusters(text)
        for part, cells in parts:
            if x + cells > end:
                break
            if x >= 0:
                if row[x] == "" and x:  # the second half of a wide character: blank what is left of it
                    row[x - 1] = " "
                row[x] = ascii_for(part, cells) if self._ascii else part
                looks[x] = look
                if cells == 2:
                    row[x + 1] = ""
                    looks[x + 1] = look
                if x + cells < self.width and row[x + cells] == "":
                    row[x + cells] = " "
            x += cells
        return x

    def fill(self, x: int, y: int, width: int, height: int, style: str = "", target: str = "") -> None:
        """Blank a rectangle."""
        for line in range(y, y + height):
            self.put(x, line, " " * width, style, target)

    def frame(
        self, x: int, y: int, width: int, height: int, style: str = "", target: str = "", kind: str = "thin"
    ) -> None:
        """A border with blanks inside."""
        a, b, c, d, across, down = list(self.glyphs[kind])
        self.put(x, y, a + across * (width - 2) + b, style, target)
        for line in range(y + 1, y + height - 1):
            self.put(x, line, down + " " * (width - 2) + down, style, target)
        self.put(x, y + height - 1, c + across * (width - 2) + d, style, target)

    def target(self, x: int, y: int) -> str:
        """What a click on this cell means."""
        return self._look[y][x][1] if 0 <= y < self.height and 0 <= x < self.width else ""

    def lines(self, before: Board | None = None, known: tuple[Line, ...] = ()) -> tuple[Line, ...]:
        """What was painted. Rows that are as on the board `before` are taken from `known`, its lines."""
        if before is None or before.width != self.width or before.height != self.height:
            return tuple(map(_spans, self._text, self._look))
        rows = zip(self._text, self._look, before._text, before._look, known, strict=True)
        return tuple(
            line if text == old_text and look == old_look else _spans(text, look)
            for text, look, old_text, old_look, line in rows
        )

    def text(self) -> str:
        """What was painted, without looks: a line a row, spaces at the ends cut off."""
        return "\n".join("".join(row).rstrip() for row in self._text)


def _spans(text: list[str], look: list[tuple[str, str]]) -> Line:
    spans, start = [], 0
    for x in range(1, len(text) + 1):
        if x == len(text) or look[x] != look[start]:
            spans.append(Span("".join(text[start:x]), *look[start]))
            start = x
    return tuple(spans)
