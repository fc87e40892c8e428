"""The transition table of a match: every phase, who speaks in it, with what, and what comes after.

The rules of Otto have their own table (`otto_protocol.rules`); here the whole play is the one phase PLAY,
interrupted by what only mental poker needs. docs/protocol.md is made from both.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from otto_protocol.match import messages as m


class MatchPhase(enum.Enum):
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


class MatchEvent(enum.Enum):
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
    DESERTED = "before the cards are dealt all but one seat are gone"
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


SPEAKERS: dict[MatchPhase, Row] = {
    MatchPhase.KEY_COMMIT: Row(Who.ALL, (m.KeyCommit,)),
    MatchPhase.KEY_OPEN: Row(Who.ALL, (m.KeyOpen,)),
    MatchPhase.SHUFFLE: Row(Who.SHUFFLER, (m.Shuffle,)),
    MatchPhase.PROVE: Row(Who.ALL, (m.ShuffleProof,)),
    MatchPhase.DEAL: Row(Who.ALL, (m.Shares,)),
    MatchPhase.PLAY: Row(Who.PLAYERS, m.MOVES),
    MatchPhase.OTTO_COMMIT: Row(Who.CONTENDERS, (m.OttoCommit,)),
    MatchPhase.RESHUFFLE: Row(Who.SHUFFLER, (m.Shuffle,)),
    MatchPhase.REPROVE: Row(Who.ALL, (m.ShuffleProof,)),
    MatchPhase.DRAW: Row(Who.DEALERS, (m.Shares,)),
    MatchPhase.RESULT: Row(Who.ALL, (m.Result,)),
    MatchPhase.HEAL_SHUFFLE: Row(Who.SHUFFLER, (m.Shuffle,)),
    MatchPhase.HEAL_PROVE: Row(Who.ALL, (m.HealProof,)),
    MatchPhase.RAISE: Row(Who.ALL, (m.Raise,)),
    MatchPhase.TAGS: Row(Who.ALL, (m.Tags,)),
    MatchPhase.OVER: Row(Who.NOBODY, ()),
}  # fmt: skip

TRANSITIONS: dict[tuple[MatchPhase, MatchEvent], MatchPhase] = {
    (MatchPhase.KEY_COMMIT, MatchEvent.SPOKEN): MatchPhase.KEY_OPEN,
    (MatchPhase.KEY_OPEN, MatchEvent.SPOKEN): MatchPhase.SHUFFLE,
    (MatchPhase.SHUFFLE, MatchEvent.NEXT_SHUFFLER): MatchPhase.SHUFFLE,
    (MatchPhase.SHUFFLE, MatchEvent.SPOKEN): MatchPhase.PROVE,
    (MatchPhase.PROVE, MatchEvent.SPOKEN): MatchPhase.DEAL,
    (MatchPhase.DEAL, MatchEvent.SPOKEN): MatchPhase.PLAY,
    (MatchPhase.PLAY, MatchEvent.SPOKEN): MatchPhase.PLAY,
    (MatchPhase.PLAY, MatchEvent.CONTESTED): MatchPhase.OTTO_COMMIT,
    (MatchPhase.OTTO_COMMIT, MatchEvent.SPOKEN): MatchPhase.PLAY,
    (MatchPhase.PLAY, MatchEvent.CARDS_DUE): MatchPhase.DRAW,
    (MatchPhase.DRAW, MatchEvent.SPOKEN): MatchPhase.PLAY,
    (MatchPhase.DRAW, MatchEvent.PILE_EMPTY): MatchPhase.RESHUFFLE,
    (MatchPhase.PLAY, MatchEvent.PILE_EMPTY): MatchPhase.RESHUFFLE,
    (MatchPhase.RESHUFFLE, MatchEvent.NEXT_SHUFFLER): MatchPhase.RESHUFFLE,
    (MatchPhase.RESHUFFLE, MatchEvent.SPOKEN): MatchPhase.REPROVE,
    (MatchPhase.REPROVE, MatchEvent.CARDS_DUE): MatchPhase.DRAW,
    (MatchPhase.PLAY, MatchEvent.FINISHED): MatchPhase.RESULT,
    (MatchPhase.RESULT, MatchEvent.ANOTHER_GAME): MatchPhase.KEY_COMMIT,
    (MatchPhase.RESULT, MatchEvent.SPOKEN): MatchPhase.OVER,
    (MatchPhase.HEAL_SHUFFLE, MatchEvent.NEXT_SHUFFLER): MatchPhase.HEAL_SHUFFLE,
    (MatchPhase.HEAL_SHUFFLE, MatchEvent.SPOKEN): MatchPhase.HEAL_PROVE,
    (MatchPhase.HEAL_PROVE, MatchEvent.SPOKEN): MatchPhase.RAISE,
    (MatchPhase.RAISE, MatchEvent.SPOKEN): MatchPhase.TAGS,
    (MatchPhase.TAGS, MatchEvent.SPOKEN): MatchPhase.PLAY,
    (MatchPhase.TAGS, MatchEvent.CARDS_DUE): MatchPhase.DRAW,
    (MatchPhase.TAGS, MatchEvent.PILE_EMPTY): MatchPhase.RESHUFFLE,
    (MatchPhase.TAGS, MatchEvent.CONTESTED): MatchPhase.OTTO_COMMIT,
    (MatchPhase.TAGS, MatchEvent.FINISHED): MatchPhase.RESULT,
}

BEFORE_DEAL = (
    MatchPhase.KEY_COMMIT,
    MatchPhase.KEY_OPEN,
    MatchPhase.SHUFFLE,
    MatchPhase.PROVE,
    MatchPhase.DEAL,
)
"""A loss in one of these starts the game again from the keys. A new view without a loss does not."""

PROOFS = (MatchPhase.PROVE, MatchPhase.REPROVE, MatchPhase.HEAL_PROVE)
"""At the end of each of these everybody has verified the shuffle proofs of everybody else."""

LOSS = (MatchEvent.RESTART, MatchEvent.DESERTED, MatchEvent.REPEAT, MatchEvent.AGAIN, MatchEvent.HEAL)
"""What a new view can lead to; without any of these the game goes on as after a step of PLAY."""

for _phase in MatchPhase:
    if _phase in BEFORE_DEAL:
        TRANSITIONS[_phase, MatchEvent.RESTART] = MatchPhase.KEY_COMMIT
        if _phase is not MatchPhase.DEAL:  # in it the last one left has won
            TRANSITIONS[_phase, MatchEvent.DESERTED] = MatchPhase.OVER
        if _phase is not MatchPhase.KEY_COMMIT:  # from here on a new start would draw lot and cards anew
            TRANSITIONS[_phase, MatchEvent.REPEAT] = _phase
    elif _phase is MatchPhase.RESULT:
        TRANSITIONS[_phase, MatchEvent.AGAIN] = MatchPhase.RESULT
    elif _phase is not MatchPhase.OVER:
        TRANSITIONS[_phase, MatchEvent.HEAL] = MatchPhase.HEAL_SHUFFLE


def after(phase: MatchPhase, event: MatchEvent) -> MatchPhase:
    """The phase that follows; a KeyError here is a bug of ours, never something that a peer can cause."""
    return TRANSITIONS[phase, event]
