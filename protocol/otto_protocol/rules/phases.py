"""The phases of a game of Otto and every step between them: one table, and the docs are made from it."""

from __future__ import annotations

from enum import Enum, unique

from otto_protocol.rules.moves import (
    Answer,
    Challenge,
    Choose,
    Collect,
    Drawn,
    Exchange,
    Guess,
    LayDuel,
    Lead,
    LoseCard,
    Move,
    OpenDuel,
    OpenLead,
    Reshuffled,
    Say,
    Score,
    SitOut,
)


@unique
class GamePhase(Enum):
    """What is done now. RESHUFFLE and DRAW wait for the cards, END for nothing, all others for seats."""

    CHOOSE = "choose"
    LEAD = "lead"
    DUEL_LAY = "duel-lay"
    DUEL_GUESS = "duel-guess"
    DUEL_OPEN = "duel-open"
    LOSE_CARD = "lose-card"
    ANSWER = "answer"
    OPEN_LEAD = "open-lead"
    EXCHANGE = "exchange"
    RESHUFFLE = "reshuffle"
    DRAW = "draw"
    COLLECT = "collect"
    OTTO = "otto"
    SCORE = "score"
    END = "end"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is Python code, and slow


@unique
class GameEvent(Enum):
    """What moves the game on besides the moves themselves."""

    ALL_DONE = "everybody awaited has moved"
    NO_HAND = "the leader has no hand (R10)"
    NO_WINNER = "nobody can win any more, or nothing happens (R18, R19)"
    PILE_EMPTY = "the draw pile is empty and cards are owed (R8)"
    OTTO_SAID = "somebody has said Otto"
    NO_OTTO = "nobody has said Otto: the next turn"
    TURN_VOID = "the leader is gone before the card was opened (R20): the next turn"
    DUEL_VOID = "the challenged player is gone (R20)"
    SHUFFLE_VOID = "players are gone while the spent pile is shuffled (R20): their cards are a draw pile"
    LAST_SEAT = "one player is left (R20)"

    __hash__ = object.__hash__


IN_DUEL = (GamePhase.DUEL_LAY, GamePhase.DUEL_GUESS, GamePhase.DUEL_OPEN, GamePhase.LOSE_CARD)
BEFORE_OPEN_LEAD = (GamePhase.LEAD, *IN_DUEL, GamePhase.ANSWER, GamePhase.OPEN_LEAD)

_P, _E = GamePhase, GameEvent
GAME_STEPS: dict[tuple[GamePhase, type[Move] | GameEvent], GamePhase] = {
    (_P.CHOOSE, Choose): _P.CHOOSE,
    (_P.CHOOSE, _E.ALL_DONE): _P.LEAD,
    (_P.LEAD, Challenge): _P.DUEL_LAY,
    (_P.LEAD, Lead): _P.ANSWER,
    (_P.LEAD, _E.NO_HAND): _P.COLLECT,
    (_P.LEAD, _E.NO_WINNER): _P.SCORE,
    (_P.DUEL_LAY, LayDuel): _P.DUEL_GUESS,
    (_P.DUEL_GUESS, Guess): _P.DUEL_OPEN,
    (_P.DUEL_OPEN, OpenDuel): _P.LOSE_CARD,
    (_P.LOSE_CARD, LoseCard): _P.LEAD,
    (_P.ANSWER, Answer): _P.ANSWER,
    (_P.ANSWER, SitOut): _P.ANSWER,
    (_P.ANSWER, _E.ALL_DONE): _P.OPEN_LEAD,
    (_P.OPEN_LEAD, OpenLead): _P.EXCHANGE,
    (_P.EXCHANGE, Exchange): _P.EXCHANGE,
    (_P.EXCHANGE, _E.ALL_DONE): _P.DRAW,
    (_P.DRAW, _E.PILE_EMPTY): _P.RESHUFFLE,
    (_P.RESHUFFLE, Reshuffled): _P.DRAW,
    (_P.DRAW, Drawn): _P.DRAW,
    (_P.DRAW, _E.ALL_DONE): _P.COLLECT,
    (_P.COLLECT, Collect): _P.COLLECT,
    (_P.COLLECT, _E.ALL_DONE): _P.OTTO,
    (_P.OTTO, Say): _P.OTTO,
    (_P.OTTO, _E.NO_OTTO): _P.LEAD,
    (_P.OTTO, _E.OTTO_SAID): _P.SCORE,
    (_P.SCORE, Score): _P.SCORE,
    (_P.SCORE, _E.ALL_DONE): _P.END,
    **{(phase, _E.TURN_VOID): _P.LEAD for phase in BEFORE_OPEN_LEAD},
    **{(phase, _E.DUEL_VOID): _P.LEAD for phase in IN_DUEL},
    (_P.RESHUFFLE, _E.SHUFFLE_VOID): _P.DRAW,
    **{(phase, _E.LAST_SEAT): _P.END for phase in _P if phase not in (_P.SCORE, _P.END)},
}
"""Every step that a game can take. What is not in it is illegal; the docs are made from it."""
