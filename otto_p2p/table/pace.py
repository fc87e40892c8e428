"""How often something may be done: a few times at once, and once in a while on average."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """A bucket of turns that fills by one in `seconds`; it is full at first."""

    seconds: float
    turns: float = 0.0
    since: float = -math.inf

    def take(self, now: float, most: int) -> bool:
        """Take a turn, of at most `most` that were saved up; False when there is none yet."""
        self.turns = min(most, self.turns + (now - self.since) / self.seconds)
        self.since = now
        if self.turns < 1:
            return False
        self.turns -= 1
        return True
