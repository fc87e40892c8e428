"""Which members of a match are away, why and since when, and which are heard only through others.

Pure: times are seconds of one monotonic clock that the caller reads; peers are known by their keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from otto_p2p.table.timing import TableTiming

LastHeard = Callable[[bytes], float | None]


class Absences:
    """What one peer knows of where the others of its match are. `now`: when the match, or its resumption, began."""

    def __init__(
        self, others: Collection[bytes], linked: Collection[bytes], now: float, timing: TableTiming
    ) -> None:
        self._others = frozenset(others)
        self._began = now
        self._why = {key: "unlinked" for key in others if key not in linked}
        self._since = dict.fromkeys(self._why, now)
        self._timing = timing
        self._indirect: frozenset[bytes] = frozenset()

    def lost(self, key: bytes, why: str, now: float) -> bool:
        """There is no link, or nothing is heard; whether that is news of somebody in this match."""
        if key not in self._others or self._why.get(key) == why:
            return False
        self._why[key], self._since[key] = why, now
        return True

    def back(self, key: bytes, now: float) -> float | None:
        """There is a link again; after how many seconds, or None if it was not away."""
        if self._why.pop(key, None) is None:
            return None
        return now - self._since.pop(key)

    def away(self) -> Mapping[bytes, tuple[str, float]]:
        """Why somebody is not here, and since when."""
        return {key: (why, self._since[key]) for key, why in self._why.items()}

    def found_indirect(self, last_heard: LastHeard) -> frozenset[bytes]:
        """Those without a link that are heard through others as of now: each is told once."""
        found = set()
        for key, since in self._since.items():
            heard = last_heard(key)
            if heard is not None and heard > since + self._timing.indirect:
                found.add(key)
        new = frozenset(found) - self._indirect
        self._indirect = frozenset(found)
        return new

    def silence(self, key: bytes, last_heard: LastHeard, now: float) -> float:
        """For how many seconds somebody has not been heard, directly or through others, in this match."""
        return now - max(last_heard(key) or 0.0, self._began)
