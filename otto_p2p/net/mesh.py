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

from otto_p2p.net.addresses import Address, list_interfaces, parse_hint, to_dial, usable
from otto_p2p.net.contacts import Contact, ContactBook, ContactInfo
from otto_p2p.net.dialling import Choose, Dialler
from otto_p2p.net.events import (
    FrameFrom,
    LinkInfo,
    MeshEvent,
    PeerDown,
    PeerSilent,
    PeerUp,
    StrangerRefused,
)
from otto_p2p.net.frames import (
    MAX_AGE,
    MAX_HINT,
    MAX_HINTS,
    MAX_PEERS,
    Beat,
    Bye,
    CloseReason,
    Frame,
    Hears,
    PeerHint,
    Peers,
    encode_frame,
)
from otto_p2p.net.handshake import Peer, Self
from otto_p2p.net.link import Limits, Link, Timing
from otto_p2p.net.listening import Door
from otto_p2p.net.streams import Dial, FrameStream, LinkError, dial_tcp
from otto_p2p.net.tls import Credentials, make_credentials
from otto_protocol.hashing import Rng
from otto_protocol.lobby.record import Signer
from otto_protocol.roster import PROTOCOL_VERSION

REMEMBERED_STRANGERS = 64

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
        remote: Remote = remote_host,
        rng: Rng = os.urandom,
        jitter: random.Random | None = None,
        version: int = PROTOCOL_VERSION,
        credentials: Credentials | None = None,
        timing: Timing | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`port` is where the listeners listen (0: nobody can dial us). The rest is for tests to replace."""
        self.key = identity.public
        self.timing = timing or Timing()
        self.limits = limits or Limits()
        self._listeners = listeners
        self._remote = remote
        self._self = Self(identity, credentials or make_credentials(), rng(16), version, rng, lambda: port)
        self._book = ContactBook(self.key, self.timing, self.limits, self._added)
        self._dialler = Dialler(
            self._self,
            self._book,
            dial=dial,
            choose=choose,
            attach=lambda contact, frames, peer, address: self._attach(
                contact, frames, peer, str(address), dialled=True
            ),
            failed=self._tell,
            timing=self.timing,
            jitter=jitter or random.Random(rng(8)),
        )
        self._own_hints: tuple[str, ...] = ()
        self._targets: dict[str, tuple[Address, ...]] = {}
        self._refusals: dict[str, CloseReason] = {}
        self._work: trio.Nursery | None = None
        self._links: trio.Nursery | None = None
        self._send_event, self.events = trio.open_memory_channel[MeshEvent](self.limits.events)

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
                    for contact in self._book:
                        work.start_soon(self._dialler.keep, contact)
                    for label, addresses in self._targets.items():
                        work.start_soon(self._dialler.seek, label, addresses)
                    task_status.started()
                    await trio.sleep_forever()
            finally:
                self._work = None
                with trio.move_on_after(self.timing.goodbye, shield=True):
                    await self._goodbye()
                self._links.cancel_scope.cancel()
        self._send_event.close()

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
                    self._work.start_soon(self._dialler.seek, name, typed)
        elif key != self.key:
            contact = self._book.know(key)
            if contact is not None:
                self._book.tell(contact, addresses)

    def announce(self, hints: Iterable[Address]) -> None:
        """Where we can be dialled, best first: told to every peer now and on every new link."""
        texts = tuple(str(hint) for hint in hints)
        self._own_hints = tuple(text for text in texts if len(text) <= MAX_HINT)[:MAX_HINTS]
        self._broadcast_peers(PeerHint(self.key, self._own_hints))

    def send(self, key: bytes, frame: Frame) -> bool:
        """Queue a frame for one peer; False without a link. Never waits; a full queue ends the link."""
        link = self._book.link(key)
        return link is not None and link.send(encode_frame(frame))

    def send_to(self, keys: Iterable[bytes], frame: Frame) -> None:
        """Queue a frame, encoded once, for those of these peers that there is a link to."""
        data = encode_frame(frame)
        for key in keys:
            if (link := self._book.link(key)) is not None:
                link.send(data)

    def broadcast(self, frame: Frame, *, but: Iterable[bytes] = ()) -> frozenset[bytes]:
        """Queue a frame for every linked peer except those of `but`; the keys of those it goes to."""
        skip = frozenset(but)
        data = encode_frame(frame)
        return frozenset(
            contact.key
            for contact, link in self._book.linked()
            if contact.key not in skip and link.send(data)
        )

    def protect(self, keys: Iterable[bytes]) -> None:
        """The peers of our game: kept for ever, never refused for want of room, not throttled."""
        self._book.protect(frozenset(keys))

    def drop(self, key: bytes, reason: CloseReason = CloseReason.UNWANTED) -> None:
        """End the link to a peer that misbehaves, and do not let it in again for a while."""
        contact = self._book.get(key)
        if contact is not None:
            contact.refused_until = trio.current_time() + self.timing.refuse
            if contact.link is not None:
                contact.link.end(reason, "dropped by us")

    def links(self) -> tuple[LinkInfo, ...]:
        """All links now, by key."""
        infos = [
            LinkInfo(
                contact.key,
                link.remote,
                link.dialled,
                link.since,
                link.last_heard,
                link.silent,
                link.queued,
                link.sent,
                frozenset(entry.key for entry in link.heard.heard),
            )
            for contact, link in self._book.linked()
        ]
        return tuple(sorted(infos, key=lambda info: info.key))

    def contacts(self) -> tuple[ContactInfo, ...]:
        """All known peers, linked or not, by key."""
        return tuple(sorted((contact.info() for contact in self._book), key=lambda info: info.key))

    def addresses(self, key: bytes) -> tuple[Address, ...]:
        """Where a peer can be dialled as far as is known, what has worked first."""
        contact = self._book.get(key)
        return contact.best_first() if contact is not None else ()

    def last_heard(self, key: bytes) -> float | None:
        """When a peer was last heard, directly or as others tell, on trio's clock; None if never."""
        contact = self._book.get(key)
        return contact.last_heard() if contact is not None else None

    def _added(self, contact: Contact) -> None:
        if self._work is not None:
            self._work.start_soon(self._dialler.keep, contact)

    async def _tell(self, event: MeshEvent) -> None:
        await self._send_event.send(event)

    # Peers that dialled us

    def _judge(self, peer: Peer, host: str) -> CloseReason:
        """Whether a proven peer that dialled us gets a link."""
        contact = self._book.get(peer.key)
        if contact is not None:
            if trio.current_time() < contact.refused_until:
                return CloseReason.UNWANTED
            if self._book.keeps_old(contact, peer, dialled=False):
                return CloseReason.DUPLICATE
        if peer.key in self._book.protected or (contact is not None and contact.link is not None):
            return CloseReason.OK
        linked = [link for _, link in self._book.linked() if not link.protected]
        from_host = sum(1 for link in linked if link.remote == host and not link.dialled)
        if len(linked) >= self.limits.links or (host and from_host >= self.limits.links_per_host):
            return CloseReason.BUSY
        return CloseReason.OK if contact is not None or self._book.make_room() else CloseReason.BUSY

    def _admit(self, frames: FrameStream, peer: Peer, host: str) -> bool:
        contact = self._book.know(peer.key)
        # Judged again: the verdict took time to send, and a stream of ours may have come about in it.
        if contact is None or self._book.keeps_old(contact, peer, dialled=False):
            return False
        self._attach(contact, frames, peer, host, dialled=False)
        return True

    def _refused(self, host: str, error: LinkError) -> None:
        if error.reason == CloseReason.OTHER_VERSION and self._refusals.get(host) != error.reason:
            if len(self._refusals) >= REMEMBERED_STRANGERS:
                self._refusals.clear()
            try:
                self._send_event.send_nowait(StrangerRefused(host, error.reason, error.detail))
            except trio.WouldBlock:
                return
            self._refusals[host] = error.reason

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
            old.end(CloseReason.REPLACED)
        self._greet(link)
        contact.changed()
        self._links.start_soon(self._run_link, contact, link, old)

    async def _run_link(self, contact: Contact, link: Link, old: Link | None) -> None:
        if old is not None:
            await old.finished.wait()
        await self._tell(PeerUp(contact.key, link.remote))
        await link.run()
        contact.heard = link.last_heard
        contact.seen = trio.current_time()
        reason = link.reason or CloseReason.LOST
        if contact.link is link:
            contact.link = None
            contact.left = reason == CloseReason.LEFT
            if reason == CloseReason.GARBAGE:
                contact.refused_until = trio.current_time() + self.timing.refuse
            contact.changed()
        await self._tell(PeerDown(contact.key, reason, link.detail))
        link.finished.set()

    async def _on_frame(self, link: Link, frame: Frame) -> None:
        if isinstance(frame, Beat):
            link.heard = frame
            # In a game only those who play it can vouch for somebody.
            if not self._book.protected or link.protected:
                self._take_beat(frame)
        elif isinstance(frame, Peers):
            if link.gossip.take() == 0.0:
                self._take_peers(link, frame)
        elif not isinstance(frame, Bye):
            await self._tell(FrameFrom(link.peer.key, frame))

    async def _on_silence(self, link: Link, silent: bool) -> None:
        await self._tell(PeerSilent(link.peer.key, silent))

    def _beat(self) -> bytes:
        now = trio.current_time()
        heard = [
            Hears(contact.key, min(MAX_AGE, int(1000 * (now - link.last_heard))))
            for contact, link in self._book.linked()
            if not link.silent
        ]
        return encode_frame(Beat(tuple(heard[:MAX_PEERS])))

    def _take_beat(self, beat: Beat) -> None:
        now = trio.current_time()
        for entry in beat.heard:
            contact = self._book.get(entry.key)
            if contact is not None:
                then = now - entry.age / 1000
                contact.relayed = then if contact.relayed is None else max(then, contact.relayed)

    # Addresses that peers tell each other

    def _greet(self, link: Link) -> None:
        hints = [PeerHint(self.key, self._own_hints)] if self._own_hints else []
        hints += [
            PeerHint(contact.key, contact.announced)
            for contact, other in self._book.linked()
            if other is not link and contact.announced
        ]
        if hints:
            link.send(encode_frame(Peers(tuple(hints[:MAX_PEERS]))))

    def _take_peers(self, link: Link, peers: Peers) -> None:
        for hint in peers.hints:
            addresses = [address for text in hint.addresses if (address := parse_hint(text))]
            if hint.key == self.key or not addresses:
                continue
            if hint.key == link.peer.key:
                contact = self._book.get(hint.key)
                # Only what a peer says of itself is passed on: hearsay does not spread.
                if contact is not None and contact.announced != hint.addresses:
                    contact.announced = hint.addresses
                    self._book.tell(contact, addresses)
                    self._broadcast_peers(hint)
            else:
                told = self._book.know(hint.key, link.peer.key)
                if told is not None and told.link is None:
                    self._book.tell(told, addresses)

    def _broadcast_peers(self, hint: PeerHint) -> None:
        if hint.addresses:
            self.broadcast(Peers((hint,)), but=(hint.key,))

    async def _goodbye(self) -> None:
        data = encode_frame(Bye(int(CloseReason.OK)))
        async with trio.open_nursery() as nursery:
            for _, link in self._book.linked():
                nursery.start_soon(link.say_goodbye, data)


async def _shielded_nursery(task_status: trio.TaskStatus[trio.Nursery]) -> None:
    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as nursery:
            task_status.started(nursery)
            await trio.sleep_forever()
