"""Who is who: an identity key is new, known from an earlier game, or not the one that a name had then.

Only those with whom a game has begun are remembered (`Journal.meet`): a stranger who sits down in the lobby
leaves no trace, and nobody becomes known by a name.
"""

from __future__ import annotations

from collections.abc import Iterable

from otto_p2p.lookalikes import look
from otto_p2p.storage.journal import Known
from otto_p2p.updates import Acquaintance, Face


class KnownKeys:
    """Those with whom games were played, the latest first."""

    def __init__(self, people: Iterable[Known] = ()) -> None:
        self._by_key: dict[bytes, Known] = {}
        self._by_look: dict[str, list[Known]] = {}
        for known in people:
            self._by_key[known.key] = known
            self._by_look.setdefault(look(known.name), []).append(known)

    def judge(self, key: bytes, name: str) -> Acquaintance:
        """Whether this key is known; another key's name counts only if this key did not have it, too."""
        known = self._by_key.get(key)
        if known is None or look(known.name) != look(name):
            others = [other for other in self._by_look.get(look(name), []) if other.key != key]
            if others:
                return Acquaintance(Face.CHANGED, others[0].name, others[0].last_seen)
        if known is None:
            return Acquaintance(Face.NEW)
        return Acquaintance(Face.KNOWN, known.name, known.last_seen)
