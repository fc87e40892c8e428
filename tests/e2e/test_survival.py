"""Real processes that are killed, stopped and told to end in the middle of a game: the table survives."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.program import COMMAND, PATIENCE, environment, run, verified
from tests.e2e.test_play import transcript_in

PORTS = (27791, 27792, 27793)  # below those that the system gives to others


class Auto:
    """A built-in player at the command line. Its folder makes it the same player when it is started again."""

    def __init__(self, folder: Path, place: int, *options: str) -> None:
        self.name = "ABC"[place]
        self._log = folder / f"{self.name}.log"
        self._command = [
            *(str(COMMAND), "join", "--auto", "--plain", "--no-mdns", "--players", "3", "--name", self.name),
            *("--data-dir", str(folder / self.name), "--port", str(PORTS[place])),
            *(option for port in PORTS[:place] for option in ("--peer", f"127.0.0.1:{port}")),
            *options,
        ]
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment()
            )

    @property
    def text(self) -> str:
        return self._log.read_text()

    @property
    def turn(self) -> int:
        return max(
            (int(number) for number in re.findall(r"^Turn (\d+):", self.text, re.MULTILINE)), default=0
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


@contextlib.contextmanager
def three(folder: Path, *options: str) -> Iterator[list[Auto]]:
    players = [Auto(folder, place, *options) for place in range(3)]
    try:
        yield players
    finally:
        for player in players:
            player.process.send_signal(signal.SIGCONT)
            player.kill()


def until(condition: Callable[[], bool], players: Sequence[Auto], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "\n\n".join(player.text[-1500:] for player in players)
        time.sleep(0.05)


def ended(players: Sequence[Auto]) -> None:
    """All have ended by themselves, with one result, and transcripts that hold."""
    until(lambda: all(player.process.poll() is not None for player in players), players, 3 * PATIENCE)
    assert [player.process.returncode for player in players] == [0] * len(players)
    assert not [player.text for player in players if "Traceback" in player.text]
    assert len({verified(transcript_in(player.text)) for player in players}) == 1


def test_killed_and_back_at_the_same_seat_with_the_same_hand(tmp_path: Path) -> None:
    """Field report 44: who comes back can act."""
    with three(tmp_path) as players:
        until(lambda: players[2].turn >= 2, players)
        players[2].kill()
        time.sleep(0.5)
        players[2].start()
        ended(players)
        assert "You are back at your seat, with your hand." in players[2].text
        assert "The table goes on without" not in players[0].text


def test_all_are_killed_at_once_again_and_again(tmp_path: Path) -> None:
    with three(tmp_path) as players:
        for pause in (1.0, 2.2, 3.1):
            time.sleep(pause)
            for player in players:
                player.kill()
            for player in players:
                player.start()
        ended(players)


def test_told_to_end_it_leaves_in_good_order(tmp_path: Path) -> None:
    """The others are told at once; nobody waits for the grace period."""
    with three(tmp_path) as players:
        until(lambda: players[0].turn >= 2, players)
        players[1].process.send_signal(signal.SIGTERM)
        assert players[1].process.wait(PATIENCE) == 0
        until(
            lambda: all("The table goes on without B" in players[place].text for place in (0, 2)), players, 60
        )
        ended([players[0], players[2]])


@pytest.mark.parametrize("returns", [True, False])
def test_frozen_is_noticed_and_not_taken_for_thinking(tmp_path: Path, returns: bool) -> None:
    """Field report 13: SIGSTOP closes no connection."""
    grace = "60" if returns else "6"
    with three(tmp_path, "--grace", grace) as players:
        until(lambda: players[0].turn >= 2, players)
        sleeper = players[1]
        sleeper.process.send_signal(signal.SIGSTOP)
        until(lambda: all("Nothing is heard from B." in players[place].text for place in (0, 2)), players)
        turn = players[0].turn
        if returns:
            sleeper.process.send_signal(signal.SIGCONT)
            until(lambda: sleeper.turn > turn + 1, players)
            assert "The table goes on without" not in players[0].text
        else:
            until(lambda: "The table goes on without B" in players[0].text, players)
            until(lambda: players[2].turn > turn + 1, players)
            sleeper.process.send_signal(signal.SIGCONT)
            until(lambda: sleeper.process.poll() is not None, players)
            assert "The others have gone on without you" in sleeper.text


def test_a_full_disk_is_one_line_and_nothing_is_lost(tmp_path: Path) -> None:
    """Field report 43: what cannot be stored is not sent; with room again the game goes on."""
    options = ("join", "--bots", "2", "--auto", "--plain", "--no-mdns", "--data-dir", str(tmp_path))
    full = subprocess.run(
        ["bash", "-c", 'ulimit -f 700; exec "$@"', "bash", str(COMMAND), *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=False,
    )
    assert full.returncode == 1, full.stdout[-500:]
    assert "journal" in full.stderr
    assert full.stderr.count("\n") == 1
    played = run(*options)
    assert played.returncode == 0, played.stderr
    assert "You are back at your seat, with your hand." in played.stdout
    assert run("verify", str(transcript_in(played.stdout))).returncode == 0
