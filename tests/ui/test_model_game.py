"""The game on the screen, without a screen: keys go in, orders come out, and nothing is lost in between."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from wcwidth import wcswidth, wcwidth

from otto_p2p import i18n
from otto_p2p.screen.choice import held
from otto_p2p.screen.desk import Page
from otto_p2p.screen.moments import DuelMoment, OttoMoment
from otto_p2p.screen.paint_hand import window
from otto_p2p.screen.paint_pages import paint
from otto_p2p.texts.events import Narrator
from otto_p2p.ui.questions import Kind
from otto_p2p.updates import GameUpdate, LobbyUpdate, News, Notice, ShuffleVerified, Update
from otto_p2p.words import table_words
from otto_protocol.lobby.actions import Cause
from otto_protocol.match.phases import MatchPhase
from otto_protocol.rules import SeatView, Secret, legal_moves, moves
from otto_protocol.rules.cards import short
from otto_protocol.rules.state import draft, freeze
from tests.ui.fake_table import FakeTable
from tests.ui.played import Played


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    i18n.use("en")
    yield
    i18n.use("en")


@pytest.mark.parametrize(("players", "games"), [(2, 1), (3, 2), (10, 1)])
def test_whole_games_with_nothing_but_enter(players: int, games: int) -> None:
    played = Played(players, games=games, seed=b"enter")
    for _ in range(5000):
        played.key("enter")
        played.clock += 1.0
        if played.desk.ended is not None:
            break
    assert played.desk.ended is not None
    played.wait(6)
    assert played.desk.page is Page.MATCH
    assert "The match is over" in played.text()
    played.key("enter")
    assert played.desk.game is None
    assert "Another match" in played.text()
    assert "★1" in played.text()


def test_a_turn_costs_one_key_when_repeated_choices_are_automatic() -> None:
    played = Played()
    played.desk.options.automatic = True
    played.key("enter", "enter")
    start, turn = len(played.acts), played.game.update.view.state.turn  # type: ignore[union-attr]
    keys = 0
    while played.desk.ended is None and keys < 60:
        assert played.game.choice is not None
        assert played.game.choice.question.kind not in (Kind.EXCHANGE, Kind.COLLECT)
        played.key("enter")
        keys += 1
    view = played.game.update.view
    assert view is not None
    assert keys <= view.state.turn - turn + 10  # duels and Otto are asked, too
    assert len(played.acts) - start > keys


def test_an_event_never_cancels_a_half_made_choice() -> None:
    """Field report 41. Broken by: making a new choice for every update."""
    played = Played()
    played.until(Kind.ANSWER)
    game, choice = played.game, played.game.choice
    assert choice is not None
    played.key("right", "right")
    before = (choice.row, choice.place)
    played.table.lose(2, "lost")
    played.table.note(Notice(News.LINK_LOST, ("Centis",)))
    played.table.tell(played.table.update())
    assert game.choice is choice
    assert (choice.row, choice.place) == before
    assert "lost" in played.text()


def test_a_question_that_comes_back_finds_the_half_made_choice() -> None:
    played = Played()
    played.until(Kind.LEAD)
    choice = played.game.choice
    played.key("right")
    asked = played.table.update()
    played.table.tell(played.table.update(phase=MatchPhase.TAGS))
    assert played.game.choice is None
    played.table.tell(asked)
    assert played.game.choice is choice


def test_what_is_not_sent_can_be_taken_back() -> None:
    played = Played(grace=0.7)
    played.key("enter")
    played.key("3", "enter")
    assert played.acts == []
    assert "takes it back" in played.text()
    played.key("backspace")
    assert played.game.choice is not None
    assert played.game.choice.option().code == "3"
    played.key("5", "enter")
    played.wait(0.5)
    assert played.acts == []
    played.wait(0.3)
    assert [move.number for move in played.acts if isinstance(move, moves.Choose)] == [5]


def test_enter_twice_sends_at_once() -> None:
    played = Played(grace=60)
    played.key("enter", "enter", "enter")
    assert len(played.acts) == 1


def test_a_refused_move_is_asked_again() -> None:
    played = Played(grace=0)
    played.key("enter")
    played.table.act = lambda move: played.table.tell(Notice(News.NOT_MADE, ("no",)))  # type: ignore[method-assign]
    played.key("enter")
    assert played.game.choice is not None
    assert "not done: no" in played.text()


def test_keys_do_nothing_when_nothing_is_asked() -> None:
    played = Played()
    played.key("enter")
    played.table.hold = True
    played.key("enter")
    sent = len(played.acts)
    played.key("enter", "space", "left", "right", "3", "r", "y", "n", "o", "backspace", "up")
    assert len(played.acts) == sent
    assert "Waiting for" in played.text()


def test_a_page_on_top_keeps_keys_from_the_choice() -> None:
    played = Played()
    played.until(Kind.LEAD)
    sent, place = len(played.acts), played.game.choice.place  # type: ignore[union-attr]
    played.key("question_mark")
    assert "Help" in played.text()
    played.key("down", "right", "escape")
    assert len(played.acts) == sent
    assert played.game.choice is not None
    assert played.game.choice.place == place
    played.key("q", "escape")
    assert ("leave", None) not in played.table.asked
    played.key("q", "q")
    assert played.desk.closed


def test_the_hint_names_a_card_and_a_reason() -> None:
    played = Played()
    played.until(Kind.LEAD)
    played.key("h")
    assert re.search(r"Hint: [RYGB]\d", played.text())


def test_the_memory_aid_can_be_switched_off() -> None:
    played = Played()
    played.until(Kind.LEAD)
    assert "Cards not seen yet" not in played.text()
    played.key("m")
    assert "Cards not seen yet" in played.text()
    played.desk.options.memory = False
    assert "Cards not seen yet" not in played.text()
    assert "Cards not seen yet" not in played.text(140, 40)
    played.desk.options.memory = True
    assert "Cards not seen yet" in played.text(140, 40)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
def test_a_table_without_memory_aid(size: tuple[int, int]) -> None:
    """Broken by: a screen that shows what was seen although the table plays without."""
    off = "The memory aid is switched off at this table."
    played = Played(memory_aid=False)
    played.until(Kind.LEAD)
    assert off not in played.text(*size)
    played.key("m")
    assert "Cards not seen yet" not in played.text(*size)
    assert off in played.text(*size)
    played.table.hold = True
    played.key("enter")
    assert off not in played.text(*size)
    played.key("m")  # also when nothing is asked
    assert off in played.text(*size)
    played.wait(9)
    assert off not in played.text(*size)
    played.key("f2")
    assert "Memory aid: off at this table" in played.text(*size)


def test_without_memory_aid_pressing_news_stay() -> None:
    played = Played(memory_aid=False)
    played.until(Kind.LEAD)
    played.table.hold = True
    played.key("enter")
    played.table.note(Notice(News.LINK_LOST, ("Centis",)))
    before = played.game.notice
    played.key("m")
    assert played.game.notice == before


def test_settings_are_walked_over_and_switched() -> None:
    played = Played()
    played.key("f2", "down", "down", "down", "enter")
    assert played.desk.options.animation is False
    played.key("escape")
    assert played.desk.page is Page.NONE


def test_duels_and_otto_are_moments() -> None:
    played = Played(seed=b"duels")
    seen = set()
    for _ in range(3000):
        if played.desk.game is not None:
            moment = played.game.stageplay.now
            if moment is not None and type(moment) not in seen:
                seen.add(type(moment))
                text = played.text()
                assert ("DUEL" if isinstance(moment, DuelMoment) else "▀▀█▀▀") in text
        if seen == {DuelMoment, OttoMoment}:
            return
        played.key("escape" if played.desk.page is not Page.NONE else "enter")
        played.clock += 0.5
        if played.desk.game is not None and played.game.choice and played.game.choice.key("d"):
            played.key("enter")
    raise AssertionError(seen)


def test_a_moment_ends_and_asks_for_painting_only_when_animated() -> None:
    played = Played()
    played.until(Kind.LEAD)
    assert not played.desk.tick(played.clock)
    played.game.stageplay.update(played.table.update((moves.Say(1, True, 3, ((1, 3),)),)), played.clock)
    assert played.desk.tick(played.clock + 0.1)
    played.desk.options.animation = False
    assert not played.desk.tick(played.clock + 0.2)
    assert played.desk.tick(played.clock + 60)
    assert played.game.stageplay.now is None


def test_one_may_go_on_without_somebody_who_is_away() -> None:
    played = Played()
    played.until(Kind.LEAD)
    played.key("x")
    assert played.desk.page is Page.NONE, "nobody is away"
    played.table.lose(2, "silent")
    played.table.hold = True
    played.key("enter")
    assert "x: go on without Centis" in played.text()
    played.key("x", "escape")
    assert ("drop", 2) not in played.table.asked
    played.key("x", "enter")
    assert ("drop", 2) in played.table.asked
    assert "go on without" not in played.text()


def test_a_seat_can_be_kept() -> None:
    played = Played()
    played.until(Kind.LEAD)
    played.key("q", "k")
    assert ("close", None) in played.table.asked
    assert ("leave", None) not in played.table.asked


def test_an_answer_is_never_given_twice() -> None:
    """The table may tell more before it has seen the answer."""
    played = Played()
    played.until(Kind.LEAD)
    sent: list[moves.Move] = []
    played.table.act = sent.append  # type: ignore[assignment,method-assign]
    played.key("enter")
    played.table.tell(played.table.update())
    assert played.game.choice is None
    played.key("enter")
    assert len(sent) == 1


def test_the_last_seconds_of_a_turn_are_counted() -> None:
    played = Played()
    played.until(Kind.LEAD)
    played.wait(80)
    assert "left" not in played.text().splitlines()[16]
    played.wait(15)
    assert re.search(r"2\d seconds left", played.text())
    played.wait(60)
    assert "0 seconds left" in played.text()
    assert played.game.choice is not None


def test_each_kind_of_decision_is_explained_once() -> None:
    played = Played(tips=True)
    played.until(Kind.LEAD)
    assert "exchange it for a new one" in played.text(140, 40)
    played.key("left")
    assert played.game.tip, "it stays while one chooses"
    played.key("enter")
    played.until(Kind.LEAD)
    assert not played.game.tip
    played.desk.options.tips = False
    played.until(Kind.COLLECT)
    assert not played.game.tip


def test_it_rings_once_for_each_question() -> None:
    played = Played()
    played.key("enter")
    assert played.desk.rings()
    assert not played.desk.rings()
    played.table.tell(played.table.update())
    assert not played.desk.rings()


def test_a_cheat_and_its_evidence_stay_in_sight() -> None:
    played = Played()
    played.key("enter")
    played.table.note(Notice(News.CHEAT, ("Berta", "S4", "a false share", "/tmp/e.otto")))
    played.wait(30)
    assert "/tmp/e.otto" in played.text(140, 40)


# -- what is painted -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 40), (200, 60)])
@pytest.mark.parametrize("language", ["en", "lv"])
def test_every_row_is_as_wide_as_the_screen(size: tuple[int, int], language: str) -> None:
    i18n.use(language)
    names = (
        "❤️",
        "👨‍👩‍👧",
        "漢字漢字漢字漢字",
        "e\u0301\u0302\u0303",
        "\x1b[31mX",
        "ไทย",
        "🇱🇻" * 4,
        "A" * 40,
        "x",
        "é" * 20,
    )
    played = Played(10, names=names)
    for _ in range(60):
        played.key("enter")
        if played.desk.page is not Page.NONE:
            played.key("escape")
        lines = paint(played.desk, *size).lines()
        assert len(lines) == size[1]
        for line in lines:
            text = "".join(span.text for span in line)
            assert wcswidth(text) == size[0]
            assert "\x1b" not in text


def test_the_bar_beside_strange_names_stays_in_its_column() -> None:
    """Field report 35. Broken by: padding names with str.ljust."""
    played = Played(4, names=("❤️", "👨‍👩‍👧", "漢字", "plain"))
    played.until(Kind.ANSWER)
    rows = played.text().splitlines()[1:14]
    bars = [[x for x, char in _columns(row) if char == "│"] for row in rows]
    assert all(49 in columns for columns in bars)


def _columns(row: str) -> Iterator[tuple[int, str]]:
    """(column, character) as a terminal places them."""
    column = 0
    for char in row:
        yield column, char
        column += wcwidth(char)


def test_without_colours_cards_and_turn_are_plain() -> None:
    """Field report 38: the text alone has every card's colour and number, and who is awaited."""
    played = Played()
    played.until(Kind.LEAD)
    text = played.text()
    view = played.game.update.view
    assert view is not None
    for _, card in held(view):
        assert short(card) in text
    assert "You lead" in text
    assert re.search(r"▶● Anna \(you\)", text)


