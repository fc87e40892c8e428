"""The lobby on the board: my table, its people, what the start waits for; other tables; how to join."""

from __future__ import annotations

from otto_p2p.i18n import _, ngettext
from otto_p2p.screen.board import Board
from otto_p2p.screen.cells import fit, wrap
from otto_p2p.screen.lobby_model import READY, LobbyModel
from otto_p2p.screen.paint_game import paint_keys
from otto_p2p.texts.known_keys import MARKS, mark_name
from otto_p2p.texts.news import open_table, rules_line
from otto_p2p.texts.safe import safe
from otto_p2p.ui import lobby
from otto_p2p.updates import Face, LobbyUpdate, Person


def paint_lobby(board: Board, model: LobbyModel) -> None:
    """The whole screen of the lobby."""
    update = model.update
    board.fill(0, 0, board.width, 1, "head-dim")
    board.put(1, 0, "OTTO", "head")
    if update is None:
        board.put(2, 2, _("Looking for tables..."))
        paint_keys(board, [("q", _("leave"), "q")])
        return
    left = board.width * 3 // 5 if board.width < 110 else board.width // 2
    right = board.width - left - 1
    title = _("Your table: {table}").format(table=safe(update.table_name))
    board.put(7, 0, fit(title, board.width - 8), "head")
    for place, part in enumerate(wrap(rules_line(update.rules), left - 3, 2)):
        board.put(2, 2 + place, part, "dim")
    y = _paint_people(board, 2, 4, left - 3, update, model)
    _paint_start(board, 2, y + 1, left - 3, update, model)
    for line in range(1, board.height - 1):
        board.put(left, line, board.glyphs["bar"], "border")
    _paint_tables(board, left + 2, 2, right - 2, model)
    _paint_join(board, left + 2, right - 2, update, model)
    paint_keys(
        board,
        [
            _enter_key(model),
            *([("w", _("start without"), "w")] if model.may_go_without else []),
            ("d", _("decks"), "d"),
            ("g", _("games"), "g"),
            ("t", _("time"), "t"),
            ("m", _("memory"), "m"),
            ("o", _("my table"), "o"),
            ("p", _("address"), "p"),
            ("?", _("help"), "question_mark"),
            ("q", _("leave"), "q"),
        ],
    )


def _enter_key(model: LobbyModel) -> tuple[str, str, str]:
    """What Enter does now; when it would do nothing new, the key that takes it back."""
    mine = model.me
    if model.selected is not None:
        return "Enter", _("sit down there"), "enter"
    if model.update is not None and model.update.countdown is not None:
        return "Enter", _("stop"), "enter"
    if mine is not None and mine.ready:
        return "n", _("not ready"), "n"
    return "Enter", _("ready"), "enter"


