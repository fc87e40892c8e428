"""The own cards at the bottom: sorted, what can be chosen raised, the cursor on the chosen one."""

from __future__ import annotations

from otto_p2p.i18n import ngettext
from otto_p2p.screen.board import Board
from otto_p2p.screen.choice import Choice, held, in_order
from otto_p2p.screen.game_model import GameModel
from otto_p2p.screen.paint_cards import WIDTH, paint_card
from otto_p2p.ui.questions import Kind
from otto_protocol.rules import SeatView
from otto_protocol.rules.cards import number

ROWS = 5
STEPS = (WIDTH + 1, WIDTH, WIDTH - 1, WIDTH - 2)  # from one card to the next; less than WIDTH: overlapping


def paint_hand(board: Board, y: int, game: GameModel) -> None:
    """Five rows: raised cards take the upper four, others the lower four."""
    view = game.update.view
    if view is None:
        return
    choice = game.current
    losing = choice is not None and choice.question.kind is Kind.LOSE_CARD
    cards = in_order(view.collection if losing else held(view))
    chosen = _chosen(game, choice)
    raised = _raised(choice, view)
    focus = next((place for place, (slot, _) in enumerate(cards) if slot in chosen), 0)
    first, last, step = window(len(cards), board.width, focus)
    x = _margin(board.width, last - first, step)
    columns = {place: x + (place - first) * step for place in range(first, last)}
    # The chosen card is painted last: it lies above its neighbours where they overlap.
    for place in sorted(columns, key=lambda place: cards[place][0] in chosen and _single(choice)):
        slot, card = cards[place]
        up = slot in raised
        paint_card(
            board,
            columns[place],
            y + (0 if up else 1),
            card,
            on=slot in chosen,
            off=choice is not None and not up,
            target=f"card:{slot}",
        )
        _mark(board, columns[place], y, game, choice, slot, up=up)
    if first:
        more = ngettext("{n} more", "{n} more", first).format(n=first)
        board.put(0, y, f"{board.glyphs['left']} {more}", "pointer")
    if last < len(cards):
        rest = len(cards) - last
        more = ngettext("{n} more", "{n} more", rest).format(n=rest)
        board.put(board.width - len(more) - 2, y, f"{more} {board.glyphs['right']}", "pointer")


def _single(choice: Choice | None) -> bool:
    return choice is not None and choice.question.kind is not Kind.COLLECT


def _mark(
    board: Board, x: int, y: int, game: GameModel, choice: Choice | None, slot: int, *, up: bool
) -> None:
    """The cursor below a card, a tick for a picked one; a star above a new one."""
    if choice is not None and up:
        picking = choice.question.kind is Kind.COLLECT
        here = choice.slot == slot and game.choice is not None
        tick = board.glyphs["ticked" if slot in choice.picked else "open"] if picking else ""
        mark = (board.glyphs["pointer"] if here else "") + tick
        board.put(x + 2 - (len(mark) > 1), y + ROWS - 1, mark, "pointer", f"card:{slot}")
    elif slot in game.new_slots:
        board.put(x + 2, y, board.glyphs["new"], "pointer")


def _chosen(game: GameModel, choice: Choice | None) -> set[int]:
    """The slots that are taken when Enter is pressed now."""
    if choice is None:
        return set()
    if choice.question.kind is Kind.COLLECT:
        return choice.picked
    slot = choice.slot
    if slot is not None and game.pending is None:
        return {slot}
    if game.pending is not None:
        sent = getattr(game.pending.option.move, "slot", None)
        return {sent} if sent is not None else set()
    return set()


def _raised(choice: Choice | None, view: SeatView) -> set[int]:
    """The slots that stand out: what can be chosen, or what a button is about."""
    if choice is None:
        return set()
    raised = {slot for slot, _ in choice.cards}
    kind, button = choice.question.kind, choice.button or choice.question.usual
    if kind is Kind.CHOOSE and button.code.isdecimal():
        raised = {slot for slot, card in view.hand if number(card) == int(button.code)}
    elif kind is Kind.EXCHANGE:
        raised = {slot for slot, card in view.hand if card in button.cards}
    elif kind is Kind.OTTO:
        opened = set(button.cards)
        raised = {slot for slot, card in view.hand if card in opened}
    return raised


def window(count: int, width: int, focus: int) -> tuple[int, int, int]:
    """Which of `count` cards are shown, first and last + 1, and the step from one to the next.

    All when they fit, overlapping if need be; else as many as fit round the one at `focus`.
    """
    for step in STEPS:
        if (count - 1) * step + WIDTH <= width - 2:
            return 0, count, step
    step = STEPS[-1]
    room = (width - 2 - WIDTH) // step + 1
    first = min(max(0, focus - room // 2), count - room)
    return first, first + room, step


def _margin(width: int, count: int, step: int) -> int:
    return max(1, (width - (max(0, count - 1) * step + WIDTH)) // 2)
