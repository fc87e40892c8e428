"""Real peers in one test process: mesh and discovery of each in the namespace of its own host."""

from __future__ import annotations

import socket
from collections.abc import Callable

import trio

from otto_p2p.net.addresses import Address, Interface, list_interfaces, to_dial, usable
from otto_p2p.net.adverts import Advert
from otto_p2p.net.discovery import AdvertGone, AdvertSeen, Discovery, DiscoveryEvent
from otto_p2p.net.events import FrameFrom, MeshEvent
from otto_p2p.net.frames import CloseReason, MatchMessage
from otto_p2p.net.interfaces import InterfaceWatch
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import CONNECT_SECONDS, LinkError, describe_os_error, listening_port, open_listeners
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from tests.lan.lab import Host
from tests.lan.players import PATIENCE


class LanPeer:
    """A peer of the LAN: everything that it saw is in `adverts`, `gone` and `events`."""

    def __init__(self, host: Host, *, mdns: bool = True, port: int | None = None) -> None:
        self.host = host
        self.identity = IdentityKey.generate(Drbg(b"lan peer " + host.name.encode()))
        self.key = self.identity.public
        self.adverts: dict[bytes, Advert] = {}
        self.seen_at: dict[bytes, float] = {}
        self.linked_at: float | None = None
        self.gone: list[bytes] = []
        self.troubles: list[DiscoveryEvent] = []
        self.events: list[MeshEvent] = []
        self.scope = trio.CancelScope()
        self.finished = trio.Event()
        self._mdns = mdns
        with host.entered():
            self.listeners = open_listeners(port)
            self.port = listening_port(self.listeners)

    def interfaces(self) -> tuple[Interface, ...]:
        with self.host.entered():
            return list_interfaces()

    async def dial(self, address: Address) -> trio.abc.Stream:
        """As `dial_tcp` does, with a socket of this host."""
        bare, _, scope = address.host.partition("%")
        family = socket.AF_INET6 if ":" in bare else socket.AF_INET
        with self.host.entered():
            index = socket.if_nametoindex(scope) if scope else 0
            one = trio.socket.socket(family, socket.SOCK_STREAM)
        try:
            with trio.fail_after(CONNECT_SECONDS):
                place = (bare, address.port, 0, index) if ":" in bare else (bare, address.port)
                await one.connect(place)
        except trio.TooSlowError:
            one.close()
            raise LinkError(CloseReason.TIMEOUT, str(address)) from None
        except OSError as error:
            one.close()
            raise LinkError(CloseReason.UNREACHABLE, describe_os_error(error)) from None
        except BaseException:
            one.close()
            raise
        return trio.SocketStream(one)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self.mesh = Mesh(
            self.identity,
            listeners=self.listeners,
            port=self.port,
            dial=self.dial,
            choose=lambda hints: to_dial(hints, usable(self.interfaces())),
        )
        self.watch = InterfaceWatch(self.interfaces)
        self.discovery = Discovery(self.key, interfaces=self.watch.listed, in_network=self.host.in_network)
        self.discovery.publish(
            Advert(
                key=self.key,
                nonce=self.key[:6],
                name=self.host.name,
                table=bytes(16),
                title="a table",
                seated=1,
                seats=4,
                pinned=False,
                playing=False,
                port=self.port,
            )
        )
        with self.scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._collect)
                await nursery.start(self.mesh.run)
                nursery.start_soon(self.watch.run)
                nursery.start_soon(self.watch.follow, self.port, self._moved)
                if self._mdns:
                    nursery.start_soon(self._find)
                    nursery.start_soon(self.discovery.run)
                task_status.started()
        self.finished.set()

    def _moved(self, addresses: tuple[Address, ...]) -> None:
        self.mesh.announce(addresses)
        self.discovery.look_again()

    async def _collect(self) -> None:
        async for event in self.mesh.events:
            self.events.append(event)

    async def _find(self) -> None:
        async for event in self.discovery.events:
            if isinstance(event, AdvertSeen):
                self.adverts[event.advert.key] = event.advert
                self.seen_at.setdefault(event.advert.key, trio.current_time())
                self.mesh.add_candidate(event.advert.addresses, event.advert.key)
            elif isinstance(event, AdvertGone):
                self.adverts.pop(event.key, None)
                self.gone.append(event.key)
            else:
                self.troubles.append(event)

    def linked(self) -> set[bytes]:
        return {info.key for info in self.mesh.links()}

    def problem(self, key: bytes) -> CloseReason | None:
        """Why the last attempt to reach a peer failed."""
        return next((info.problem for info in self.mesh.contacts() if info.key == key), None)

    def addresses(self, key: bytes) -> tuple[Address, ...]:
        """Where a peer says that it is, by mDNS."""
        return self.adverts[key].addresses if key in self.adverts else ()

    def messages(self) -> list[bytes]:
        """The game messages that have come."""
        frames = [event.frame for event in self.events if isinstance(event, FrameFrom)]
        return [frame.message for frame in frames if isinstance(frame, MatchMessage)]


async def until(condition: Callable[[], bool], seconds: float) -> float:
    """Wait until the condition holds, usually within so many seconds, and say how long that took."""
    begin = trio.current_time()
    with trio.move_on_after(seconds * PATIENCE):
        while not condition():
            await trio.sleep(0.01)
    taken = trio.current_time() - begin
    assert condition(), f"not within {seconds * PATIENCE} s"
    return taken
