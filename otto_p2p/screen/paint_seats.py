"""The players, a row each, in the order of play from my left; I am the last."""

from __future__ import annotations

from otto_p2p.i18n import _
from otto_p2p.screen.board import Board
from otto_p2p.screen.cells import fit, width
from otto_p2p.screen.game_model import GameModel
from otto_p2p.screen.paint_cards import MINI, paint_mini, paint_mini_back
from otto_protocol.rules import SAT_OUT, GamePhase, SeatView, clockwise

BACKS = 12  # collected cards that are drawn; the number says the rest
FIXED = 3 + 5 + BACKS + 3 + 1 + MINI + 2  # all cells of a row but name and points
POINTS = 5
MOST_NAME = 30  # cells: beyond that the columns would only be far from each other


def seats_in_order(game: GameModel) -> list[int]:
    """From my left round to me; seats that are gone keep their place."""
    update = game.update
    order = update.view.state.order if update.view is not None else tuple(range(len(update.members)))
    if update.seat not in order:
        return list(order)
    return [*clockwise(order, frozenset(order), update.seat), update.seat]


def paint_seats(board: Board, x: int, y: int, cells: int, game: GameModel) -> int:
    """The rows, with a line of headings; the row below them."""
    totals = game.update.games > 1
    name = min(MOST_NAME, cells - FIXED - (POINTS if totals else 0))
    columns = (x + 3, x + 3 + name, x + 8 + name, x + 12 + BACKS + name, x + 12 + BACKS + name + MINI + 1)
    heads = [_("Players"), _("hand"), _("collected"), _("table")]
    if totals:
        heads.append(_("points"))
    for place, head in enumerate(heads):
        column = columns[place]
        end = columns[place + 1] - 1 if place + 1 < len(heads) else x + cells
        board.put(column, y, fit(head, min(width(head), max(0, end - column))), "dim")
    for seat in seats_in_order(game):
        y += 1
        _paint_seat(board, columns, y, seat, game, x, x + cells, totals=totals)
    return y + 1


def _paint_seat(
    board: Board,
    columns: tuple[int, ...],
    y: int,
    seat: int,
    game: GameModel,
    x: int,
    end: int,
    *,
    totals: bool,
) -> None:
    update, view = game.update, game.update.view
    gone = seat not in update.live
    style = "dim" if gone else "me" if seat == update.seat else ""
    glyphs = board.glyphs
    if view is not None and view.state.leader == seat:
        board.put(x, y, glyphs["leader"], "pointer")
    if seat in update.away or gone:
        board.put(x + 1, y, glyphs["away"], "alert")
    elif seat in update.awaited:
        board.put(x + 1, y, glyphs["awaited"], "pointer")
    room = columns[1] - columns[0] - 1
    shown = game.people.names[seat]
    if seat == update.seat:
        form = _("{name} (you)")
        most = room - width(form.format(name=""))
        shown = form.format(name=fit(shown, min(width(shown), most)))
    board.put(columns[0], y, fit(shown, room), style)
    if view is not None:
        state = view.state
        board.put(columns[1], y, f"{len(state.hands[seat]):>2}{glyphs['small-back']}", style)
        collected = len(state.collections[seat])
        board.put(columns[2], y, f"{collected:>2} ", style)
        board.put(columns[2] + 3, y, glyphs["small-back"] * min(BACKS, collected), "title")
        _paint_laid(board, columns[3], y, seat, game, view, columns[3] + MINI + 1)
    if totals:
        board.put(columns[4], y, f"{update.totals[seat]:>4}", style, limit=end)


def _paint_laid(board: Board, x: int, y: int, seat: int, game: GameModel, view: SeatView, limit: int) -> None:
    """The card on the table; without one, what is the matter with the player."""
    state, update = view.state, game.update
    if seat in update.away or seat not in update.live:
        word = away_word(update.away.get(seat, "")) if seat in update.live else _("gone")
        board.put(x, y, fit(word, limit - x), "alert")
    elif seat == update.seat and state.phase is GamePhase.CHOOSE:
        return
    elif seat == state.leader and state.said is not None:
        slot = state.lead
        if slot is None:
            mine = view.secret.lead if seat == update.seat else None
            if mine is not None and mine in view.secret.cards:
                paint_mini(board, x, y, view.secret.cards[mine])
            else:
                paint_mini_back(board, x, y, state.said)
        elif (card := state.known.get(slot, game.led)) is not None:
            paint_mini(board, x, y, card)
    elif state.answers[seat] == SAT_OUT:
        board.put(x + 2, y, "-", "dim")
    elif state.answers[seat] is not None and state.answers[seat] in state.known:
        answer = state.answers[seat]
        assert answer is not None
        paint_mini(board, x, y, state.known[answer])


def away_word(why: str) -> str:
    """Why somebody is away, in one short word."""
    words = {"silent": _("silent"), "left": _("left"), "lost": _("lost"), "unlinked": _("away")}
    return words.get(why, _("away"))
