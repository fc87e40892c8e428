"""A game on the board: where everything lies, at any size from 80x24 on."""

from __future__ import annotations

from otto_p2p.i18n import _, ngettext
from otto_p2p.screen.board import Board
from otto_p2p.screen.cells import fit, width, wrap
from otto_p2p.screen.choice import Choice
from otto_p2p.screen.game_model import GameModel
from otto_p2p.screen.options import Options
from otto_p2p.screen.paint_hand import ROWS, paint_hand
from otto_p2p.screen.paint_middle import paint_middle
from otto_p2p.screen.paint_seats import paint_seats
from otto_p2p.screen.paint_side import MEMORY_HEAD, paint_log, paint_memory
from otto_p2p.ui import asks, status
from otto_p2p.ui.questions import Kind, Option
from otto_p2p.words import table_words
from otto_protocol.rules import moves

ASK = 2  # rows of the question
BELOW = 1 + ROWS + ASK  # rows from the question down to the keys
BOTH_FROM = 22  # rows of the side from which log and memory aid fit below each other
BUTTON_GAP = 1
LEAST_LOG = 3  # rows of the log below an explanation


def paint_game(board: Board, game: GameModel, options: Options, *, memory: bool) -> None:
    """The whole screen of a game."""
    side = 30 if board.width < 100 else min(46, board.width // 3)
    left = board.width - side - 1
    top, bottom = 1, board.height - BELOW
    _paint_head(board, game, options)
    below = paint_seats(board, 0, top, left, game)
    spare = bottom - below
    gap = 1 if spare > 6 else 0
    # News have a row of their own where there is one; else they share that of the buttons.
    noted = game.notice is not None and spare > 5
    paint_middle(board, 0, below + gap, left, spare - gap - noted, game)
    if game.notice is not None and noted:
        board.put(0, bottom - 1, fit(f" {game.notice.text}", left), game.notice.style)
    for y in range(top, bottom):
        board.put(left, y, board.glyphs["bar"], "border")
    _paint_side(board, left + 1, top, side, bottom - top, game, memory=memory)
    _paint_question(board, bottom, game, noted=noted)
    paint_hand(board, bottom + ASK, game)
    _paint_keys(board, game, options)


def _paint_side(
    board: Board, x: int, y: int, cells: int, rows: int, game: GameModel, *, memory: bool
) -> None:
    if game.tip:
        lines = wrap(game.tip, cells - 2, rows)
        y, rows = _paint_tip(board, x, y, cells, rows, lines)
        if rows < LEAST_LOG:
            return
    needed = MEMORY_HEAD + max(1, len(game.update.live) - 1)
    if game.memory and rows >= BOTH_FROM and rows - needed >= 8:
        paint_memory(board, x + 1, y, cells - 1, needed, game)
        paint_log(board, x + 1, y + needed + 1, cells - 1, rows - needed - 1, game)
    elif memory and game.memory:
        paint_memory(board, x + 1, y, cells - 1, rows, game)
    else:
        paint_log(board, x + 1, y, cells - 1, rows, game)


def _paint_tip(board: Board, x: int, y: int, cells: int, rows: int, lines: list[str]) -> tuple[int, int]:
    """What the question is about, at the top of the side; (row below it, rows left)."""
    for place, line in enumerate(lines):
        board.put(x, y + place, f" {fit(line, cells - 1)}", "button")
    return y + len(lines) + 1, rows - len(lines) - 1


def _paint_head(board: Board, game: GameModel, options: Options) -> None:
    update = game.update
    board.fill(0, 0, board.width, 1, "head-dim")
    x = board.put(1, 0, "OTTO", "head")
    parts = [_("game {game} of {games}").format(game=update.game, games=update.games)]
    if update.view is not None:
        parts.append(_("turn {turn}").format(turn=update.view.state.turn + 1))
        number = update.view.secret.number
        if number is not None:
            parts.append(_("you collect {number}").format(number=number))
    if update.table_number:
        words = " ".join(table_words(update.table_number))
        parts.append(_("table words: {words}").format(words=words))
    board.put(x + 2, 0, " · ".join(parts), "head-dim", limit=board.width - 1)
    if options.automatic:
        flag = f" {_('automatic')} "
        board.put(board.width - width(flag), 0, flag, "moment")


# -- what is asked -------------------------------------------------------------------------------------


def _paint_question(board: Board, y: int, game: GameModel, *, noted: bool) -> None:
    choice, pending = game.choice, game.pending
    if choice is not None:
        board.put(0, y, fit(f" {asks.asked(choice.question)}", board.width), "ask-mine")
        if game.seconds_left is not None:
            left = ngettext("{n} second left", "{n} seconds left", game.seconds_left)
            text = f" {left.format(n=game.seconds_left)} "
            board.put(board.width - width(text), y, text, "alert")
        _paint_buttons(board, 1, y + 1, game, choice)
    elif pending is not None:
        label = asks.label(pending.choice.question, pending.option, game.people)
        board.put(0, y, fit(f" {_('Your choice: {choice}').format(choice=label)}", board.width), "bold")
        x = board.put(1, y + 1, f" {_('Backspace takes it back')} ", "button", "undo")
        board.put(x + 1, y + 1, f" {_('Enter sends it now')} ", "button", "key:enter")
    else:
        waiting = status.waited_for(game.update, game.people) or ""
        board.put(1, y, fit(waiting, board.width - 1), "bold")
        x = 0
        if (missing := game.missing) is not None:
            text = _("x: go on without {name}").format(name=game.people.names[missing])
            x = board.put(1, y + 1, f" {text} ", "button", "key:x") + 1
        if game.notice is not None and not noted:
            board.put(x, y + 1, fit(f" {game.notice.text}", board.width - x), game.notice.style)


def _paint_buttons(board: Board, x: int, y: int, game: GameModel, choice: Choice) -> None:
    """What Enter takes, then the buttons."""
    kind = choice.question.kind
    if choice.cards or not choice.buttons:
        option = choice.option()
        text = _("Enter: {choice}").format(choice=_label(game, choice, option))
        x = board.put(x, y, f" {text} ", "button-on" if choice.row == 0 else "button", "take") + 2
    texts = [f" {_button(game, choice, option)} " for option in choice.buttons]
    gap = BUTTON_GAP if kind is not Kind.CHOOSE else 0
    first = _first_button(texts, choice.place if choice.row == 1 else 0, board.width - x - 2, gap)
    if first:
        x = board.put(x, y, board.glyphs["left"], "pointer")
    for place, text in enumerate(texts[first:], first):
        if x + width(text) > board.width - 1:
            board.put(board.width - 1, y, board.glyphs["right"], "pointer")
            break
        on = choice.row == 1 and choice.place == place
        code = choice.buttons[place].code
        x = board.put(x, y, text, "button-on" if on else "button", f"button:{code}") + gap


def _first_button(texts: list[str], place: int, room: int, gap: int) -> int:
    """The first button that is shown, so that the one at `place` is, too."""
    first = 0
    while first < place and sum(width(text) + gap for text in texts[first : place + 1]) > room:
        first += 1
    return first


def _label(game: GameModel, choice: Choice, option: Option) -> str:
    if choice.question.kind is Kind.COLLECT and option.cards:
        return option.code
    return asks.label(choice.question, option, game.people)


def _button(game: GameModel, choice: Choice, option: Option) -> str:
    match option.move:
        case moves.Choose(slots=slots):
            return f"{option.code}×{len(slots)}" if slots else option.code
        case moves.Challenge(target=target):
            duel = _("duel") if option is choice.buttons[0] else ""
            return f"{duel} {game.people.names[target]}".strip()
        case _:
            return f"{option.code} {asks.label(choice.question, option, game.people)}"


def _paint_keys(board: Board, game: GameModel, options: Options) -> None:
    state = _("on") if options.automatic else _("off")
    keys = [
        ("Enter", _("choose"), "enter"),
        (board.glyphs["arrows"], _("other"), "right"),
        ("h", _("hint"), "h"),
        ("m", _("memory"), "m"),
        ("a", _("auto: {state}").format(state=state), "a"),
        ("l", _("log"), "l"),
        ("?", _("help"), "question_mark"),
        ("q", _("leave"), "q"),
    ]
    paint_keys(board, keys if game.memory else [key for key in keys if key[0] != "m"])


def paint_keys(board: Board, keys: list[tuple[str, str, str]]) -> None:
    """The last row: (key as shown, what it does, key) each; clicking does the same.

    Where there is no room for all words, the last ones go; those of the last two keys stay, help and leave.
    """
    y = board.height - 1
    board.fill(0, y, board.width, 1, "foot")
    words = [f" {text}" for _shown, text, _key in keys]
    needed = sum(width(shown) + width(word) for (shown, _text, _key), word in zip(keys, words, strict=True))
    for place in reversed(range(len(keys) - 2)):
        if needed + len(keys) - 1 > board.width:
            needed -= width(words[place])
            words[place] = ""
    gap = 2 if needed + 2 * len(keys) < board.width else 1
    x = 1 if needed + len(keys) <= board.width else 0
    for (shown, _text, key), word in zip(keys, words, strict=True):
        x = board.put(x, y, shown, "foot-key", f"key:{key}")
        x = board.put(x, y, word, "foot", f"key:{key}") + gap


def help_lines(game: GameModel | None, cells: int) -> list[str]:
    """What the keys do, and what the question of the moment is about."""
    lines: list[str] = []
    if game is not None:
        current = game.current
        if current is not None:
            lines += [*wrap(asks.explanation(current.question.kind), cells), ""]
    texts = (
        _("Enter or Space: take the usual choice, which is already chosen; or click it."),
        _("Arrows left and right: another card. Up and down: between cards and buttons."),
        _("Digits: a card with that number. r y g b: a card of that colour. d: a duel."),
        _("In your collection: Space picks a card or puts it back, Enter lays all picked ones."),
        _("Backspace: take back what is not sent yet."),
        _("h: what the built-in player would do, and why. m: cards seen and left. l: all that happened."),
        _("a: exchange and collect without being asked. F2: settings. q: leave."),
        _("x: when somebody is away: go on without them, if the others agree."),
    )
    for text in texts:
        lines += wrap(text, cells)
    return lines
