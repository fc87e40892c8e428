"""How fast the screen is, in a real terminal with real peers: `python -m tests.ui.measure_screen --bots 9`.

Plays one game with the usual choices against built-in players (all of them real peers, with all of the
cryptography), and all the time presses `m`, which swaps the log and the memory aid. What is measured is the
time from the key press until the bytes of the other heading come out. The built-in players are in the same
process; with `--apart` they are in another one, which is what a table of people is like.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.ui.screen_terminal import ScreenTerminal

COMMAND = Path(sys.executable).with_name("otto-p2p")
HEADINGS = (b"Cards not seen yet", b"What happened")
STALL = 0.25
SIZE = (80, 24)  # wider, both headings are there all the time
TURN = b"\x1b]0;Your turn"


class Probe(ScreenTerminal):
    """A terminal that only looks at bytes."""

    def seen(self, what: bytes, since: int, seconds: float) -> float | None:
        """When these bytes came out, as seconds from now; None if they did not."""
        begun = time.perf_counter()
        while time.perf_counter() - begun < seconds:
            if self.raw.find(what, since) >= 0:
                return time.perf_counter() - begun
            self.read(0.01)
        return None


@contextlib.contextmanager
def others(players: int, decks: int, folder: str) -> Iterator[list[str]]:
    """All other players in one process of their own; the arguments that lead to them."""
    command = [str(COMMAND), "join", "--plain", "--auto", "--players", str(players), "--decks", str(decks)]
    command += ["--bots", str(players - 2), "--name", "Zane", "--no-mdns", "--data-dir", f"{folder}/others"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = next(line.split()[-1] for line in process.stdout if "--peer" in line)
        with open(f"{folder}/rest", "w") as rest:
            thread = threading.Thread(target=shutil.copyfileobj, args=(process.stdout, rest))
            thread.start()
            try:
                yield ["--peer", address]
            finally:
                process.kill()
                thread.join()
    finally:
        process.kill()
        process.wait()


def latency(bots: int, decks: int, *, apart: bool) -> None:
    """Play and print."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        command = [str(COMMAND), "join", "--decks", str(decks), "--no-mdns", "--data-dir", f"{folder}/me"]
        if apart:
            command += stack.enter_context(others(bots + 1, decks, folder))
        else:
            command += ["--bots", str(bots)]
        terminal = Probe(command, *SIZE)
        times: list[tuple[float, float]] = []
        begun = time.perf_counter()
        try:
            terminal.expect("built-in")
            terminal.until(lambda: terminal.text.count("built-in") == bots)
            while "I am ready" in terminal.text:
                terminal.type("\r")
                terminal.read(1)
            terminal.expect("What happened", 60)
            shown, answered, pauses = 0, 0, 0
            while b"otto-p2p verify" not in terminal.raw and time.perf_counter() - begun < 1800:
                title = terminal.raw.rfind(b"\x1b]0;")
                if terminal.raw.startswith(TURN, title) and title > answered:
                    answered = title
                    terminal.type("\r\r")  # the second one sends it at once
                since = len(terminal.raw)
                terminal.type("m")
                took = terminal.seen(HEADINGS[shown], since, 5)
                if took is not None:
                    times.append((took, time.perf_counter() - begun))
                    shown = 1 - shown
                else:
                    pauses += 1
                terminal.seen(b"otto-p2p verify", len(terminal.raw), 0.1)
        finally:
            terminal.close()
    values = sorted(took for took, _ in times)
    print(
        f"{bots + 1} players, {decks} decks: {len(values)} key presses in "
        f"{times[-1][1]:.0f} s: median {statistics.median(values) * 1000:.0f} ms, "
        f"95 % {values[int(len(values) * 0.95)] * 1000:.0f} ms, worst {values[-1] * 1000:.0f} ms, "
        f"over {STALL * 1000:.0f} ms: {sum(value > STALL for value in values)}, not answered: {pauses}"
    )


def start() -> None:
    """`--version`, and the time until the lobby is drawn."""
    times = []
    for _ in range(7):
        begun = time.perf_counter()
        subprocess.run([str(COMMAND), "--version"], check=True, capture_output=True)
        times.append(time.perf_counter() - begun)
    print(f"--version: {statistics.median(times) * 1000:.0f} ms")
    times = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            terminal = ScreenTerminal([str(COMMAND), "join", "--no-mdns", "--data-dir", folder], 80, 24)
            try:
                terminal.expect("I am ready")
                times.append(time.perf_counter() - begun)
            finally:
                terminal.close()
    print(f"until the lobby is drawn: {statistics.median(times) * 1000:.0f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bots", type=int, default=9)
    parser.add_argument("--decks", type=int, default=2)
    parser.add_argument("--apart", action="store_true")
    wanted = parser.parse_args()
    start()
    latency(wanted.bots, wanted.decks, apart=wanted.apart)


if __name__ == "__main__":
    main()
