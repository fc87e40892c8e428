"""The transition table of a match: every phase, who speaks in it, with what, and what comes after.

The rules of Otto have their own table (`otto_protocol.rules`); here the whole play is the one phase PLAY,
interrupted by what only mental poker needs. docs/protocol.md is made from both.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from otto_protocol.match import messages as m


class Phase(enum.Enum):
    """What the table is doing."""

    KEY_COMMIT = "key commit"
    KEY_OPEN = "key open"
    SHUFFLE = "shuffle"
    PROVE = "prove"
    DEAL = "deal"
    PLAY = "play"
    OTTO_COMMIT = "otto commit"
    RESHUFFLE = "reshuffle"
    REPROVE = "reprove"
    DRAW = "draw"
    RESULT = "result"
    HEAL_SHUFFLE = "heal shuffle"
    HEAL_PROVE = "heal prove"
    RAISE = "raise"
    TAGS = "tags"
    OVER = "over"


class Event(enum.Enum):
    """Why a phase ends."""

    SPOKEN = "all have spoken"
    NEXT_SHUFFLER = "somebody has not shuffled yet"
    CONTESTED = "two or more could say Otto"
    PILE_EMPTY = "the draw pile is empty"
    CARDS_DUE = "cards are to be drawn"
    FINISHED = "the game has an outcome"
    ANOTHER_GAME = "the match has another game"
    RESTART = "seats are gone before the first deal was complete"
    HEAL = "seats are gone, others hold hidden cards"
    AGAIN = "seats are gone: the others sign the result in the new view"
    DESERTED = "before the first deal all but one seat are gone"
    REPEAT = "nobody is gone: the step is done again in the new view"


class Who(enum.Enum):
    """Who must speak before a phase goes on."""

    ALL = "every live seat"
    SHUFFLER = "the next live seat in turn order"
    DEALERS = "every live seat that another seat's card waits for"
    PLAYERS = "whom the rules await"
    CONTENDERS = "every seat that could say Otto"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Row:
    """One phase: who speaks, and with which messages."""

    who: Who
    messages: tuple[type[m.Body], ...]


SPEAKERS: dict[Phase, Row] = {
    Phase.KEY_COMMIT: Row(Who.ALL, (m.KeyCommit,)),
    Phase.KEY_OPEN: Row(Who.ALL, (m.KeyOpen,)),
    Phase.SHUFFLE: Row(Who.SHUFFLER, (m.Shuffle,)),
    Phase.PROVE: Row(Who.ALL, (m.ShuffleProof,)),
    Phase.DEAL: Row(Who.ALL, (m.Shares,)),
    Phase.PLAY: Row(
        Who.PLAYERS,
        (
            m.Choose, m.Challenge, m.LayDuel, m.Guess, m.OpenDuel, m.LoseCard, m.Lead, m.Answer, m.SitOut,
            m.OpenLead, m.Exchange, m.Collect, m.Otto, m.GoOn, m.Score,
        ),
    ),
    Phase.OTTO_COMMIT: Row(Who.CONTENDERS, (m.OttoCommit,)),
    Phase.RESHUFFLE: Row(Who.SHUFFLER, (m.Shuffle,)),
    Phase.REPROVE: Row(Who.ALL, (m.ShuffleProof,)),
    Phase.DRAW: Row(Who.DEALERS, (m.Shares,)),
    Phase.RESULT: Row(Who.ALL, (m.Result,)),
    Phase.HEAL_SHUFFLE: Row(Who.SHUFFLER, (m.Shuffle,)),
    Phase.HEAL_PROVE: Row(Who.ALL, (m.HealProof,)),
    Phase.RAISE: Row(Who.ALL, (m.Raise,)),
    Phase.TAGS: Row(Who.ALL, (m.Tags,)),
    Phase.OVER: Row(Who.NOBODY, ()),
}  # fmt: skip

TABLE: dict[tuple[Phase, Event], Phase] = {
    (Phase.KEY_COMMIT, Event.SPOKEN): Phase.KEY_OPEN,
    (Phase.KEY_OPEN, Event.SPOKEN): Phase.SHUFFLE,
    (Phase.SHUFFLE, Event.NEXT_SHUFFLER): Phase.SHUFFLE,
    (Phase.SHUFFLE, Event.SPOKEN): Phase.PROVE,
    (Phase.PROVE, Event.SPOKEN): Phase.DEAL,
    (Phase.DEAL, Event.SPOKEN): Phase.PLAY,
    (Phase.PLAY, Event.SPOKEN): Phase.PLAY,
    (Phase.PLAY, Event.CONTESTED): Phase.OTTO_COMMIT,
    (Phase.OTTO_COMMIT, Event.SPOKEN): Phase.PLAY,
    (Phase.PLAY, Event.CARDS_DUE): Phase.DRAW,
    (Phase.DRAW, Event.SPOKEN): Phase.PLAY,
    (Phase.DRAW, Event.PILE_EMPTY): Phase.RESHUFFLE,
    (Phase.PLAY, Event.PILE_EMPTY): Phase.RESHUFFLE,
    (Phase.RESHUFFLE, Event.NEXT_SHUFFLER): Phase.RESHUFFLE,
    (Phase.RESHUFFLE, Event.SPOKEN): Phase.REPROVE,
    (Phase.REPROVE, Event.CARDS_DUE): Phase.DRAW,
    (Phase.PLAY, Event.FINISHED): Phase.RESULT,
    (Phase.RESULT, Event.ANOTHER_GAME): Phase.KEY_COMMIT,
    (Phase.RESULT, Event.SPOKEN): Phase.OVER,
    (Phase.HEAL_SHUFFLE, Event.NEXT_SHUFFLER): Phase.HEAL_SHUFFLE,
    (Phase.HEAL_SHUFFLE, Event.SPOKEN): Phase.HEAL_PROVE,
    (Phase.HEAL_PROVE, Event.SPOKEN): Phase.RAISE,
    (Phase.RAISE, Event.SPOKEN): Phase.TAGS,
    (Phase.TAGS, Event.SPOKEN): Phase.PLAY,
    (Phase.TAGS, Event.CARDS_DUE): Phase.DRAW,
    (Phase.TAGS, Event.PILE_EMPTY): Phase.RESHUFFLE,
    (Phase.TAGS, Event.CONTESTED): Phase.OTTO_COMMIT,
    (Phase.TAGS, Event.FINISHED): Phase.RESULT,
}

BEFORE_DEAL = (Phase.KEY_COMMIT, Phase.KEY_OPEN, Phase.SHUFFLE, Phase.PROVE, Phase.DEAL)
"""A loss in one of these starts the game again from the keys. A new view without a loss does not."""

PROOFS = (Phase.PROVE, Phase.REPROVE, Phase.HEAL_PROVE)
"""At the end of each of these everybody has verified the shuffle proofs of everybody else."""

LOSS = (Event.RESTART, Event.DESERTED, Event.REPEAT, Event.AGAIN, Event.HEAL)
"""What a new view can lead to; without any of these the game goes on as after a step of PLAY."""

for _phase in Phase:
    if _phase in BEFORE_DEAL:
        TABLE[_phase, Event.RESTART] = Phase.KEY_COMMIT
        TABLE[_phase, Event.DESERTED] = Phase.OVER
        if _phase is not Phase.KEY_COMMIT:  # from here on a new start would draw the lot and the cards anew
            TABLE[_phase, Event.REPEAT] = _phase
    elif _phase is Phase.RESULT:
        TABLE[_phase, Event.AGAIN] = Phase.RESULT
    elif _phase is not Phase.OVER:
        TABLE[_phase, Event.HEAL] = Phase.HEAL_SHUFFLE


def after(phase: Phase, event: Event) -> Phase:
    """The phase that follows; a KeyError here is a bug of ours, never something that a peer can cause."""
    return TABLE[phase, event]