def test_ascii_only() -> None:
    played = Played(names=("Jānis", "漢字", "Zoë", "Ann"))
    played.desk.options.ascii_only = True
    played.until(Kind.LEAD)
    for size in ((80, 24), (140, 40)):
        assert played.text(*size).isascii()
    assert "Janis" in played.text()


@pytest.mark.parametrize("size", [(79, 24), (80, 23), (2, 1), (1, 1), (0, 0), (30, 5)])
def test_too_small_and_back(size: tuple[int, int]) -> None:
    """Field report 36."""
    played = Played()
    played.until(Kind.LEAD)
    played.key("right")
    before = played.text()
    small = played.text(*size)
    if size[0] >= 30:
        assert "Too small" in small
    assert played.text() == before


@pytest.mark.parametrize("count", [1, 12, 13, 20, 26, 30, 60])
def test_every_card_of_a_big_hand_is_shown_when_it_is_chosen(count: int) -> None:
    """Field report 37. Broken by: cutting the hand off at the edge."""
    for focus in range(count):
        first, last, step = window(count, 80, focus)
        assert first <= focus < last
        assert (last - first - 1) * step + 5 <= 78
    assert window(count, 80, 0)[1] == (count if count <= 25 else 25)


def test_thirty_cards_in_the_hand() -> None:
    played = Played()
    played.until(Kind.LEAD)
    update = _with_hand_of(played.table.update(), played.table, 30)
    played.game.show(update, played.clock)
    choice = played.game.choice
    assert choice is not None
    assert len(choice.cards) == 30
    assert "30▮" in played.text()
    assert re.search(r"\d more", played.text())
    if choice.row == 1:  # the usual choice was a duel
        played.key("up")
    seen = set()
    for _ in range(30):
        (chosen,) = re.findall(r"┃([RYGB]\d) ┃", played.text())
        assert chosen == choice.option().code
        seen.add(choice.slot)
        played.key("right")
    assert len(seen) == 30


