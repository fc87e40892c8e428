"""The installed command as players of the test LAN: started in their hosts, followed line by line."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lan.lab import Host

PATIENCE = 4  # a deadline ends a hang, it does not measure: so many times what is usual
HAND = r"^Your hand: "  # the first line that shows the cards


class Player:
    """One `otto-p2p join --plain` in a host. `lines` is what it has said, with the time of each line."""

    def __init__(self, host: Host, folder: Path, *options: str, auto: bool = True, name: str = "") -> None:
        self.host = host
        self.name = name or host.name
        self.folder = folder / self.name
        self.transcript = self.folder / "game.otto"
        self.options = options
        self.auto = auto
        self.lines: list[tuple[float, str]] = []
        self.folder.mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self) -> None:
        """Start the program, or start it again: with the same folder it is the same player."""
        self.started = time.monotonic()
        self.process: subprocess.Popen[str] = self.host.popen(
            [
                *("otto-p2p", "join", "--plain", "--name", self.name, *(["--auto"] if self.auto else [])),
                *("--data-dir", str(self.folder), "--transcript", str(self.transcript), *self.options),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            env={"LANG": "C.UTF-8", "LANGUAGE": "en"},
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                self.lines.append((time.monotonic(), line.rstrip("\n")))
        except ValueError:
            return  # the LAN was closed

    @property
    def text(self) -> str:
        """All that it has said."""
        return "\n".join(line for _, line in tuple(self.lines))

    def said_at(self, pattern: str) -> float | None:
        """When a line with this pattern first came (monotonic clock), or None."""
        return next((at for at, line in tuple(self.lines) if re.search(pattern, line)), None)

    def count(self, pattern: str) -> int:
        """How many lines have this pattern."""
        return sum(1 for _, line in tuple(self.lines) if re.search(pattern, line))

    def type(self, line: str) -> None:
        """Type a line and Enter."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it without a word, and wait until it is gone."""
        self.process.kill()
        self.process.wait(10)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `otto-p2p verify` says of a transcript: its exit status, all its lines, the final digest (hex)."""

    status: int
    text: str
    digest: str


def verified(player: Player) -> Verdict:
    """Verify the transcript of a player with the installed command."""
    found = player.host.run(
        ["otto-p2p", "verify", str(player.transcript)], env={"LANGUAGE": "en"}, timeout=60 * PATIENCE
    )
    digest = re.search(r"\b[0-9a-f]{64}\b", found.stdout)
    return Verdict(found.returncode, found.stdout + found.stderr, digest[0] if digest else "")


def wait(condition: Callable[[], bool], seconds: float, players: Sequence[Player]) -> float:
    """Wait until the condition holds, usually within so many seconds; those that it took.

    Fails with what the players have said last.
    """
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > seconds * PATIENCE:
            tails = "\n\n".join(f"-- {one.name}\n{one.text[-1500:]}" for one in players)
            raise AssertionError(f"not within {seconds * PATIENCE} s\n{tails}")
        time.sleep(0.05)
    return time.monotonic() - begin


def play_to_the_end(players: Sequence[Player], seconds: float) -> None:
    """Wait until all have ended well, and see that they played one and the same game."""
    wait(lambda: all(one.process.poll() is not None for one in players), seconds, players)
    assert [one.process.returncode for one in players] == [0] * len(players), players[0].text[-2000:]
    assert not [line for one in players for _, line in one.lines if "Traceback" in line]
    verdicts = [verified(one) for one in players]
    assert [verdict.status for verdict in verdicts] == [0] * len(players), verdicts
    assert verdicts[0].digest
    assert {verdict.digest for verdict in verdicts} == {verdicts[0].digest}
