"""Texts: every one is translated, the catalogues fit the sources, nothing strange reaches a terminal."""

from __future__ import annotations

import doctest
import re
import string
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from otto_p2p import i18n, lookalikes
from otto_p2p.lookalikes import tags
from otto_p2p.players.bots import Why
from otto_p2p.texts import hints, news, safe
from otto_p2p.updates import News, Notice
from otto_protocol.lobby.actions import Cause
from otto_protocol.lobby.names import INVISIBLE, name_problem
from otto_protocol.lobby.seating import Lack, Obstacle
from otto_protocol.roster import Member
from tests.ui import catalogue


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    i18n.use("en")
    yield
    i18n.use("en")


def test_every_text_has_a_latvian_translation() -> None:
    """Broken by: a new text without a run of `python -m tests.ui.catalogue` and a translation."""
    texts = {(message.id, message.context) for message in catalogue.template() if message.id}
    translated = {(message.id, message.context) for message in catalogue.read("lv") if message.id}
    assert texts == translated
    assert catalogue.untranslated(catalogue.read("lv")) == []


def test_the_compiled_catalogue_fits_its_source() -> None:
    path = catalogue.po_file("lv").with_suffix(".mo")
    assert path.read_bytes() == catalogue.compiled(catalogue.read("lv"))


def test_translations_have_the_same_places_to_fill() -> None:
    for message in catalogue.read("lv"):
        if message.id:
            ids = message.id if isinstance(message.id, tuple) else (message.id,)
            strings = message.string if isinstance(message.string, tuple) else (message.string,)
            wanted = places(ids[-1])
            assert all(places(text) == wanted for text in strings), message.id


def places(text: str) -> set[str]:
    named = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    return named | set(re.findall(r"%\(\w+\)\w|%\w", text))


@pytest.mark.parametrize(
    ("number", "form"),
    [
        (0, "0 punktu"),
        (1, "1 punkts"),
        (2, "2 punkti"),
        (10, "10 punktu"),
        (11, "11 punktu"),
        (21, "21 punkts"),
    ],
)
def test_latvian_has_three_plural_forms(number: int, form: str) -> None:
    i18n.use("lv")
    assert i18n.ngettext("{n} point", "{n} points", number).format(n=number) == form


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "lv_LV.UTF-8"}, "lv"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "lv_LV.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "en_GB", "LC_MESSAGES": "lv_LV"}, "lv"),
        ({"LANGUAGE": "et:lv:en", "LANG": "en_US.UTF-8"}, "lv"),
        ({}, "en"),
    ],
)
def test_the_language_follows_the_environment(environment: dict[str, str], language: str) -> None:
    assert i18n.from_environment(environment) == language


def test_every_value_has_its_words() -> None:
    for kind in News:
        assert news.news(Notice(kind, ("one", "two", "three", "four")))
    for cause in Cause:
        assert (
            "not" in news.news(Notice(News.NOT_STARTED, (cause.value, "Bob"))).lower()
            or cause is Cause.OWN_WISH
        )
    for lack in Lack:
        assert news.obstacle(Obstacle(lack, b"a", b"b"), {b"a": "Anna", b"b": "Bob"}, b"")
    assert set(hints._HINTS) == set(Why)


HOSTILE = "\x1b[2J\x1b[31mX", "\x1b]0;p\x07", "a\nb", "\u202eabc", "Ann\u200b", "\x9b31m", "\ue000", "\u2028x"


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_strange_reaches_a_terminal(text: str) -> None:
    """Field report 32: shown escaped, and still to be recognized."""
    shown = safe.safe(text)
    assert shown != text
    assert shown.isprintable()
    assert "\\" in shown


@pytest.mark.parametrize("char", sorted(INVISIBLE - set(map(chr, range(0xE0000, 0xE1000)))))
def test_what_shows_nothing_is_escaped(char: str) -> None:
    """The last of them, the emoji style U+FE0F, too: behind a letter it is a second name that looks the same."""
    assert safe.safe(f"a{char}b") == f"a\\u{ord(char):04x}b"


@pytest.mark.parametrize("name", ["❤️", "👍🏽️", "👨‍👩‍👧", "❤️‍🔥", "a\u0301\u0302\u0303"])
def test_what_is_taken_in_a_name_is_shown_as_it_is(name: str) -> None:
    name = unicodedata.normalize("NFC", name)
    assert name_problem(name) is None
    assert safe.safe(name) == name


def test_ordinary_names_are_left_alone() -> None:
    for name in ("Jānis", "漢字", "❤️", "👨‍👩‍👧", "Zoë d'Or", "Анна", "🂡"):
        assert safe.safe(name) == name
    assert len(safe.safe("x" * 10_000)) < 500


def test_a_cheat_with_and_without_evidence() -> None:
    words = ("Bob", "P4", "the opening does not fit")
    assert news.news(Notice(News.CHEAT, (*words, ""))) == "Bob broke rule P4: the opening does not fit"
    assert news.news(Notice(News.CHEAT, (*words, "/e.otto"))).endswith(" The evidence is in /e.otto")


def test_notices_are_escaped() -> None:
    shown = news.news(Notice(News.LEFT, ("\x1b[31mX",)))
    assert "\x1b" not in shown
    assert "{0}" not in shown
    assert "{name}" in news.news(Notice(News.LEFT, ("{name}",)))  # not filled in again


def test_names_that_look_alike_get_tags() -> None:
    """Field report 34: told apart wherever names are shown."""
    keys = [bytes([number]) * 32 for number in range(9)]
    names = ["Ann", "Ann\u200b", "Аnn", "Bob", "B0b", "Jānis", "Janis", "Zane", "АННА"]
    found = tags(names, keys)
    assert [bool(mark) for mark in found] == [True] * 7 + [False, False]
    shown = [safe.with_tag(name, mark) for name, mark in zip(names, found, strict=True)]
    assert len(set(shown)) == len(shown)


def test_a_name_cannot_pretend_to_have_a_tag() -> None:
    keys = [bytes([number]) * 32 for number in range(3)]
    pretended = f"Ann #{lookalikes.tag(keys[0])}"
    shown = lookalikes.told_apart(map(Member, keys, ("Ann", "Ann", pretended)))
    assert shown[0] == pretended
    assert shown[2] == f"{pretended} #{lookalikes.tag(keys[2])}"


def test_a_tag_that_was_searched_for_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four letters are 20 bits: a key with somebody else's tag is found in minutes."""
    prints = {b"a": "abcd-efgh-aaaa-aaaa", b"b": "abcd-efgx-aaaa-aaaa", b"c": "xyzw-aaaa-aaaa-aaaa"}
    monkeypatch.setattr(lookalikes, "fingerprint", prints.__getitem__)
    assert tags(["Ann"] * 3, list(prints)) == ("abcd-efgh", "abcd-efgx", "xyzw")


def test_long_names_that_begin_alike_get_tags() -> None:
    """A narrow column shows their beginning only."""
    assert all(tags(["Maximilian Alexander", "Maximilian Alexandra"], [b"a" * 32, b"b" * 32]))
    assert not any(tags(["Max", "Maximilian"], [b"a" * 32, b"b" * 32]))


def test_examples() -> None:
    assert doctest.testmod(safe).failed == 0


def test_the_rules_are_there_in_every_language() -> None:
    for language in i18n.LANGUAGES:
        text = (Path(i18n.__file__).parent / "texts" / f"rules_{language}.md").read_text(encoding="utf-8")
        for rule in [*(f"T{n}" for n in range(1, 18)), *(f"R{n}" for n in range(1, 18))]:
            assert f"**{rule}.**" in text, (language, rule)