def _with_hand_of(update: GameUpdate, table: FakeTable, count: int) -> GameUpdate:
    """The same turn with so many cards in the own hand."""
    assert table.game is not None
    assert update.view is not None
    state = draft(update.view.state)
    more = state.pile[: count - len(state.hands[table.me])]
    state.pile = state.pile[len(more) :]
    state.hands = tuple((*hand, *more) if seat == table.me else hand for seat, hand in enumerate(state.hands))
    secret = update.view.secret
    cards = {**secret.cards, **{slot: table.game.cards[slot] for slot in more}}
    view = SeatView(freeze(state), table.me, Secret(secret.number, cards))
    return replace(update, view=view, decisions=tuple(legal_moves(view.state, table.me, view.secret)))


def test_the_ceremony_shows_how_far_it_is() -> None:
    played = Played()
    played.table.number = 1
    played.desk.show(played.table.update(phase=MatchPhase.PROVE, progress=(2, 4)), 0)
    text = played.text()
    assert "✓ Everybody shuffles the cards" in text
    assert re.search(r"▶ Everybody checks all shuffles +2/4 █+░+", text)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
def test_the_table_words_and_who_verified_the_shuffle_are_shown(size: tuple[int, int]) -> None:
    played = Played()
    played.table.number = 1
    update = played.table.update(phase=MatchPhase.DEAL)
    noon = time.mktime((2026, 5, 1, 12, 30, 15, 0, 0, -1))
    for seats in ((0,), (0, 1, 2, 3), (0, 1, 2, 3)):
        played.desk.show(replace(update, verified=ShuffleVerified(noon, seats)), 0)
    words = " ".join(table_words(update.table_number))
    assert f"table words: {words}" in played.text(*size).splitlines()[0]
    assert "Everybody at this table has the same table words" in played.text(*size)
    told = [entry.text for entry in played.game.log if "verified at" in entry.text]
    assert told == ["The shuffle was verified at 12:30:15 by Berta, Centis, Dace, you."]
    side = " ".join(row.partition("│")[2].strip() for row in played.text(*size).splitlines())
    assert told[0] in side


