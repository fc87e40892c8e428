"""What happened in a game, one sentence an event, told from one seat's point of view."""

from __future__ import annotations

from typing import assert_never

from otto_p2p.i18n import _, ngettext
from otto_p2p.texts.cards import card_name, codes, colour_name
from otto_p2p.texts.news import phase_line, verified_line
from otto_p2p.texts.people import People
from otto_p2p.updates import GameUpdate, ShuffleVerified
from otto_protocol.match.phases import MatchPhase
from otto_protocol.rules import GamePhase, SeatView, moves
from otto_protocol.rules.cards import colour


class PhaseReporter:
    """Tells what the table does while nobody moves, each thing once: new phases, and verified shuffles."""

    def __init__(self) -> None:
        self._phase: tuple[int, MatchPhase] | None = None
        self._verified: ShuffleVerified | None = None

    def tell(self, update: GameUpdate, people: People) -> list[str]:
        """The sentences for what is new in this update."""
        told = list[str]()
        if (update.game, update.phase) != self._phase:
            self._phase = (update.game, update.phase)
            if (line := phase_line(update)) is not None:
                told.append(line)
        if update.verified != self._verified and (line := verified_line(update, people)) is not None:
            self._verified = update.verified
            told.append(line)
        return told


class Narrator:
    """Tells the moves of one match in order; it remembers only what the next sentence needs."""

    def __init__(self) -> None:
        self._game = 0
        self._turn = -1
        self._guess: int | None = None
        self._mine: frozenset[int] = frozenset()

    def tell(self, update: GameUpdate, people: People) -> list[str]:
        """The sentences for what is new in this update."""
        if update.game != self._game:
            self._game, self._turn, self._guess, self._mine = update.game, -1, None, frozenset()
        told: list[str] = []
        view = update.view
        for move in update.happened:
            # One update can have the end of a turn and the first move of the next one.
            match move:
                case moves.Lead(seat=seat) | moves.Challenge(seat=seat):
                    if view is not None and seat == view.state.leader:
                        told += self._drawn(view)
                        told += self._new_turn(view, people)
                case _:
                    pass
            told += self._move(move, people)
        if view is not None:
            told += self._drawn(view)
            told += self._new_turn(view, people)
        return told

    def _new_turn(self, view: SeatView, people: People) -> list[str]:
        state = view.state
        if state.phase in (GamePhase.CHOOSE, GamePhase.SCORE, GamePhase.END) or state.turn == self._turn:
            return []
        self._turn = state.turn
        text = (
            _("Turn {turn}: you lead. Cards to draw: {pile}, spent: {spent}.")
            if state.leader == people.me
            else _("Turn {turn}: {name} leads. Cards to draw: {pile}, spent: {spent}.")
        )
        name = people.names[state.leader]
        return [text.format(turn=state.turn + 1, name=name, pile=len(state.pile), spent=len(state.spent))]

    def _drawn(self, view: SeatView) -> list[str]:
        """My new cards: everybody sees that I drew, only I see what."""
        own = (*view.state.hands[view.seat], *view.state.collections[view.seat])
        mine = frozenset(slot for slot in own if slot in view.secret.cards)
        new = sorted(mine - self._mine) if self._mine else []
        self._mine = mine
        return [_("You draw: {card}.").format(card=card_name(view.secret.cards[slot])) for slot in new]

    def _move(self, move: moves.Move, people: People) -> list[str]:
        if isinstance(move, moves.Reshuffled):
            return [_("The spent pile is shuffled and becomes the draw pile.")]
        if isinstance(move, moves.Drawn):
            return []
        if isinstance(move, moves.Guess):
            self._guess = move.colour
        sentence = self._mine_said(move) if move.seat == people.me else self._their_said(move, people)
        if sentence is None:
            return []
        if isinstance(move, moves.OpenDuel) and self._guess is not None:
            right = self._guess == colour(move.card)
            sentence += " " + (_("The guess was right.") if right else _("The guess was wrong."))
        return [sentence]

    def _their_said(self, move: moves.SeatMove, people: People) -> str | None:
        name = people.names[move.seat]
        match move:
            case moves.Choose(slots=slots):
                return ngettext(
                    "{name} has chosen a number and lays {n} card face down.",
                    "{name} has chosen a number and lays {n} cards face down.",
                    len(slots),
                ).format(name=name, n=len(slots))
            case moves.Challenge(target=target) if target == people.me:
                return _("{name} challenges you to a duel!").format(name=name)
            case moves.Challenge(target=target):
                return _("{name} calls a duel. Challenged: {other}.").format(
                    name=name, other=people.names[target]
                )
            case moves.LayDuel():
                return _("{name} lays a card face down for the duel.").format(name=name)
            case moves.Guess(colour=guess):
                return _("{name} says: {colour}.").format(name=name, colour=colour_name(guess))
            case moves.OpenDuel(card=card):
                return _("{name} opens the duel card: {card}.").format(name=name, card=card_name(card))
            case moves.LoseCard(card=card):
                return _("{name} loses a collected card: {card}.").format(name=name, card=card_name(card))
            case moves.Lead(number=number):
                return _("{name} lays a card face down and says: {number}.").format(name=name, number=number)
            case moves.Answer(card=card):
                return _("{name} answers: {card}.").format(name=name, card=card_name(card))
            case moves.SitOut(cards=()):
                return _("{name} has no cards in the hand and sits out.").format(name=name)
            case moves.SitOut(cards=cards):
                return _("{name} cannot answer and shows the hand: {cards}.").format(
                    name=name, cards=codes(card for _slot, card in cards)
                )
            case moves.OpenLead(card=card):
                return _("{name} opens the card: {card}.").format(name=name, card=card_name(card))
            case moves.Exchange(take=True):
                return _("{name} exchanges the card.").format(name=name)
            case moves.Exchange():
                return _("{name} keeps the card.").format(name=name)
            case moves.Collect(slots=()):
                return None
            case moves.Collect(slots=slots):
                return ngettext(
                    "{name} lays {n} card into the collection.",
                    "{name} lays {n} cards into the collection.",
                    len(slots),
                ).format(name=name, n=len(slots))
            case moves.Say(otto=False):
                return _("{name} has eight cards or more and plays on for a bonus.").format(name=name)
            case moves.Say(number=number, cards=cards):
                return _("{name} says OTTO! The number is {number}: {cards}.").format(
                    name=name, number=number, cards=codes(card for _slot, card in cards)
                )
            case moves.Score(number=number, cards=cards):
                return ngettext(
                    "{name} was collecting the number {number} and opens {n} card.",
                    "{name} was collecting the number {number} and opens {n} cards.",
                    len(cards),
                ).format(name=name, number=number, n=len(cards))
            case _:
                assert_never(move)

    def _mine_said(self, move: moves.SeatMove) -> str | None:
        match move:
            case moves.Choose(slots=slots):
                return ngettext(
                    "You lay {n} card face down as your collection.",
                    "You lay {n} cards face down as your collection.",
                    len(slots),
                ).format(n=len(slots))
            case moves.Challenge():
                return _("You call a duel.")
            case moves.LayDuel():
                return _("You lay a card face down for the duel.")
            case moves.Guess(colour=guess):
                return _("You say: {colour}.").format(colour=colour_name(guess))
            case moves.OpenDuel(card=card):
                return _("Your duel card is opened: {card}.").format(card=card_name(card))
            case moves.LoseCard(card=card):
                return _("You lose a collected card: {card}.").format(card=card_name(card))
            case moves.Lead(number=number):
                return _("You lay a card face down and say: {number}.").format(number=number)
            case moves.Answer(card=card):
                return _("You answer: {card}.").format(card=card_name(card))
            case moves.SitOut(cards=()):
                return _("You have no cards in the hand and sit out.")
            case moves.SitOut():
                return _("You cannot answer and show your hand.")
            case moves.OpenLead(card=card):
                return _("Your card is opened: {card}.").format(card=card_name(card))
            case moves.Exchange(take=True):
                return _("You exchange your card.")
            case moves.Exchange():
                return _("You keep your card.")
            case moves.Collect(slots=()):
                return None
            case moves.Collect(slots=slots):
                return ngettext(
                    "You lay {n} card into your collection.",
                    "You lay {n} cards into your collection.",
                    len(slots),
                ).format(n=len(slots))
            case moves.Say(otto=False):
                return _("You play on for a bonus.")
            case moves.Say():
                return _("You say OTTO!")
            case moves.Score(cards=cards):
                return ngettext(
                    "You open your {n} collected card.", "You open your {n} collected cards.", len(cards)
                ).format(n=len(cards))
            case _:
                assert_never(move)
