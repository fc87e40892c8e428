"""Moves by the faces of the cards, for tests of the rules on arranged games."""

from __future__ import annotations

import pytest

from otto_protocol.errors import IllegalMove
from otto_protocol.hashing import Rng, random_below
from otto_protocol.rules import GamePhase, check
from otto_protocol.rules.cards import short
from otto_protocol.rules.game import Game
from otto_protocol.rules.moves import Answer, Choose, Lead, Move, OpenLead, SeatMove

ZEROS = " R0 Y0 G0 B0 R0 Y0 G0"  # enough cards for a hand to go on with (R18)


def slot_of(game: Game, seat: int, face: str) -> int:
    held = (*game.state.hands[seat], *game.state.collections[seat])
    return next(slot for slot in held if short(game.cards[slot]) == face)


def lead(game: Game, face: str) -> None:
    seat = game.state.leader
    game.play(Lead(seat, int(face[1]), slot_of(game, seat, face)))


def answer(game: Game, seat: int, face: str) -> None:
    slot = slot_of(game, seat, face)
    game.play(Answer(seat, slot, game.cards[slot]))


def open_lead(game: Game) -> None:
    seat = game.state.leader
    slot = game.secrets[seat].lead
    assert slot is not None
    game.play(OpenLead(seat, slot, game.cards[slot]))


def play_cards(game: Game, led: str, *answers: str) -> None:
    """The leader leads, the others answer clockwise, the leader opens."""
    lead(game, led)
    for seat, face in zip(game.awaited, answers, strict=True):
        answer(game, seat, face)
    open_lead(game)


def refused(game: Game, move: Move, rule: str) -> None:
    with pytest.raises(IllegalMove) as caught:
        check(game.state, move)
    assert caught.value.rule == rule


def naive(game: Game, seat: int, rng: Rng, duels: int = 5) -> SeatMove:
    """A simple random player: exchanges and collects all it can, says Otto at once.

    It challenges somebody in `duels` of 100 turns.
    """
    moves = game.legal(seat)
    match game.state.phase:
        case GamePhase.EXCHANGE | GamePhase.COLLECT | GamePhase.OTTO:
            return moves[0]
        case GamePhase.CHOOSE:
            return max(moves, key=lambda move: len(move.slots) if isinstance(move, Choose) else 0)
        case GamePhase.LEAD if random_below(100, rng) >= duels:
            return moves[random_below(len(game.state.hands[seat]), rng)]
        case _:
            return moves[random_below(len(moves), rng)]
