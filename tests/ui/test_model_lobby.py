"""The lobby on the screen, without a screen: rows that stay where they are, and one key for each wish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from otto_p2p import i18n
from otto_p2p.screen.desk import Desk
from otto_p2p.screen.options import Options
from otto_p2p.screen.paint_pages import paint
from otto_p2p.texts.known_keys import MARKS
from otto_p2p.updates import Acquaintance, Face, OpenTable
from otto_protocol.hashing import Drbg
from otto_protocol.match.phases import MatchPhase
from otto_protocol.roster import TableRules
from tests.ui.fake_table import FakeTable


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    i18n.use("en")
    yield
    i18n.use("en")


class Hall:
    """A desk in the lobby."""

    def __init__(self, *, seated: int | None = None) -> None:
        self.table = FakeTable(3)
        self.desk = Desk(self.table, Drbg(b"hall"), Options(), 0.0)
        self.table.tell = lambda update: self.desk.show(update, 0.0)
        self.table.begin = lambda: None  # type: ignore[method-assign]
        self.desk.show(self.table.lobby_update(seated=seated), 0.0)

    def key(self, *keys: str) -> None:
        for key in keys:
            self.desk.key(key, 0.0)

    def see(self, *others: OpenTable) -> None:
        self.table.others = others
        self.table.lobby()

    def text(self, width: int = 80) -> str:
        return paint(self.desk, width, 24).text()


def test_enter_is_ready_however_often_and_n_takes_it_back() -> None:
    hall = Hall()
    assert "I am ready" in hall.text()
    hall.key("enter", "enter")
    assert "You are ready" in hall.text()
    hall.key("n")
    assert hall.table.asked == [("ready", 1), ("ready", 1), ("ready", 0)]
    hall.desk.click("ready", 0.0)
    hall.desk.click("ready", 0.0)
    assert hall.table.asked[3:] == [("ready", 1), ("ready", 0)]


def test_a_countdown_is_stopped() -> None:
    hall = Hall()
    hall.desk.show(hall.table.lobby_update(countdown=3), 0.0)
    assert "starts in 3 seconds" in hall.text()
    hall.key("enter")
    assert hall.table.asked == [("stop_countdown", None)]


def test_tables_keep_their_places_under_the_cursor() -> None:
    """Broken by: showing tables in the order of the update, which is that of their random ids."""
    hall = Hall()
    second, first, third = (hall.table.other_table(number) for number in (5, 2, 9))
    hall.see(second)
    hall.key("down")
    hall.see(first, second, third)
    assert hall.desk.lobby.selected == second
    assert [row.name for row in hall.desk.lobby.rows] == ["table-5", "table-2", "table-9"]
    hall.see(first, third)
    assert hall.desk.lobby.rows[0] == second
    assert "table-5: gone" in hall.text()
    hall.key("enter")
    assert ("sit_at", second.table) not in hall.table.asked
    hall.key("up")
    hall.see(first, third)
    assert [row.name for row in hall.desk.lobby.rows] == ["table-2", "table-9"]
    hall.key("down", "enter")
    assert ("sit_at", first.table) in hall.table.asked


def test_a_table_of_another_version_says_so() -> None:
    hall = Hall()
    hall.see(hall.table.other_table(4, version=9))
    hall.key("down", "enter")
    assert "another version" in hall.text()
    assert hall.table.asked == []


def test_a_click_selects_and_a_second_one_sits_down() -> None:
    hall = Hall()
    other = hall.table.other_table(4)
    hall.see(other)
    target = f"table:{other.table.hex()}"
    hall.desk.click(target, 0.0)
    assert hall.table.asked == []
    hall.desk.click(target, 0.0)
    assert hall.table.asked == [("sit_at", other.table)]


def test_many_tables_scroll_with_the_cursor() -> None:
    hall = Hall()
    hall.see(*(hall.table.other_table(number) for number in range(1, 20)))
    for _ in range(19):
        hall.key("down")
        assert hall.desk.lobby.selected is not None
        assert hall.desk.lobby.selected.name in hall.text()


@pytest.mark.parametrize(
    ("key", "rules"),
    [
        ("d", TableRules(3, 1, 120)),
        ("g", TableRules(2, 2, 120)),
        ("t", TableRules(2, 1, 300)),
        ("m", TableRules(2, 1, 120, False)),
    ],
)
def test_keys_change_the_table_rules(key: str, rules: TableRules) -> None:
    hall = Hall()
    hall.key(key)
    assert hall.table.asked == [("change_rules", rules)]


def test_the_memory_aid_is_switched_off_and_on_for_the_table() -> None:
    hall = Hall()
    assert "memory aid" not in hall.text()
    hall.key("m")
    for width in (80, 140):
        words = " ".join(line.partition("│")[0].strip() for line in hall.text(width).splitlines()[2:4])
        assert words.strip() == "2 decks, 1 game, 120 seconds for each move, no memory aid"
    hall.key("m")
    assert "memory aid" not in hall.text()


@pytest.mark.parametrize("language", ["en", "lv"])
def test_where_words_of_keys_do_not_fit_the_keys_stay(language: str) -> None:
    """Broken by: a row of keys that runs off the screen, with help and leave at its end."""
    i18n.use(language)
    hall = Hall()
    hall.desk.lobby.show(hall.table.lobby_update(), 0.0)
    hall.key("enter")
    hall.desk.tick(31.0)
    row = hall.text().rstrip().splitlines()[-1].split()
    assert row[:1] == ["n"]
    assert row[-4:] == ["?", i18n._("help"), "q", i18n._("leave")]
    assert {"w", "d", "g", "t", "m", "o", "p"} < set(row)


def test_after_ten_seconds_alone_there_is_a_reason_and_a_way() -> None:
    """Field report 4."""
    hall = Hall(seated=1)
    hall.desk.tick(9.0)
    assert "firewall" not in hall.text()
    assert hall.desk.tick(10.1)
    assert "firewall" in hall.text()
    assert "Press p" in " ".join(hall.text().split())
    hall.see(hall.table.other_table(3))
    assert "firewall" not in hall.text()


def test_an_address_is_typed_or_pasted() -> None:
    hall = Hall(seated=1)
    hall.key("p", *"10.0.0.7x", "backspace", *":47000", "enter")
    assert hall.table.asked == [("dial", "10.0.0.7:47000")]
    hall.key("p")
    hall.desk.lobby.paste(" host:1\nnonsense")
    hall.key("enter")
    assert hall.table.asked[-1] == ("dial", "host:1")
    hall.key("p", "q", "escape")
    assert len(hall.table.asked) == 2


def test_starting_without_the_slow_ones_is_offered_late() -> None:
    hall = Hall()
    hall.key("enter")
    assert "start without" not in hall.text(100)
    hall.desk.tick(31.0)
    assert "start without" in hall.text(100)
    hall.key("w")
    assert hall.table.asked[-1] == ("ready", 2)


def test_equal_names_are_told_apart() -> None:
    """Field report 34."""
    hall = Hall()
    update = hall.table.lobby_update()
    people = tuple(
        replace(person, name=name) for person, name in zip(update.seated, ("Ann", "Аnn", "Bo"), strict=True)
    )
    hall.desk.show(replace(update, seated=people), 0.0)
    rows = [line for line in hall.text().splitlines() if "nn " in line]
    assert len(rows) == 2
    assert all("#" in row for row in rows)


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("face", Face)
def test_who_is_who_has_a_mark_and_its_meaning(face: Face, language: str) -> None:
    """Without colours; in a narrow terminal; who is here under a known name with another key, with a warning."""
    i18n.use(language)
    hall = Hall()
    key = hall.table.members[2].key
    hall.table.acquaintances[key] = Acquaintance(face, "Centis", 0.0)
    hall.table.lobby()
    rows = [line[:48] for line in hall.text().splitlines()]
    (row,) = (row for row in rows if "Centis" in row and "✓" in row)
    assert f" {MARKS[face]} " in row
    legend = {"en": ("+ new", "= known", "! other key"), "lv": ("+ jauns", "= pazīstams", "! cita atslēga")}
    assert any(text in row for text in legend[language] for row in rows if text[0] == MARKS[face])
    text = " ".join(part.strip() for part in rows)
    warning = {"en": "is not the Centis with whom you played", "lv": "nav tas spēlētājs Centis"}[language]
    assert (warning in text) == (face is Face.CHANGED)
    assert (f"Centis #{hall.table.tags[2][:4]}" in row) == (face is Face.CHANGED)


def test_a_warning_goes_with_the_game() -> None:
    hall = Hall()
    hall.table.acquaintances[hall.table.members[2].key] = Acquaintance(Face.CHANGED, "Centis", 0.0)
    hall.table.lobby()
    hall.desk.show(hall.table.update(phase=MatchPhase.KEY_COMMIT), 0.0)
    assert hall.desk.game is not None
    assert any(entry.text.startswith("Careful: this Centis #") for entry in hall.desk.game.log)


def test_ctrl_c_leaves_the_lobby_at_once() -> None:
    hall = Hall()
    hall.desk.interrupt()
    assert hall.table.asked == [("leave", None)]
    assert hall.desk.closed
