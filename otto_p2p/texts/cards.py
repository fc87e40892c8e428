"""Cards, colours and numbers in words: "red 7" in sentences, "R7" where it is to be typed."""

from __future__ import annotations

from collections.abc import Iterable

from otto_p2p.i18n import N_, _
from otto_protocol.rules.cards import COLOURS, LETTERS, colour, number, short

_COLOUR_NAMES = (N_("red"), N_("yellow"), N_("green"), N_("blue"))


def colour_name(index: int) -> str:
    """The name of a colour, 0 to 3."""
    return _(_COLOUR_NAMES[index])


def card_name(card: int) -> str:
    """A card in a sentence: "red 7"."""
    return f"{colour_name(colour(card))} {number(card)}"


def sorted_cards(cards: Iterable[int]) -> list[int]:
    """Cards in the order in which a hand is shown: by colour, then by number."""
    return sorted(cards, key=lambda card: (colour(card), number(card), card))


def codes(cards: Iterable[int]) -> str:
    """Cards as they are typed, sorted: "R1 R3 B7"."""
    return " ".join(short(card) for card in sorted_cards(cards))


def by_colour(cards: Iterable[int]) -> str:
    """Cards sorted, with the names of their colours: "red R1 R3, blue B7"."""
    groups: dict[int, list[int]] = {}
    for card in sorted_cards(cards):
        groups.setdefault(colour(card), []).append(card)
    return ", ".join(f"{colour_name(index)} {codes(group)}" for index, group in groups.items()) or _(
        "no cards"
    )


def colour_of(word: str) -> int | None:
    """The colour that somebody typed, by its letter or its name in English or in the language spoken."""
    wanted = word.casefold()
    for index, name in enumerate(COLOURS):
        if wanted in (LETTERS[index].casefold(), name, colour_name(index).casefold()):
            return index
    return None
