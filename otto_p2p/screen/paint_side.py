"""The side of the table: the log, and the memory aid (what was seen of whom, what is left)."""

from __future__ import annotations

from otto_p2p.i18n import _
from otto_p2p.screen.board import Board
from otto_p2p.screen.cells import fit, wrap
from otto_p2p.screen.choice import held
from otto_p2p.screen.game_model import Entry, GameModel
from otto_p2p.texts.cards import sorted_cards
from otto_protocol.rules import SeatView, clockwise
from otto_protocol.rules.cards import COLOURS, LETTERS, NUMBERS, colour, number

MEMORY_HEAD = 6  # lines above the players


def paint_log(board: Board, x: int, y: int, width: int, height: int, game: GameModel) -> None:
    """The last lines of the log, the newest at the bottom."""
    board.put(x, y, fit(_("What happened"), width), "title")
    lines: list[Entry] = []
    for entry in reversed(game.log):
        parts = wrap(entry.text, width - 1)
        lines[:0] = [
            Entry(part if not place else f" {part}", entry.style) for place, part in enumerate(parts)
        ]
        if len(lines) >= height - 1:
            break
    shown = lines[-(height - 1) :]
    for place, entry in enumerate(shown):
        board.put(x, y + 1 + place, entry.text, entry.style, limit=x + width)


def paint_memory(board: Board, x: int, y: int, width: int, height: int, game: GameModel) -> None:
    """The cards not seen yet, by number and colour; and what was seen of each player's hand."""
    view = game.update.view
    board.put(x, y, fit(_("Cards not seen yet"), width), "title")
    if view is None or len(held(view)) < len(view.state.hands[view.seat]):
        return
    board.put(x + 3, y + 1, "".join(f" {face}" for face in NUMBERS), "dim")
    left = view.faces_left()
    for hue in range(len(COLOURS)):
        column = board.put(x, y + 2 + hue, f"{LETTERS[hue]}{board.glyphs['symbols'][hue]}", f"card{hue}")
        for face in NUMBERS:
            count = left[face][hue]
            own = face == view.secret.number
            style = "dim" if not count else "bold" if own else ""
            board.put(column + 1 + 2 * face, y + 2 + hue, f"{count or board.glyphs['todo']:>2}"[-2:], style)
    _paint_seen(board, x, y + MEMORY_HEAD, width, height - MEMORY_HEAD, game, view)


def _paint_seen(
    board: Board, x: int, y: int, width: int, height: int, game: GameModel, view: SeatView
) -> None:
    seats = clockwise(view.state.order, view.state.live, view.seat)
    half = max(6, width // 2 - 4)
    for place, seat in enumerate(seats[:height]):
        board.put(x, y + place, fit(game.people.names[seat], half))
        shown = grouped(view.seen(seat)) or "-"
        board.put(x + half + 1, y + place, fit(shown, width - half - 1), "" if shown != "-" else "dim")


def grouped(cards: tuple[int, ...]) -> str:
    """Cards in few characters: "R13 B7" are R1, R3 and B7."""
    groups: dict[int, str] = {}
    for card in sorted_cards(cards):
        groups[colour(card)] = groups.get(colour(card), "") + str(number(card))
    return " ".join(f"{LETTERS[hue]}{numbers}" for hue, numbers in groups.items())
