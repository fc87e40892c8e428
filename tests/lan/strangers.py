"""Strangers that connect and mean no good (silent, garbage, slow, TLS, reset), and what that costs.

`python -m tests.lan.strangers` plays a game of four and prints the time of a turn without them and with them.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import socket
import ssl
import statistics
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lan.lab import Host, Lan, problem
from tests.lan.players import Player, wait

PORT = 47701
KEPT = 256  # connections that stay open
A_MINUTE = 1000


class Flood:
    """Connections from one host to the players, `a_minute` of them, until `stop`."""

    def __init__(self, host: Host, targets: Sequence[str], a_minute: int = A_MINUTE, seed: int = 1) -> None:
        self.made = 0
        self.refused = 0
        self._host = host
        self._targets = targets
        self._pause = 60 / a_minute
        self._random = random.Random(seed)
        self._kept: deque[socket.socket] = deque()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, and close everything."""
        self._stopping.set()
        self._thread.join(10)
        while self._kept:
            self._kept.popleft().close()

    def _run(self) -> None:
        due = time.monotonic()
        kinds = (self._silent, self._garbage, self._slow, self._tls_and_garbage, self._reset)
        with self._host.entered():
            while not self._stopping.is_set():
                due += self._pause
                target = self._targets[self.made % len(self._targets)]
                try:
                    one = socket.create_connection((target, PORT), timeout=1)
                except OSError:
                    self.refused += 1
                else:
                    with contextlib.suppress(OSError):
                        one = kinds[self.made % len(kinds)](one)
                    self._kept.append(one)
                self.made += 1
                while len(self._kept) > KEPT:
                    self._kept.popleft().close()
                self._drip()
                self._stopping.wait(max(0.0, due - time.monotonic()))

    def _silent(self, one: socket.socket) -> socket.socket:
        return one

    def _garbage(self, one: socket.socket) -> socket.socket:
        one.sendall(self._random.randbytes(4096))
        return one

    def _slow(self, one: socket.socket) -> socket.socket:
        one.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")  # the beginning of a ClientHello
        return one

    def _tls_and_garbage(self, one: socket.socket) -> socket.socket:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        one.settimeout(0.5)
        secure = context.wrap_socket(one)
        self._kept.append(secure)
        secure.sendall(os.urandom(512))
        return one

    def _reset(self, one: socket.socket) -> socket.socket:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        one.close()
        return one

    def _drip(self) -> None:
        """One more byte on one of the connections that are open."""
        if self._kept:
            with contextlib.suppress(OSError):
                self._random.choice(self._kept).send(b"\0")


@dataclass(frozen=True, slots=True)
class Cost:
    """Median seconds of a turn without strangers and with them; connections made, those refused outright."""

    quiet: float
    flooded: float
    turns: int
    connections: int
    refused: int
    a_minute: float

    def __str__(self) -> str:
        return (
            f"median turn {1000 * self.quiet:.0f} ms without, {1000 * self.flooded:.0f} ms with strangers "
            f"({self.flooded / self.quiet:.2f} times; {self.turns} turns); {self.connections} connections "
            f"({self.a_minute:.0f} a minute), {self.refused} refused"
        )


def turn_times(player: Player, since: float, until: float) -> list[float]:
    """Seconds between the beginnings of turns that follow each other, of those in this time."""
    begun = [at for at, line in tuple(player.lines) if line.startswith("Turn ") and since <= at <= until]
    return [after - before for before, after in itertools.pairwise(begun)]


def measured(lan: Lan, folder: Path, count: int, seconds: float, a_minute: int = A_MINUTE) -> Cost:
    """Play so many seconds undisturbed and as many in a flood, by turns, in one match."""
    hosts = lan.hosts(count)
    players = [
        Player(host, folder, "--players", str(count), "--decks", "2", "--games", "99") for host in hosts
    ]
    wait(lambda: all(player.said_at("^Turn 2: ") for player in players), 60, players)
    evil = lan.host("evil")
    quiet: list[float] = []
    flooded: list[float] = []
    made = refused = 0
    for _ in range(2):
        begin = time.monotonic()
        time.sleep(seconds / 2)
        quiet += turn_times(players[0], begin, time.monotonic())
        flood = Flood(evil, [host.address() for host in hosts], a_minute)
        begin = time.monotonic()
        time.sleep(seconds / 2)
        flooded += turn_times(players[0], begin, time.monotonic())
        flood.stop()
        made, refused = made + flood.made, refused + flood.refused
    assert all(player.process.poll() is None for player in players)
    assert not any("Traceback" in player.text or "is lost" in player.text for player in players)
    return Cost(
        statistics.median(quiet), statistics.median(flooded), len(flooded), made, refused, 60 * made / seconds
    )


def main() -> None:
    """One line of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0, help="undisturbed, and as long with strangers")
    parser.add_argument("--a-minute", type=int, default=A_MINUTE)
    options = parser.parse_args()
    reason = problem()
    if reason is not None:
        raise SystemExit(reason)
    lan = Lan()
    try:
        with tempfile.TemporaryDirectory() as folder:
            print(measured(lan, Path(folder), options.players, options.seconds, options.a_minute))
    finally:
        lan.close()


if __name__ == "__main__":
    main()
