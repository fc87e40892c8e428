"""HERE: the one small signed record by which a peer tells the lobby where it sits and what it wants.

The first five fields never change, whatever the protocol version, so that a peer of another version can be
named on the screen instead of being dropped.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Protocol

from otto_protocol.crypto.identity import verify
from otto_protocol.encoding import AtMost, Max, Value, decode, from_value, pack, unpack
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import tagged_hash
from otto_protocol.limits import MAX_SEATS
from otto_protocol.lobby.names import name_problem
from otto_protocol.roster import (
    PROTOCOL_VERSION,
    RULES_VERSION,
    Key,
    Member,
    Name,
    Roster,
    Signature,
    Start,
    TableId,
    TableRules,
)
from otto_protocol.rules import table_problem

MAX_HERE = 3072  # bytes of a signed record
MAX_ADDRESSES = 8
MAX_ADDRESS = 80  # bytes of one address hint
VERSIONS_AHEAD = 16  # changes of a table's terms that one peer may have missed
MAX_COUNT = 2**32 - 1  # of rounds and of versions of the table's terms

HERE_TAG = "here"
READY_TAG = "ready"


class Stage(IntEnum):
    """How far a peer is on the way into a game; each stage needs all of the roster at the one before."""

    LOBBY = 0
    SEALED = 1  # READY is signed
    KEYS = 2  # the START certificate is complete; the key ceremony runs
    DEALT = 3  # its own DEAL is given: bound to this roster
    PLAYING = 4


class Ready(IntEnum):
    """What a person said: not yet, yes, or yes also without those who are not ready."""

    NO = 0
    YES = 1
    WITHOUT = 2


class Signer(Protocol):
    """What signs for a peer; `identity.IdentityKey` is one."""

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""

    def sign(self, tag: str, *parts: bytes) -> bytes:
        """A signature, 64 bytes."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the table plays and how many it holds; the greatest of those who sit there win, by version, then by
    value, unless their version is more than `VERSIONS_AHEAD` ahead.

    Version 0 says that its author has no opinion yet; whoever opens a table starts with 1.
    """

    version: Annotated[int, Max(MAX_COUNT)]
    seats: Annotated[int, Max(MAX_SEATS)]
    rules: TableRules

    def value(self) -> tuple[int, TableRules]:
        """What people have to agree with: all but the version."""
        return (self.seats, self.rules)

    def rank(self) -> tuple[int, int, int, int, int, bool]:
        """The order in which terms win."""
        rules = self.rules
        return (self.version, self.seats, rules.decks, rules.games, rules.turn_seconds, rules.memory_aid)


@dataclass(frozen=True, slots=True)
class Here:
    """One peer's place in the lobby. `counter` grows with every change, also over restarts."""

    protocol: Annotated[int, Max(65535)]
    rules_version: Annotated[int, Max(65535)]
    key: Key
    counter: int
    name: Name
    addresses: Annotated[tuple[Annotated[str, AtMost(MAX_ADDRESS)], ...], AtMost(MAX_ADDRESSES)]
    table: TableId
    pinned: bool  # somebody chose this table, or has played at it
    terms: Terms
    round: Annotated[int, Max(MAX_COUNT)]
    seated: Annotated[tuple[Key, ...], AtMost(MAX_SEATS)]  # who I think sits here, in `seating_rank` order
    reached: Annotated[int, Max(2**MAX_SEATS - 1)]  # bit i: I have a link to seated[i]
    indirect: bool  # this player also plays with people that only others can reach
    automatic: bool  # a built-in player's seat: it is ready by itself, and nobody asks for its consent
    ready: Ready
    stage: Stage
    members: Annotated[tuple[Member, ...], AtMost(MAX_SEATS)]  # of the sealed roster; empty in the lobby
    ready_signature: Annotated[bytes, AtMost(64)]  # over the sealed roster; empty in the lobby

    def reaches(self, key: bytes) -> bool:
        """Whether this peer says that it has a link to a peer that it lists (itself included)."""
        return key == self.key or (key in self.seated and bool(self.reached >> self.seated.index(key) & 1))

    def roster(self) -> Roster | None:
        """The roster that this peer has sealed, if any."""
        if not self.members:
            return None
        return Roster(
            self.protocol, self.rules_version, self.table, self.round, self.terms.rules, self.members
        )


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """The head of a record whose sender plays another protocol or another set of rules."""

    protocol: Annotated[int, Max(65535)]
    rules_version: Annotated[int, Max(65535)]
    key: Key
    counter: int
    name: Name


@dataclass(frozen=True, slots=True)
class SignedHere:
    """A record on the wire: its canonical bytes, and its author's signature over them."""

    content: Annotated[bytes, AtMost(MAX_HERE)]
    signature: Signature


