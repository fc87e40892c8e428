"""The newest record of each peer, and who is there: linked to this peer, or to one that it is linked to."""

from __future__ import annotations

from typing import Self

from otto_protocol.lobby.record import Here, OtherVersion

MAX_PEERS = 64  # records that are kept; those without a link go first


class Neighbours:
    """What one peer knows about the others. Old records (by their counter) never replace newer ones."""

    def __init__(self, me: bytes) -> None:
        self.links: frozenset[bytes] = frozenset()
        """The peers that this one has a live link to."""
        self.shunned: frozenset[bytes] = frozenset()
        """Those that are never there, whatever they and others say."""
        self._me = me
        self._newest: dict[bytes, Here | OtherVersion] = {}
        self._there: dict[bytes, Here] | None = None  # what `there` found, until something changes

    def copy(self) -> Self:
        """An independent copy."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._newest = dict(self._newest)
        return other

    def link(self, key: bytes) -> None:
        """There is a link to this peer now."""
        self.links |= {key}
        self._there = None

    def unlink(self, key: bytes) -> None:
        """There is no link to this peer any more; what it said last is kept."""
        self.links -= {key}
        self._there = None

    def shun(self, key: bytes) -> None:
        """Never count this peer as there again."""
        self.shunned |= {key}
        self._there = None

    def take(self, record: Here | OtherVersion) -> bool:
        """Keep a record, unless it is this peer's own, old, or one too many; whether it was kept."""
        known = self._newest.get(record.key)
        if record.key == self._me or (known is not None and known.counter >= record.counter):
            return False
        if known is None and not self._make_room(record.key):
            return False
        self._newest[record.key] = record
        self._there = None
        return True

    def newest(self, key: bytes) -> Here | None:
        """The newest record of a peer of this version, whether it is there or not."""
        record = self._newest.get(key)
        return record if isinstance(record, Here) else None

    def there(self) -> dict[bytes, Here]:
        """The newest record of everybody that this peer reaches, directly or by one peer between."""
        if self._there is not None:
            return self._there
        welcome = self.links - self.shunned
        direct = [record for key in welcome if (record := self.newest(key)) is not None]
        there = {record.key: record for record in direct}
        for between in direct:
            for key in between.seated:
                known = key not in self.shunned and between.reaches(key)
                if known and (record := self.newest(key)) is not None:
                    there[key] = record
        self._there = there
        return there

    def other_versions(self) -> tuple[OtherVersion, ...]:
        """The heads of the records of linked peers that play another version."""
        records = (self._newest.get(key) for key in sorted(self.links))
        return tuple(record for record in records if isinstance(record, OtherVersion))

    def relay_to(self, key: bytes) -> tuple[bytes, ...]:
        """The linked peers at the table of `key` that it does not reach itself."""
        author = self.newest(key)
        if author is None:
            return ()
        return tuple(
            other
            for other in sorted(self.links - {key})
            if (record := self.newest(other)) is not None
            and record.table == author.table
            and not author.reaches(other)
        )

    def _make_room(self, key: bytes) -> bool:
        """Whether one more record can be kept: that of a linked peer takes the place of one that is not there."""
        if len(self._newest) < MAX_PEERS:
            return True
        there = self.there()
        stale = [old for old in self._newest if old not in self.links and old not in there]
        if key not in self.links or not stale:
            return False
        del self._newest[stale[0]]
        return True
