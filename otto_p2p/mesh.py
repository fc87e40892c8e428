"""Links to every peer that is known of: found, dialled, kept, and given up; frames in and out.

For each known peer a task keeps it connected. Of two peers the one with the lower key dials; the other only
when that does not happen in time (a firewall may let connections through in one direction only). When both
did, the stream that the lower key dialled stays. An address whose key is not known (somebody typed it) is
dialled until a peer proves itself there.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Sequence

import trio

from otto_p2p.addresses import Address, list_interfaces, parse_hint, to_dial, usable
from otto_p2p.contacts import Contact, ContactInfo
from otto_p2p.dialling import race
from otto_p2p.door import Door
from otto_p2p.events import (
    DialFailed,
    Event,
    FrameFrom,
    LinkInfo,
    PeerDown,
    PeerSilent,
    PeerUp,
    StrangerRefused,
)
from otto_p2p.frames import (
    MAX_AGE,
    MAX_HINT,
    MAX_HINTS,
    MAX_PEERS,
    Beat,
    Bye,
    Frame,
    Heard,
    PeerHint,
    Peers,
    Reason,
    encode_frame,
)
from otto_p2p.handshake import Half, OtherPeer, Peer, Self, Signer, finish
from otto_p2p.link import Limits, Link, Timing
from otto_p2p.streams import Dial, FrameStream, LinkError, dial_tcp
from otto_p2p.tls import Credentials, make_credentials
from otto_protocol.hashing import Rng
from otto_protocol.roster import PROTOCOL_VERSION

REMEMBERED_STRANGERS = 64

Choose = Callable[[Iterable[Address]], Sequence[Address]]
Remote = Callable[[trio.abc.Stream], str]


def choose_addresses(hints: Iterable[Address]) -> Sequence[Address]:
    """The order in which to dial what a peer says of itself, from this machine's interfaces now."""
    return to_dial(hints, usable(list_interfaces()))


def remote_host(stream: trio.abc.Stream) -> str:
    """The IP address at the other end of a TCP stream; "" when it is gone already."""
    if isinstance(stream, trio.SocketStream):
        try:
            return str(stream.socket.getpeername()[0])
        except OSError:
            return ""
    return ""


