"""Cards on the board: face up, face down, and in one line."""

from __future__ import annotations

from otto_p2p.screen.board import Board
from otto_protocol.rules.cards import LETTERS, colour, number, short

WIDTH, HEIGHT = 5, 4
MINI = 5  # cells of a card in one line


def paint_card(
    board: Board, x: int, y: int, card: int, *, on: bool = False, off: bool = False, target: str = ""
) -> None:
    """A card face up: letter and number, and the symbol of its colour. `on` is chosen, `off` cannot be."""
    hue = colour(card)
    style = f"card{hue}-on" if on else f"card{hue}-off" if off else f"card{hue}"
    board.frame(x, y, WIDTH, HEIGHT, style, target, "thick" if on else "thin")
    board.put(x + 1, y + 1, f"{LETTERS[hue]}{number(card)}", style, target)
    board.put(x + 2, y + 2, board.glyphs["symbols"][hue], style, target)


def paint_back(board: Board, x: int, y: int, text: str = "", target: str = "") -> None:
    """A card face down, with up to three characters on it."""
    board.frame(x, y, WIDTH, HEIGHT, "back", target)
    for line in (1, 2):
        board.put(x + 1, y + line, board.glyphs["back"] * (WIDTH - 2), "back", target)
    if text:
        board.put(x + 1, y + 1, text.center(WIDTH - 2), "back", target)


def paint_gap(board: Board, x: int, y: int) -> None:
    """A place where no card lies."""
    board.frame(x, y, WIDTH, HEIGHT, "border")


def paint_mini(board: Board, x: int, y: int, card: int) -> None:
    """A card in one line of five cells."""
    hue = colour(card)
    board.put(x, y, f" {short(card)}{board.glyphs['symbols'][hue]} ", f"card{hue}")


def paint_mini_back(board: Board, x: int, y: int, said: int | None) -> None:
    """A card face down in one line of five cells, with the number that was said of it."""
    back = board.glyphs["back"]
    middle = "?" if said is None else str(said)
    board.put(x, y, f"{back * 2}{middle}{back * 2}", "back")
