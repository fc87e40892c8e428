"""What a player is asked, in one sentence; what can be typed; and what it is all about, on `?`."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from otto_p2p.i18n import N_, _, ngettext
from otto_p2p.texts.cards import card_name, codes, colour_name
from otto_p2p.texts.people import People
from otto_p2p.ui.questions import Kind, Option, Question, opponents
from otto_protocol.rules import bonuses, moves
from otto_protocol.rules.cards import COLOURS, LETTERS, NUMBERS, number


def asked(question: Question) -> str:
    """The question, one sentence."""
    state = question.view.state
    match question.kind:
        case Kind.CHOOSE:
            return _("Which number do you collect?")
        case Kind.LEAD:
            return _("You lead: which card do you lay face down?")
        case Kind.DUEL_LAY:
            return _("You are challenged: which card do you lay face down for the duel?")
        case Kind.GUESS:
            return _("Which colour is the card of the duel?")
        case Kind.LOSE_CARD:
            return _("You lost the duel: which collected card do you give?")
        case Kind.ANSWER if isinstance(question.usual.move, moves.SitOut):
            return _("You cannot answer the number {number}; you sit out this turn.").format(
                number=state.said
            )
        case Kind.ANSWER:
            return _("Which card do you answer with? (not the number {number})").format(number=state.said)
        case Kind.EXCHANGE:
            card = "".join(card_name(card) for card in question.usual.cards)
            return _("Do you exchange your {card} for a new card?").format(card=card)
        case Kind.COLLECT if not question.options[0].cards:
            return _("You have no card to lay into your collection.")
        case Kind.COLLECT:
            return _("Which cards do you lay into your collection?")
        case Kind.OTTO:
            collected = len(state.collections[question.view.seat])
            return ngettext(
                "You have collected {n} card. Do you say Otto?",
                "You have collected {n} cards. Do you say Otto?",
                collected,
            ).format(n=collected)
        case _:
            assert_never(question.kind)


def choices(question: Question, people: People) -> str:
    """What can be typed, in one line."""
    kind = question.kind
    match kind:
        case Kind.CHOOSE:
            held = Counter(number(card) for _slot, card in question.view.hand)
            listed = ", ".join(
                ngettext("{number} ({n} card)", "{number} ({n} cards)", held[own]).format(
                    number=own, n=held[own]
                )
                for own in NUMBERS
                if held[own]
            )
            return _("{listed}, or any other number").format(listed=listed)
        case Kind.LEAD | Kind.ANSWER | Kind.DUEL_LAY | Kind.LOSE_CARD:
            line = " ".join(option.code for option in question.options if option.cards)
            return line + _duels(question, people)
        case Kind.GUESS:
            return ", ".join(f"{LETTERS[hue]} {colour_name(hue)}" for hue in range(len(COLOURS)))
        case Kind.EXCHANGE:
            return _("y yes, n no")
        case Kind.COLLECT:
            return _("{cards}, or n for none").format(cards=codes(question.options[0].cards))
        case Kind.OTTO:
            return ", ".join(
                f"{option.code} {label(question, option, people)}" for option in question.options
            )
        case _:
            assert_never(kind)


def _duels(question: Question, people: People) -> str:
    legal = {option.code for option in question.options}
    state = question.view.state
    duels = [
        _("{code} {name} ({n} collected)").format(
            code=code, name=people.names[seat], n=len(state.collections[seat])
        )
        for code, seat in opponents(question.view)
        if code in legal
    ]
    return "; " + _("or a duel first: {duels}").format(duels=", ".join(duels)) if duels else ""


def label(question: Question, option: Option, people: People) -> str:
    """One option in words."""
    move = option.move
    match move:
        case moves.Choose(number=own):
            return _("collect the number {number}").format(number=own)
        case moves.Challenge(target=target):
            return _("duel with {name}").format(name=people.names[target])
        case moves.Guess(colour=guess):
            return colour_name(guess)
        case moves.Exchange(take=take):
            return _("yes") if take else _("no")
        case moves.Collect(slots=()):
            return _("none")
        case moves.Say(otto=True):
            cards = [card for _slot, card in (*question.view.hand, *question.view.collection)]
            own = question.view.secret.number
            bonus = 0 if own is None else sum(won.points for won in bonuses(own, cards))
            return _("say Otto (10 points and {bonus} bonus)").format(bonus=bonus)
        case moves.Say():
            return _("go on")
        case moves.SitOut():
            return _("sit out")
        case moves.Lead() | moves.Answer() | moves.LayDuel() | moves.LoseCard():
            return card_name(option.cards[0])
        case _:
            return option.code


_EXPLANATIONS: dict[Kind, str] = {
    Kind.CHOOSE: N_(
        "Choose a number to collect, usually the one that you hold most cards of. All your cards of "
        "that number are laid face down in front of you; nobody sees which number it is. The first "
        "player who has collected eight cards of one number can say Otto and wins the game."
    ),
    Kind.LEAD: N_(
        "You lead this turn. Lay a card that you do not need face down; its number is said aloud. The "
        "others answer with cards of other numbers. If nobody lays the colour of your card, you may "
        "exchange it for a new one; those who lay its colour may exchange theirs. Before you lay, you "
        "may challenge one player to a duel: guess the colour of a card, and whoever is wrong loses a "
        "collected card."
    ),
    Kind.DUEL_LAY: N_(
        "You were challenged to a duel. Lay any card of your hand face down; the challenger guesses "
        "its colour. A right guess costs you one of your collected cards, a wrong one costs the "
        "challenger one. The card itself comes back into your hand."
    ),
    Kind.GUESS: N_(
        "Guess the colour of the card that lies face down. If you are right, the challenged player "
        "loses a collected card; if you are wrong, you lose one."
    ),
    Kind.LOSE_CARD: N_(
        "You lost the duel. Choose one of your collected cards; it goes to the spent cards, face up."
    ),
    Kind.ANSWER: N_(
        "Lay a card that you do not need, face up. It may not have the number that the leader said. "
        "If it has the colour of the leader's card, you may exchange it for a new card; otherwise it "
        "comes back into your hand, and everybody has seen it."
    ),
    Kind.EXCHANGE: N_(
        "You may put your card on the spent pile and take a new one from the draw pile, or keep it. "
        "The new card may be one of the number that you collect."
    ),
    Kind.COLLECT: N_(
        "You drew a card, so you may lay cards of your number from the hand into your collection, "
        "face down. Collected cards count at the end; cards in the hand do not."
    ),
    Kind.OTTO: N_(
        "You have collected eight cards or more. Say Otto to end the game and win it: 10 points and "
        "your bonus. Or go on and try for a bonus: 3 more of your number +6, 4 more +10; two cards "
        "one lower and two cards one higher than your number +5; eight zeros +8. Somebody else may "
        "say Otto first."
    ),
}


def explanation(kind: Kind) -> str:
    """What this decision is about, for somebody who has never played."""
    return _(_EXPLANATIONS[kind])
