"""A match as a file: the START certificate and every signed message, in the order of view, step and seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from otto_protocol.encoding import AtMost, Max, decode, encode, from_value, to_value
from otto_protocol.errors import DecodeError
from otto_protocol.match import messages as m
from otto_protocol.roster import PROTOCOL_VERSION, Start

MAGIC = "otto-p2p transcript"
MAX_TRANSCRIPT = 256 << 20  # bytes
MAX_ITEMS = 10_000_000


class UnknownVersion(DecodeError):
    """A transcript of a protocol version that this program does not know."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a verifier gets; nothing in it is believed before it is checked.

    `items` are messages and evidence as they are sent, in an order in which everything can be judged: what stands of
    each step by seat, and behind the last step of a view what opened the next one. An evidence file is a
    transcript up to where a seat is convicted.
    """

    version: Annotated[int, Max(65535)]
    start: Start
    items: Annotated[tuple[Annotated[bytes, AtMost(m.MAX_EVIDENCE)], ...], AtMost(MAX_ITEMS)]


def dump(transcript: Transcript) -> bytes:
    """The bytes of a transcript file."""
    return encode((MAGIC, to_value(transcript)))


def load(data: bytes) -> Transcript:
    """The transcript in `data`; raises UnknownVersion, or DecodeError when it is none at all."""
    value = decode(data, MAX_TRANSCRIPT)
    if type(value) is not tuple or len(value) != 2 or value[0] != MAGIC:
        raise DecodeError("not a transcript of otto-p2p")
    inner = value[1]
    if type(inner) is tuple and inner and inner[0] != PROTOCOL_VERSION:
        raise UnknownVersion(f"a transcript of protocol version {inner[0]!r}; this is {PROTOCOL_VERSION}")
    return from_value(Transcript, inner)
