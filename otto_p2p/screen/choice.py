"""A choice while it is being made: where the cursor is, which cards are picked. Pure.

What can be chosen stands in two rows: cards, and buttons (yes and no, colours, duels, numbers). The usual
choice is where the cursor starts.
"""

from __future__ import annotations

from otto_p2p.i18n import pgettext
from otto_p2p.texts.cards import codes
from otto_p2p.ui.questions import Kind, Option, Question
from otto_protocol.rules import SeatView, moves
from otto_protocol.rules.cards import LETTERS, colour, number, short

BY_CARD = (Kind.LEAD, Kind.ANSWER, Kind.DUEL_LAY, Kind.LOSE_CARD)
AT_ONCE = (Kind.GUESS, Kind.EXCHANGE, Kind.OTTO)
"""Kinds whose letters are the whole answer."""


class Choice:
    """The half-made answer to one question. `row` is 0 for cards and 1 for buttons, `place` where in it."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.cards = self._slots()
        self.buttons = [option for option in question.options if self._is_button(option)]
        self.picked = {slot for slot, _ in self.cards} if question.kind is Kind.COLLECT else set[int]()
        self.row, self.place = self._start()
        self.touched = False  # the person has moved the cursor or picked

    # -- what there is ---------------------------------------------------------------------------------

    def _slots(self) -> list[tuple[int, int]]:
        """(slot, card) of the cards that can be chosen, in the order in which they are shown."""
        kind, view = self.question.kind, self.question.view
        if kind is Kind.COLLECT:
            return [(slot, card) for slot, card in in_order(view.hand) if number(card) == view.secret.number]
        if kind not in BY_CARD:
            return []
        legal = {option.code for option in self.question.options}
        held = view.collection if kind is Kind.LOSE_CARD else view.hand
        return [(slot, card) for slot, card in in_order(held) if short(card) in legal]

    def _is_button(self, option: Option) -> bool:
        if self.question.kind is Kind.COLLECT:
            return False
        return self.question.kind not in BY_CARD or isinstance(option.move, moves.Challenge)

    def _start(self) -> tuple[int, int]:
        usual = self.question.usual
        if self.question.kind is Kind.COLLECT:
            return 0, 0
        if usual in self.buttons:
            return 1, self.buttons.index(usual)
        slot = getattr(usual.move, "slot", None)
        places = [place for place, (held, _) in enumerate(self.cards) if held == slot]
        places += [place for place, (_, card) in enumerate(self.cards) if card in usual.cards]
        return 0, next(iter(places), 0)

    # -- what is chosen --------------------------------------------------------------------------------

    @property
    def slot(self) -> int | None:
        """The slot under the cursor, None when it is on a button."""
        return self.cards[self.place][0] if self.row == 0 and self.cards else None

    @property
    def button(self) -> Option | None:
        """The button under the cursor."""
        return self.buttons[self.place] if self.row == 1 and self.buttons else None

    def option(self) -> Option:
        """What Enter takes now."""
        if self.question.kind is Kind.COLLECT:
            return self.question.option(self.picked_code()) or self.question.usual
        button = self.button
        if button is not None:
            return button
        option = self.question.option(short(self.cards[self.place][1])) if self.cards else None
        return option or self.question.usual

    def picked_code(self) -> str:
        """The code of the picked cards of a collection."""
        return codes(card for slot, card in self.cards if slot in self.picked) or "n"

    # -- keys and clicks -------------------------------------------------------------------------------

    def _row(self) -> int:
        return len(self.buttons if self.row else self.cards)

    def move(self, step: int) -> None:
        """The cursor to the left or right, round the ends."""
        if self._row():
            self.place = (self.place + step) % self._row()
            self.touched = True

    def jump(self, place: int) -> None:
        """The cursor to the first (0) or last (-1) of the row."""
        self.place = place % max(1, self._row())
        self.touched = True

    def other_row(self) -> None:
        """The cursor to the other row, if there is anything in it."""
        if self.buttons and self.cards:
            self.row, self.place = 1 - self.row, 0
            if self.row == 0:
                self.row, self.place = self._start() if self._start()[0] == 0 else (0, 0)
            self.touched = True

    def toggle(self) -> bool:
        """Pick the card under the cursor, or put it back; False where nothing is picked like that."""
        slot = self.slot
        if self.question.kind is not Kind.COLLECT or slot is None:
            return False
        self.picked ^= {slot}
        self.touched = True
        return True

    def key(self, key: str) -> Option | bool:
        """A digit or letter: an option when it is the whole answer, else whether it meant anything."""
        kind = self.question.kind
        if kind in AT_ONCE:
            letter = {pgettext("yes", "y"): "y", pgettext("no", "n"): "n"}.get(key, key)
            code = letter.upper() if kind is Kind.GUESS else letter
            option = self.question.option(code)
            return option if option is not None else False
        if kind is Kind.COLLECT and key in ("n", pgettext("no", "n")):
            self.picked, self.touched = set(), True
            return True
        if kind is Kind.CHOOSE:
            places = [place for place, option in enumerate(self.buttons) if option.code == key]
            return self._go(1, places)
        if key == "d":
            return self._go(1, [p for p, o in enumerate(self.buttons) if o.code.startswith("d")])
        if key.isdecimal():
            return self._go(0, [p for p, (_, card) in enumerate(self.cards) if number(card) == int(key)])
        hue = LETTERS.find(key.upper())
        if len(key) == 1 and hue >= 0:
            return self._go(0, [p for p, (_, card) in enumerate(self.cards) if colour(card) == hue])
        return False

    def _go(self, row: int, places: list[int]) -> bool:
        """To the next of these places after the cursor."""
        if not places:
            return False
        after = [place for place in places if self.row == row and place > self.place]
        self.row, self.place, self.touched = row, (after or places)[0], True
        return True

    def click(self, target: str) -> Option | None:
        """A click on "card:SLOT" or "button:CODE": moves there; an option when the cursor was there."""
        what, _, which = target.partition(":")
        if what == "button":
            option = self.question.option(which)
            if option not in self.buttons or option is None:
                return None
            self.row, self.place, self.touched = 1, self.buttons.index(option), True
            return option
        places = [place for place, (slot, _) in enumerate(self.cards) if str(slot) == which]
        if what != "card" or not places:
            return None
        was = (self.row, self.place)
        self.row, self.place = 0, places[0]
        if self.toggle():
            return None
        self.touched = True
        return self.option() if was == (0, places[0]) else None


def held(view: SeatView) -> tuple[tuple[int, int], ...]:
    """(slot, card) of the own hand, as far as it is known: cards that are being dealt are not yet."""
    known = view.secret.cards
    return tuple((slot, known[slot]) for slot in view.state.hands[view.seat] if slot in known)


def in_order(cards: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """(slot, card) pairs in the order in which a hand is shown: by colour, then by number."""
    return sorted(cards, key=lambda pair: (colour(pair[1]), number(pair[1]), pair[1]))
