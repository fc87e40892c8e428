"""A LAN of memory streams: peers listen on names, dial each other, and are cut off at will; no sockets."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio
import trio.testing

from otto_p2p.net.addresses import Address
from otto_p2p.net.events import FrameFrom, MeshEvent, PeerDown
from otto_p2p.net.frames import CloseReason, MatchMessage
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import LinkError
from otto_p2p.net.tls import Credentials, make_credentials
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg

PORT = 47701
E = TypeVar("E")
_credentials: list[Credentials] = []


def credentials(number: int) -> Credentials:
    """Certificates cost time to make, and tests may share them: one for each peer of a LAN."""
    while len(_credentials) <= number:
        _credentials.append(make_credentials())
    return _credentials[number]


class VirtualStream(trio.abc.HalfCloseableStream):
    """One end of a memory stream. A muted end loses what it sends, without an error, like a pulled cable."""

    def __init__(
        self,
        inner: trio.StapledStream[trio.testing.MemorySendStream, trio.testing.MemoryReceiveStream],
        lan: VirtualLan,
        here: str,
        there: str,
    ) -> None:
        self.inner = inner
        self.lan = lan
        self.here = here
        self.there = there

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self.lan.slow is not None:
            await trio.sleep(self.lan.slow.uniform(0.0, 0.05))
        if (self.here, self.there) in self.lan.clogged:
            await trio.sleep_forever()
        if self.lan.muted(self.here, self.there):
            await trio.lowlevel.checkpoint()
        else:
            await self.inner.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self.inner.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self.inner.receive_some(max_bytes)

    async def send_eof(self) -> None:
        await self.inner.send_eof()

    async def aclose(self) -> None:
        if self.lan.muted(self.here, self.there):
            await trio.lowlevel.checkpoint()
        else:
            await self.inner.aclose()

    def reset(self) -> None:
        """Both directions break, as by a TCP reset."""
        self.inner.send_stream.close()
        self.inner.receive_stream.close()


class VirtualListener(trio.abc.Listener[trio.abc.Stream]):
    """Where the streams that were dialled to a name come out."""

    def __init__(self) -> None:
        self.send, self._receive = trio.open_memory_channel[trio.abc.Stream](1000)

    async def accept(self) -> trio.abc.Stream:
        return await self._receive.receive()

    async def aclose(self) -> None:
        self.send.close()
        await self._receive.aclose()


class VirtualLan:
    """Hosts by name. `cut` mutes pairs both ways; `firewall` refuses dialling, `clogged` sending, one way."""

    def __init__(self) -> None:
        self.listeners: dict[str, VirtualListener] = {}
        self.streams: list[tuple[VirtualStream, VirtualStream]] = []
        self.dials: list[tuple[str, str]] = []
        self.runs = 0
        self.slow: random.Random | None = None  # each write takes up to 50 ms
        self._cut: set[frozenset[str]] = set()
        self.firewall: set[tuple[str, str]] = set()
        self.clogged: set[tuple[str, str]] = set()

    def muted(self, here: str, there: str) -> bool:
        return frozenset((here, there)) in self._cut

    def cut(self, one: str, other: str) -> None:
        self._cut.add(frozenset((one, other)))

    def mend(self, one: str, other: str) -> None:
        self._cut.discard(frozenset((one, other)))

    def listener(self, name: str) -> VirtualListener:
        self.listeners[name] = VirtualListener()
        return self.listeners[name]

    async def connect(self, here: str, there: str) -> VirtualStream:
        """Dial from one name to another. Raises LinkError as `dial_tcp` does."""
        self.dials.append((here, there))
        await trio.lowlevel.checkpoint()
        if self.muted(here, there):
            await trio.sleep(4.0)
            raise LinkError(CloseReason.TIMEOUT, there)
        if there.startswith("10.0.0."):
            there = f"p{there.removeprefix('10.0.0.')}"
        listener = self.listeners.get(there)
        if listener is None or (here, there) in self.firewall:
            raise LinkError(CloseReason.UNREACHABLE, "connection refused")
        near, far = trio.testing.memory_stream_pair()
        pair = VirtualStream(near, self, here, there), VirtualStream(far, self, there, here)
        self.streams.append(pair)
        try:
            listener.send.send_nowait(pair[1])
        except (trio.WouldBlock, trio.ClosedResourceError, trio.BrokenResourceError):
            raise LinkError(CloseReason.UNREACHABLE, "connection refused") from None
        return pair[0]

    def reset(self, one: str, other: str) -> None:
        """Break every stream between two hosts."""
        for near, far in self.streams:
            if {near.here, near.there} == {one, other}:
                near.reset()
                far.reset()


class VirtualPeer:
    """A mesh on the virtual LAN, with everything that it said so far in `log`."""

    def __init__(self, lan: VirtualLan, number: int, *, collect: bool = True, **options: Any) -> None:
        self.name = f"p{number}"
        self.collect = collect
        self.lan = lan
        self.identity = IdentityKey.generate(Drbg(b"peer %d" % number))
        self.key = self.identity.public
        self.address = Address(self.name, PORT)
        # Hints are IP addresses; the LAN knows its hosts by these too.
        self.address_hint = Address(f"10.0.0.{number}", PORT)
        self.log: list[MeshEvent] = []
        self.scope = trio.CancelScope()
        self.number = number
        self.options = options

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self.lan.runs += 1

        async def dial(address: Address) -> trio.abc.Stream:
            return await self.lan.connect(self.name, address.host)

        self.mesh = Mesh(
            self.identity,
            listeners=[self.lan.listener(self.name)],
            port=PORT,
            dial=dial,
            remote=lambda stream: stream.there if isinstance(stream, VirtualStream) else "",
            rng=Drbg(b"rng %d %d" % (self.number, self.lan.runs)),
            credentials=credentials(self.number),
            **{"choose": lambda hints: tuple(hints), **self.options},
        )
        with self.scope:
            async with trio.open_nursery() as nursery:
                if self.collect:
                    nursery.start_soon(self._collect)
                await nursery.start(self.mesh.run)
                task_status.started()

    async def _collect(self) -> None:
        async for event in self.mesh.events:
            self.log.append(event)

    def linked(self) -> set[bytes]:
        return {info.key for info in self.mesh.links()}

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.log if isinstance(event, kind)]

    def down(self) -> list[CloseReason]:
        return [event.reason for event in self.of(PeerDown)]

    def frames(self) -> list[bytes]:
        """The game messages that have come."""
        return [event.frame.message for event in self.of(FrameFrom) if isinstance(event.frame, MatchMessage)]


@asynccontextmanager
async def peers(count: int, **options: Any) -> AsyncIterator[list[VirtualPeer]]:
    """So many running peers that do not know of each other yet."""
    lan = VirtualLan()
    async with trio.open_nursery() as nursery:
        made = [VirtualPeer(lan, number, **options) for number in range(count)]
        for peer in made:
            await nursery.start(peer.run)
        yield made
        nursery.cancel_scope.cancel()


def introduce(*everybody: VirtualPeer) -> None:
    """Everybody learns where everybody is, as by discovery."""
    for one in everybody:
        for other in everybody:
            if one is not other:
                one.mesh.add_candidate([other.address], other.key)


def fully_linked(everybody: list[VirtualPeer]) -> bool:
    return all(len(peer.linked()) == len(everybody) - 1 for peer in everybody)


def one_stream_each(everybody: list[VirtualPeer]) -> bool:
    """Whether of each pair the peer with the lower key has dialled the link that both have."""
    for peer in everybody:
        for info in peer.mesh.links():
            if info.dialled != (peer.key < info.key):
                return False
    return True
