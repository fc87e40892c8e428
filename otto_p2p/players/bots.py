"""The built-in player: plays to win by what its seat may know, and can say why.

Pure strategy over a `SeatView`: no I/O, no clock, randomness only as an argument. The estimates are in `odds`,
the sentences of its reasons in `texts.hints`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, unique
from typing import assert_never

from otto_p2p.players.odds import FRESH, Odds
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Rng, random_below
from otto_protocol.rules import OTTO_POINTS, Bonus, SeatView, bonuses
from otto_protocol.rules.cards import colour
from otto_protocol.rules.moves import (
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

NEAR = 0.02  # moves whose worth differs by less are equally good: one is drawn by lot


@unique
class Why(Enum):
    """Why the built-in player would make a move; `otto_p2p.texts.hints` has the sentence for each."""

    CHOOSE = "choose"  # number, count (held), copies (in the decks)
    DUEL = "duel"  # percent, seat, count (collected by it)
    LAY = "lay"  # colour
    GUESS = "guess"  # colour, percent
    LEAD = "lead"  # card, percent (that nobody else lays its colour)
    ANSWER = "answer"  # card, number (said), colour, percent
    SPARE = "spare"  # card
    EXCHANGE = "exchange"  # card
    DECLINE = "decline"  # card
    COLLECT = "collect"  # count
    NOTHING = "nothing"
    OTTO = "otto"  # points
    GO_ON = "go-on"  # points (of the bonus)
    FORCED = "forced"


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A reason and its values: card ids, colour and seat numbers, counts, percents."""

    why: Why
    values: dict[str, int] = field(default_factory=dict)


def choose(view: SeatView, legal: Sequence[SeatMove], rng: Rng) -> SeatMove:
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


def explain(view: SeatView, move: SeatMove) -> Reasoning:
    """Why the built-in player would make this move, with the values that the sentence needs."""
    odds, state, cards = Odds(view), view.state, view.secret.cards
    match move:
        case Choose(slots=slots, number=int(own)):
            return _because(Why.CHOOSE, number=own, count=len(slots), copies=odds.copies(own))
        case Lead(slot=int(slot)):
            return _because(Why.LEAD, card=cards[slot], percent=_percent(1 - odds.matched(cards[slot])))
        case Challenge(target=target):
            percent = _percent(odds.chance_to_guess(target))
            return _because(Why.DUEL, seat=target, percent=percent, count=odds.collected[target])
        case LayDuel(slot=int(slot)):
            return _because(Why.LAY, colour=colour(cards[slot]))
        case Guess(colour=hue) if state.duel is not None:
            percent = _percent(odds.likely_colours(state.duel.target)[hue])
            return _because(Why.GUESS, colour=hue, percent=percent)
        case Answer(card=card) if state.said is not None:
            chances = odds.led_colours(state.leader, state.said)
            hue = colour(card)
            if chances[hue] < max(chances):
                return _because(Why.SPARE, card=card)
            return _because(
                Why.ANSWER, card=card, number=state.said, colour=hue, percent=_percent(chances[hue])
            )
        case Exchange(take=take):
            return _because(Why.EXCHANGE if take else Why.DECLINE, card=_on_table(odds))
        case Collect(slots=slots):
            return _because(Why.COLLECT, count=len(slots)) if slots else _because(Why.NOTHING)
        case Say(otto=True, number=int(own), cards=opened):
            won = bonuses(own, [card for _, card in opened])
            return _because(Why.OTTO, points=OTTO_POINTS + sum(bonus.points for bonus in won))
        case Say(otto=False):
            _, hoped = odds.best_wait(_bonus_now(odds))
            return _because(Why.GO_ON, points=sum(bonus.points for bonus in hoped))
        case _:
            return _because(Why.FORCED)


def _because(why: Why, **values: int) -> Reasoning:
    return Reasoning(why, values)


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
