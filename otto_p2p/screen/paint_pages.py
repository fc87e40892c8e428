"""The pages that lie on top: help, log, settings, results, leaving; and what is said when it is too small."""

from __future__ import annotations

from collections.abc import Iterable

from otto_p2p.i18n import _
from otto_p2p.screen.board import Board
from otto_p2p.screen.cells import fit, width, wrap
from otto_p2p.screen.desk import FRAMES, SWITCHES, Desk, Page
from otto_p2p.screen.paint_game import help_lines, paint_game
from otto_p2p.screen.paint_lobby import paint_lobby
from otto_p2p.texts import results
from otto_p2p.texts.rules import rules_text

LEAST_WIDTH, LEAST_HEIGHT = 80, 24
MARGIN = 3


def paint(desk: Desk, cells: int, rows: int) -> Board:
    """The whole screen."""
    board = Board(cells, rows, ascii_only=desk.options.ascii_only)
    if cells < LEAST_WIDTH or rows < LEAST_HEIGHT:
        _paint_too_small(board)
        return board
    if desk.game is not None:
        paint_game(board, desk.game, desk.options, memory=desk.memory_shown)
    else:
        paint_lobby(board, desk.lobby)
    if desk.page is not Page.NONE:
        _paint_page(board, desk)
    return board


def _paint_too_small(board: Board) -> None:
    text = _("Too small: {width}x{height}. Otto needs 80x24; nothing is lost.").format(
        width=board.width, height=board.height
    )
    if board.width >= 2:
        for y, line in enumerate(wrap(text, board.width)[: board.height]):
            board.put(0, y, line, "bold")


def _paint_page(board: Board, desk: Desk) -> None:
    wide = min(board.width - 2 * MARGIN, 92)
    inner = wide - 4
    title, lines = _page(desk, inner)
    most = board.height - 6
    desk.scroll = max(0, min(desk.scroll, len(lines) - most))
    shown = lines[desk.scroll : desk.scroll + most]
    tall = len(shown) + 4
    x, y = (board.width - wide) // 2, max(0, (board.height - tall) // 2)
    board.frame(x, y, wide, tall, "box")
    board.put(x + 2, y, f" {title} ", "box-title", limit=x + wide - 2)
    for place, (text, style, target) in enumerate(shown):
        board.put(x + 2, y + 1 + place, fit(text, inner), style or "box", target)
    close, target = _way_out(desk)
    board.put(x + 2, y + tall - 2, f" {close} ", "button-on", target)
    if len(lines) > most:
        last = desk.scroll + len(shown)
        where = _("{last} of {all}, arrows scroll").format(last=last, all=len(lines))
        board.put(x + wide - width(where) - 2, y + tall - 2, where, "box-dim")


Row = tuple[str, str, str]


def _page(desk: Desk, cells: int) -> tuple[str, list[Row]]:
    """Title and (text, style, target) lines of the page."""
    match desk.page:
        case Page.HELP:
            rules = [part for line in rules_text().splitlines() for part in wrap(line, cells)]
            return _("Help"), _rows([*help_lines(desk.game, cells), "", *rules])
        case Page.LOG:
            entries = [] if desk.game is None else list(desk.game.log)
            rows = [(p, _boxed(e.style), "") for e in entries for p in wrap(e.text, cells)]
            return _("What happened"), rows
        case Page.SETTINGS:
            return _("Settings"), _settings(desk)
        case Page.RESULT:
            return _("The game is over"), _result(desk, cells)
        case Page.MATCH:
            return _("The match is over"), _rows(p for line in desk.match_lines() for p in wrap(line, cells))
        case Page.DROP:
            return _("Go on without them?"), _rows(wrap(_drop_text(desk), cells))
        case _:
            text = (
                _("Leave this table?")
                if not desk.playing
                else _(
                    "Leave the game for good? The others play on without you. "
                    "Or keep your seat, and come back to it with the same command."
                )
            )
            return _("Leave"), _rows(wrap(text, cells))


def _way_out(desk: Desk) -> tuple[str, str]:
    """What the button at the bottom of a page says, and what a click on it means."""
    match desk.page:
        case Page.LEAVE if desk.playing:
            return _("Enter: leave · k: keep the seat · Esc: stay"), "key:q"
        case Page.LEAVE:
            return _("Enter: leave · Esc: stay"), "key:q"
        case Page.DROP:
            return _("Enter: go on · Esc: wait"), "key:x"
        case _:
            return _("Enter: close"), "close"


def _drop_text(desk: Desk) -> str:
    missing = None if desk.game is None else desk.game.missing
    if desk.game is None or missing is None:
        return _("Nobody is missing any more.")
    return _(
        "Go on without {name}? That needs the consent of the others; the cards of who is gone go back "
        "into the pile."
    ).format(name=desk.game.people.names[missing])


def _rows(lines: Iterable[str]) -> list[Row]:
    return [(line, "", "") for line in lines]


def _boxed(style: str) -> str:
    return {"dim": "box-dim", "title": "box-title", "alert": "alert"}.get(style, "")


def _settings(desk: Desk) -> list[Row]:
    texts = {
        "automatic": _("Exchange and collect without being asked"),
        "tips": _("Explain each decision when it comes for the first time"),
        "animation": _("Animation"),
        "bell": _("Bell when it is your turn"),
        "memory": _("Memory aid"),
        "light": _("Light background"),
    }
    rows = []
    for place, name in enumerate(SWITCHES):
        state = _("on") if getattr(desk.options, name) else _("off")
        if name == "memory" and desk.game is not None and not desk.game.update.memory_aid:
            state = _("off at this table")
        style = "button-on" if place == desk.setting else ""
        rows.append((f" {texts[name]}: {state}", style, f"switch:{name}"))
    return rows


def _result(desk: Desk, cells: int) -> list[Row]:
    """Who won, and everybody's points as bars, best first."""
    game = desk.game
    if game is None or not game.results:
        return []
    result = game.results[0]
    ranking = results.ranking(result.outcome.points)
    head = result.lines[: len(result.lines) - len(ranking)]
    rows: list[Row] = [
        (part, "box-title" if place else "moment", "")
        for place, line in enumerate(head)
        for part in wrap(line, cells)
    ]
    rows.append(("", "", ""))
    most = max(1, *result.outcome.points)
    grown = desk.frame / FRAMES if desk.options.animation else 1.0
    for seat in ranking:
        points = result.outcome.points[seat]
        name = fit(game.people.names[seat], 20)
        room = max(0, cells - 20 - 16)
        bar = "█" * int(room * points / most * grown)
        number = result.outcome.numbers[seat]
        said = "" if number is None else f"({number})"
        rows.append(
            (f"{name} {points:>3} {said:<4}{bar}", "box-title" if seat == result.outcome.winner else "", "")
        )
    if game.update.games > 1:
        rows.append(("", "", ""))
        totals = ", ".join(
            f"{game.people.names[seat]} {result.totals[seat]}" for seat in results.ranking(result.totals)
        )
        rows += _rows(wrap(_("In the match: {totals}").format(totals=totals), cells))
    return rows
