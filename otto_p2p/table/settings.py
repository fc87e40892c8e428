"""What one peer is told to be: its name, its table, how long it waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from otto_protocol.roster import TableRules


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line decides for one peer."""

    name: str
    rules: TableRules = field(default_factory=TableRules)
    seats: int | None = None
    wanted: str | None = None  # name of the table to join
    own_table: bool = False  # open a table of one's own
    automatic: int = 0  # ready by itself when that many sit there (0: the person says when)
    owner: bytes = b""  # whom a built-in player goes with
    indirect: bool = False  # play also with those that are reached only through others
    transcript: Path | None = None
    keep_transcript: bool = True
    grace: float = 150.0  # seconds: whoever is not heard for that long, or overdue by it, is voted out
