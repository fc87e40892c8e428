"""The public state of a game of Otto, and a seat's own secret.

The state knows slots (places of face-down cards) and opened cards, never ciphertexts. It is the same
at every peer; what only one seat knows is in its `Secret`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, unique
from functools import lru_cache
from typing import Never

from otto_protocol.errors import LocalError
from otto_protocol.limits import HAND, MAX_DECKS, MAX_SEATS, MIN_SEATS
from otto_protocol.rules.cards import NUMBERS, deck_size
from otto_protocol.rules.moves import Choose, LayDuel, Lead, Move
from otto_protocol.rules.phases import (
    GamePhase as GamePhase,  # it is part of every state: importable from here too
)

ENOUGH = 8  # T14
STALL_ROUNDS = 50  # R19
SAT_OUT = -1  # in `State.answers`: this seat sits out


@unique
class Bonus(Enum):
    """T17: what the winner holds besides the eight; the value is its key in texts."""

    THREE_MORE = "three-more"
    FOUR_MORE = "four-more"
    NEIGHBOURS = "neighbours"
    ZEROS = "zeros"

    @property
    def points(self) -> int:
        """What it is worth."""
        return {"three-more": 6, "four-more": 10, "neighbours": 5, "zeros": 8}[self.value]


@unique
class EndReason(Enum):
    """Why a game ended; the value is its key in texts."""

    OTTO = "otto"
    DEAD_END = "dead-end"
    STALLED = "stalled"
    LAST_SEAT = "last-seat"


@dataclass(frozen=True, slots=True)
class Duel:
    """A duel of the leader with `target`: the colour guessed, the slot opened, who loses a card."""

    target: int
    colour: int | None = None
    slot: int | None = None
    loser: int | None = None


@dataclass(frozen=True, slots=True)
class Cheat:
    """A seat that the end showed to have broken a rule (R16); it scores 0."""

    seat: int
    rule: str


class Fields:
    """The fields of a state, whether it is finished (`State`) or in the making (`Draft`).

    Tuples "by seat" have an entry for every roster seat.
    """

    # The table.
    decks: int
    seats: int  # of the roster; those who play this game are in `order`
    order: tuple[int, ...]  # clockwise, everybody who was dealt to
    live: frozenset[int]  # those of them who are still there
    # Where the game is.
    phase: GamePhase
    waiting: tuple[int, ...]  # seats that must still move in this step
    leader: int
    turn: int  # turns finished or void
    quiet: int  # turns since a collection last changed (R19)
    # The cards.
    hands: tuple[tuple[int, ...], ...]  # by seat: slots
    collections: tuple[tuple[int, ...], ...]  # by seat: slots
    known: Mapping[int, int]  # slot -> card id, of seen cards in hands and collections
    pile: tuple[int, ...]  # slots, the next to be drawn first
    spent: tuple[int, ...]  # card ids
    next_slot: int
    shown: tuple[int, ...]  # by seat: bit n is set when a first-dealt card of number n was seen in the hand
    lost: tuple[int, ...]  # by seat: bit n is set when a card of number n was lost from the collection
    # The turn.
    said: int | None  # the number that the leader said
    answers: tuple[int | None, ...]  # by seat: slot, SAT_OUT, or None
    lead: int | None  # the leader's slot, once opened
    entitled: tuple[int, ...]  # who may exchange
    choices: tuple[bool | None, ...]  # by seat: exchange or not
    owed: tuple[int, ...]  # seats that still get a card, in the order of R7
    draws: tuple[tuple[int, int], ...]  # (seat, slot) that the next Drawn hands out
    drew: tuple[int, ...]  # seats that drew in this turn
    duel: Duel | None  # while it goes on
    dueled: bool  # a duel was called in this turn
    # The end.
    numbers: tuple[int | None, ...]  # by seat: the opened number
    claims: tuple[tuple[Bonus, ...] | None, ...]  # by seat: the bonuses opened with Otto, None without it
    winner: int | None
    reason: EndReason | None
    bonus: tuple[Bonus, ...]  # of the winner
    points: tuple[int, ...]  # by seat, zeros until the end
    cheats: tuple[Cheat, ...]
    needs_pile: bool  # seats were removed; `with_new_pile` is due before anything else


FIELDS = tuple(Fields.__annotations__)


class State(Fields):
    """What everybody at the table knows: an immutable value, compared by its fields."""

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError("a State does not change; rules.apply makes the next one")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError("a State does not change")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in FIELDS)

    __hash__ = None  # type: ignore[assignment]  # it holds a mapping

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={getattr(self, name)!r}' for name in FIELDS)})"


def awaited(state: State) -> tuple[int, ...]:
    """The seats that must move now, clockwise; none at RESHUFFLE, DRAW and END, nor before `with_new_pile`."""
    return () if state.needs_pile else state.waiting


class Draft(Fields):
    """A state in the making: the rules write into it, then `freeze` it."""


def draft(state: State) -> Draft:
    """A draft with the fields of `state`."""
    new = Draft()
    vars(new).update(vars(state))
    return new


def freeze(new: Draft) -> State:
    """The state that the draft has become."""
    state = State()
    vars(state).update(vars(new))  # past `__setattr__`
    return state


def clear_turn(new: Draft) -> None:
    """Forget the last turn's table; what was seen stays known."""
    nothing = (None,) * new.seats
    new.said = new.lead = new.duel = None
    new.answers = new.choices = nothing
    new.entitled = new.owed = new.drew = ()
    new.draws = ()
    new.dueled = False


