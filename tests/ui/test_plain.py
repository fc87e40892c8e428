"""The plain screen: a whole match by Enter alone, every command, nothing but plain lines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import trio

from otto_p2p import cli, i18n
from otto_p2p.commands.join import checked
from otto_p2p.plain import plain
from otto_p2p.plain.plain import Plain
from otto_p2p.table.snapshots import game_update
from otto_p2p.updates import Acquaintance, Closed, Face, MatchEnded, News, Notice, ShuffleVerified, Update
from otto_p2p.words import table_words
from otto_protocol.crypto.identity import fingerprint
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.roster import Member
from otto_protocol.rules import GamePhase
from otto_protocol.rules.cards import number, short
from tests.ui.plain_table import PlainTable


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    i18n.use("en")
    yield
    i18n.use("en")


class Player:
    """Somebody at a plain screen: what was shown is in `shown`."""

    def __init__(self, table: PlainTable, *, auto: bool = False) -> None:
        self.table = table
        self.shown: list[str] = []
        self.screen = Plain(table, self.shown.append, Drbg(b"player"), auto=auto)

    def begin(self) -> None:
        self.table.updates.append(self.table.update())
        self.table.run_others()
        self.settle()

    def settle(self) -> None:
        while self.table.updates:
            self.screen.update(self.table.updates.popleft())

    def type(self, line: str) -> list[str]:
        """Type a line; what is shown because of it."""
        before = len(self.shown)
        self.screen.line(line)
        self.settle()
        return self.shown[before:]

    def until(self, phase: GamePhase) -> None:
        """Press Enter until seat 0 is asked something in this phase of the game."""
        for _ in range(2000):
            if self.table.game.state.phase is phase and 0 in self.table.game.awaited:
                return
            self.type("")
        raise AssertionError(f"never asked in {phase}")

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


def seated(players: int = 3, seed: bytes = b"fake", games: int = 1) -> Player:
    player = Player(PlainTable(players, seed=seed, games=games))
    player.begin()
    return player


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("players", [2, 3, 6])
def test_a_match_by_enter_alone(players: int, language: str) -> None:
    i18n.use(language)
    player = seated(players, b"match %d" % players, games=2)
    presses = 0
    while "leave" not in player.table.calls:
        if not player.table.updates and player.table.outcomes[1:]:
            player.type("q")
        else:
            player.type("")
            presses += 1
        assert presses < 3000
    assert player.screen.closed
    assert all(line.isprintable() for line in player.shown)
    assert "/data/match.otto" in player.text
    assert len(player.table.outcomes) == 2
    turns = player.text.count("Turn " if language == "en" else ". gājiens")
    assert presses < 2.5 * turns + 10  # one key in the common case


def test_auto_plays_and_leaves() -> None:
    player = Player(PlainTable(4, seed=b"auto"), auto=True)
    player.begin()
    assert player.screen.closed
    winner = player.table.outcomes[0].winner
    assert winner is not None
    assert ("You win!" if winner == 0 else f"The winner: {player.table.members[winner].name}.") in player.text
    for member in player.table.members:
        assert f"{member.name}: " in player.text


def test_auto_does_not_act_twice_on_one_question() -> None:
    player = Player(PlainTable(3, seed=b"twice"), auto=True)
    player.table.updates.append(player.table.update())
    first = player.table.update()
    player.screen.update(first)
    calls = list(player.table.calls)
    player.screen.update(first)  # an update that was on its way before the move was heard
    assert player.table.calls == calls


def test_numbers_and_cards_can_be_typed() -> None:
    player = seated()
    assert any(line.startswith("Which number do you collect?") for line in player.shown)
    assert player.type("11") == ["That is none of the choices."]
    player.type("7")
    assert player.table.game.secrets[0].number == 7
    player.until(GamePhase.ANSWER)
    state = player.table.game.state
    hand = [player.table.game.secrets[0].cards[slot] for slot in state.hands[0]]
    bad = next((card for card in hand if number(card) == state.said), None)
    if bad is not None:
        assert "rule T7" in player.type(short(bad))[0]
    good = next(card for card in hand if number(card) != state.said)
    told = player.type(f" {short(good).lower()} ")
    assert any(line.startswith("You answer: ") and line.endswith(f"{number(good)}.") for line in told)


def test_a_card_by_its_number_or_its_colour_in_words() -> None:
    player = seated(2, b"words")
    player.until(GamePhase.LEAD)
    cards = player.table.game.secrets[0].cards
    hand = [cards[slot] for slot in player.table.game.state.hands[0]]
    twice = next(card for card in hand if len({short(c) for c in hand if number(c) == number(card)}) > 1)
    assert player.type(str(number(twice)))[0].startswith("Which one: ")
    assert player.type("purple 3")[0].startswith("That is no card")
    colour = {"R": "red", "Y": "yellow", "G": "green", "B": "blue"}[short(twice)[0]]
    assert any("and say: " in line for line in player.type(f"{colour} {number(twice)}"))


def test_help_hint_status_and_memory() -> None:
    player = seated()
    assert player.type("?")[0].startswith("Choose a number to collect")
    assert player.type("h")[0].startswith("Hint: ")
    assert player.type("c")[0].startswith("Your hand: ")
    status = player.type("s")
    assert sum("12 cards in the hand" in line for line in status) >= 1
    assert any(line.startswith("Me (you)") for line in status)
    memory = player.type("m")
    assert len(memory) == 11
    assert player.type("w")[0].startswith("Table words: ")


def test_a_table_without_memory_aid() -> None:
    player = Player(PlainTable(3, seed=b"seen", memory_aid=False))
    player.screen.update(player.table.lobby())
    assert any("no memory aid" in line for line in player.shown)
    player.begin()
    assert player.type("m") == ["The memory aid is switched off at this table."]
    for aid in (False, True):  # what was seen of the others is not told with the status, either
        player = Player(PlainTable(3, seed=b"seen", memory_aid=aid))
        player.begin()
        told = []
        for _ in range(60):
            player.type("")
            told += player.type("s")
        assert any("seen:" in line for line in told) == aid


def test_no_memory_gets_from_the_command_line_to_the_screen() -> None:
    for words, aid in (["join"], True), (["join", "--no-memory"], False):
        rules = checked(cli._parser().parse_args(words)).settings.rules
        assert rules.memory_aid == aid
        update = game_update(Lab(2, Drbg(b"rules"), rules).session(0))
        assert update.memory_aid == aid


def test_leaving_a_game_is_asked_twice() -> None:
    player = seated()
    assert "q again" in player.type("q")[0]
    player.type("h")
    player.type("q")
    assert "leave" not in player.table.calls
    player.type("q")
    assert player.table.calls[-1] == "leave"
    assert player.screen.closed


def test_the_end_of_the_input_leaves() -> None:
    player = seated()
    player.screen.input_ended()
    assert player.table.calls == ["leave"]


def test_an_event_does_not_cancel_a_choice_half_made() -> None:
    """Field report 41: two cards are selected, something arrives, Enter lays these two."""
    for attempt in range(200):
        player = seated(3, b"collect %d" % attempt)
        player.type("")
        if collect_two(player):
            return
    raise AssertionError("no game with two cards to lay")


def collect_two(player: Player) -> bool:
    game = player.table.game
    for _ in range(300):
        if game.outcome is not None:
            return False
        if game.state.phase is GamePhase.COLLECT and 0 in game.awaited:
            mine = [card for _slot, card in game.seat_view(0).hand if number(card) == game.secrets[0].number]
            if len(mine) >= 2:
                break
        if game.state.phase is GamePhase.EXCHANGE or not mine_in_hand(player):
            player.type("")
        elif game.state.phase is GamePhase.COLLECT:
            player.type("n")  # save them up
        else:
            player.type("")
    else:
        return False
    two = " ".join(short(card) for card in mine[:2])
    assert player.type(two)[0].startswith("Selected: ")
    player.screen.update(Notice(News.LINK_LOST, ("Anna",)))
    player.screen.update(player.table.update())
    collected = len(game.state.collections[0])
    player.type("")
    assert len(game.state.collections[0]) == collected + 2
    return True


def mine_in_hand(player: Player) -> bool:
    game = player.table.game
    return any(number(card) == game.secrets[0].number for _slot, card in game.seat_view(0).hand)


def test_a_refused_move_is_asked_again() -> None:
    player = seated()
    real = player.table.act
    player.table.act = lambda move: None  # type: ignore[method-assign]  # the table refuses later
    assert player.type("3") == []
    shown = len(player.shown)
    player.screen.update(Notice(News.NOT_MADE, ("too late",)))
    assert player.shown[shown:][0] == "That was not done: too late"
    assert player.shown[-1].startswith("Which number")
    player.table.act = real  # type: ignore[method-assign]
    player.type("3")
    assert player.table.game.secrets[0].number == 3


def waiting_for_all() -> Player:
    """Nobody has chosen a number yet, and moves take long to arrive."""
    player = Player(PlainTable(3))
    player.screen.update(player.table.update())
    player.table.act = lambda move: None  # type: ignore[method-assign]
    return player


def test_enter_twice_in_a_hurry_is_no_answer_to_the_next_question() -> None:
    player = waiting_for_all()
    assert player.type("") == []
    assert player.type("") == ["Waiting for Anna, Bob."]


def test_the_lobby() -> None:
    player = Player(PlainTable(3))
    player.screen.update(player.table.lobby())
    assert any("old-oak" in line for line in player.shown)
    assert any("otto-p2p join --peer 192.0.2.1:1" in line for line in player.shown)
    assert player.shown[-1].startswith("Press Enter when you are ready")
    player.type("")
    assert player.table.calls == ["ready 1"]
    player.screen.update(player.table.lobby(countdown=5))
    assert "The game starts in 5 seconds; Enter stops it." in player.shown[-1]
    player.type("")
    assert player.table.calls[-1] == "stop"
    for line, call in [
        ("w", "ready 2"),
        ("n", "ready 0"),
        ("o", "open"),
        ("decks 3", "rules 3 1 120"),
        ("games 5", "rules 2 5 120"),
        ("time 0", "rules 2 1 0"),
        ("m", "rules 2 1 120 no memory"),
    ]:
        player.type(line)
        assert player.table.calls[-1] == call
    assert player.type("nonsense") == ["That was not understood; ? explains."]
    assert player.type("?")[0].startswith("Everybody at the table presses Enter")
    player.type("q")
    assert player.table.calls[-1] == "leave"


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (Acquaintance(Face.NEW), "You have not played with Bob before."),
        (Acquaintance(Face.KNOWN, "Bob", -3 * 86400.0), "You know Bob: you played together 3 days ago."),
        (
            Acquaintance(Face.KNOWN, "Ro\x1bb", -3600.0),
            "You know Bob, who was called Ro\\x1bb then: you played together 1 hour ago.",
        ),
        (
            Acquaintance(Face.CHANGED, "Bob", 0.0),
            "Careful: this Bob #TAG is not the Bob with whom you played less than an hour ago, but has another "
            "key. Ask aloud who it is, and compare the table words.",
        ),
    ],
)
def test_who_is_who_is_said_once(found: Acquaintance, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)
    player = Player(PlainTable(3))
    lobby = player.table.lobby()
    *others, bob = lobby.seated
    player.screen.update(replace(lobby, seated=tuple(others)))
    bob = replace(bob, automatic=False, acquaintance=found)
    before = len(player.shown)
    wanted = line.replace("TAG", fingerprint(bob.key)[:4])
    for ready in (0, 1):
        player.screen.update(replace(lobby, seated=(*others, replace(bob, ready=ready))))
    assert player.shown[before:].count(wanted) == 1
    assert wanted in player.type("s")


def test_equal_names_are_told_apart() -> None:
    player = Player(PlainTable(3))
    lobby = player.table.lobby()
    names = ("Anna", "Bob", "B0b")
    seated = [replace(one, name=name) for one, name in zip(lobby.seated, names, strict=True)]
    player.screen.update(replace(lobby, seated=tuple(seated)))
    told = {line.split(" sits")[0] for line in player.shown if line.startswith("B")}
    assert told == {f"{one.name} #{fingerprint(one.key)[:4]}" for one in seated[1:]}
    members = tuple(Member(one.key, one.name) for one in seated)
    player.screen.update(replace(player.table.update(), members=members))
    begun = next(line for line in player.shown if line.startswith("The game begins."))
    assert all(name in begun for name in told)


def test_the_table_words_and_who_verified_the_shuffle_are_said_once() -> None:
    player = Player(PlainTable(3))
    update = player.table.update()
    noon = time.mktime((2026, 5, 1, 12, 30, 15, 0, 0, -1))
    for seats in (None, (0,), (0, 1, 2), (0, 1, 2)):
        player.screen.update(
            replace(update, verified=None if seats is None else ShuffleVerified(noon, seats))
        )
    line = "The shuffle was verified at 12:30:15 by Anna, Bob, you."
    assert player.shown.count(line) == 1
    words = " ".join(table_words(update.table_number))
    assert player.text.count(f"Table words: {words}. Everybody at this table has the same.") == 1
    assert line in player.type("s")


def test_a_rematch_is_offered() -> None:
    player = seated(2, b"rematch")
    player.screen.update(player.table.lobby())  # shown when the match is over
    while not player.table.outcomes:
        player.type("")
    assert player.shown[-1].startswith("Another match? Press Enter")
    player.type("")
    assert player.table.calls[-1] == "ready 1"


def test_ctrl_c_leaves_a_game_the_second_time() -> None:
    player = seated()
    player.screen.interrupt()
    assert "Ctrl-C again" in player.shown[-1]
    assert "leave" not in player.table.calls
    player.screen.interrupt()
    assert player.table.calls[-1] == "leave"


def test_a_long_wait_is_explained_once() -> None:
    player = waiting_for_all()
    player.type("")
    before = len(player.shown)
    for _ in range(60):
        player.screen.second()
    assert player.shown[before:] == ["Waiting for Anna, Bob."]


def test_answers_out_of_a_pipe_wait_for_their_questions() -> None:
    table = PlainTable(3)
    screen = Plain(table, [].append, Drbg(b"pipe"), interactive=False)
    assert not screen.takes("")
    screen.update(table.lobby())
    assert screen.takes("")
    screen.line("")
    assert not screen.takes("5")
    screen.update(table.lobby(countdown=5))
    assert not screen.takes("")  # it would stop the countdown
    screen.update(table.update())
    assert screen.takes("5")
    screen.line("5")
    assert not screen.takes("")
    assert screen.takes("q")


async def test_run_reads_lines_and_ends(autojump_clock: trio.testing.MockClock) -> None:
    table = PlainTable(2, seed=b"run")
    shown: list[str] = []
    screen = Plain(table, shown.append, Drbg(b"x"))
    send_update, updates = trio.open_memory_channel[Update](100)
    send_line, lines = trio.open_memory_channel[str](10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(plain.run, screen, updates, lines)
        await send_update.send(table.update())
        await trio.sleep(20)
        send_line.send_nowait("5")
        await trio.sleep(1)
        assert table.game.secrets[0].number == 5
        send_line.close()  # the end of the input
        await trio.sleep(1)
        assert table.calls[-1] == "leave"
        await send_update.send(MatchEnded(None, False))
        await send_update.send(Closed())
    assert "The match is over for you; it was not finished." in shown
