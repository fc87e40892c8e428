"""The built-in player: plays to win by what its seat may know, and can say why.

Pure strategy over a `View`: no I/O, no clock, randomness only as an argument. The estimates are in `odds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from otto_p2p.odds import FRESH, Odds
from otto_protocol.cards import COLOURS, colour, short
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Rng, random_below
from otto_protocol.moves import (
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
from otto_protocol.rules import Bonus, View, bonuses

NEAR = 0.02  # moves whose worth differs by less are equally good: one is drawn by lot


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Why a move: `key` names the sentence in HINTS, `params` fill it."""

    key: str
    params: dict[str, str | int] = field(default_factory=dict)


HINTS = {
    "choose": "Collect {number}s: you hold {count}, and {copies} exist.",
    "lead": "Lead {card}: in {percent} of 100 cases nobody else lays its colour.",
    "duel": "Challenge: you guess the colour in about {percent} of 100 cases, and their {count} collected "
    "cards are a danger.",
    "lay": "Lay a {colour} card: it is hard to guess from what they have seen of your hand.",
    "guess": "Say {colour}: it is right in about {percent} of 100 cases.",
    "answer": "Answer {card}: the leader's {number} is {colour} in about {percent} of 100 cases.",
    "answer-last": "Answer {card}: it is the card that you need least.",
    "exchange": "Exchange {card}: you do not need it.",
    "decline": "Keep {card}: a new card would hardly be better.",
    "collect": "Lay {count} more into the collection.",
    "collect-none": "There is nothing to lay.",
    "otto": "Say Otto for {points} points: waiting for more is not worth the risk.",
    "go-on": "Go on: a bonus of {points} is within reach, and nobody else is near eight.",
    "forced": "There is no other honest move.",
}


def choose(view: View, legal: Sequence[SeatMove], rng: Rng) -> SeatMove:
    """The best of the legal moves, by lot among equals. Raises LocalError when there is none."""
    if not legal:
        raise LocalError("there is nothing to decide now")
    if len(legal) == 1:
        return legal[0]
    odds = Odds(view)
    worths = [_worth(odds, move) for move in legal]
    if isinstance(legal[0], (LayDuel, Guess)):
        return legal[_drawn(worths, rng)]  # whoever always does the likeliest is read like a book
    best = max(worths)
    equal = [move for move, worth in zip(legal, worths, strict=True) if worth >= best - NEAR]
    return equal[random_below(len(equal), rng)]


def hint(view: View, move: SeatMove) -> str:
    """One English sentence on why this move."""
    why = explain(view, move)
    return HINTS[why.key].format(**why.params)


def _worth(odds: Odds, move: SeatMove) -> float:
    """How good a move is, comparable among the moves of one decision (of about unit size)."""
    match move:
        case Choose(number=own):
            assert own is not None
            return -10 * odds.choice_delay(own)
        case Challenge(target=target):
            # Above every lead when it pays: the lead comes after it anyway.
            worth = odds.duel_worth(target)
            return 2 + worth if worth > NEAR else -1.0
        case Lead(slot=slot):
            assert slot is not None
            card = odds.view.secret.cards[slot]
            return (1 - odds.matched(card)) * (FRESH - odds.keep(card))
        case LayDuel(slot=slot):
            assert slot is not None
            hue = colour(odds.view.secret.cards[slot])
            return 1 / sum(colour(card) == hue for card in odds.hand)  # each colour equally often
        case Guess(colour=hue):
            assert odds.state.duel is not None
            return odds.likely_colours(odds.state.duel.target)[hue]
        case Answer(card=card):
            assert odds.state.said is not None
            chances = odds.led_colours(odds.state.leader, odds.state.said)
            return chances[colour(card)] * (FRESH - odds.keep(card))
        case Exchange(take=take):
            return FRESH - odds.keep(_on_table(odds)) if take else 0.0
        case Collect(slots=slots):
            return float(len(slots))
        case Say(otto=otto):
            return 0.0 if otto else _wait(odds)
        case LoseCard(slot=slot):
            return 1.0 if slot in odds.state.known else 0.0  # one that they know already tells them nothing
        case OpenDuel() | SitOut() | OpenLead() | Score():
            return 0.0
        case _:
            assert_never(move)


def explain(view: View, move: SeatMove) -> Reasoning:
    """Why the built-in player might make this move: a key of HINTS and what to fill in."""
    odds = Odds(view)
    match move:
        case Choose(slots=slots, number=int(own)):
            return Reasoning("choose", {"number": own, "count": len(slots), "copies": odds.copies(own)})
        case Lead(slot=int(slot)):
            card = view.secret.cards[slot]
            return Reasoning("lead", {"card": short(card), "percent": _percent(1 - odds.matched(card))})
        case Challenge(target=target):
            chance = _percent(odds.chance_to_guess(target))
            return Reasoning("duel", {"percent": chance, "count": odds.collected[target], "seat": target})
        case LayDuel(slot=int(slot)):
            return Reasoning("lay", {"colour": COLOURS[colour(view.secret.cards[slot])]})
        case Guess(colour=hue) if view.state.duel is not None:
            share = odds.likely_colours(view.state.duel.target)[hue]
            return Reasoning("guess", {"colour": COLOURS[hue], "percent": _percent(share)})
        case Answer(card=card) if view.state.said is not None:
            chances = odds.led_colours(view.state.leader, view.state.said)
            if chances[colour(card)] < max(chances):
                return Reasoning("answer-last", {"card": short(card)})
            percent = _percent(chances[colour(card)])
            led: dict[str, str | int] = {"number": view.state.said, "colour": COLOURS[colour(card)]}
            return Reasoning("answer", {"card": short(card), "percent": percent, **led})
        case Exchange(take=take):
            return Reasoning("exchange" if take else "decline", {"card": short(_on_table(odds))})
        case Collect(slots=slots):
            return Reasoning("collect", {"count": len(slots)}) if slots else Reasoning("collect-none")
        case Say(otto=True, number=int(own), cards=cards):
            won = bonuses(own, [card for _, card in cards])
            return Reasoning("otto", {"points": 10 + sum(bonus.points for bonus in won)})
        case Say(otto=False):
            _, hoped = odds.best_wait(_bonus_now(odds))
            return Reasoning("go-on", {"points": sum(bonus.points for bonus in hoped)})
        case _:
            return Reasoning("forced")


def _on_table(odds: Odds) -> int:
    """The seat's own card on the table."""
    state = odds.state
    slot = state.lead if odds.seat == state.leader else state.answers[odds.seat]
    assert slot is not None
    return odds.view.secret.cards[slot]


def _bonus_now(odds: Odds) -> tuple[Bonus, ...]:
    assert odds.own is not None
    return bonuses(odds.own, [card for _, card in (*odds.view.collection, *odds.view.hand)])


def _wait(odds: Odds) -> float:
    gain, _ = odds.best_wait(_bonus_now(odds))
    return gain - 0.5  # the estimate is rough: a point in the hand is worth more


def _drawn(weights: Sequence[float], rng: Rng) -> int:
    """A place drawn by lot, with a chance in proportion to its weight."""
    point = random_below(1 << 32, rng) / (1 << 32) * sum(weights)
    for place, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return place
    return max(range(len(weights)), key=weights.__getitem__)


def _percent(chance: float) -> int:
    return round(100 * chance)
