"""The cards of Otto (rules T1, R1): a card is an int, and its face follows from it.

Card `i` of `0 .. 76 * decks - 1`: `i % 76` is its place in one deck, 19 cards a colour, one 0 and two
each of 1 to 9. Equal faces are different cards: the protocol tells them apart, the rules never do.
"""

from __future__ import annotations

from otto_protocol.limits import CARDS_PER_DECK, MAX_CARDS

CARDS_PER_COLOUR = 19
NUMBERS = range(10)
COLOURS = ("red", "yellow", "green", "blue")
LETTERS = "RYGB"

_ALL = range(MAX_CARDS)
_NUMBER = tuple((card % CARDS_PER_DECK % CARDS_PER_COLOUR + 1) // 2 for card in _ALL)
_COLOUR = tuple(card % CARDS_PER_DECK // CARDS_PER_COLOUR for card in _ALL)


def number(card: int) -> int:
    """The number, 0 to 9, on a card of up to four decks. Raises IndexError beyond them."""
    return _NUMBER[card]


def colour(card: int) -> int:
    """The colour of a card: 0 red, 1 yellow, 2 green, 3 blue. Raises IndexError beyond four decks."""
    return _COLOUR[card]


def short(card: int) -> str:
    """Two characters, colour and number, such as "R7"."""
    return f"{LETTERS[colour(card)]}{number(card)}"


def deck_size(decks: int) -> int:
    """How many cards `decks` decks have (T1)."""
    return CARDS_PER_DECK * decks


def copies(face_number: int, decks: int) -> int:
    """How many cards with this number there are in `decks` decks, all colours together."""
    return decks * (4 if face_number == 0 else 8)
