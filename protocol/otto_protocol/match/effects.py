"""What a message means once it is checked: one record for each kind of effect that a step can have."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from otto_protocol.crypto import commitments
from otto_protocol.crypto.deck import Deck
from otto_protocol.crypto.group import Point
from otto_protocol.rules import moves


class Purpose(enum.Enum):
    """What a proof or a commitment is made for; the value is hashed into its context."""

    KEY = "key"
    SHUFFLE = "shuffle"
    SHARES = "shares"
    OPEN = "open"
    NUMBER = "number"
    LEAD = "lead"
    DUEL = "duel"
    OTTO = "otto"
    HEAL_KEY = "heal key"
    RAISE = "raise"
    TAGS = "tags"


@dataclass(frozen=True, slots=True)
class Promise:
    """A commitment (32 bytes) and the context that it was made in (32 bytes)."""

    purpose: Purpose
    context: bytes
    digest: bytes

    def kept_by(self, content: bytes, nonce: bytes) -> bool:
        """Whether `content` under `nonce` is what was committed to."""
        return commitments.check(self.digest, self.context, content, nonce)


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A seat stands at the step, and nothing is wanted from it."""


@dataclass(frozen=True, slots=True)
class OpenedKey:
    """The key of a seat for this game, proven to be its own."""

    key: Point


@dataclass(frozen=True, slots=True)
class NewDeck:
    """A deck after a shuffle that has to be proven yet."""

    deck: Deck


@dataclass(frozen=True, slots=True)
class ProofBytes:
    """A shuffle proof, which is verified when those of all seats are there."""

    proof: bytes


@dataclass(frozen=True, slots=True)
class ShareBatch:
    """The shares of a seat for the cards dealt to others, in the order of the slots."""

    shares: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """A move, and the promise that comes with it, if any."""

    move: moves.SeatMove
    promise: Promise | None = None


@dataclass(frozen=True, slots=True)
class Countersigned:
    """The result of the game, signed as the log gives it."""


@dataclass(frozen=True, slots=True)
class HealKey:
    """The fresh key of a seat in a heal, and its shuffle proof."""

    proof: bytes
    key: Point


@dataclass(frozen=True, slots=True)
class Raised:
    """Every entry of the healed deck, and every survivor's hidden card in order of seat and slot, raised."""

    pile: Deck
    hidden: Deck


@dataclass(frozen=True, slots=True)
class Tagged:
    """A share for every entry of the healed deck, and for each hidden card of the seat itself."""

    pile: tuple[Point, ...]
    own: tuple[Point, ...]


Effect = (
    Acknowledged
    | Promise
    | OpenedKey
    | NewDeck
    | ProofBytes
    | ShareBatch
    | Played
    | Countersigned
    | HealKey
    | Raised
    | Tagged
)

Kind = TypeVar("Kind")


def all_of(kind: type[Kind], effects: Mapping[int, object]) -> dict[int, Kind]:
    """The effects of a step by seat, ascending, in a phase that allows messages of this effect only."""
    found = {seat: effect for seat, effect in sorted(effects.items()) if isinstance(effect, kind)}
    assert len(found) == len(effects), "the phase allows no other message"
    return found