def _paint_people(board: Board, x: int, y: int, cells: int, update: LobbyUpdate, model: LobbyModel) -> int:
    """Who sits here; the row below."""
    shown = lobby.names(update)
    for place, person in enumerate(update.seated):
        mark = board.glyphs["done"] if person.ready else board.glyphs["todo"]
        style = "good" if person.ready else "dim"
        board.put(x, y + place, mark, style)
        room = max(8, cells // 2)
        name = fit(shown[person.key], room)
        board.put(x + 2, y + place, name, "me" if person.me else "")
        wins = model.wins[person.key]
        text = (f"{board.glyphs['star']}{wins} " if wins else "") + _person(person)
        warns = not person.linked or lobby.is_other(person)
        board.put(x + 3 + room, y + place, text, "alert" if warns else style, limit=x + cells)
    y += len(update.seated)
    faces = {person.acquaintance.face for person in update.seated if person.acquaintance is not None}
    if faces:
        legend = "  ".join(f"{MARKS[face]} {mark_name(face)}" for face in Face if face in faces)
        board.put(x, y, legend, "dim", limit=x + cells)
        y += 1
    if model.wins:
        star = board.glyphs["star"]
        board.put(x, y, _("{star} matches won at this table").format(star=star), "dim", limit=x + cells)
        y += 1
    return y


def _person(person: Person) -> str:
    mark = "" if person.acquaintance is None else f"{MARKS[person.acquaintance.face]} "
    if not person.linked:
        return mark + _("not connected")
    words = [_("you")] if person.me else [_("built-in")] if person.automatic else []
    words.append(_("ready") if person.ready else _("not ready yet"))
    return mark + ", ".join(words)


def _paint_start(board: Board, x: int, y: int, cells: int, update: LobbyUpdate, model: LobbyModel) -> None:
    """The button, and what the start waits for."""
    mine = model.me
    on = "button-on" if model.cursor == READY else "button"
    if update.countdown is not None:
        text = ngettext(
            "The game starts in {n} second: stop", "The game starts in {n} seconds: stop", update.countdown
        ).format(n=update.countdown)
    elif mine is not None and mine.ready:
        text = _("You are ready. (n: not yet)")
    elif model.rematch:
        text = _("Another match: I am ready")
    else:
        text = _("I am ready")
    board.put(x, y, f"  {text}  ", on, READY, limit=x + cells)
    y += 2
    lines = lobby.waiting(update)
    for warning in lobby.careful(update):
        for part in wrap(warning, cells, 5):
            if y < board.height - 1:
                board.put(x, y, part, "alert")
                y += 1
    if model.trouble:
        for part in wrap(model.trouble, cells, 3):
            board.put(x, y, part, "alert")
            y += 1
    for line in lines:
        for part in wrap(line, cells, 2):
            if y < board.height - 1:
                board.put(x, y, part, "dim")
                y += 1


def _paint_tables(board: Board, x: int, y: int, cells: int, model: LobbyModel) -> None:
    board.put(x, y, fit(_("Other tables"), cells), "title")
    if not model.rows:
        board.put(x, y + 1, fit(_("none seen yet"), cells), "dim")
    room = max(1, (board.height - y - 10) // 2)
    place = model.rows.index(model.selected) if model.selected in model.rows and model.selected else 0
    first = max(0, min(place - room // 2, len(model.rows) - room))
    for number, row in enumerate(model.rows[first : first + room]):
        target = f"table:{row.table.hex()}"
        text = open_table(row)
        gone = row.table in model.gone
        if gone:
            text = _("{table}: gone").format(table=safe(row.name))
        style = "button-on" if model.cursor == target else "dim" if gone else ""
        for part_number, part in enumerate(wrap(text, cells - 1, 2)):
            board.put(x, y + 1 + 2 * number + part_number, fit(part, cells), style, target)


def _paint_join(board: Board, x: int, cells: int, update: LobbyUpdate, model: LobbyModel) -> None:
    """At the bottom: what to type elsewhere; and why nobody may have been found."""
    lines: list[tuple[str, str]] = []
    if model.typed is not None:
        prompt = _("Address of somebody at a table, HOST or HOST:PORT:")
        lines += [(part, "bold") for part in wrap(prompt, cells)]
        lines.append((f"{model.typed}_", "button-on"))
        lines.append((_("Enter: look there · Esc: never mind"), "dim"))
        lines.append(("", ""))
    if model.lonely and model.typed is None:
        reason = _(
            "Nobody was found. A firewall, a VPN or a guest Wi-Fi that keeps devices apart may be the reason."
        )
        lines += [(part, "bold") for part in wrap(reason, cells)]
        by_hand = _("Press p to type the address of somebody who is at a table.")
        lines += [(part, "") for part in wrap(by_hand, cells)]
        lines.append(("", ""))
    if update.join_line:
        lines += [(part, "dim") for part in wrap(_("To join from another machine:"), cells)]
        lines += [(part, "") for part in wrap(safe(update.join_line), cells)]
    y = board.height - 1 - len(lines)
    for place, (text, style) in enumerate(lines):
        board.put(x, y + place, text, style, limit=x + cells)
