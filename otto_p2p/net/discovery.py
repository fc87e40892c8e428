"""Who else is on this LAN: publishes our advert by mDNS, and tells of others' as they come and go."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar, cast

import trio

from otto_p2p.net.addresses import Interface, ListInterfaces, list_interfaces, own_addresses, usable
from otto_p2p.net.adverts import Advert
from otto_p2p.net.responder import NotReady, Place, Responder, families
from otto_protocol.errors import LocalError

POLL_SECONDS = 3.0  # between looks at the interfaces
ANNOUNCE_SECONDS = 5.0
REPEAT_SECONDS = 30.0
STALE_SECONDS = 30.0  # an advert that was not repeated for that long is taken for gone
ASLEEP_SECONDS = 10.0  # a tick so late means that we slept: everything is announced and asked anew
CLOSE_SECONDS = 2.0
MAX_KNOWN = 256
RETRIES = 5  # looks at addresses that are not ready, before they are left alone until something changes

T = TypeVar("T")
InNetwork = Callable[[Callable[[], object]], object]


@dataclass(frozen=True, slots=True)
class AdvertSeen:
    """A peer is new, says something new, or is still there (about every `REPEAT_SECONDS`)."""

    advert: Advert


@dataclass(frozen=True, slots=True)
class AdvertGone:
    """A peer said goodbye, or was not heard for long. That one was killed is noticed by its links first."""

    key: bytes


@dataclass(frozen=True, slots=True)
class DiscoveryTrouble:
    """Discovery does not work, or not on every interface: one line. Said once for each text."""

    text: str


DiscoveryEvent = AdvertSeen | AdvertGone | DiscoveryTrouble


@dataclass(slots=True)
class _Running:
    places: tuple[Place, ...]
    number: int  # new for each responder
    responder: Responder | None = None
    waiting: bool = False  # for an address that is not ready yet


@dataclass(slots=True)
class _Known:
    advert: Advert
    sources: dict[int, Advert]  # by responder: the addresses differ
    heard: float
    told: float


class Discovery:
    """`run` it in a nursery, `publish` what to tell (again whenever it changes), read `events`.

    Nothing here is proven: an advert is a hint where to dial. `interfaces` lists the machine's interfaces,
    `in_network` calls a function where its sockets are to be opened (tests: in a network namespace).
    """

    def __init__(
        self,
        key: bytes | None = None,
        *,
        interfaces: ListInterfaces = list_interfaces,
        in_network: InNetwork | None = None,
    ) -> None:
        """`key` is our own, whose adverts are not told of; None to browse only."""
        self._key = key
        self._interfaces = interfaces
        self._in_network = in_network
        self._advert: Advert | None = None
        self._published: Advert | None = None
        self._present: tuple[Interface, ...] = ()
        self._responders: dict[int, _Running] = {}  # by IP version
        self._generation = 0
        self._retries = RETRIES
        self._known: dict[str, _Known] = {}
        self._told: set[str] = set()
        self._wake = trio.Event()
        self._inbox: dict[tuple[int, str], Advert | None] = {}
        self._letter = trio.Event()
        self._send, self.events = trio.open_memory_channel[DiscoveryEvent](MAX_KNOWN)

    def look_again(self) -> None:
        """The interfaces have changed: adapt to them now, not at the next tick."""
        self._wake.set()

    def publish(self, advert: Advert) -> None:
        """Tell this from now on. The addresses are those of the usable interfaces at any time."""
        if advert != self._advert:
            self._advert = advert
            self._wake.set()

    @property
    def works(self) -> bool:
        """Whether there is an interface on which we answer and listen."""
        return any(running.responder is not None for running in self._responders.values())

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until cancelled; then says goodbye, within `CLOSE_SECONDS`."""
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._read)
            try:
                await self._adapt(await self._look())
                task_status.started()
                await self._tend()
            finally:
                with trio.move_on_after(CLOSE_SECONDS, shield=True):
                    await self._close(tuple(self._responders))

    async def _tend(self) -> None:
        announced = trio.current_time()
        before, wall = trio.current_time(), time.time()
        while True:
            with trio.move_on_after(POLL_SECONDS):
                await self._wake.wait()
            self._wake = trio.Event()
            # Both clocks: one of them stands still while the machine sleeps, on some systems.
            late = max(trio.current_time() - before, time.time() - wall) - POLL_SECONDS
            before, wall = trio.current_time(), time.time()
            present = await self._look()
            if late > ASLEEP_SECONDS:
                await self._close(tuple(self._responders))
            if present != self._present or late > ASLEEP_SECONDS:
                self._retries = RETRIES
                await self._adapt(present)
            elif self._retries and any(running.waiting for running in self._responders.values()):
                self._retries -= 1
                await self._adapt(present)
            elif self._advert != self._published:
                await self._publish()
            elif trio.current_time() - announced >= ANNOUNCE_SECONDS - POLL_SECONDS / 2:
                announced = trio.current_time()
                for running in self._responders.values():
                    if running.responder is not None:
                        running.responder.announce()
            await self._forget_stale()

    async def _look(self) -> tuple[Interface, ...]:
        try:
            return usable(await self._call(self._interfaces))
        except OSError as error:
            await self._trouble(f"cannot list the network interfaces: {error}")
            return ()

    async def _adapt(self, present: tuple[Interface, ...]) -> None:
        """Answer and listen on these interfaces: what has not changed for an IP version goes on as it was."""
        self._present = present
        wanted = families(present)
        await self._close(
            version
            for version, running in self._responders.items()
            if running.waiting or wanted.get(version) != running.places
        )
        async with trio.open_nursery() as nursery:
            for version, places in wanted.items():
                if version not in self._responders:
                    nursery.start_soon(self._open, version, places)
        await self._publish()

    async def _open(self, version: int, places: tuple[Place, ...]) -> None:
        self._generation += 1
        number = self._generation

        def heard(instance: str, advert: Advert | None) -> None:
            # A last packet may come when trio has ended.
            with contextlib.suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._post, number, instance, advert)

        running = self._responders[version] = _Running(places, number)
        try:
            running.responder = await self._call(lambda: Responder(places, heard))
            running.waiting = running.responder.waiting > 0
        except NotReady:
            running.waiting = True
        except OSError as error:
            await self._trouble(f"no discovery on {', '.join(place.address for place in places)}: {error}")

    async def _publish(self) -> None:
        advert = self._published = self._advert
        if advert is None:
            return
        hosts = [address.ip for interface in self._present for address in interface.addresses]
        best = [address.host for address in own_addresses(self._present, advert.port)]
        hosts.sort(key=lambda ip: best.index(str(ip)))
        responders = [running.responder for running in self._responders.values() if running.responder]
        async with trio.open_nursery() as nursery:
            for responder in responders:
                nursery.start_soon(self._call, functools.partial(responder.publish, advert, hosts))
        for responder in responders:
            for problem in responder.problems:
                await self._trouble(problem)
            responder.problems.clear()

    async def _close(self, versions: Iterable[int]) -> None:
        closing = [self._responders.pop(version) for version in tuple(versions)]
        async with trio.open_nursery() as nursery:
            for running in closing:
                if running.responder is not None:
                    nursery.start_soon(functools.partial(self._call, running.responder.close, abandon=True))

    async def _call(self, function: Callable[[], T], *, abandon: bool = False) -> T:
        """Run something that blocks in a worker thread, in the right network."""
        wrapped = functools.partial(self._in_network, function) if self._in_network else function
        return cast(T, await trio.to_thread.run_sync(wrapped, abandon_on_cancel=abandon))

    async def _trouble(self, text: str) -> None:
        if text not in self._told and len(self._told) < MAX_KNOWN:
            self._told.add(text)
            await self._send.send(DiscoveryTrouble(text))

    # What others say

    def _post(self, number: int, instance: str, advert: Advert | None) -> None:
        # A flood replaces its own letters, or finds the box full.
        if (number, instance) in self._inbox or len(self._inbox) < MAX_KNOWN:
            self._inbox[number, instance] = advert
            self._letter.set()

    async def _read(self) -> None:
        while True:
            await self._letter.wait()
            self._letter = trio.Event()
            letters, self._inbox = self._inbox, {}
            for (number, instance), advert in letters.items():
                if advert is None:
                    await self._gone(number, instance)
                elif advert.key != self._key:
                    await self._seen(number, instance, advert)

    async def _seen(self, number: int, instance: str, advert: Advert) -> None:
        known = self._known.get(instance)
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                return
            # A new run of the same peer takes the place of an old one that could not say goodbye.
            for other, old in list(self._known.items()):
                if old.advert.key == advert.key:
                    del self._known[other]
        sources = known.sources if known is not None else {}
        sources[number] = advert
        addresses = dict.fromkeys(address for one in sources.values() for address in one.addresses)
        merged = dataclasses.replace(advert, addresses=tuple(addresses))
        now = trio.current_time()
        told = known.told if known is not None else now
        again = known is None or known.advert != merged or now - told >= REPEAT_SECONDS
        self._known[instance] = _Known(merged, sources, now, now if again else told)
        if again:
            await self._send.send(AdvertSeen(merged))

    async def _gone(self, number: int, instance: str) -> None:
        known = self._known.get(instance)
        if known is not None:
            known.sources.pop(number, None)
            if not known.sources.keys() & {running.number for running in self._responders.values()}:
                del self._known[instance]
                await self._send.send(AdvertGone(known.advert.key))

    async def _forget_stale(self) -> None:
        now = trio.current_time()
        for instance, known in list(self._known.items()):
            if now - known.heard > STALE_SECONDS:
                del self._known[instance]
                await self._send.send(AdvertGone(known.advert.key))


async def browse_once(
    seconds: float,
    *,
    interfaces: ListInterfaces = list_interfaces,
    in_network: InNetwork | None = None,
) -> tuple[Advert, ...]:
    """Who advertises on this LAN, looked at for that many seconds, by key.

    Raises LocalError when discovery works on no interface at all.
    """
    found: dict[bytes, Advert] = {}
    troubles: list[str] = []
    discovery = Discovery(interfaces=interfaces, in_network=in_network)

    async def collect() -> None:
        async for event in discovery.events:
            if isinstance(event, AdvertSeen):
                found[event.advert.key] = event.advert
            elif isinstance(event, AdvertGone):
                found.pop(event.key, None)
            else:
                troubles.append(event.text)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect)
        await nursery.start(discovery.run)
        await trio.sleep(seconds)
        working = discovery.works
        nursery.cancel_scope.cancel()
    if not working and troubles:
        raise LocalError(troubles[0])
    return tuple(found[key] for key in sorted(found))