@lru_cache(maxsize=4096)
def clockwise(order: tuple[int, ...], live: frozenset[int], seat: int) -> tuple[int, ...]:
    """The live seats after `seat` (which need not be live) in the order of play, without itself."""
    place = order.index(seat) + 1
    return tuple(other for other in order[place:] + order[: place - 1] if other in live)


def first_dealt(table: Fields, slot: int) -> bool:
    """Whether the card of a slot was dealt at the start, so that its owner could lay it then (T3)."""
    return slot < HAND * len(table.order)


def most_players(decks: int) -> int:
    """R2: as many as the cards allow, 12 each and one more for everybody, and never more than the seats."""
    return min(MAX_SEATS, deck_size(decks) // (HAND + 1))


def table_problem(players: int, decks: int) -> str | None:
    """R1 and R2: why that many players with that many decks are no table, in words, or None."""
    if not 1 <= decks <= MAX_DECKS:
        return f"a table uses 1 to {MAX_DECKS} decks, not {decks} (rule R1)"
    if not MIN_SEATS <= players <= MAX_SEATS:
        return f"Otto is for {MIN_SEATS} to {MAX_SEATS} players, not {players} (rule R2)"
    if players > most_players(decks):
        return (
            f"{players} players need {(HAND + 1) * players} cards, but {decks} "
            f"deck{'s' if decks > 1 else ''} have {deck_size(decks)}: use more decks (rule R2)"
        )
    return None


def check_table(players: int, decks: int) -> None:
    """Raises LocalError, with a sentence for the user, for a table that cannot play."""
    if (problem := table_problem(players, decks)) is not None:
        raise LocalError(problem)


def start(order: Iterable[int], leader: int, decks: int = 2, seats: int | None = None) -> State:
    """The state after the deal (T2): seat order[i] has slots 12*i .. 12*i+11, the rest is the pile.

    `order`: the seats that play, clockwise; `leader`: the first one (T4); `seats`: how many the roster
    has (default: as many as play). Raises LocalError when that is no table (R1, R2).
    """
    order = tuple(order)
    check_table(len(order), decks)
    seats = len(order) if seats is None else seats
    if len(set(order)) != len(order) or not all(0 <= seat < seats for seat in order) or leader not in order:
        raise LocalError("order and leader must be seats of the roster, each once")
    hands: list[tuple[int, ...]] = [()] * seats
    for place, seat in enumerate(order):
        hands[seat] = tuple(range(HAND * place, HAND * (place + 1)))
    new = Draft()
    new.decks, new.seats, new.order, new.live = decks, seats, order, frozenset(order)
    new.phase, new.waiting, new.leader, new.turn, new.quiet = GamePhase.CHOOSE, order, leader, 0, 0
    new.hands, new.collections, new.known = tuple(hands), ((),) * seats, {}
    new.next_slot = deck_size(decks)
    new.pile = tuple(range(HAND * len(order), new.next_slot))
    new.spent, new.shown, new.lost = (), (0,) * seats, (0,) * seats
    clear_turn(new)
    new.numbers, new.claims = (None,) * seats, (None,) * seats
    new.winner = new.reason = None
    new.bonus, new.points, new.cheats, new.needs_pile = (), (0,) * seats, (), False
    return freeze(new)


@dataclass(frozen=True, slots=True)
class Secret:
    """What one seat knows besides the state: its number, its cards, and what it laid face down.

    `cards`: slot -> card id, at least of every slot in the seat's hand and collection.
    """

    number: int | None = None
    cards: Mapping[int, int] = field(default_factory=dict)
    lead: int | None = None
    duel: int | None = None

    def learn(self, slot: int, card: int) -> Secret:
        """With one more card: the seat was dealt or drew it."""
        return Secret(self.number, {**self.cards, slot: card}, self.lead, self.duel)

    def after(self, move: Move) -> Secret:
        """What it is after the seat's own move (with its private fields). Other moves change nothing."""
        match move:
            case Choose(number=int(number)) if number in NUMBERS:
                return Secret(number, self.cards)
            case Lead(slot=int(slot)):
                return Secret(self.number, self.cards, slot, self.duel)
            case LayDuel(slot=int(slot)):
                return Secret(self.number, self.cards, self.lead, slot)
            case _:
                return self