@functools.lru_cache(maxsize=1024)
def seating_rank(table: bytes, key: bytes) -> bytes:
    """32 bytes by which newcomers, lists and rosters are ordered; another order at another table."""
    return tagged_hash("seating", table, key)


def sign_ready(identity: Signer, roster: Roster) -> bytes:
    """READY: 64 bytes, a signature over table, round, rules and members (by the match id)."""
    return identity.sign(READY_TAG, roster.match_id())


def ready_valid(roster: Roster, key: bytes, signature: bytes) -> bool:
    """Whether this is the READY signature of `key` over the roster."""
    return verify(key, signature, READY_TAG, roster.match_id())


def sign_here(identity: Signer, here: Here) -> bytes:
    """The bytes of a record as they are sent, at most MAX_HERE + 80."""
    content = pack(here)
    return pack(SignedHere(content, identity.sign(HERE_TAG, content)))


def open_here(data: bytes) -> Here | OtherVersion:
    """The record in `data`, signed by the key that it names, every bound and its READY signature checked.

    A record of another version comes back as its head alone. Raises DecodeError for anything else: the
    sender's record is not taken, and nobody is blamed (cheats 1, 12).
    """
    signed, value, head = _parsed(data)
    if not verify(head.key, signed.signature, HERE_TAG, signed.content):
        raise DecodeError("the signature of a HERE record does not hold")
    if (problem := name_problem(head.name)) is not None:
        raise DecodeError(f"a name is refused: {problem}")
    if (head.protocol, head.rules_version) != (PROTOCOL_VERSION, RULES_VERSION):
        return head
    here = from_value(Here, value)
    _check_here(here)
    return here


def author_of(data: bytes) -> bytes:
    """Whose record that says it is; neither its signature nor the rest is checked. Raises DecodeError."""
    return _parsed(data)[2].key


def _parsed(data: bytes) -> tuple[SignedHere, tuple[Value, ...], OtherVersion]:
    """A record taken apart: its fields, and the head that is the same in all versions."""
    signed = unpack(SignedHere, data, MAX_HERE + 80)
    value = decode(signed.content, MAX_HERE)
    if type(value) is not tuple:
        raise DecodeError("a HERE record is an array")
    return signed, value, from_value(OtherVersion, value[:5])


def terms_problem(terms: Terms) -> str | None:
    """Why nobody can play by these terms, in words, or None."""
    if terms.rules.games < 1:
        return "a match has at least one game"
    return table_problem(terms.seats, terms.rules.decks)


def _check_here(here: Here) -> None:
    if (problem := terms_problem(here.terms)) is not None:
        raise DecodeError(f"terms are refused: {problem}")
    for address in here.addresses:
        if not address.isascii() or not address.isprintable() or " " in address:
            raise DecodeError("an address hint is not printable ASCII")
    _check_order(here.table, here.seated)
    if here.reached >> len(here.seated):
        raise DecodeError("a link to somebody who is not on the list")
    roster = here.roster()
    if (here.stage == Stage.LOBBY) != (roster is None):
        raise DecodeError("a roster without a stage, or a stage without a roster")
    if roster is None:
        if here.ready_signature:
            raise DecodeError("a READY signature without a roster")
        return
    check_roster(roster)
    if Member(here.key, here.name) not in here.members or here.ready == Ready.NO:
        raise DecodeError("sealed without being in it, or without being ready")
    if not ready_valid(roster, here.key, here.ready_signature):
        raise DecodeError("a READY signature does not hold")


def check_roster(roster: Roster) -> None:
    """Raises DecodeError unless the roster is one that honest peers can seal."""
    if (roster.protocol, roster.rules_version) != (PROTOCOL_VERSION, RULES_VERSION):
        raise DecodeError("a roster of another version")
    keys = tuple(member.key for member in roster.members)
    if len(keys) < 2:
        raise DecodeError("a roster of fewer than two")
    _check_order(roster.table, keys)
    terms = Terms(0, len(keys), roster.rules)
    if (problem := terms_problem(terms)) is not None:
        raise DecodeError(f"a roster is refused: {problem}")
    for member in roster.members:
        if (problem := name_problem(member.name)) is not None:
            raise DecodeError(f"a name is refused: {problem}")


def check_start(start: Start) -> None:
    """Raises DecodeError unless the certificate has the valid READY signature of each of a legal roster."""
    check_roster(start.roster)
    members = start.roster.members
    if len(start.signatures) != len(members):
        raise DecodeError("the certificate has not one signature for each member")
    for member, signature in zip(members, start.signatures, strict=True):
        if not ready_valid(start.roster, member.key, signature):
            raise DecodeError(f"{member.name} has not signed the certificate")


def _check_order(table: bytes, keys: tuple[bytes, ...]) -> None:
    ranks = [seating_rank(table, key) for key in keys]
    if any(earlier >= later for earlier, later in itertools.pairwise(ranks)):
        raise DecodeError("a list of keys that is not in its order, or names one twice")
