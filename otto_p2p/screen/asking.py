"""From an update to the question that is asked of this seat, with the usual choice preselected."""

from __future__ import annotations

from otto_p2p.ui.hints import suggestion
from otto_p2p.ui.questions import Kind, Question, question
from otto_p2p.updates import GameUpdate
from otto_protocol.hashing import Rng
from otto_protocol.rules import moves

REPEATED = (Kind.EXCHANGE, Kind.COLLECT)
"""What is nearly always answered in the same way, and can be put on automatic."""


def pose(update: GameUpdate, rng: Rng) -> Question | None:
    """The question of this update, None when nothing is asked.

    The usual choice: yes to an exchange, all for a collection, else what the built-in player would do.
    """
    if update.view is None or not update.decisions:
        return None
    plain = question(update.view, update.decisions, update.decisions[0])
    if plain is None or plain.kind in REPEATED:
        return plain and question(update.view, update.decisions, plain.options[0].move)
    return question(update.view, update.decisions, suggestion(plain, rng).move)


def identity_now(update: GameUpdate) -> object:
    """The identity of the question of this update, None when nothing is asked.

    The built-in player is not asked for it: that takes milliseconds, and updates come in crowds.
    """
    if update.view is None or not update.decisions:
        return None
    asked = question(update.view, update.decisions, update.decisions[0])
    return asked and identity(update, asked)


def identity(update: GameUpdate, asked: Question) -> object:
    """What tells one question from the next: the same one is not asked, nor answered, twice."""
    codes = tuple(option.code for option in asked.options)
    return update.game, asked.view.state.turn, asked.kind, codes


def nothing_to_decide(asked: Question) -> bool:
    """Whether there is only one thing to do, which tells nobody anything when it is done at once."""
    if asked.kind is Kind.COLLECT:
        return not asked.options[0].cards
    return isinstance(asked.usual.move, moves.SitOut)
