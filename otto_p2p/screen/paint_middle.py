"""The middle of the table: piles, the leader's card and the answers; making keys and shuffling; moments."""

from __future__ import annotations

from typing import assert_never

from otto_p2p.i18n import _
from otto_p2p.screen.board import Board
from otto_p2p.screen.cells import fit, wrap
from otto_p2p.screen.game_model import GameModel
from otto_p2p.screen.moments import DuelMoment, MomentStage, OttoMoment
from otto_p2p.screen.paint_cards import HEIGHT, WIDTH, paint_back, paint_card, paint_gap
from otto_p2p.texts.cards import card_name, codes, colour_name
from otto_p2p.texts.news import phase_line, progress_line
from otto_p2p.words import table_words
from otto_protocol.match.phases import BEFORE_DEAL, MatchPhase
from otto_protocol.rules import SAT_OUT, SeatView, clockwise

PILES = 25  # cells of the two piles
ANSWER = 8  # cells of one answer
_STEPS = (
    (MatchPhase.KEY_COMMIT, MatchPhase.KEY_OPEN),
    (MatchPhase.SHUFFLE,),
    (MatchPhase.PROVE,),
    (MatchPhase.DEAL,),
)
_OTTO = ("█▀▀█ ▀▀█▀▀ ▀▀█▀▀ █▀▀█", "█  █   █     █   █  █", "█▄▄█   █     █   █▄▄█")
_OTTO_ASCII = ("#####  #####  #####  #####", "#   #    #      #    #   #", "#####    #      #    #####")


def paint_middle(board: Board, x: int, y: int, width: int, height: int, game: GameModel) -> None:
    """All that lies between the players and the own hand."""
    moment = game.stageplay.now
    update = game.update
    if isinstance(moment, DuelMoment):
        _paint_duel(board, x, y, width, game, moment)
    elif isinstance(moment, OttoMoment):
        _paint_otto(board, x, y, width, game, moment)
    elif game.hint:
        for place, line in enumerate(wrap(game.hint, width - 2, height)):
            board.put(x + 1, y + place, line, "good")
    elif update.phase in BEFORE_DEAL or update.view is None:
        _paint_ceremony(board, x, y, width, game)
        if height > len(_STEPS) + 2:
            _paint_words(board, x, y + len(_STEPS) + 1, width, update.table_number)
    else:
        _paint_piles(board, x, y, update.view)
        _paint_lead(board, x + PILES, y, width - PILES, game, update.view)
        if height >= 2 * HEIGHT:
            _paint_answers(board, x, y + HEIGHT, width, game, update.view, named=height > 2 * HEIGHT)


def _paint_piles(board: Board, x: int, y: int, view: SeatView) -> None:
    state = view.state
    if state.pile:
        paint_back(board, x + 1, y)
    else:
        paint_gap(board, x + 1, y)
    board.put(x + 7, y + 1, fit(_("draw"), 6), "dim")
    board.put(x + 7, y + 2, str(len(state.pile)), "bold")
    if state.spent:
        paint_card(board, x + 13, y, state.spent[-1], off=True)
    else:
        paint_gap(board, x + 13, y)
    board.put(x + 19, y + 1, fit(_("spent"), 6), "dim")
    board.put(x + 19, y + 2, str(len(state.spent)), "bold")


def _paint_lead(board: Board, x: int, y: int, width: int, game: GameModel, view: SeatView) -> None:
    """The leader's card and its number, or what the cards wait for."""
    progress = progress_line(game.update)
    text_x, limit = x + WIDTH + 1, x + width
    if progress is not None:
        for place, line in enumerate(wrap(phase_line(game.update) or _shuffling(game), width - 1, 2)):
            board.put(x, y + place, line)
        paint_bar(board, x, y + 2, width - 1, *game.update.progress)
        board.put(x, y + 3, progress, "dim", limit=limit)
        return
    state = view.state
    card = None if state.lead is None else state.known.get(state.lead, game.led)
    if card is not None:
        paint_card(board, x, y, card)
        board.put(text_x, y + 2, card_name(card), "bold", limit=limit)
    elif state.said is not None:
        paint_back(board, x, y, str(state.said))
        board.put(text_x, y + 2, _("says: {number}").format(number=state.said), "bold", limit=limit)
    else:
        paint_gap(board, x, y)
        board.put(text_x, y + 2, _("leads"), limit=limit)
    board.put(text_x, y + 1, game.people.names[state.leader], "me", limit=limit)


def _shuffling(game: GameModel) -> str:
    if game.update.phase in (MatchPhase.RESHUFFLE, MatchPhase.REPROVE):
        return _("The spent cards are shuffled.")
    return _("The cards are put in order again without those who are gone.")


