"""The rules of Otto, from here: values and functions, no cryptography. docs/rules.md has the rules.

    state = start(order=(0, 1, 2), leader=0, decks=2)
    while (result := outcome(state)) is None:
        for seat in awaited(state):
            state = apply(state, choose(legal_moves(state, seat, secrets[seat])))

RESHUFFLE and DRAW await no seat: whoever handles the cards answers them with `Reshuffled()` and
`Drawn()`. `otto_protocol.rules.game.Game` does, for a table in memory.
"""

from __future__ import annotations

from otto_protocol.limits import HAND
from otto_protocol.rules import moves
from otto_protocol.rules.apply_moves import apply
from otto_protocol.rules.check_moves import check
from otto_protocol.rules.end import OTTO_POINTS, Outcome, bonuses, outcome, standings
from otto_protocol.rules.legal import SeatView, legal_moves, seat_view
from otto_protocol.rules.phases import GAME_STEPS, GameEvent, GamePhase
from otto_protocol.rules.seats import Hidden, Removal, hidden, remove_seats, with_new_pile
from otto_protocol.rules.state import (
    ENOUGH,
    SAT_OUT,
    STALL_ROUNDS,
    Bonus,
    Cheat,
    Duel,
    EndReason,
    Secret,
    State,
    awaited,
    check_table,
    clockwise,
    most_players,
    start,
    table_problem,
)

__all__ = [
    "ENOUGH",
    "GAME_STEPS",
    "HAND",
    "OTTO_POINTS",
    "SAT_OUT",
    "STALL_ROUNDS",
    "Bonus",
    "Cheat",
    "Duel",
    "EndReason",
    "GameEvent",
    "GamePhase",
    "Hidden",
    "Outcome",
    "Removal",
    "SeatView",
    "Secret",
    "State",
    "apply",
    "awaited",
    "bonuses",
    "check",
    "check_table",
    "clockwise",
    "hidden",
    "legal_moves",
    "most_players",
    "moves",
    "outcome",
    "remove_seats",
    "seat_view",
    "standings",
    "start",
    "table_problem",
    "with_new_pile",
]
