"""How long a table waits: the turn clock of this seat, whose silence is too long, and who is overdue.

Pure: all times are seconds of one monotonic clock that the caller reads. What follows from it is decided
together, by ballots; this only says whom this peer would go on without.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from otto_p2p.table.timing import TableTiming


class Deadlines:
    """Those of one peer in one match. `turn`: seconds for a decision, 0 for no clock; `grace`: seconds."""

    def __init__(self, turn: float, grace: float, now: float, timing: TableTiming) -> None:
        self._turn = turn
        self._grace = grace
        self._timing = timing
        self._since = now  # when the table moved on last
        self._question: object = None
        self._asked_at = math.inf
        self._overdue: frozenset[int] = frozenset()
        self._voting = False
        self._returned = -math.inf

    def moved_on(self, now: float) -> None:
        """A step is complete, or another view has begun."""
        self._since = now
        self._overdue = frozenset()

    def standstill(self, now: float) -> float:
        """Seconds since the table moved on last, or since the match began."""
        return now - self._since

    def returned(self, silence: float, now: float) -> None:
        """Somebody is heard again after that many seconds: others may come back with it, so wait for them.

        Not more often than now and then: whoever comes and goes all the time holds nobody up.
        """
        if silence > self._timing.hurried and now - self._returned > 4 * self._timing.returning:
            self._returned = now

    def asked(self, question: object, now: float) -> None:
        """What the player has to decide (None: nothing). The clock of a question runs from its first call."""
        if question != self._question:
            self._question = question
            self._asked_at = math.inf if question is None else now

    def waited(self, now: float) -> float:
        """Seconds since the question was asked; negative without a question."""
        return now - self._asked_at

    def time_is_up(self, now: float) -> bool:
        """Whether the player's own client has to decide now; true once for each question."""
        if not self._turn or self.waited(now) < self._turn:
            return False
        self._asked_at = math.inf
        return True

    def suspects(
        self,
        now: float,
        silence: Mapping[int, float],
        awaited: Collection[int],
        hurried: Collection[int],
        *,
        voting: bool,
    ) -> frozenset[int]:
        """Whom this peer would go on without.

        `silence`: seconds since each other live seat was heard; `awaited`: those of them that the step waits
        for; `hurried`: whom the player, or enough others, do not want to wait for; `voting`: somebody has voted in
        this view. A single vote of somebody else makes nobody less patient: a peer away for a moment stays.
        """
        silent = {
            seat
            for seat, seconds in silence.items()
            if seconds > (self._timing.hurried if seat in hurried else self._grace)
        }
        if now - self._returned <= self._timing.returning:
            silent.clear()
        # Whoever has voted signs nothing else any more, so being overdue is judged before, or as the vote begins.
        if not (voting and self._voting):
            patience = self._turn + self._grace - (self._timing.hurried if voting else 0.0)
            late = self._turn > 0 and self.standstill(now) > patience
            self._overdue = frozenset(awaited) if late else frozenset()
        self._voting = voting
        return frozenset(silent) | (self._overdue & silence.keys())
