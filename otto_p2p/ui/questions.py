"""What a player is asked, and what an answer means: decisions as a question, typed text as a move.

Pure: the same for plain lines and for the full screen. Moves that look the same to the player (two cards of
one face) are one option.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from otto_p2p.i18n import _, pgettext
from otto_p2p.texts.cards import colour_of
from otto_protocol.rules import SeatView, moves
from otto_protocol.rules.cards import LETTERS, colour, number, short


class Kind(enum.Enum):
    """What is decided."""

    CHOOSE = "choose"
    LEAD = "lead"
    DUEL_LAY = "duel-lay"
    GUESS = "guess"
    LOSE_CARD = "lose-card"
    ANSWER = "answer"
    EXCHANGE = "exchange"
    COLLECT = "collect"
    OTTO = "otto"


@dataclass(frozen=True, slots=True)
class Option:
    """One way to decide: what to type for it, the cards that it is about (ids, sorted), the move."""

    code: str
    cards: tuple[int, ...]
    move: moves.SeatMove


@dataclass(frozen=True, slots=True)
class Question:
    """A decision that this seat has to make; `usual` is preselected. Options are in the order of the hand."""

    kind: Kind
    view: SeatView
    options: tuple[Option, ...]
    usual: Option

    def option(self, code: str) -> Option | None:
        """The option with this code."""
        return next((option for option in self.options if option.code == code), None)


@dataclass(frozen=True, slots=True)
class Understood:
    """The option that somebody typed."""

    option: Option


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """Why what somebody typed is no option: one sentence."""

    text: str


def question(view: SeatView, decisions: Sequence[moves.SeatMove], usual: moves.SeatMove) -> Question:
    """The question that `decisions`, one at least, are the answers to."""
    found: dict[str, Option] = {}
    # Of two cards with one face the one that the others know already is laid first: it tells them nothing.
    for move in sorted(decisions, key=lambda move: (move != usual, not _seen(view, move))):
        option = _option(view, move)
        found.setdefault(option.code, option)
    preselected = next(iter(found.values()))
    options = sorted(found.values(), key=_place)
    return Question(_kind(decisions[0]), view, tuple(options), preselected)


def _kind(move: moves.SeatMove) -> Kind:
    match move:
        case moves.Choose():
            return Kind.CHOOSE
        case moves.Lead() | moves.Challenge():
            return Kind.LEAD
        case moves.LayDuel():
            return Kind.DUEL_LAY
        case moves.Guess():
            return Kind.GUESS
        case moves.LoseCard():
            return Kind.LOSE_CARD
        case moves.Answer() | moves.SitOut():
            return Kind.ANSWER
        case moves.Exchange():
            return Kind.EXCHANGE
        case moves.Collect():
            return Kind.COLLECT
        case moves.Say():
            return Kind.OTTO
        case moves.OpenDuel() | moves.OpenLead() | moves.Score():
            raise AssertionError("the session makes these moves itself")
        case _:
            assert_never(move)


def _option(view: SeatView, move: moves.SeatMove) -> Option:
    cards = view.secret.cards
    match move:
        case moves.Choose(slots=slots, number=own):
            return Option(str(own), tuple(cards[slot] for slot in slots), move)
        case moves.Challenge(target=target):
            return Option(f"d{_others(view).index(target) + 1}", (), move)
        case moves.Lead(slot=int(slot)) | moves.LayDuel(slot=int(slot)):
            return Option(short(cards[slot]), (cards[slot],), move)
        case moves.LoseCard(card=card) | moves.Answer(card=card):
            return Option(short(card), (card,), move)
        case moves.SitOut(cards=opened):
            return Option("-", tuple(card for _slot, card in opened), move)
        case moves.Guess(colour=guess):
            return Option(LETTERS[guess], (), move)
        case moves.Exchange(take=take):
            return Option("y" if take else "n", _on_table(view), move)
        case moves.Collect(slots=slots):
            laid = sorted((cards[slot] for slot in slots), key=_face)
            return Option(" ".join(short(card) for card in laid) or "n", tuple(laid), move)
        case moves.Say(otto=otto, cards=opened):
            return Option("o" if otto else "g", tuple(card for _slot, card in opened), move)
        case _:
            raise AssertionError(move)


def _others(view: SeatView) -> list[int]:
    """The other seats clockwise from the own one: their places are their numbers in duels."""
    order = view.state.order
    place = order.index(view.seat)
    return [*order[place + 1 :], *order[:place]]


def opponents(view: SeatView) -> list[tuple[str, int]]:
    """(code, seat) of those who can be challenged at all, clockwise: "d1" is the left neighbour."""
    return [(f"d{place}", seat) for place, seat in enumerate(_others(view), 1)]


def _on_table(view: SeatView) -> tuple[int, ...]:
    """The own card that lies on the table in this turn."""
    state = view.state
    slot = state.lead if state.leader == view.seat else state.answers[view.seat]
    return () if slot is None or slot < 0 else (state.known[slot],)


def _seen(view: SeatView, move: moves.SeatMove) -> bool:
    slot = getattr(move, "slot", None)
    return slot in view.state.known


def _face(card: int) -> tuple[int, int]:
    return colour(card), number(card)


def _place(option: Option) -> tuple[int, tuple[tuple[int, int], ...], str]:
    """Where an option stands: cards sorted, then challenges; for COLLECT the most cards first."""
    move = option.move
    if isinstance(move, moves.Collect):
        return -len(option.cards), tuple(_face(card) for card in option.cards), ""
    if isinstance(move, (moves.Lead, moves.Answer, moves.LayDuel, moves.LoseCard)):
        return 0, tuple(_face(card) for card in option.cards), ""
    if isinstance(move, moves.Guess):
        return move.colour, (), ""
    if isinstance(move, (moves.Exchange, moves.Say)):
        return int(option.code in "ng"), (), ""
    return 1, (), option.code


def understand(asked: Question, typed: str) -> Understood | NotUnderstood:
    """What an answer means: "" is the usual choice; codes, names of colours, numbers that fit one card."""
    text = typed.strip()
    if not text:
        return Understood(asked.usual)
    if asked.kind is Kind.COLLECT:
        return _understand_cards(asked, text)
    if asked.kind is Kind.GUESS:
        guess = colour_of(text)
        option = None if guess is None else asked.option(LETTERS[guess])
        return Understood(option) if option else NotUnderstood(_("Say one of the four colours."))
    code = _yes_or_no(text) if asked.kind is Kind.EXCHANGE else text.lower()
    for option in asked.options:
        if option.code.lower() == code:
            return Understood(option)
    if asked.kind in (Kind.LEAD, Kind.ANSWER, Kind.DUEL_LAY, Kind.LOSE_CARD):
        return _understand_card(asked, text)
    return NotUnderstood(_("That is none of the choices."))


def _yes_or_no(text: str) -> str:
    """ "y" or "n", in English or in the language spoken."""
    letter = text[0].casefold()
    # Translators: the first letter of "yes" in your language.
    if letter in ("y", pgettext("yes", "y")):
        return "y"
    # Translators: the first letter of "no" in your language.
    return "n" if letter in ("n", pgettext("no", "n")) else ""


_CARD = re.compile(r"(?P<colour>[^\W\d]+)?\s*(?P<number>\d)\s*(?P<after>[^\W\d]+)?")


def _wanted(text: str) -> tuple[int | None, int] | None:
    """(colour, number) of a card as it was typed: "R7", "7r", "red 7", or just "7"; None for nonsense."""
    match = _CARD.fullmatch(text)
    if match is None:
        return None
    word = match["colour"] or match["after"]
    if word is None:
        return None, int(match["number"])
    index = colour_of(word)
    return None if index is None or (match["colour"] and match["after"]) else (index, int(match["number"]))


def _understand_card(asked: Question, text: str) -> Understood | NotUnderstood:
    wanted = _wanted(text)
    if wanted is None:
        return NotUnderstood(_("That is no card; type for example {card}.").format(card=asked.usual.code))
    fitting = [
        option
        for option in asked.options
        if option.cards
        and number(option.cards[0]) == wanted[1]
        and wanted[0] in (None, colour(option.cards[0]))
    ]
    if len(fitting) == 1:
        return Understood(fitting[0])
    if fitting:
        choices = " ".join(option.code for option in fitting)
        return NotUnderstood(_("Which one: {choices}?").format(choices=choices))
    if asked.kind is Kind.ANSWER and wanted[1] == asked.view.state.said:
        return NotUnderstood(_("An answer may not have the number that the leader said (rule T7)."))
    return NotUnderstood(_("You cannot lay that card."))


def _understand_cards(asked: Question, text: str) -> Understood | NotUnderstood:
    if text.casefold() in ("n", "0", "-", pgettext("no", "n")):
        text = ""
    remaining = [
        card for option in asked.options for card in option.cards if option.code == asked.options[0].code
    ]
    picked: list[int] = []
    for word in text.split():
        wanted = _wanted(word)
        fitting = [] if wanted is None else [c for c in remaining if wanted[0] in (None, colour(c))]
        fitting = [card for card in fitting if wanted is not None and number(card) == wanted[1]]
        if not fitting:
            return NotUnderstood(_("You have no card {card} of your number.").format(card=word.upper()[:12]))
        picked.append(fitting[0])
        remaining.remove(fitting[0])
    code = " ".join(short(card) for card in sorted(picked, key=_face)) or "n"
    option = asked.option(code)
    return Understood(option) if option else NotUnderstood(_("That is none of the choices."))
