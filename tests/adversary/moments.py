"""An honest game, with a copy of the table at each moment at which a cheat may begin."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from otto_protocol.lab import Chooser
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.rules import moves
from otto_protocol.rules.cards import number
from otto_protocol.rules.legal import SeatView
from tests.adversary.scene import LIMIT, Table, moment
from tests.protocol.lab_games import duellist, eager, patient


def shy(view: SeatView, legal: Sequence[moves.SeatMove]) -> moves.SeatMove:
    """Like `eager`, but begins without a collection if it can."""
    if isinstance(legal[0], moves.Choose):
        return min(legal, key=lambda move: len(move.slots) if isinstance(move, moves.Choose) else 0)
    return eager(view, legal)


PLAYERS: dict[str, Chooser] = {"eager": eager, "duellist": duellist, "patient": patient, "shy": shy}


def _answerers(session: Session) -> tuple[int, ...]:
    return session.replica.play.waiting if moment(session) == "answer" else ()


def _holds_led(table: Table, session: Session) -> int | None:
    said = session.replica.play.said
    for seat in _answerers(session):
        cards = table.sessions[seat].secret.cards
        if any(number(cards[slot]) == said for slot in session.replica.play.hands[seat]):
            return seat
    return None


def _has_collected(table: Table, session: Session) -> int | None:
    return next((seat for seat in _answerers(session) if session.replica.play.collections[seat]), None)


def _leader_out_of_exchange(table: Table, session: Session) -> int | None:
    state = session.replica.play
    return state.leader if moment(session) == "exchange" and state.leader not in state.waiting else None


def _dueled(table: Table, session: Session) -> int | None:
    return session.replica.play.leader if moment(session) == "lead" and session.replica.play.dueled else None


SPECIAL: dict[str, Callable[[Table, Session], int | None]] = {
    "an answerer holds the number": _holds_led,
    "an answerer has collected": _has_collected,
    "the leader may not exchange": _leader_out_of_exchange,
    "after a duel": _dueled,
}
"""Moments of a game that are no phase: the seat that is meant, or None when it is not such a moment."""


@functools.cache
def moments(players: int, player: str, loss: bool = False) -> dict[str, Table]:
    """An honest game, with a copy of the table at the first time of each `moment` ("2: lead" for turn 2 on).

    `loss`: one more player was there, and has left in the second turn.
    """
    seats = players + 1 if loss else players
    table = Table(seats, f"adversary {seats} {player}", PLAYERS[player], 1 if seats < 6 else 2)
    kept: dict[str, Table] = {}
    for _ in range(LIMIT):
        there = table.honest()
        enough = {"tags", "2: answer"} if loss else {"4: answer" if players > 3 else "over"}
        if enough <= kept.keys():
            return kept
        busy = False
        for session in there:
            busy |= table.turn_of(session.seat, table.choose)
            # Whoever comes first to a step has not spoken in it, and nobody else has.
            for prefix in ("", *(f"{turn}: " for turn in (2, 4) if _turn(session) >= turn)):
                if prefix + moment(session) not in kept:
                    kept[prefix + moment(session)] = table.fork()
            for name, meant in SPECIAL.items():
                if name not in kept and session.replica.phase is MatchPhase.PLAY and not session.spoken():
                    seat = meant(table, session)
                    if seat is not None:
                        kept[name] = table.fork()
                        kept[name].meant = seat
            if loss and moment(session) == "lead" and _turn(session) == 2 and not table.gone:
                table.leave(seats - 1)
                kept = {}
        if not busy:
            table.vote()
    raise AssertionError("an honest game does not end")


def _turn(session: Session) -> int:
    return session.replica.play.turn if session.replica.state is not None else 0
