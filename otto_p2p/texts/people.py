"""The people of a match as they are named in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otto_p2p.i18n import _
from otto_p2p.texts.safe import with_tag
from otto_protocol.roster import Member


@dataclass(frozen=True, slots=True)
class People:
    """Names by seat, fit for a screen, and which seat is mine."""

    names: tuple[str, ...]
    me: int

    @classmethod
    def of(cls, members: Sequence[Member], tags: Sequence[str], me: int) -> People:
        """The people of a roster; `tags` are "" where nobody could be mistaken."""
        return cls(tuple(with_tag(m.name, t) for m, t in zip(members, tags, strict=True)), me)

    def name(self, seat: int) -> str:
        """Somebody's name, "you" for me."""
        return _("you") if seat == self.me else self.names[seat]

    def list(self, seats: Iterable[int]) -> str:
        """Several names, me last."""
        return ", ".join(self.name(seat) for seat in sorted(seats, key=lambda seat: (seat == self.me, seat)))
