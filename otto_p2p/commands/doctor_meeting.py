"""Two doctors meet: what passes between this machine and the others on its LAN, by multicast and directly.

A doctor is a peer without a table: it advertises itself (as version `DOCTOR`, which nobody dials or seats),
listens, and dials whoever it hears of and whoever was named. Over a link two doctors tell each other whom
they have heard by multicast and whom they could dial.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

import trio

from otto_p2p.i18n import _
from otto_p2p.net import events as net
from otto_p2p.net.addresses import Address, parse_peer
from otto_p2p.net.adverts import DOCTOR, NONCE_BYTES, Advert
from otto_p2p.net.discovery import AdvertGone, AdvertSeen, Discovery, DiscoveryTrouble
from otto_p2p.net.frames import CloseReason, MatchMessage
from otto_p2p.net.interfaces import InterfaceWatch
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import LinkError, dial_tcp
from otto_p2p.texts.safe import safe
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.lobby.names import name_problem
from otto_protocol.roster import MAX_NAME, PROTOCOL_VERSION

TELL_SECONDS = 1.0  # between two reports to another doctor
MAX_REPORT = 8192
MAX_MET = 64
_MARK = b"otto-p2p doctor\n"  # no game message begins like this: other peers ignore it


@dataclass(slots=True)
class Met:
    """Somebody on the LAN: what is known of the way there and back. None: not known."""

    name: str = ""
    version: int | None = None
    multicast: bool = False  # its advert was heard here
    heard_us: bool | None = None  # ... and ours there, as it says
    reached: bool | None = None  # a connection from here
    reached_us: bool | None = None  # a connection from there
    address: str = ""
    doctor: bool = False


@dataclass(slots=True)
class Meeting:
    """What came of looking around for some seconds. `typed`: for each address that was named, why not."""

    met: dict[bytes, Met] = field(default_factory=dict)
    typed: dict[str, str | None] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)

    def of(self, key: bytes) -> Met:
        """The entry of this peer (a throw-away one when there are too many)."""
        if key not in self.met and len(self.met) >= MAX_MET:
            return Met()
        return self.met.setdefault(key, Met())


class Doctor:
    """The meeting with others. `listeners` are closed in the end."""

    def __init__(self, listeners: Sequence[trio.SocketListener], port: int) -> None:
        identity = IdentityKey.generate(os.urandom)
        self.meeting = Meeting()
        self._key = identity.public
        self._port = port
        self._mesh = Mesh(
            identity,
            listeners=listeners,
            port=port,
        )
        self._watch = InterfaceWatch()
        self._discovery = Discovery(identity.public, interfaces=self._watch.listed)
        self._told: dict[bytes, float] = {}
        self._tried: set[bytes] = set()

    async def meet(self, targets: Sequence[tuple[str, tuple[Address, ...]]], seconds: float) -> Meeting:
        """Look around for that many seconds."""
        self._discovery.publish(
            Advert(
                key=self._key,
                nonce=os.urandom(NONCE_BYTES),
                name=_host_name(),
                table=bytes(16),
                title="",
                seated=0,
                seats=0,
                pinned=False,
                playing=False,
                port=self._port,
                version=DOCTOR,
            )
        )
        for text, addresses in targets:
            self.meeting.typed[text] = _("no answer")
            self._mesh.add_candidate(addresses, label=text)
        async with trio.open_nursery() as nursery:
            await nursery.start(self._mesh.run)
            nursery.start_soon(self._watch.run)
            nursery.start_soon(self._watch.follow, self._port, self._mesh.announce)
            nursery.start_soon(self._listen, nursery)
            nursery.start_soon(self._find)
            nursery.start_soon(self._discovery.run)
            nursery.start_soon(self._tell)
            await trio.sleep(seconds)
            nursery.cancel_scope.cancel()
        return self.meeting

    async def _find(self) -> None:
        async for event in self._discovery.events:
            match event:
                case AdvertSeen(advert):
                    met = self.meeting.of(advert.key)
                    met.name, met.multicast = advert.name, True
                    met.doctor = advert.version == DOCTOR
                    met.version = None if met.doctor else advert.version
                    if advert.version in (DOCTOR, PROTOCOL_VERSION):
                        self._mesh.add_candidate(advert.addresses, advert.key)
                case AdvertGone():
                    pass
                case DiscoveryTrouble(text):
                    self.meeting.troubles.append(text)

    async def _listen(self, nursery: trio.Nursery) -> None:
        async for event in self._mesh.events:
            match event:
                case net.PeerUp(key=key):
                    link = next((link for link in self._mesh.links() if link.key == key), None)
                    met = self.meeting.of(key)
                    met.version, met.address = PROTOCOL_VERSION, event.address
                    if link is not None and link.dialled:
                        met.reached = True
                        for text, addresses in self._typed():
                            if event.address in addresses:
                                self.meeting.typed[text] = None
                    elif link is not None:
                        met.reached_us = True
                case net.DialFailed(key=None):
                    self.meeting.typed[event.address] = _why(event.reason, event.detail)
                case net.DialFailed(key=bytes() as key) if self.meeting.of(key).reached is None:
                    self.meeting.of(key).reached = False
                    self.meeting.of(key).address = event.address
                case net.FrameFrom(key=key, frame=MatchMessage(message=message)) if message.startswith(_MARK):
                    self._take_report(nursery, key, message)
                case _:
                    pass

    def _typed(self) -> list[tuple[str, set[str]]]:
        return [(text, {str(address) for address in parse_peer(text)}) for text in self.meeting.typed]

    async def _tell(self) -> None:
        """Tell every linked peer what we know of it: another doctor understands."""
        while True:
            for link in self._mesh.links():
                met = self.meeting.of(link.key)
                report = {
                    "heard": met.multicast,
                    "reached": met.reached,
                    "port": self._port,
                    "name": _host_name(),
                }
                if met.doctor or link.key not in self._told:
                    self._told[link.key] = trio.current_time()
                    self._mesh.send(link.key, MatchMessage(_MARK + json.dumps(report).encode()))
            await trio.sleep(TELL_SECONDS)

    def _take_report(self, nursery: trio.Nursery, key: bytes, message: bytes) -> None:
        """What another doctor says of the way from us to it; nonsense is ignored."""
        try:
            report = json.loads(message[len(_MARK) : MAX_REPORT])
        except ValueError:
            return
        if not isinstance(report, dict):
            return
        met = self.meeting.of(key)
        met.doctor = True
        name, port = report.get("name"), report.get("port")
        if isinstance(name, str) and name_problem(name) is None:
            met.name = name
        if isinstance(report.get("heard"), bool):
            met.heard_us = report["heard"]
        if isinstance(report.get("reached"), bool):
            met.reached_us = report["reached"] or met.reached_us is True
        if met.reached is None and key not in self._tried and isinstance(port, int) and 0 < port < 65536:
            self._tried.add(key)
            nursery.start_soon(self._try_back, met, port)

    async def _try_back(self, met: Met, port: int) -> None:
        """The link came from there; whether one from here would come about, too."""
        try:
            stream = await dial_tcp(Address(met.address, port))
        except LinkError:
            met.reached = False
        else:
            met.reached = True
            await trio.aclose_forcefully(stream)


def _host_name() -> str:
    name = socket.gethostname().partition(".")[0][:MAX_NAME]
    return name if name and name_problem(name) is None else "otto"


def _why(reason: CloseReason, detail: str) -> str:
    if reason is CloseReason.NOT_OTTO:
        return _("something else than otto-p2p answers there")
    if reason is CloseReason.OTHER_VERSION:
        return _("another version of otto-p2p is there")
    if reason is CloseReason.MYSELF:
        return _("that is this machine itself")
    if reason is CloseReason.TIMEOUT:
        return _("no answer")
    return safe(detail) or reason.name.lower()
