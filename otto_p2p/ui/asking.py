"""From an update to the question that is asked of this seat, with the usual choice preselected."""

from __future__ import annotations

from otto_p2p.ui.hints import suggestion
from otto_p2p.ui.questions import Kind, Question, question
from otto_p2p.updates import GameUpdate
from otto_protocol.hashing import Rng
from otto_protocol.rules import moves
from otto_protocol.rules.cards import short

REPEATED = (Kind.EXCHANGE, Kind.COLLECT)
"""What is nearly always answered in the same way, and can be put on automatic."""


def pose(update: GameUpdate, rng: Rng) -> Question | None:
    """The question of this update, None when nothing is asked.

    The usual choice: yes to an exchange, all for a collection, else what the built-in player would do.
    """
    if update.view is None or not update.decisions:
        return None
    plain = question(update.view, update.decisions, update.decisions[0])
    if plain.kind in REPEATED:
        return question(update.view, update.decisions, plain.options[0].move)
    return question(update.view, update.decisions, suggestion(plain, rng).move)


def identity_now(update: GameUpdate) -> object:
    """The identity of the question of this update, None when nothing is asked.

    The built-in player is not asked for it: that takes milliseconds, and updates come in crowds.
    """
    if update.view is None or not update.decisions:
        return None
    return identity(update, question(update.view, update.decisions, update.decisions[0]))


def identity(update: GameUpdate, asked: Question) -> object:
    """What tells one question from the next: the same one is not asked, nor answered, twice.

    Faces, not cards: of two equal cards the usual choice decides which one an option stands for, and what is
    usual is left to chance. Codes alone would not do: "7" and "y" say nothing of the cards that they are for.
    The view, as a change of it can void an answer, which is then asked for once more; not the step, as the
    moves of others change nothing about a question.
    """
    view, _step = update.place
    options = tuple((option.code, *sorted(map(short, option.cards))) for option in asked.options)
    return update.game, view, asked.view.state.turn, asked.kind, options


def nothing_to_decide(asked: Question) -> bool:
    """Whether there is only one thing to do, which tells nobody anything when it is done at once."""
    if asked.kind is Kind.COLLECT:
        return not asked.options[0].cards
    return isinstance(asked.usual.move, moves.SitOut)
