"""What the built-in player would do, and why, as one sentence."""

from __future__ import annotations

from otto_p2p.i18n import _
from otto_p2p.players import bots
from otto_p2p.texts.hints import because
from otto_p2p.texts.people import People
from otto_p2p.ui.asks import label
from otto_p2p.ui.questions import Option, Question
from otto_protocol.hashing import Rng


def suggestion(question: Question, rng: Rng) -> Option:
    """The option that the built-in player would take."""
    move = bots.choose(question.view, [option.move for option in question.options], rng)
    return next(option for option in question.options if option.move == move)


def hint(question: Question, option: Option, people: People) -> str:
    """What the built-in player would do, and why."""
    return _("Hint: {code} ({choice}). {reason}").format(
        code=option.code,
        choice=label(question, option, people),
        reason=because(bots.explain(question.view, option.move), people),
    )
