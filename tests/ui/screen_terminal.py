"""A program in a pseudo terminal whose screen is read by a terminal emulator (pyte)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyte

PATIENCE = 120.0  # a deadline ends a hang, it does not measure
ROOT = Path(__file__).parents[2]
CHOSEN = "56b4e9"  # the background of what Enter takes


class ScreenTerminal:
    """A running program and its screen."""

    def __init__(self, command: Sequence[str], columns: int, rows: int, **variables: str) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._open = True
        self._master, self._slave = os.openpty()  # the slave stays open: its settings are compared
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings_before = self.settings
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.process = subprocess.Popen(
            command,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
            preexec_fn=_own_terminal,
            cwd=ROOT,
            env={
                **kept,
                "PYTHONPATH": f"{ROOT}:{ROOT / 'protocol'}",
                "LANG": "C.UTF-8",
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                **variables,
            },
        )

    @property
    def settings(self) -> list[object]:
        """The settings of the terminal, all that `stty -g` shows."""
        return list(termios.tcgetattr(self._slave))

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(row.rstrip() for row in self.screen.display)

    def read(self, seconds: float) -> bool:
        """Take what comes; False when nothing did."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Read until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"not seen:\n{self.text}\n{self.raw[-500:]!r}")
            self.read(0.05)

    def expect(self, text: str, seconds: float = PATIENCE) -> None:
        """Read until this text is on the screen."""
        self.until(lambda: text in self.text, seconds)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def click(self, column: int, row: int) -> None:
        """Press and release the left button on a cell (from 0)."""
        place = f"{column + 1};{row + 1}"
        self.type(f"\x1b[<0;{place}M\x1b[<0;{place}m")

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal another size; the kernel tells the program."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def chosen(self) -> tuple[int, int] | None:
        """A cell of what Enter takes now: the highlighted button."""
        for row in range(self.screen.lines):
            for column in range(self.screen.columns):
                if self.screen.buffer[row][column].bg == CHOSEN:
                    return column, row
        return None

    def wait(self, seconds: float = PATIENCE) -> int:
        """Read until the program has ended; its exit status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0):
            pass
        return self.process.wait(timeout=1)

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        for descriptor in (self._slave, self._master):
            os.close(descriptor)
        self._open = False

    def close(self) -> None:
        """End the program, if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._open:
            for descriptor in (self._master, self._slave):
                os.close(descriptor)


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextlib.contextmanager
def fake_program(
    *arguments: str, size: tuple[int, int] = (80, 24), **variables: str
) -> Iterator[ScreenTerminal]:
    """The screen over a fake table in a terminal of this size."""
    command = [sys.executable, "-m", "tests.ui.fake_program", *arguments]
    terminal = ScreenTerminal(command, size[0], size[1], **variables)
    try:
        yield terminal
    finally:
        terminal.close()
