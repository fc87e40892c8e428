"""Text in columns, by the width that a terminal gives each character."""

from __future__ import annotations

from collections.abc import Sequence

from wcwidth import wcswidth


def width(text: str) -> int:
    """Cells that a text takes; at least one a character where the width is not known."""
    cells = wcswidth(text)
    return cells if cells >= 0 else len(text)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of equal length as lines, each column as wide as its widest text, two spaces apart."""
    widths = [max(width(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(text + " " * (size - width(text)) for text, size in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
