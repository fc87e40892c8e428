"""Who plays at which table by which table rules, and the START certificate that they all signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from otto_protocol.encoding import AtMost, Exactly, Max, pack
from otto_protocol.hashing import tagged_hash
from otto_protocol.limits import MAX_DECKS, MAX_SEATS

PROTOCOL_VERSION = 2
RULES_VERSION = 1
MAX_NAME = 40  # bytes of UTF-8

Key = Annotated[bytes, Exactly(32)]
Signature = Annotated[bytes, Exactly(64)]
Digest = Annotated[bytes, Exactly(32)]
TableId = Annotated[bytes, Exactly(16)]
Name = Annotated[str, AtMost(MAX_NAME)]


@dataclass(frozen=True, slots=True)
class TableRules:
    """What a table agrees on before the first card: R1, R17, turn clock (seconds, 0 for none), memory aid."""

    decks: Annotated[int, Max(MAX_DECKS)] = 2
    games: Annotated[int, Max(99)] = 1
    turn_seconds: Annotated[int, Max(3600)] = 120
    memory_aid: bool = True  # whether screens may show which cards were seen: a promise, nobody can check it


@dataclass(frozen=True, slots=True)
class Member:
    """One of the roster: identity key (32 bytes, Ed25519) and the name shown for it."""

    key: Key
    name: Name


@dataclass(frozen=True, slots=True)
class Roster:
    """What START agrees on. A seat's number is its place in `members`, for the whole match."""

    protocol: Annotated[int, Max(65535)]
    rules_version: Annotated[int, Max(65535)]
    table: TableId
    round: Annotated[int, Max(2**32 - 1)]
    rules: TableRules
    members: Annotated[tuple[Member, ...], AtMost(MAX_SEATS)]

    def match_id(self) -> bytes:
        """32 bytes that name this match in everything that is signed or proven in it."""
        return tagged_hash("match", pack(self))


@dataclass(frozen=True, slots=True)
class Start:
    """The START certificate: a roster, and the READY signature of each of its members over it."""

    roster: Roster
    signatures: Annotated[tuple[Signature, ...], AtMost(MAX_SEATS)]
