"""What one person has set for the screen; nobody else is told."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

GRACE = 0.7  # seconds in which a choice can be taken back before it is sent


@dataclass(slots=True)
class Options:
    """Settings of the screen; all but the first three can be changed while playing."""

    ascii_only: bool = False  # the terminal has no other characters
    colour: bool = True  # False: NO_COLOR was asked for
    auto: bool = False  # the built-in player plays this seat, and leaves after the match
    light: bool = False
    animation: bool = True
    bell: bool = True
    tips: bool = True  # each kind of decision is explained when it is asked for the first time
    memory: bool = True  # the memory aid may be looked at
    automatic: bool = False  # repeated choices are made without asking
    grace: float = GRACE


def from_environment(*, auto: bool = False) -> Options:
    """What the terminal and the environment ask for: ASCII, no colour, a light background."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return Options(
        ascii_only=not encoding.startswith("utf"),
        colour=not os.environ.get("NO_COLOR"),
        light=os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15"),
        auto=auto,
    )


def can_show() -> bool:
    """Whether standard input and output are a terminal that can show a full screen."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
