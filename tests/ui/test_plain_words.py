"""The words of the plain screen: every move, every question, every reason, in every language."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
import trio

from otto_p2p import i18n
from otto_p2p.commands.tables import shown
from otto_p2p.net.adverts import Advert, by_table
from otto_p2p.stdio import LONGEST, LineWriter, encoded, read_lines
from otto_p2p.texts import news
from otto_p2p.texts.events import Narrator, PhaseReporter
from otto_p2p.texts.people import People
from otto_p2p.texts.results import game_over, match_over
from otto_p2p.ui import asks, status
from otto_p2p.ui.hints import hint, suggestion
from otto_p2p.ui.lobby import changes
from otto_p2p.ui.questions import Kind, Understood, question, understand
from otto_p2p.updates import OpenTable
from otto_protocol.hashing import Drbg
from otto_protocol.match.phases import MatchPhase
from otto_protocol.roster import TableRules
from otto_protocol.rules import Bonus, Cheat, EndReason, Outcome, moves
from tests.ui.plain_table import NAMES, PlainTable


@pytest.fixture(autouse=True, params=i18n.LANGUAGES)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    i18n.use(request.param)
    yield request.param
    i18n.use("en")


PEOPLE = People(NAMES, 0)
MOVES: tuple[moves.Move, ...] = tuple(
    move
    for seat in (0, 1)
    for move in (
        moves.Choose(seat, (1, 2)),
        moves.Choose(seat, ()),
        moves.Challenge(seat, 1 - seat),
        moves.Challenge(seat, 2),
        moves.LayDuel(seat),
        moves.Guess(seat, 1),
        moves.OpenDuel(seat, 3, 30),
        moves.LoseCard(seat, 3, 30),
        moves.Lead(seat, 7),
        moves.Answer(seat, 4, 40),
        moves.SitOut(seat, ((4, 40),)),
        moves.SitOut(seat, ()),
        moves.OpenLead(seat, 5, 50),
        moves.Exchange(seat, True),
        moves.Exchange(seat, False),
        moves.Collect(seat, (1,)),
        moves.Say(seat, True, 5, ((1, 10),)),
        moves.Say(seat, False),
        moves.Score(seat, 5, ((1, 10), (2, 11))),
    )
)


@pytest.mark.parametrize("move", [*MOVES, moves.Reshuffled()])
def test_every_move_is_one_full_sentence(move: moves.Move) -> None:
    update = replace(PlainTable(3).update(move), view=None)
    (sentence,) = Narrator().tell(update, PEOPLE)
    assert sentence.isprintable()
    assert sentence[-1] in ".!"
    assert "{" not in sentence
    if isinstance(move, moves.Lead):
        assert "7" in sentence
    if not isinstance(move, moves.Reshuffled) and move.seat == 1:
        assert "Anna" in sentence


def test_a_guess_is_judged_when_the_card_is_opened(language: str) -> None:
    narrator, table = Narrator(), PlainTable(3)
    right = ("right", "Uzminēts")[language == "lv"]
    for card, expected in ((25, True), (0, False)):  # a yellow card, a red one
        happened = moves.Guess(1, 1), moves.OpenDuel(0, 3, card)
        told = narrator.tell(replace(table.update(*happened), view=None), PEOPLE)
        assert (right in told[-1]) is expected


def test_every_question_can_be_asked_explained_and_answered() -> None:
    """Whole games: each kind of question comes, each option can be typed, each hint is a sentence."""
    missing = set(Kind)
    for attempt in range(10):
        table = PlainTable(3, seed=b"question %d" % attempt)
        table.duels = attempt % 2 == 0
        table.run_others()
        rng = Drbg(b"choice %d" % attempt)
        while table.game.outcome is None and not table.outcomes:
            view, legal = table.game.seat_view(0), table.game.legal(0)
            asked = question(view, legal, legal[0])
            if asked.kind in missing:
                missing.discard(asked.kind)
                for text in (
                    asks.asked(asked),
                    asks.choices(asked, PEOPLE),
                    asks.explanation(asked.kind),
                    hint(asked, suggestion(asked, rng), PEOPLE),
                    *status.table(table.update(), PEOPLE),
                ):
                    assert text
                    assert "{" not in text
                    assert text.isprintable()
                for option in asked.options:
                    meant = understand(asked, option.code)
                    assert isinstance(meant, Understood), option
                    assert asks.label(asked, option, PEOPLE)
                    assert meant.option.code == option.code
            challenges = (o for o in asked.options if isinstance(o.move, moves.Challenge))
            duel = next(challenges, None) if attempt % 2 == 0 else None
            table.act((duel or suggestion(asked, rng)).move)
        if not missing:
            return
    raise AssertionError(f"never asked: {missing}")


def test_equal_cards_are_one_option() -> None:
    table = PlainTable(2, seed=b"equal")
    table.run_others()
    table.act(table.game.legal(0)[0])
    legal = table.game.legal(0)
    asked = question(table.game.seat_view(0), legal, legal[0])
    codes = [option.code for option in asked.options]
    assert len(codes) == len(set(codes))


def test_the_end_of_a_game_and_of_a_match(language: str) -> None:
    people = People(("Me", "Anna", "Bob"), 0)
    for reason in EndReason:
        winner = 1 if reason in (EndReason.OTTO, EndReason.LAST_SEAT) else None
        outcome = Outcome(
            winner, (0, 27, 3), tuple(Bonus), reason, (Cheat(0, "R16"), Cheat(2, "T3")), (1, 2, None)
        )
        told = game_over(outcome, people, 1, 2)
        assert len(told) == 1 + len(Bonus) + 2 + 3
        assert all(line.isprintable() and "{" not in line for line in told)
    assert match_over((1, 2, 3), people, 1) == []
    assert len(match_over((1, 2, 3), people, 2)) == 4
    assert ("1 punkts" if language == "lv" else "1 point") in match_over((1, 2, 3), people, 2)[3]


def test_hostile_names_in_the_lobby_and_in_the_list_of_tables() -> None:
    table = PlainTable(2)
    bad = "\x1b[31m"
    before = table.lobby()
    other = OpenTable(bytes(16), bad, (bad, bad), TableRules(), 3, False, 1)
    assert all(line.isprintable() for line in changes(before, replace(before, others=(other,))))
    advert = Advert(
        key=bytes(32),
        nonce=bytes(6),
        name=bad,
        table=bytes(16),
        title=bad,
        seated=1,
        seats=4,
        pinned=False,
        playing=False,
        port=1,
    )
    lines = shown(by_table([advert]))
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert len(shown([])) == 1


def test_a_poor_terminal_gets_what_it_can_show() -> None:
    assert encoded("Jānis ķer zaļu 漢", "ascii") == b"Janis ker zalu ?"
    assert encoded("Jānis", "utf-8") == "Jānis".encode()


async def test_lines_in() -> None:
    read_end, write_end = os.pipe()
    long = "x" * (3 * LONGEST)
    os.write(write_end, b"one\r\ntw" + "ā".encode()[:1])
    os.write(write_end, "ā".encode()[1:] + b"\n\xff\n" + long.encode() + b"\nlast")
    os.close(write_end)
    send, receive = trio.open_memory_channel[str](20)
    await read_lines(read_end, send, "utf-8")
    os.close(read_end)
    got = [line async for line in receive]
    assert got[:3] == ["one", "twā", "\ufffd"]
    assert len(got[3]) <= LONGEST
    assert got[4] == "last"


async def test_lines_out_to_nobody() -> None:
    read_end, write_end = os.pipe()
    writer = LineWriter(write_end, "utf-8")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.run)
        writer("one")
        await trio.sleep(0.05)
        assert os.read(read_end, 10) == b"one\n"
        os.close(read_end)
        writer("two")
        await writer.broken.wait()
        writer("three")
        writer.end()
    os.close(write_end)


def test_a_phase_is_told_once_and_again_in_the_next_game() -> None:
    reporter = PhaseReporter()
    shuffling = replace(PlainTable(2).update(), phase=MatchPhase.SHUFFLE)
    (line,) = reporter.tell(shuffling, PEOPLE)
    assert line == news.phase_line(shuffling)
    assert reporter.tell(replace(shuffling, progress=(1, 2)), PEOPLE) == []
    assert reporter.tell(replace(shuffling, game=2), PEOPLE) == [line]
