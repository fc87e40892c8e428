"""What a mesh tells the driver of a table: links that come and go, and what arrives on them."""

from __future__ import annotations

from dataclasses import dataclass

from otto_p2p.net.frames import CloseReason, LobbyRecord, MatchMessage, Sync, Synced


@dataclass(frozen=True, slots=True)
class PeerUp:
    """There is a link now. Ask for what was missed: frames on an earlier link may be lost."""

    key: bytes
    address: str


@dataclass(frozen=True, slots=True)
class PeerDown:
    """The link has ended; the mesh goes on trying unless the peer said goodbye (then more slowly)."""

    key: bytes
    reason: CloseReason
    detail: str


@dataclass(frozen=True, slots=True)
class PeerSilent:
    """Nothing was heard directly for `Timing.silent` seconds (`silent`), or again something after that."""

    key: bytes
    silent: bool


@dataclass(frozen=True, slots=True)
class FrameFrom:
    """What a linked peer sent. Who signed what is in it is for the receiver to check."""

    key: bytes
    frame: LobbyRecord | MatchMessage | Sync | Synced


@dataclass(frozen=True, slots=True)
class DialFailed:
    """No link came about, for a new reason: at an address that was typed, or to a known peer.

    The mesh goes on trying, except for MYSELF.
    """

    key: bytes | None
    address: str
    reason: CloseReason
    detail: str


@dataclass(frozen=True, slots=True)
class StrangerRefused:
    """Somebody dialled us and got no link, for a reason worth telling: another version of the protocol."""

    address: str
    reason: CloseReason
    detail: str


MeshEvent = PeerUp | PeerDown | PeerSilent | FrameFrom | DialFailed | StrangerRefused


@dataclass(frozen=True, slots=True)
class LinkInfo:
    """A link now. Times on trio's clock; `hears` is whom the peer hears directly."""

    key: bytes
    address: str
    dialled: bool
    since: float
    last_heard: float
    silent: bool
    queued: int
    sent: int
    hears: frozenset[bytes]
