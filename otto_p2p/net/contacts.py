"""The peers that a mesh knows of: where to dial them, their link, when they were last heard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import trio

from otto_p2p.net.addresses import Address
from otto_p2p.net.frames import CloseReason
from otto_p2p.net.handshake import Peer
from otto_p2p.net.link import Limits, Link, Timing

MAX_REMEMBERED = 16  # of one contact; the oldest that never worked is forgotten first


@dataclass(frozen=True, slots=True)
class ContactInfo:
    """What can be told of a known peer: `problem` is why the last attempt to reach it failed, if it did.

    `last_heard` is on trio's clock, directly or through others; None if never.
    """

    key: bytes
    linked: bool
    silent: bool
    address: str
    problem: CloseReason | None
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
    problem: CloseReason | None = None
    detail: str = ""
    dialling: trio.CancelScope | None = None
    finishing: trio.Lock = field(default_factory=trio.Lock)
    _change: trio.Event = field(default_factory=trio.Event)

    def add(self, addresses: Iterable[Address]) -> bool:
        """Remember where it may be, best first; True if one of them is new."""
        new = False
        for address in reversed(tuple(addresses)):
            if address not in self.addresses:
                new = True
                while len(self.addresses) >= MAX_REMEMBERED:
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

    def alive(self, peer: Peer, within: float) -> bool:
        """Whether there is a link to this run of the peer's program, heard within that many seconds."""
        link = self.link
        if link is None or link.reason is not None or link.peer.instance != peer.instance:
            return False
        return trio.current_time() - link.last_heard <= within

    def changed(self) -> None:
        """Wake whoever waits in `change`."""
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


class ContactBook:
    """All contacts by key, not more than `limits.contacts`; `added` hears of each new one."""

    def __init__(self, own: bytes, timing: Timing, limits: Limits, added: Callable[[Contact], None]) -> None:
        self.own = own
        self.protected: frozenset[bytes] = frozenset()
        self._timing = timing
        self._limits = limits
        self._added = added
        self._contacts: dict[bytes, Contact] = {}

    def __iter__(self) -> Iterator[Contact]:
        return iter(tuple(self._contacts.values()))

    def get(self, key: bytes) -> Contact | None:
        """The contact with this key, if there is one."""
        return self._contacts.get(key)

    def link(self, key: bytes) -> Link | None:
        """The link to the peer with this key, if there is one."""
        contact = self._contacts.get(key)
        return contact.link if contact is not None else None

    def linked(self) -> Iterator[tuple[Contact, Link]]:
        """The contacts that have a link, with it."""
        for contact in self:
            if contact.link is not None:
                yield contact, contact.link

    def know(self, key: bytes, introducer: bytes | None = None) -> Contact | None:
        """The contact with this key, made if there is room for it (`introducer`: who told of it)."""
        contact = self._contacts.get(key)
        if contact is None:
            if key != self.own and key not in self.protected and not self._room(introducer):
                return None
            contact = self._contacts[key] = Contact(key, introducer, seen=trio.current_time())
            contact.protected = key in self.protected
            self._added(contact)
        return contact

    def tell(self, contact: Contact, addresses: Iterable[Address]) -> None:
        """There is a new sign of this contact: it may be at these addresses."""
        contact.seen = trio.current_time()
        if contact.add(addresses):
            contact.changed()

    def protect(self, keys: frozenset[bytes]) -> None:
        """These are kept whatever happens, the others no more than usual."""
        self.protected = keys - {self.own}
        for key in self.protected:
            self.know(key)
        for contact in self:
            contact.protected = contact.key in self.protected
            if contact.link is not None:
                contact.link.protected = contact.protected

    def worth_keeping(self, contact: Contact) -> bool:
        """Whether there is a link, or a sign of it not too long ago."""
        if contact.link is not None or contact.protected:
            return True
        return trio.current_time() - contact.seen < self._timing.forget

    def keeps_old(self, contact: Contact, peer: Peer, *, dialled: bool) -> bool:
        """Whether the link that exists stays, rather than a new stream, `dialled` by us or by them.

        Both sides come to the same answer: the lower key's stream stays; of two of the same direction the
        newer one. A link to an earlier run of the peer's program, or one that has gone quiet, never stays.
        """
        link = contact.link
        if link is None or not contact.alive(peer, 2.5 * self._timing.beat):
            return False
        return link.dialled != dialled and link.dialled == (self.own < contact.key)

    def forget(self, contact: Contact) -> None:
        """Take a contact out, if it is still in."""
        if self._contacts.get(contact.key) is contact:
            del self._contacts[contact.key]

    def make_room(self) -> bool:
        """Whether there is room for one that is here itself: one that was only told of may have to go."""
        if len(self._contacts) < self._limits.contacts:
            return True
        for contact in self:
            if contact.link is None and not contact.protected and contact.introducer is not None:
                contact.seen = float("-inf")
                contact.changed()
                self.forget(contact)
                return True
        return False

    def _room(self, introducer: bytes | None) -> bool:
        if introducer is None:
            return self.make_room()
        told = sum(1 for contact in self if contact.introducer == introducer)
        return told < self._limits.hearsay and len(self._contacts) < self._limits.contacts
