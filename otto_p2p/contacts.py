"""The peers that a mesh knows of: where to dial them, their link, when they were last heard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import trio

from otto_p2p.addresses import Address
from otto_p2p.frames import Reason
from otto_p2p.link import Link

MAX_ADDRESSES = 16  # of one contact; the oldest that never worked is forgotten first


@dataclass(frozen=True, slots=True)
class ContactInfo:
    """What can be told of a known peer: `problem` is why the last attempt to reach it failed, if it did.

    `last_heard` is on trio's clock, directly or through others; None if never.
    """

    key: bytes
    linked: bool
    silent: bool
    address: str
    problem: Reason | None
    detail: str
    last_heard: float | None


@dataclass(eq=False, slots=True)
class Contact:
    """A known peer. `introducer` is who told of it first: the key of a peer, or None for ourselves."""

    key: bytes
    introducer: bytes | None
    link: Link | None = None
    addresses: dict[Address, bool] = field(default_factory=dict)  # the newest last; True: has worked
    announced: tuple[str, ...] = ()  # what the peer itself says of where it is
    protected: bool = False
    seen: float = 0.0  # the last sign that it exists
    heard: float | None = None  # directly, on links that have ended
    relayed: float | None = None  # as others tell
    refused_until: float = 0.0
    left: bool = False
    problem: Reason | None = None
    detail: str = ""
    dialling: trio.CancelScope | None = None
    finishing: trio.Lock = field(default_factory=trio.Lock)
    _change: trio.Event = field(default_factory=trio.Event)

    def add(self, addresses: Iterable[Address]) -> bool:
        """Remember where it may be; True if one of them is new."""
        new = False
        for address in addresses:
            if address not in self.addresses:
                new = True
                while len(self.addresses) >= MAX_ADDRESSES:
                    useless = [a for a, worked in self.addresses.items() if not worked]
                    del self.addresses[useless[0] if useless else next(iter(self.addresses))]
            self.addresses[address] = self.addresses.pop(address, False)
        return new

    def worked(self, address: Address) -> None:
        """A stream came about at this address: it is tried first from now on."""
        self.addresses.pop(address, None)
        self.addresses[address] = True

    def best_first(self) -> tuple[Address, ...]:
        """The addresses: those that have worked, the latest first; then the others, the latest first."""
        latest = list(reversed(self.addresses))
        return tuple(sorted(latest, key=lambda address: not self.addresses[address]))

    def last_heard(self) -> float | None:
        """When it was last heard, directly or through others, on trio's clock."""
        times = [self.heard, self.relayed, self.link.last_heard if self.link else None]
        return max((time for time in times if time is not None), default=None)

    def changed(self) -> None:
        """Wake who waits in `change`."""
        self._change.set()
        self._change = trio.Event()

    async def change(self) -> None:
        """Wait until the link or the addresses change."""
        await self._change.wait()

    def info(self) -> ContactInfo:
        """A snapshot for people."""
        return ContactInfo(
            self.key,
            self.link is not None,
            self.link is not None and self.link.silent,
            self.link.remote if self.link else str(next(iter(self.best_first()), "")),
            self.problem,
            self.detail,
            self.last_heard(),
        )
