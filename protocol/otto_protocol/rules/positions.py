"""A game in the middle, set up card by card: for tests, puzzles, and to try things out."""

from __future__ import annotations

from collections.abc import Sequence

from otto_protocol.errors import LocalError
from otto_protocol.hashing import Rng, shuffled
from otto_protocol.limits import HAND
from otto_protocol.rules.cards import deck_size, number, short
from otto_protocol.rules.game import Game
from otto_protocol.rules.phases import GamePhase
from otto_protocol.rules.state import Secret, draft, freeze, start


def arrange(
    hands: Sequence[str],
    collections: Sequence[str],
    numbers: Sequence[int],
    rng: Rng,
    *,
    decks: int = 2,
    leader: int = 0,
    pile: str | None = None,
    drew_own: bool = True,
) -> Game:
    """A game at the start of a turn with these cards, written like "R1 B7".

    Seat i is the i-th clockwise; it holds hands[i] and collections[i] (at most 12 cards together, as if it
    had been dealt them) and collects numbers[i]. Cards of that number in the hand are drawn ones, for the
    first ones had to be laid (T3); without `drew_own` they are not, and the seat has cheated.

    `pile` is the draw pile, top first, and all other cards are spent; without it they are all in the draw
    pile. Raises LocalError when there are not that many such cards.
    """
    free = shuffled(list(range(deck_size(decks))), rng)
    new = draft(start(range(len(hands)), leader, decks))
    cards = [-1] * deck_size(decks)  # by slot; the places of cards that were never dealt stay empty
    held: list[tuple[int, ...]] = []
    laid: list[tuple[int, ...]] = []
    drawn: list[int] = []  # cards under the slots that follow those of the deck
    for seat, (hand, collection) in enumerate(zip(hands, collections, strict=True)):
        own = [*_take(free, hand), *_take(free, collection)]
        if len(own) > HAND:
            raise LocalError(f"seat {seat} has more than {HAND} cards")
        first, split = HAND * seat, HAND * seat + len(hand.split())
        cards[first : first + len(own)] = own
        slots = list(range(first, split))
        for place, card in enumerate(own[: len(slots)]):
            if drew_own and number(card) == numbers[seat]:
                slots[place] = new.next_slot + len(drawn)
                drawn.append(card)
                cards[first + place] = -1
        held.append(tuple(slots))
        laid.append(tuple(range(split, first + len(own))))
    top = free if pile is None else _take(free, pile)
    new.next_slot += len(drawn)
    new.pile = tuple(range(new.next_slot, new.next_slot + len(top)))
    new.next_slot += len(top)
    new.spent = () if pile is None else tuple(free)
    new.hands, new.collections = tuple(held), tuple(laid)
    new.phase, new.waiting = GamePhase.LEAD, (leader,)
    game = Game(freeze(new), [*cards, *drawn, *top], rng)
    for seat, own_number in enumerate(numbers):
        owned = (*held[seat], *laid[seat])
        game.secrets[seat] = Secret(own_number, {slot: game.cards[slot] for slot in owned})
    return game


def _take(free: list[int], faces: str) -> list[int]:
    """Take one card of each face out of `free`."""
    taken = []
    for face in faces.split():
        card = next((card for card in free if short(card) == face), None)
        if card is None:
            raise LocalError(f"there is no {face} left")
        free.remove(card)
        taken.append(card)
    return taken