def test_a_start_that_was_given_up_leads_back_to_the_lobby() -> None:
    played = Played()
    played.key("enter")
    played.table.note(Notice(News.NOT_STARTED, (Cause.SILENT.value, "Berta")))
    assert played.desk.game is None
    played.table.lobby()
    assert "nothing is heard from Berta" in played.desk.lobby.trouble
    assert "The game did not start" in played.text()
    assert isinstance(played.desk.lobby.update, LobbyUpdate)


def test_a_turn_is_announced_before_its_first_card() -> None:
    """A session tells several moves at once: the end of a turn and the lead of the next one."""
    played = Played()
    told: list[GameUpdate] = []
    played.until(Kind.ANSWER)
    show = played.table.tell

    def tell(update: Update) -> None:
        if isinstance(update, GameUpdate):
            told.append(update)
        show(update)

    played.table.tell = tell
    while not any(isinstance(move, moves.Lead) for update in told for move in update.happened):
        played.key("enter")
    lead = next(n for n, u in enumerate(told) if any(isinstance(m, moves.Lead) for m in u.happened))
    happened = tuple(move for update in told[: lead + 1] for move in update.happened)
    sentences = Narrator().tell(replace(told[lead], happened=happened), played.game.people)
    turn = next(n for n, text in enumerate(sentences) if text.startswith("Turn "))
    assert "says:" in sentences[turn + 1] or "say:" in sentences[turn + 1]
