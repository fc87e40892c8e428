"""The installed command, run as people run it: in a terminal of its own, or at the end of a pipe."""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from otto_p2p.cli import main

COMMAND = Path(sys.executable).with_name("otto-p2p")
PATIENCE = 120.0  # seconds for anything at all: a deadline ends a hang, it does not measure


def environment(**more: str) -> dict[str, str]:
    """A plain English terminal."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "TERM": "xterm", **more}


def run(
    *arguments: str, stdin: str | None = None, timeout: float = 3 * PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, with pipes; `stdin` None is an empty input."""
    return subprocess.run(
        [str(COMMAND), *arguments],
        input="" if stdin is None else stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(),
        check=False,
    )


def verified(transcript: Path) -> str:
    """The final digest of a transcript that holds, as `otto-p2p verify` says it.

    In this process: of the transcripts of one game, proofs and signatures are checked once.
    """
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = main(["--lang", "en", "verify", str(transcript)])
    digest = re.search(r"final digest ([0-9a-f]{64})", said.getvalue())
    assert status == 0, said.getvalue()
    assert digest is not None, said.getvalue()
    return digest[1]


class Terminal:
    """The command in a pseudo terminal. `text` is all that it has shown."""

    def __init__(self, *arguments: str, **variables: str) -> None:
        self.master, slave = os.openpty()
        self._slave = slave  # kept open: its settings are looked at when the program has ended
        self.settings_before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [str(COMMAND), *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=environment(**variables),
            preexec_fn=_own_terminal,
        )
        self.text = ""
        self._mark = 0

    @property
    def settings(self) -> list[object]:
        """The terminal's settings now, as `stty -g` shows them."""
        return list(termios.tcgetattr(self._slave))

    def read(self, seconds: float) -> bool:
        """Take what comes within so many seconds; False when nothing did."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the program has ended
            return False
        self.text += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def expect(self, pattern: str, seconds: float = PATIENCE) -> re.Match[str]:
        """Wait until the pattern appears after what was expected last."""
        end = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.text[self._mark :])
            if match is not None:
                self._mark += match.end()
                return match
            left = end - time.monotonic()
            ended = self.process.poll() is not None
            if not self.read(max(0.0, min(left, 0.2))) and (left <= 0 or ended):
                raise AssertionError(f"{pattern!r} was not shown; the end of what was: {self.text[-2000:]}")

    def type(self, line: str) -> None:
        """Type a line and Enter."""
        os.write(self.master, line.encode() + b"\n")

    def key(self, data: bytes) -> None:
        """Type bytes as they are (Ctrl-C is b"\\x03")."""
        os.write(self.master, data)

    def wait(self, seconds: float = PATIENCE) -> int:
        """Wait for the end of the program; its exit status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            self.read(0.1)
            if time.monotonic() > end:
                raise AssertionError(f"still running; the end of what was shown: {self.text[-2000:]}")
        while self.read(0.05):
            pass
        return self.process.returncode

    def close(self) -> None:
        """End the program, whatever it does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.master)
        os.close(self._slave)


def _own_terminal() -> None:
    """Make the pseudo terminal the controlling one: Ctrl-C reaches the program."""
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextlib.contextmanager
def terminals(*command_lines: Sequence[str]) -> Iterator[list[Terminal]]:
    """Several programs, each in its own terminal, ended at the end."""
    with contextlib.ExitStack() as stack:
        started = []
        for command_line in command_lines:
            terminal = Terminal(*command_line)
            stack.callback(terminal.close)
            started.append(terminal)
        yield started


def wait_for_all(people: Sequence[Terminal], seconds: float = 3 * PATIENCE) -> list[int]:
    """Read from all until all have ended (a terminal that nobody reads stops its program); their statuses."""
    end = time.monotonic() + seconds
    while any(person.process.poll() is None for person in people):
        for person in people:
            person.read(0.02)
        assert time.monotonic() < end, "\n\n".join(person.text[-1500:] for person in people)
    return [person.wait() for person in people]


def address_of(opened: Terminal) -> str:
    """127.0.0.1:PORT of a peer that has shown how to join it."""
    port = opened.expect(r"otto-p2p join --peer \S+:(\d+)")[1]
    return f"127.0.0.1:{port}"
