"""A game in the middle, set up card by card: for tests, puzzles, and to try things out."""

from __future__ import annotations

from collections.abc import Sequence

from otto_protocol.errors import LocalError
from otto_protocol.hashing import Rng, shuffled
from otto_protocol.limits import HAND
from otto_protocol.rules.cards import deck_size, short
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
) -> Game:
    """A game at the start of a turn with these cards, written like "R1 B7".

    Seat i is the i-th clockwise; it holds hands[i] and collections[i] (at most 12 cards together, as if it
    had been dealt them) and collects numbers[i]. `pile` is the draw pile, top first, and all other cards are
    spent; without it they are all in the draw pile. Raises LocalError when there are not so many such cards.
    """
    free = shuffled(list(range(deck_size(decks))), rng)
    new = draft(start(range(len(hands)), leader, decks))
    cards = [-1] * deck_size(decks)  # by slot; the places of cards that were never dealt stay empty
    held: list[tuple[int, ...]] = []
    laid: list[tuple[int, ...]] = []
    for seat, (hand, collection) in enumerate(zip(hands, collections, strict=True)):
        own = [*_take(free, hand), *_take(free, collection)]
        if len(own) > HAND:
            raise LocalError(f"seat {seat} has more than {HAND} cards")
        first, split = HAND * seat, HAND * seat + len(hand.split())
        cards[first : first + len(own)] = own
        held.append(tuple(range(first, split)))
        laid.append(tuple(range(split, first + len(own))))
    top = free if pile is None else _take(free, pile)
    new.pile = tuple(range(new.next_slot, new.next_slot + len(top)))
    new.next_slot += len(top)
    new.spent = () if pile is None else tuple(free)
    new.hands, new.collections = tuple(held), tuple(laid)
    new.phase, new.waiting = GamePhase.LEAD, (leader,)
    game = Game(freeze(new), [*cards, *top], rng)
    for seat, number in enumerate(numbers):
        slots = (*held[seat], *laid[seat])
        game.secrets[seat] = Secret(number, {slot: cards[slot] for slot in slots})
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
