"""What two linked peers say to each other: one frozen dataclass for each kind of frame, and their bytes.

A frame is one byte (its kind) and the canonical encoding of its dataclass. What the lobby and the game say
is opaque here: it is signed, and checked by those who know what it means.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated

from otto_protocol.encoding import AtMost, Exactly, Max, pack, unpack
from otto_protocol.errors import DecodeError

MAX_FRAME = 1 << 20  # bytes of a frame, without its length
MAX_GAME = MAX_FRAME - 64  # bytes of one signed game message
MAX_RECORD = 8192  # bytes of a lobby record
MAX_PEERS = 64  # peers named in one frame
MAX_HINTS = 8  # addresses of one peer
MAX_HINT = 64  # characters of an address
MAX_AGE = 60_000  # milliseconds

Key = Annotated[bytes, Exactly(32)]


class CloseReason(enum.IntEnum):
    """Why a link was refused or ended. The numbers up to 15 are sent; the others are only said here."""

    OK = 0
    LEFT = 1  # the peer said goodbye
    BUSY = 2  # too many connections there
    DUPLICATE = 3  # there is a link between the two already
    BAD_PROOF = 4  # it does not own the key that it names, or somebody sits between
    GARBAGE = 5  # it sent bytes that are no frame
    UNWANTED = 6  # it was dropped on purpose, for a while
    SLOW = 7  # it does not read what it is sent
    SILENT = 8  # nothing heard for too long
    REPLACED = 9  # there is a newer or better stream between the two
    UNREACHABLE = 16  # no connection: refused, no route, unknown name
    TIMEOUT = 17  # no answer in time
    NOT_OTTO = 18  # something else answers there
    OTHER_VERSION = 19  # another version of the protocol
    OTHER_PEER = 20  # another peer than the one expected answers there
    MYSELF = 21  # the address is our own
    LOST = 22  # the connection broke


def close_reason(number: int, unknown: CloseReason) -> CloseReason:
    """The reason that a peer has sent; `unknown` if it is none that this version knows."""
    try:
        return CloseReason(number)
    except ValueError:
        return unknown


@dataclass(frozen=True, slots=True)
class Hears:
    """`key` was heard `age` milliseconds ago by the sender of the beat."""

    key: Key
    age: Annotated[int, Max(MAX_AGE)]


@dataclass(frozen=True, slots=True)
class Beat:
    """I am alive, and these are the peers that I hear directly."""

    heard: Annotated[tuple[Hears, ...], AtMost(MAX_PEERS)] = ()


@dataclass(frozen=True, slots=True)
class LobbyRecord:
    """A lobby record, signed by the peer that it is about; anybody may pass it on."""

    record: Annotated[bytes, AtMost(MAX_RECORD)]


@dataclass(frozen=True, slots=True)
class MatchMessage:
    """A signed message of a match; anybody may pass it on."""

    message: Annotated[bytes, AtMost(MAX_GAME)]


@dataclass(frozen=True, slots=True)
class Sync:
    """Send me all that you have of this match, from this step of this view on."""

    match: Annotated[bytes, Exactly(32)]
    view: Annotated[int, Max(2**32 - 1)]
    step: Annotated[int, Max(2**32 - 1)]


@dataclass(frozen=True, slots=True)
class Synced:
    """The answer to a `Sync` of this match is complete: the asker has now all that the sender had."""

    match: Annotated[bytes, Exactly(32)]


@dataclass(frozen=True, slots=True)
class PeerHint:
    """Where a peer says that it can be dialled: "1.2.3.4:5" or "[v6]:5"."""

    key: Key
    addresses: Annotated[tuple[Annotated[str, AtMost(MAX_HINT)], ...], AtMost(MAX_HINTS)]


@dataclass(frozen=True, slots=True)
class Peers:
    """Peers that the sender is linked with (and itself), with the addresses that they gave."""

    hints: Annotated[tuple[PeerHint, ...], AtMost(MAX_PEERS)]


@dataclass(frozen=True, slots=True)
class Bye:
    """The last frame on a link: a `CloseReason`."""

    reason: Annotated[int, Max(15)]


Frame = Beat | LobbyRecord | MatchMessage | Sync | Peers | Bye | Synced

KINDS: dict[int, type[Frame]] = {
    0: Beat,
    1: LobbyRecord,
    2: MatchMessage,
    3: Sync,
    4: Peers,
    5: Bye,
    6: Synced,
}
_NUMBERS = {cls: number for number, cls in KINDS.items()}


def encode_frame(frame: Frame) -> bytes:
    """The bytes of a frame, at most `MAX_FRAME`. Raises DecodeError if a field breaks its declaration."""
    return bytes([_NUMBERS[type(frame)]]) + pack(frame)


def decode_frame(data: bytes) -> Frame:
    """The frame whose `encode_frame` is `data`; raises DecodeError for anything else."""
    cls = KINDS.get(data[0]) if data else None
    if cls is None:
        raise DecodeError("no known kind of frame")
    return unpack(cls, data[1:], MAX_FRAME)
