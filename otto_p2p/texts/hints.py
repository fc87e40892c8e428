"""The sentence for each reason that the built-in player has for a move."""

from __future__ import annotations

from otto_p2p.i18n import N_, _
from otto_p2p.players.bots import Reasoning, Why
from otto_p2p.texts.cards import card_name, colour_name
from otto_p2p.texts.people import People

_HINTS: dict[Why, str] = {
    Why.CHOOSE: N_("Of the number {number} you hold {count}, and there are {copies} in the game."),
    Why.DUEL: N_(
        "You guess a colour of {name} in about {percent} of 100 cases, "
        "and that collection ({count}) is a danger."
    ),
    Why.LAY: N_("This colour is hard to guess from what has been seen of your hand: {colour}."),
    Why.GUESS: N_("This colour is right in about {percent} of 100 cases: {colour}."),
    Why.LEAD: N_("In about {percent} of 100 cases nobody else lays its colour: {card}."),
    Why.ANSWER: N_("In about {percent} of 100 cases the leader's {number} has this colour: {colour}."),
    Why.SPARE: N_("It is the card that you need least: {card}."),
    Why.EXCHANGE: N_("You do not need this card: {card}."),
    Why.DECLINE: N_("A new card would hardly be better than this one: {card}."),
    Why.COLLECT: N_("Collected cards count at the end, cards in the hand do not."),
    Why.NOTHING: N_("There is nothing to lay."),
    Why.OTTO: N_("It gives {points} points, and waiting for more is not worth the risk."),
    Why.GO_ON: N_("A bonus of {points} points is within reach."),
    Why.FORCED: N_("There is no other move."),
}


def because(reasoning: Reasoning, people: People) -> str:
    """A reason as one sentence."""
    words: dict[str, str | int] = dict(reasoning.values)
    values = reasoning.values
    if "card" in values:
        words["card"] = card_name(values["card"])
    if "colour" in values:
        words["colour"] = colour_name(values["colour"])
    if "seat" in values:
        words["name"] = people.names[values["seat"]]
    return _(_HINTS[reasoning.why]).format(**words)