class Mesh:
    """All links of one identity. `run` it in a nursery; read `events`; `send` and `broadcast` never wait."""

    def __init__(
        self,
        identity: Signer,
        *,
        listeners: Sequence[trio.abc.Listener[trio.abc.Stream]] = (),
        port: int = 0,
        dial: Dial = dial_tcp,
        choose: Choose = choose_addresses,
        own: Callable[[], Iterable[Address]] | None = None,
        remote: Remote = remote_host,
        rng: Rng = os.urandom,
        jitter: random.Random | None = None,
        version: int = PROTOCOL_VERSION,
        credentials: Credentials | None = None,
        timing: Timing | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`port` is where the listeners listen (0: nobody can dial us). `own` says, whenever asked, where
        we can be dialled: peers tell each other. The rest is for tests to replace.
        """
        self.key = identity.public
        self.timing = timing or Timing()
        self.limits = limits or Limits()
        self._listeners = listeners
        self._dial = dial
        self._choose = choose
        self._own = own
        self._remote = remote
        self._jitter = jitter or random.Random(rng(8))
        self._self = Self(identity, credentials or make_credentials(), rng(16), version, rng, lambda: port)
        self._contacts: dict[bytes, Contact] = {}
        self._protected: frozenset[bytes] = frozenset()
        self._own_hints: tuple[str, ...] = ()
        self._targets: dict[str, tuple[Address, ...]] = {}
        self._refusals: dict[str, Reason] = {}
        self._work: trio.Nursery | None = None
        self._links: trio.Nursery | None = None
        self._send_event, self.events = trio.open_memory_channel[Event](self.limits.events)

    # What the driver of a table calls

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept, dial and keep links until cancelled; then say goodbye to all, for a moment."""
        door = Door(
            self._self,
            remote=self._remote,
            judge=self._judge,
            admit=self._admit,
            refused=self._refused,
            timing=self.timing,
            limits=self.limits,
        )
        async with trio.open_nursery() as root:
            # The links outlive the cancellation of everything else by the time of a goodbye.
            self._links = await root.start(_shielded_nursery)
            try:
                async with trio.open_nursery() as work:
                    self._work = work
                    for listener in self._listeners:
                        work.start_soon(door.serve, listener)
                    for contact in self._contacts.values():
                        work.start_soon(self._keep, contact)
                    for label, addresses in self._targets.items():
                        work.start_soon(self._seek, label, addresses)
                    task_status.started()
                    await self._watch_own_addresses()
            finally:
                self._work = None
                with trio.move_on_after(self.timing.goodbye, shield=True):
                    await self._goodbye()
                self._links.cancel_scope.cancel()

    def add_candidate(self, addresses: Iterable[Address], key: bytes | None = None, label: str = "") -> None:
        """A peer may be at these addresses: from discovery (with its key), or typed by somebody (without).

        Typed ones are dialled as they are, names too; `label` is what to call them in events.
        """
        if key is None:
            typed = tuple(addresses)
            name = label or ", ".join(str(address) for address in typed)
            if name not in self._targets:
                self._targets[name] = typed
                if self._work is not None:
                    self._work.start_soon(self._seek, name, typed)
        elif key != self.key:
            contact = self._contact(key, None)
            if contact is not None:
                self._tell_addresses(contact, addresses)

    def announce(self, hints: Iterable[Address]) -> None:
        """Where we can be dialled, best first: told to every peer now and on every new link."""
        texts = tuple(str(hint) for hint in hints)
        self._own_hints = tuple(text for text in texts if len(text) <= MAX_HINT)[:MAX_HINTS]
        self._broadcast_peers(PeerHint(self.key, self._own_hints))

    def send(self, key: bytes, frame: Frame) -> bool:
        """Queue a frame for one peer; False without a link. Never waits; a full queue ends the link."""
        link = self._link(key)
        return link is not None and link.send(encode_frame(frame))

    def broadcast(self, frame: Frame, *, but: Iterable[bytes] = ()) -> frozenset[bytes]:
        """Queue a frame for every linked peer except those of `but`; the keys of those it goes to."""
        skip = frozenset(but)
        data = encode_frame(frame)
        return frozenset(
            key
            for key, contact in list(self._contacts.items())
            if key not in skip and contact.link is not None and contact.link.send(data)
        )

    def protect(self, keys: Iterable[bytes]) -> None:
        """The peers of our game: kept for ever, never refused for want of room, not throttled."""
        self._protected = frozenset(keys) - {self.key}
        for key in self._protected:
            self._contact(key, None)
        for contact in self._contacts.values():
            contact.protected = contact.key in self._protected
            if contact.link is not None:
                contact.link.protected = contact.protected

    def drop(self, key: bytes, reason: Reason = Reason.UNWANTED) -> None:
        """End the link to a peer that misbehaves, and do not let it in again for a while."""
        contact = self._contacts.get(key)
        if contact is not None:
            contact.refused_until = trio.current_time() + self.timing.refuse
            if contact.link is not None:
                contact.link.end(reason, "dropped by us")

    def links(self) -> tuple[LinkInfo, ...]:
        """All links now, by key."""
        return tuple(
            LinkInfo(
                key,
                link.remote,
                link.dialled,
                link.since,
                link.last_heard,
                link.silent,
                link.queued,
                frozenset(entry.key for entry in link.heard.heard),
            )
            for key, link in sorted((k, c.link) for k, c in self._contacts.items() if c.link is not None)
        )

    def contacts(self) -> tuple[ContactInfo, ...]:
        """All known peers, linked or not, by key."""
        return tuple(contact.info() for _, contact in sorted(self._contacts.items()))

    def last_heard(self, key: bytes) -> float | None:
        """When a peer was last heard, directly or as others tell, on trio's clock; None if never."""
        contact = self._contacts.get(key)
        return contact.last_heard() if contact is not None else None

    async def _watch_own_addresses(self) -> None:
        """Networks come and go while we run: say so, as long as we run."""
        told: tuple[Address, ...] | None = None
        while self._own is not None:
            found = tuple(self._own())
            if found != told:
                told = found
                self.announce(found)
            await trio.sleep(self.timing.look)
        await trio.sleep_forever()

    # Contacts

    def _link(self, key: bytes) -> Link | None:
        contact = self._contacts.get(key)
        return contact.link if contact is not None else None

    def _contact(self, key: bytes, introducer: bytes | None) -> Contact | None:
        """The contact with this key, made if there is room for it."""
        contact = self._contacts.get(key)
        if contact is None:
            room = len(self._contacts) < self.limits.contacts or key in self._protected
            if introducer is not None:
                told = sum(1 for c in self._contacts.values() if c.introducer == introducer)
                room = room and told < self.limits.hearsay
            if not room:
                return None
            contact = self._contacts[key] = Contact(key, introducer, seen=trio.current_time())
            contact.protected = key in self._protected
            if self._work is not None:
                self._work.start_soon(self._keep, contact)
        return contact

    def _tell_addresses(self, contact: Contact, addresses: Iterable[Address]) -> None:
        contact.seen = trio.current_time()
        if contact.add(addresses):
            contact.changed()

    async def _keep(self, contact: Contact) -> None:
        """Keep one peer connected, as long as there is a reason to."""
        attempts = 0
        while contact.link is not None or self._worth_keeping(contact):
            if contact.link is not None:
                since = trio.current_time()
                await contact.change()
                if contact.link is None:
                    # Links that end at once are not dialled again at once.
                    attempts = 1 if trio.current_time() - since > self.timing.last_retry else attempts + 1
                continue
            with trio.move_on_after(self._delay(contact, attempts)):
                while contact.link is None:
                    await contact.change()
                continue
            if not contact.addresses:
                with trio.move_on_after(self.timing.forget):
                    await contact.change()
                continue
            attempts += 1
            try:
                await self._reach(contact)
            except LinkError as error:
                await self._failed(contact, error)
        if self._contacts.get(contact.key) is contact:
            del self._contacts[contact.key]

    def _worth_keeping(self, contact: Contact) -> bool:
        return contact.protected or trio.current_time() - contact.seen < self.timing.forget

    def _delay(self, contact: Contact, attempts: int) -> float:
        if attempts == 0:
            return 0.0 if self.key < contact.key else self.timing.grace
        if contact.left or trio.current_time() < contact.refused_until:
            return self.timing.last_retry
        return self._backoff(attempts)

    def _backoff(self, attempts: int) -> float:
        delay = min(self.timing.last_retry, self.timing.first_retry * 2.0 ** min(attempts - 1, 16))
        return delay * self._jitter.uniform(0.75, 1.25)

    async def _failed(self, contact: Contact, error: LinkError) -> None:
        if error.reason != contact.problem and error.reason != Reason.DUPLICATE:
            contact.problem = error.reason
            contact.detail = error.detail
            address = str(next(iter(contact.best_first()), ""))
            await self._send_event.send(DialFailed(contact.key, address, error.reason, error.detail))

    async def _reach(self, contact: Contact) -> None:
        """One attempt to get a link to a known peer. Raises LinkError; returns when there is one."""
        addresses = self._choose(contact.best_first())
        if not addresses:
            raise LinkError(Reason.UNREACHABLE, "no address that fits this network")
        found: tuple[Half, Address] | None = None
        try:
            # A link that comes about meanwhile, dialled by the other side, ends the attempt.
            with trio.CancelScope() as contact.dialling:
                found = await self._race(addresses, contact.key)
        finally:
            contact.dialling = None
        if found is not None:
            await self._finish(*found)

    async def _race(self, addresses: Sequence[Address], expected: bytes | None) -> tuple[Half, Address]:
        def other(address: Address, error: OtherPeer) -> None:
            expecting = self._contacts.get(expected) if expected is not None else None
            if expecting is not None:
                expecting.addresses.pop(address, None)
            found = self._contact(error.peer.key, None)
            if found is not None:
                self._tell_addresses(found, [address])

        return await race(self._self, self._dial, addresses, expected, self.timing, other)

    async def _seek(self, label: str, addresses: tuple[Address, ...]) -> None:
        """Dial an address that somebody typed, whenever no link to who answered there exists."""
        attempts = 0
        problem: Reason | None = None
        while True:
            attempts += 1
            try:
                half, address = await self._race(addresses, None)
                contact = self._contact(half.peer.key, None)
                if contact is None:
                    await half.frames.aclose()
                    raise LinkError(Reason.BUSY, "too many peers")
                if contact.link is None:
                    await self._finish(half, address)
                else:
                    await half.frames.aclose()
                    contact.worked(address)
                problem = None
                attempts = 0
                while contact.link is not None:
                    await contact.change()
                # Its own task dials it first; if it is gone for good, somebody else may be there by now.
                await trio.sleep(self.timing.last_retry)
            except LinkError as error:
                if error.reason not in (problem, Reason.DUPLICATE):
                    problem = error.reason
                    await self._send_event.send(DialFailed(None, label, error.reason, error.detail))
                if error.reason == Reason.MYSELF:
                    return
                await trio.sleep(self._backoff(max(attempts, 1)))

    async def _finish(self, half: Half, address: Address) -> None:
        contact = self._contact(half.peer.key, None)
        if contact is None:
            await half.frames.aclose()
            raise LinkError(Reason.BUSY, "too many peers")
        async with contact.finishing:
            if self._keeps_old(contact, half.peer, dialled=True):
                await half.frames.aclose()
                return
            try:
                with trio.fail_after(self.timing.handshake):
                    frames = await finish(half)
            except trio.TooSlowError:
                raise LinkError(Reason.TIMEOUT, str(address)) from None
            contact.worked(address)
            if self._keeps_old(contact, half.peer, dialled=True):
                await frames.aclose()
            else:
                self._attach(contact, frames, half.peer, str(address), dialled=True)

    # Peers that dialled us

    def _judge(self, peer: Peer, host: str) -> Reason:
        """Whether a proven peer that dialled us gets a link."""
        contact = self._contacts.get(peer.key)
        if contact is not None:
            if trio.current_time() < contact.refused_until:
                return Reason.UNWANTED
            if self._keeps_old(contact, peer, dialled=False):
                return Reason.DUPLICATE
        if peer.key in self._protected or (contact is not None and contact.link is not None):
            return Reason.OK
        linked = [c.link for c in self._contacts.values() if c.link is not None and not c.protected]
        from_host = sum(1 for link in linked if link.remote == host and not link.dialled)
        if len(linked) >= self.limits.links or (host and from_host >= self.limits.links_per_host):
            return Reason.BUSY
        if contact is None and len(self._contacts) >= self.limits.contacts and not self._make_room():
            return Reason.BUSY
        return Reason.OK

    def _admit(self, frames: FrameStream, peer: Peer, host: str) -> bool:
        contact = self._contact(peer.key, None)
        # Judged again: the verdict took time to send, and a stream of ours may have come about in it.
        if contact is None or self._keeps_old(contact, peer, dialled=False):
            return False
        self._attach(contact, frames, peer, host, dialled=False)
        return True

    def _refused(self, host: str, error: LinkError) -> None:
        if error.reason == Reason.OTHER_VERSION and self._refusals.get(host) != error.reason:
            if len(self._refusals) >= REMEMBERED_STRANGERS:
                self._refusals.clear()
            try:
                self._send_event.send_nowait(StrangerRefused(host, error.reason, error.detail))
            except trio.WouldBlock:
                return
            self._refusals[host] = error.reason

    def _make_room(self) -> bool:
        """Forget a contact that was only told of, for one that is here."""
        for contact in self._contacts.values():
            if contact.link is None and not contact.protected and contact.introducer is not None:
                contact.seen = float("-inf")
                contact.changed()
                del self._contacts[contact.key]
                return True
        return False

    def _keeps_old(self, contact: Contact, peer: Peer, *, dialled: bool) -> bool:
        """Whether the link that exists stays, rather than a new stream, `dialled` by us or by them.

        Both sides come to the same answer: the lower key's stream stays; of two of the same direction the
        newer one. A link to an earlier run of the peer's program, or one that has gone quiet, never stays.
        """
        link = contact.link
        if link is None or link.reason is not None or link.peer.instance != peer.instance:
            return False
        if trio.current_time() - link.last_heard > 2.5 * self.timing.beat:
            return False
        return link.dialled != dialled and link.dialled == (self.key < contact.key)

    # Links

    def _attach(
        self, contact: Contact, frames: FrameStream, peer: Peer, remote: str, *, dialled: bool
    ) -> None:
        assert self._links is not None
        old = contact.link
        link = Link(
            frames,
            peer,
            remote=remote,
            dialled=dialled,
            timing=self.timing,
            limits=self.limits,
            on_frame=self._on_frame,
            on_silence=self._on_silence,
            beat=self._beat,
        )
        link.protected = contact.protected
        contact.link = link
        contact.left = False
        contact.problem = None
        contact.detail = ""
        contact.seen = trio.current_time()
        if not dialled and remote and peer.port:
            contact.add([Address(remote, peer.port)])
        if contact.dialling is not None:
            contact.dialling.cancel()
        if old is not None:
            old.end(Reason.REPLACED)
        self._greet(link)
        contact.changed()
        self._links.start_soon(self._run_link, contact, link, old)

    async def _run_link(self, contact: Contact, link: Link, old: Link | None) -> None:
        if old is not None:
            await old.finished.wait()
        await self._send_event.send(PeerUp(contact.key, link.remote))
        await link.run()
        contact.heard = link.last_heard
        contact.seen = trio.current_time()
        reason = link.reason or Reason.LOST
        if contact.link is link:
            contact.link = None
            contact.left = reason == Reason.LEFT
            if reason == Reason.GARBAGE:
                contact.refused_until = trio.current_time() + self.timing.refuse
            contact.changed()
        await self._send_event.send(PeerDown(contact.key, reason, link.detail))
        link.finished.set()

    async def _on_frame(self, link: Link, frame: Frame) -> None:
        if isinstance(frame, Beat):
            link.heard = frame
            self._take_beat(frame)
        elif isinstance(frame, Peers):
            self._take_peers(link, frame)
        elif not isinstance(frame, Bye):
            await self._send_event.send(FrameFrom(link.peer.key, frame))

    async def _on_silence(self, link: Link, silent: bool) -> None:
        await self._send_event.send(PeerSilent(link.peer.key, silent))

    def _beat(self) -> bytes:
        now = trio.current_time()
        heard = [
            Heard(key, min(MAX_AGE, int(1000 * (now - contact.link.last_heard))))
            for key, contact in self._contacts.items()
            if contact.link is not None and not contact.link.silent
        ]
        return encode_frame(Beat(tuple(heard[:MAX_PEERS])))

    def _take_beat(self, beat: Beat) -> None:
        now = trio.current_time()
        for entry in beat.heard:
            contact = self._contacts.get(entry.key)
            if contact is not None:
                then = now - entry.age / 1000
                contact.relayed = then if contact.relayed is None else max(then, contact.relayed)

    # Addresses that peers tell each other

    def _greet(self, link: Link) -> None:
        hints = [PeerHint(self.key, self._own_hints)] if self._own_hints else []
        hints += [
            PeerHint(key, contact.announced)
            for key, contact in self._contacts.items()
            if contact.link is not None and contact.link is not link and contact.announced
        ]
        if hints:
            link.send(encode_frame(Peers(tuple(hints[:MAX_PEERS]))))

    def _take_peers(self, link: Link, peers: Peers) -> None:
        for hint in peers.hints:
            addresses = [address for text in hint.addresses if (address := parse_hint(text))]
            if hint.key == self.key or not addresses:
                continue
            if hint.key == link.peer.key:
                contact = self._contacts.get(hint.key)
                # Only what a peer says of itself is passed on: hearsay does not spread.
                if contact is not None and contact.announced != hint.addresses:
                    contact.announced = hint.addresses
                    self._tell_addresses(contact, addresses)
                    self._broadcast_peers(hint)
            else:
                told = self._contact(hint.key, link.peer.key)
                if told is not None and told.link is None:
                    self._tell_addresses(told, addresses)

    def _broadcast_peers(self, hint: PeerHint) -> None:
        if hint.addresses:
            self.broadcast(Peers((hint,)), but=(hint.key,))

    async def _goodbye(self) -> None:
        data = encode_frame(Bye(int(Reason.OK)))
        async with trio.open_nursery() as nursery:
            for contact in self._contacts.values():
                if contact.link is not None:
                    nursery.start_soon(contact.link.say_goodbye, data)


async def _shielded_nursery(task_status: trio.TaskStatus[trio.Nursery]) -> None:
    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as nursery:
            task_status.started(nursery)
            await trio.sleep_forever()
