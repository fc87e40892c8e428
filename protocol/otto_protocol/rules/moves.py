"""The moves of Otto: one frozen dataclass each, public fields first, private ones (or None) last.

A private field says what only the mover knows when it moves: other peers see the move without it
(`public`), and `rules.apply` never looks at it. `(slot, card)` pairs are opened cards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

Opened = tuple[tuple[int, int], ...]
"""(slot, card id) of each opened card."""


@dataclass(frozen=True, slots=True)
class Choose:
    """T3, R3: choose a number (secret) and lay these slots of the hand as the collection."""

    seat: int
    slots: tuple[int, ...]
    number: int | None = None
    rule: ClassVar[str] = "T3"


@dataclass(frozen=True, slots=True)
class Challenge:
    """T11, R11: the leader challenges `target` to a duel."""

    seat: int
    target: int
    rule: ClassVar[str] = "R11"


@dataclass(frozen=True, slots=True)
class LayDuel:
    """T12: the challenged player lays a hand card (secret) face down."""

    seat: int
    slot: int | None = None
    rule: ClassVar[str] = "T12"


@dataclass(frozen=True, slots=True)
class Guess:
    """T12: the challenger says the colour (0..3) of the card."""

    seat: int
    colour: int
    rule: ClassVar[str] = "T12"


@dataclass(frozen=True, slots=True)
class OpenDuel:
    """R13: the challenged player opens the duel card; it goes back into the hand."""

    seat: int
    slot: int
    card: int
    rule: ClassVar[str] = "R13"


@dataclass(frozen=True, slots=True)
class LoseCard:
    """T13, R13: the loser of a duel puts this card of the collection on the spent pile, face up."""

    seat: int
    slot: int
    card: int
    rule: ClassVar[str] = "T13"


@dataclass(frozen=True, slots=True)
class Lead:
    """T6: the leader says a number and lays a card (secret) of it face down."""

    seat: int
    number: int
    slot: int | None = None
    rule: ClassVar[str] = "T6"


@dataclass(frozen=True, slots=True)
class Answer:
    """T7: another player lays a hand card face up."""

    seat: int
    slot: int
    card: int
    rule: ClassVar[str] = "T7"


@dataclass(frozen=True, slots=True)
class SitOut:
    """R5: a player who cannot answer opens the whole hand."""

    seat: int
    cards: Opened
    rule: ClassVar[str] = "R5"


@dataclass(frozen=True, slots=True)
class OpenLead:
    """T8: the leader opens the card."""

    seat: int
    slot: int
    card: int
    rule: ClassVar[str] = "T8"


@dataclass(frozen=True, slots=True)
class Exchange:
    """T9, T10, R7: take a new card for the one on the table, or decline."""

    seat: int
    take: bool
    rule: ClassVar[str] = "T9"


@dataclass(frozen=True, slots=True)
class Collect:
    """R9: lay these slots (any number of them, none too) from the hand into the collection."""

    seat: int
    slots: tuple[int, ...]
    rule: ClassVar[str] = "R9"


@dataclass(frozen=True, slots=True)
class Say:
    """T14, T15, R14: say Otto, opening number, collection and the hand cards of a bonus; or go on."""

    seat: int
    otto: bool
    number: int | None = None
    cards: Opened = ()
    rule: ClassVar[str] = "T14"


@dataclass(frozen=True, slots=True)
class Score:
    """R16: open the number and the whole collection at the end."""

    seat: int
    number: int
    cards: Opened
    rule: ClassVar[str] = "R16"


@dataclass(frozen=True, slots=True)
class Reshuffled:
    """R8: the spent pile is now the draw pile, under new slot numbers. Nobody's move."""

    rule: ClassVar[str] = "R8"


@dataclass(frozen=True, slots=True)
class Drawn:
    """R7: the assigned draws have happened. Nobody's move."""

    rule: ClassVar[str] = "R7"


SeatMove = (
    Choose
    | Challenge
    | LayDuel
    | Guess
    | OpenDuel
    | LoseCard
    | Lead
    | Answer
    | SitOut
    | OpenLead
    | Exchange
    | Collect
    | Say
    | Score
)
Move = SeatMove | Reshuffled | Drawn

MOVE_TYPES: tuple[type[Move], ...] = (*SeatMove.__args__, Reshuffled, Drawn)


def public(move: Move) -> Move:
    """The move as other peers see it: its private fields are None."""
    match move:
        case Choose(number=int()):
            return replace(move, number=None)
        case LayDuel(slot=int()) | Lead(slot=int()):
            return replace(move, slot=None)
        case _:
            return move
