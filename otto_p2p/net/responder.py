"""One python-zeroconf instance: answers for us, listens to others, in its own threads, and never prints."""

from __future__ import annotations

import errno
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import zeroconf
from zeroconf import RecordUpdateListener, ServiceBrowser, ServiceInfo, Zeroconf

from otto_p2p.net.addresses import Interface
from otto_p2p.net.adverts import SERVICE_TYPE, Advert, read_advert, txt_record
from otto_protocol.lobby.record import MAX_ADDRESSES

TTL = 120  # seconds; liveness does not depend on it
_TYPE_PTR = 12  # RFC 1035 section 3.2.2
MAX_PER_PACKET = 64  # instances that one packet may speak of

# Everything that a stranger's packet, or a network that goes away, makes python-zeroconf raise.
_HARMLESS = (zeroconf.Error, OSError, ValueError, UnicodeError, RuntimeError)

Heard = Callable[[str, Advert | None], None]
"""Called in a thread of zeroconf: an instance name, and its advert, or None when it has said goodbye."""


def silence_logs() -> None:
    """Nothing of what zeroconf logs reaches the screen, not even by the logging module's last resort."""
    logger = logging.getLogger("zeroconf")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Place:
    """One interface as a responder of one family uses it: an address of ours, and its scope (IPv6) or 0."""

    address: str
    scope: int = 0

    def ready(self) -> bool:
        """Whether the address can be used: a new IPv6 address is checked for duplicates for a second."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind((self.address, 0, 0, self.scope) if self.scope else (self.address, 0))
            except OSError:
                return False
        return True


def families(interfaces: Sequence[Interface]) -> dict[int, tuple[Place, ...]]:
    """By IP version, where to answer and listen: all IPv4 addresses, one IPv6 address an interface.

    Two responders, because one socket for both does not join IPv4 groups on every system, and so that trouble
    with one family leaves the other alone.
    """
    v4 = tuple(Place(str(a.ip)) for i in interfaces for a in i.addresses if a.version == 4)
    v6 = []
    for interface in interfaces:
        local = [str(a.ip) for a in interface.addresses if a.version == 6 and a.ip.is_link_local]
        if local and interface.index > 0:
            v6.append(Place(local[0], interface.index))
    return {version: places for version, places in ((4, v4), (6, tuple(v6))) if places}


class Responder:
    """Blocking: every call belongs in a worker thread."""

    def __init__(self, places: Sequence[Place], heard: Heard) -> None:
        """Opens the sockets and browses. Raises OSError when none of the places works.

        `problems` names those that do not, if others do; `waiting` says how many may work in a moment.
        """
        silence_logs()
        self.problems: list[str] = []
        ready = [place for place in places if place.ready()]
        self.waiting = len(places) - len(ready)
        if not ready:
            raise NotReady(errno.EADDRNOTAVAIL, "no address is ready")
        self._zeroconf = self._open(ready)
        loop = self._zeroconf.loop
        assert loop is not None
        # A callback of zeroconf that trips over a strange packet must not print a traceback.
        loop.call_soon_threadsafe(loop.set_exception_handler, _ignore)
        self._zeroconf.add_listener(_Ear(self._zeroconf, heard), None)
        self._browser = ServiceBrowser(self._zeroconf, SERVICE_TYPE, handlers=[_nothing])
        self._info: ServiceInfo | None = None

    def _open(self, places: list[Place]) -> Zeroconf:
        try:
            return _zeroconf(places)
        except (OSError, RuntimeError) as error:
            if len(places) == 1:
                raise OSError(str(error)) from error
        # One bad interface must not take the others with it.
        good = []
        for place in places:
            try:
                _zeroconf([place]).close()
                good.append(place)
            except (OSError, RuntimeError) as error:
                self.problems.append(f"no discovery on {place.address}: {error}")
        if not good:
            raise OSError("; ".join(self.problems))
        return _zeroconf(good)

    def publish(self, advert: Advert, hosts: Iterable[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> None:
        """Announce, or announce anew, with these addresses; takes half a second."""
        info = ServiceInfo(
            SERVICE_TYPE,
            f"{advert.instance}.{SERVICE_TYPE}",
            addresses=[host.packed for host in hosts][:MAX_ADDRESSES],
            port=advert.port,
            properties=txt_record(advert),
            server=f"otto-{advert.instance}.local.",
            host_ttl=TTL,
            other_ttl=TTL,
        )
        try:
            if self._info is not None and self._info.name == info.name:
                self._zeroconf.update_service(info)
            else:
                self.withdraw()
                # The name is unique (key and nonce), so it need not be probed for: found in 0.1 s, not 1.5.
                self._zeroconf.register_service(info, cooperating_responders=True)
            self._info = info
        except _HARMLESS as error:
            self.problems.append(str(error) or type(error).__name__)

    def withdraw(self) -> None:
        """Say goodbye for what was published, if anything was."""
        if self._info is not None:
            try:
                self._zeroconf.unregister_service(self._info)
            except _HARMLESS as error:
                self.problems.append(str(error) or type(error).__name__)
            self._info = None

    def announce(self) -> None:
        """Say again what was published: browsers ask ever more rarely, and a packet may be lost."""
        if self._info is not None:
            self._zeroconf.send(self._zeroconf.generate_service_broadcast(self._info, None))

    def close(self) -> None:
        """Say goodbye and close the sockets: up to 0.4 s."""
        try:
            self._browser.cancel()
            self._zeroconf.close()
        except _HARMLESS as error:
            self.problems.append(str(error) or type(error).__name__)


class NotReady(OSError):
    """The addresses are too new to be used; soon they can be."""


def _zeroconf(places: Sequence[Place]) -> Zeroconf:
    # An interface's index stands for any of its IPv6 addresses; its link-local one is what mDNS speaks from.
    unique = {place.address for place in places}
    by_index = len(unique) < len(places)
    chosen: list[str | int] = [place.scope if place.scope and by_index else place.address for place in places]
    return Zeroconf(interfaces=chosen, use_asyncio=False)


class _Ear(RecordUpdateListener):
    """Reads adverts off each packet as soon as it is in the cache; waits for nothing, asks for nothing."""

    def __init__(self, owner: Zeroconf, heard: Heard) -> None:
        self._owner = owner
        self._heard = heard
        self._present: set[str] = set()
        self._gone: set[str] = set()

    def async_update_records(self, zc: Zeroconf, now: float, records: list[Any]) -> None:
        """What one packet says, before the cache has it."""
        for update in records:
            record = update.new
            pointer = record.type == _TYPE_PTR and record.name.lower() == SERVICE_TYPE
            name = record.alias if pointer else record.name
            if not name.lower().endswith("." + SERVICE_TYPE) or len(self._present) >= MAX_PER_PACKET:
                continue
            if not record.is_expired(now):
                self._present.add(name)
            elif pointer:
                self._gone.add(name)

    def async_update_records_complete(self) -> None:
        """The cache has the packet now."""
        present, gone = self._present, self._gone
        self._present, self._gone = set(), set()
        for name in gone:
            self._heard(_instance(name), None)
        for name in present - gone:
            advert = self._read(name)
            if advert is not None:
                self._heard(_instance(name), advert)

    def _read(self, name: str) -> Advert | None:
        try:
            info = ServiceInfo(SERVICE_TYPE, name)
            if not info.load_from_cache(self._owner):
                return None
            properties: Mapping[bytes, bytes | None] = info.properties
            return read_advert(_instance(name), properties, info.port, info.parsed_scoped_addresses())
        except _HARMLESS:
            return None


def _instance(name: str) -> str:
    return name[: -len(SERVICE_TYPE) - 1].lower()


def _nothing(**_: object) -> None:
    """The browser is there for the questions that it asks; answers are read by `_Ear`."""


def _ignore(_loop: object, _context: object) -> None:
    """An event loop's handler of exceptions in callbacks."""