def _paint_answers(
    board: Board, x: int, y: int, width: int, game: GameModel, view: SeatView, *, named: bool
) -> None:
    """The answers as cards, clockwise from the leader's left; only where there is room for all."""
    state = view.state
    seats = [seat for seat in clockwise(state.order, state.live, state.leader) if seat in state.live]
    if state.said is None or len(seats) * ANSWER > width:
        return
    for place, seat in enumerate(seats):
        left, slot = x + 1 + place * ANSWER, state.answers[seat]
        if slot is None:
            paint_gap(board, left, y)
        elif slot == SAT_OUT:
            paint_gap(board, left, y)
            board.put(left + 2, y + 1, "-")
        elif slot in state.known:
            paint_card(
                board, left, y, state.known[slot], off=state.lead is not None and seat not in state.entitled
            )
        else:  # exchanged: the card lies with the spent ones
            paint_back(board, left, y, "")
        if named:
            board.put(left, y + HEIGHT, fit(game.people.names[seat], ANSWER - 1), "dim")


def paint_bar(board: Board, x: int, y: int, width: int, done: int, total: int) -> None:
    """How far something is."""
    filled = width * done // total if total else 0
    board.put(x, y, board.glyphs["full"] * filled, "title")
    board.put(x + filled, y, board.glyphs["empty"] * (width - filled), "dim")


def _paint_ceremony(board: Board, x: int, y: int, width: int, game: GameModel) -> None:
    """What happens before the first card: keys, shuffles, proofs, deal; one line each."""
    update = game.update
    texts = (
        _("Everybody makes a secret key"),
        _("Everybody shuffles the cards"),
        _("Everybody checks all shuffles"),
        _("The cards are dealt"),
    )
    current = next((place for place, step in enumerate(_STEPS) if update.phase in step), len(_STEPS))
    for place, text in enumerate(texts):
        mark = "done" if place < current else "now" if place == current else "todo"
        style = "good" if place < current else "bold" if place == current else "dim"
        column = board.put(x + 1, y + place, f"{board.glyphs[mark]} {text}", style, limit=x + width)
        done, total = update.progress
        if place == current and total:
            column = board.put(column + 1, y + place, f" {done}/{total} ", "title", limit=x + width)
            paint_bar(board, column, y + place, max(0, min(12, x + width - column)), done, total)


def _paint_words(board: Board, x: int, y: int, width: int, number: int) -> None:
    """The table words, while there is time to compare them."""
    if number:
        text = _("Everybody at this table has the same table words:")
        board.put(x + 1, y, text, "dim", limit=x + width)
        board.put(x + 1, y + 1, " ".join(table_words(number)), "title", limit=x + width)


def _paint_duel(board: Board, x: int, y: int, width: int, game: GameModel, duel: DuelMoment) -> None:
    names, limit = game.people, x + width
    board.put(
        x + 1,
        y,
        fit(f" {_('DUEL')}  {names.names[duel.challenger]} - {names.names[duel.target]} ", width - 2),
        _pulse(game),
    )
    left = x + 2
    if duel.card is not None:
        paint_card(board, left, y + 1, duel.card, on=True)
    elif duel.stage is MomentStage.CALLED:
        paint_gap(board, left, y + 1)
    else:
        paint_back(board, left, y + 1, "?")
    text = left + WIDTH + 2
    if duel.guess is not None:
        said = _("{name} says: {colour}.").format(
            name=names.names[duel.challenger], colour=colour_name(duel.guess)
        )
        board.put(text, y + 1, said, limit=limit)
    match duel.stage:
        case MomentStage.CALLED:
            board.put(
                text, y + 2, _("{name} lays a card...").format(name=names.names[duel.target]), limit=limit
            )
        case MomentStage.LAID:
            board.put(text, y + 2, _("Which colour is it?"), "bold", limit=limit)
        case MomentStage.GUESSED:
            board.put(text, y + 2, _("Right or wrong?"), "bold", limit=limit)
        case MomentStage.OPENED:
            loser = duel.target if duel.right else duel.challenger
            board.put(text, y + 2, _("Right!") if duel.right else _("Wrong!"), "title", limit=limit)
            lost = _("A collected card is lost: {name}").format(name=names.names[loser])
            board.put(text, y + 3, lost, limit=limit)
        case _:
            assert_never(duel.stage)


def _paint_otto(board: Board, x: int, y: int, width: int, game: GameModel, otto: OttoMoment) -> None:
    letters = _OTTO if board.glyphs["full"] == "█" else _OTTO_ASCII
    for place, row in enumerate(letters):
        board.put(x + 2, y + place, row, f"{_pulse(game)}-ink")
    said = f"{game.people.names[otto.seat]}: {codes(otto.cards)}"
    board.put(x + 2, y + len(letters), fit(said, width - 3), "bold")


def _pulse(game: GameModel) -> str:
    """Slow enough to please: two changes a second at most."""
    return "moment" if game.stageplay.frame // 5 % 2 == 0 else "moment-2"
