"""What a seat can do, and what it may know: the legal moves with their private fields, and the view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import assert_never

from otto_protocol.rules.cards import COLOURS, NUMBERS, colour, copies, number
from otto_protocol.rules.end import bonuses
from otto_protocol.rules.moves import (
    Answer,
    Challenge,
    Choose,
    Collect,
    Exchange,
    Guess,
    LayDuel,
    Lead,
    LoseCard,
    OpenDuel,
    OpenLead,
    Say,
    Score,
    SeatMove,
    SitOut,
)
from otto_protocol.rules.phases import GamePhase
from otto_protocol.rules.state import Secret, State, awaited, first_dealt


def legal_moves(state: State, seat: int, secret: Secret) -> list[SeatMove]:
    """All honest moves of the seat in this step, private fields filled; [] when it is not awaited.

    `secret.cards` must have all the seat's slots. Of the ways to say Otto there is one: with every
    hand card that a bonus needs.
    """
    if seat not in awaited(state):
        return []
    hand, collection, cards = state.hands[seat], state.collections[seat], secret.cards
    match state.phase:
        case GamePhase.ANSWER:
            said = state.said
            answers: list[SeatMove] = [
                Answer(seat, slot, cards[slot]) for slot in hand if number(cards[slot]) != said
            ]
            return answers or [SitOut(seat, tuple((slot, cards[slot]) for slot in hand))]
        case GamePhase.LEAD:
            return [*(Lead(seat, number(cards[slot]), slot) for slot in hand), *_challenges(state, seat)]
        case GamePhase.EXCHANGE:
            return [Exchange(seat, True), Exchange(seat, False)]
        case GamePhase.OPEN_LEAD:
            assert secret.lead is not None
            return [OpenLead(seat, secret.lead, cards[secret.lead])]
        case GamePhase.COLLECT:
            mine = [
                slot for slot in hand if number(cards[slot]) == secret.number and not first_dealt(state, slot)
            ]
            if not mine:
                return [Collect(seat, ())]
            subsets = chain.from_iterable(combinations(mine, size) for size in range(len(mine), -1, -1))
            return [Collect(seat, slots) for slots in subsets]
        case GamePhase.CHOOSE:
            return [
                Choose(seat, tuple(slot for slot in hand if number(cards[slot]) == own), own)
                for own in NUMBERS
            ]
        case GamePhase.DUEL_LAY:
            return [LayDuel(seat, slot) for slot in hand]
        case GamePhase.DUEL_GUESS:
            return [Guess(seat, guess) for guess in range(len(COLOURS))]
        case GamePhase.DUEL_OPEN:
            assert secret.duel is not None
            return [OpenDuel(seat, secret.duel, cards[secret.duel])]
        case GamePhase.LOSE_CARD:
            return [LoseCard(seat, slot, cards[slot]) for slot in collection]
        case GamePhase.OTTO:
            return [*_otto(state, seat, secret), Say(seat, False)]
        case GamePhase.SCORE:
            assert secret.number is not None
            return [Score(seat, secret.number, tuple((slot, cards[slot]) for slot in collection))]
        case GamePhase.RESHUFFLE | GamePhase.DRAW | GamePhase.END:
            raise AssertionError("nobody is awaited")
        case _:
            assert_never(state.phase)


def _challenges(state: State, seat: int) -> Iterator[Challenge]:
    if not state.dueled and state.collections[seat]:
        for other in state.order:
            if other != seat and other in state.live and state.collections[other] and state.hands[other]:
                yield Challenge(seat, other)


def _otto(state: State, seat: int, secret: Secret) -> Iterator[Say]:
    own, cards, collection = secret.number, secret.cards, state.collections[seat]
    assert own is not None
    mixed = any(number(cards[slot]) != own for slot in collection) or state.lost[seat] & ~(1 << own)
    if mixed or state.shown[seat] >> own & 1:
        return  # only after cheating: an Otto would be refused
    opened = [(slot, cards[slot]) for slot in collection]
    extra = [
        (slot, cards[slot])
        for slot in state.hands[seat]
        if abs(number(cards[slot]) - own) == 1
        or (number(cards[slot]) == own and not first_dealt(state, slot))
    ]
    best = bonuses(own, [card for _, card in (*opened, *extra)])
    # A card is shown only when a bonus is lost without it.
    for held in list(extra):
        rest = [pair for pair in extra if pair != held]
        if bonuses(own, [card for _, card in (*opened, *rest)]) == best:
            extra = rest
    yield Say(seat, True, own, (*opened, *extra))


@dataclass(frozen=True, slots=True)
class SeatView:
    """Everything that one seat may know of a game."""

    state: State
    seat: int
    secret: Secret

    @property
    def hand(self) -> tuple[tuple[int, int], ...]:
        """(slot, card) of the seat's own hand, in the order of the slots."""
        return tuple((slot, self.secret.cards[slot]) for slot in self.state.hands[self.seat])

    @property
    def collection(self) -> tuple[tuple[int, int], ...]:
        """(slot, card) of the seat's own collection."""
        return tuple((slot, self.secret.cards[slot]) for slot in self.state.collections[self.seat])

    def seen(self, seat: int) -> tuple[int, ...]:
        """The cards in a seat's hand that everybody has seen."""
        known = self.state.known
        return tuple(known[slot] for slot in self.state.hands[seat] if slot in known)

    def located(self) -> list[int]:
        """All cards whose place the seat knows: its own, the seen ones of others, the spent pile."""
        own = (*self.state.hands[self.seat], *self.state.collections[self.seat])
        others = (card for slot, card in self.state.known.items() if slot not in own)
        return [*(self.secret.cards[slot] for slot in own), *others, *self.state.spent]

    def faces_left(self) -> list[list[int]]:
        """[number][colour]: how many such cards are where the seat does not know."""
        decks = self.state.decks
        left = [[copies(face, decks) // len(COLOURS)] * len(COLOURS) for face in NUMBERS]
        for card in self.located():
            left[number(card)][colour(card)] -= 1
        return left


def seat_view(state: State, seat: int, secret: Secret) -> SeatView:
    """What this seat may know: the public state and its own secret."""
    return SeatView(state, seat, secret)
