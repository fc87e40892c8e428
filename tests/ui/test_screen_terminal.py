"""The screen in a real terminal: whole games by keys and by mouse, and the terminal as it was afterwards."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.ui.screen_terminal import PATIENCE, ScreenTerminal, fake_program

SHORT = "fake13"  # a game of 37 decisions
TURN = {"en": "Your turn - Otto", "lv": "Tavs gājiens - Otto"}
OVER = {"en": "The match is over", "lv": "Mačs beidzies"}
READY = {"en": "I am ready", "lv": "Esmu gatavs"}


def asked(terminal: ScreenTerminal, language: str) -> bool:
    return bool(terminal.screen.title == TURN[language])


def play(terminal: ScreenTerminal, language: str, *, mouse: bool) -> int:
    """A whole match with the usual choices; how many keys or clicks it took."""
    presses = 0
    terminal.expect(READY[language])
    terminal.type("\r")
    terminal.until(lambda: asked(terminal, language))
    terminal.type("a")
    end = time.monotonic() + 3 * PATIENCE
    while OVER[language] not in terminal.text:
        assert time.monotonic() < end, terminal.text
        while terminal.read(0.005):
            pass
        if asked(terminal, language):
            place = terminal.chosen()
            if mouse and place is not None:
                terminal.click(*place)
            else:
                terminal.type("\r")
            presses += 1
            terminal.read(0.5)
            while terminal.read(0.02):
                pass
        elif "▀▀█▀▀" in terminal.text:
            terminal.type("\r")  # Otto has been seen enough
            terminal.read(0.3)
        else:
            terminal.read(0.05)
    return presses


@pytest.mark.parametrize(
    ("language", "size", "mouse"),
    [("en", (80, 24), False), ("lv", (140, 40), True)],
)
def test_a_whole_game(language: str, size: tuple[int, int], mouse: bool, tmp_path: Path) -> None:
    """Issue D, 1. With repeated choices on automatic: it takes a third less time."""
    goodbye = tmp_path / "goodbye"
    with fake_program("--seed", SHORT, "--lang", language, "--goodbye", str(goodbye), size=size) as terminal:
        assert play(terminal, language, mouse=mouse) > 10
        terminal.until(lambda: terminal.chosen() is not None)
        place = terminal.chosen()
        assert place is not None
        if mouse:
            terminal.click(*place)
        else:
            terminal.type("\r")
        terminal.expect("★1")
        terminal.type("qq")
        assert terminal.wait() == 0
        assert "match.otto" in terminal.text, "the result stays in the terminal"
        assert terminal.settings == terminal.settings_before
        assert goodbye.exists()


def leave_by_key(terminal: ScreenTerminal) -> None:
    terminal.type("q")
    terminal.expect("Leave the game for good?")
    terminal.type("q")


def leave_by_ctrl_c(terminal: ScreenTerminal) -> None:
    terminal.type("\x03")
    terminal.expect("Leave the game for good?")
    terminal.type("\x03")


def by_signal(number: int) -> object:
    def send(terminal: ScreenTerminal) -> None:
        os.kill(terminal.process.pid, number)
        if number == signal.SIGINT:
            terminal.expect("Leave the game for good?")
            os.kill(terminal.process.pid, number)

    return send


@pytest.mark.parametrize(
    ("way", "status"),
    [
        (leave_by_key, 0),
        (leave_by_ctrl_c, 130),
        (by_signal(signal.SIGTERM), 0),
        (by_signal(signal.SIGHUP), 0),
        (by_signal(signal.SIGINT), 130),
    ],
    ids=["q", "ctrl-c", "SIGTERM", "SIGHUP", "SIGINT"],
)
def test_the_terminal_is_as_it_was(way: object, status: int, tmp_path: Path) -> None:
    """Issue D, 3; field report 42."""
    goodbye = tmp_path / "goodbye"
    with fake_program("--goodbye", str(goodbye)) as terminal:
        terminal.expect("I am ready")
        terminal.type("\r")
        terminal.expect("Which number")
        assert terminal.settings != terminal.settings_before
        way(terminal)  # type: ignore[operator]
        assert terminal.wait() == status
        check_restored(terminal)
        assert goodbye.exists(), "the others were not told"


@pytest.mark.parametrize("crash", ["network", "screen"])
def test_a_crash_leaves_the_terminal_as_it_was(crash: str, tmp_path: Path) -> None:
    goodbye = tmp_path / "goodbye"
    with fake_program("--crash", crash, "--goodbye", str(goodbye)) as terminal:
        terminal.expect("I am ready")
        if crash == "screen":
            terminal.type("\r")
            terminal.expect("Which number")
            terminal.type("\r")
        assert terminal.wait() != 0
        check_restored(terminal)
        assert goodbye.exists(), "the others were not told"
        told = terminal.raw.decode("utf-8", "replace").rpartition("\x1b[?1049l")[2]
        assert ("crash: the network has crashed" if crash == "network" else "Error") in told
        assert "Secret(" not in told, "cards in a crash report"
        assert "locals" not in told
        assert "╭" not in told, "Textual's report has all local variables"


def check_restored(terminal: ScreenTerminal) -> None:
    assert terminal.settings == terminal.settings_before
    for switched_on, switched_off in (("?1049h", "?1049l"), ("?25l", "?25h"), ("?1000h", "?1000l")):
        on = terminal.raw.rfind(f"\x1b[{switched_on}".encode())
        off = terminal.raw.rfind(f"\x1b[{switched_off}".encode())
        assert off > on, switched_off


def test_too_small_and_back_on_ones_turn() -> None:
    """Field report 36, in a terminal."""
    with fake_program() as terminal:
        terminal.expect("I am ready")
        terminal.type("\r")
        terminal.expect("Which number")
        first = terminal.text
        terminal.type("4")  # no card of that number is held: none stands out any more
        terminal.until(lambda: terminal.text != first)
        while terminal.read(0.3):
            pass
        before = terminal.text
        for size in ((40, 12), (2, 1), (79, 24)):
            terminal.resize(*size)
            while terminal.read(0.3):
                pass
            terminal.type("\r")
        terminal.resize(80, 24)
        terminal.until(lambda: terminal.text == before)


def test_no_color_means_none() -> None:
    with fake_program(NO_COLOR="1") as terminal:
        terminal.expect("I am ready")
        terminal.type("\r")
        terminal.expect("Which number")
        colours = re.findall(
            rb"\x1b\[[0-9;]*?(?:3[0-7]|4[0-7]|38|48|9[0-7]|10[0-7])(?:;[0-9;]*)?m", terminal.raw
        )
        assert colours == []


def test_a_poor_encoding_gets_ascii() -> None:
    with fake_program("--lang", "lv", PYTHONIOENCODING="ascii", LANG="C", PYTHONUTF8="0") as terminal:
        terminal.until(lambda: asked(terminal, "lv") or "Esmu gatavs" in terminal.text)
        terminal.type("\r")
        terminal.expect("Kuru")
        assert terminal.text.isascii(), terminal.text


def test_the_bell_rings_once_a_question() -> None:
    with fake_program() as terminal:
        terminal.expect("I am ready")
        terminal.type("\r")
        terminal.until(lambda: asked(terminal, "en"))
        bells = re.sub(rb"\x1b\][^\x07]*\x07", b"", terminal.raw).count(b"\x07")
        assert bells == 1


def test_a_terminal_that_goes_away_ends_the_program_in_good_order(tmp_path: Path) -> None:
    """Its window was closed: SIGHUP, and every write fails from then on."""
    goodbye = tmp_path / "goodbye"
    with fake_program("--goodbye", str(goodbye)) as terminal:
        terminal.expect("I am ready")
        terminal.type("\r")
        terminal.expect("Which number")
        terminal.hang_up()
        terminal.process.wait(timeout=PATIENCE)
        assert goodbye.exists(), "the others were not told"
