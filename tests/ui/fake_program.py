"""The full screen over a fake table, as a program for tests in a terminal: `python -m tests.ui.fake_program`.

Everything but the network is real: the screen, trio as its guest, the signals. The goodbye of the peer is a
line in a file.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import trio

from otto_p2p import i18n
from otto_p2p.screen.guest import Peer, Screen
from otto_p2p.screen.options import from_environment
from otto_p2p.screen.run import run_screen
from otto_p2p.updates import Update
from otto_protocol.hashing import Drbg
from otto_protocol.rules import moves
from tests.ui.fake_table import FakeTable

GOODBYE_SECONDS = 0.2


class Crash(RuntimeError):
    """The crash that a test has asked for."""


class CrashingTable(FakeTable):
    """Tells the screen something that it cannot digest, when it makes a move."""

    def act(self, move: moves.Move) -> None:
        self.tell(replace(self.update(), members=None))  # type: ignore[arg-type]


def peer(table: FakeTable, goodbye: Path | None, crash: str) -> Peer:
    """A peer that has nothing but its table."""

    async def run(screen: Screen) -> None:
        send, updates = trio.open_memory_channel[Update](10_000)
        table.tell = send.send_nowait
        table.lobby()
        try:
            async with trio.open_nursery() as nursery:
                if crash == "network":
                    nursery.start_soon(_crash)
                await screen(table, updates)
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(GOODBYE_SECONDS)
                if goodbye is not None:
                    goodbye.write_text("goodbye\n")

    return run


async def _crash() -> None:
    await trio.sleep(0.5)
    raise Crash("the network has crashed")


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lang", default="en")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--goodbye", type=Path)
    parser.add_argument("--crash", default="")
    parser.add_argument("--seed", default="fake")
    parser.add_argument("--grace", type=float, default=0.0)
    wanted = parser.parse_args()
    i18n.use(wanted.lang)
    table = (CrashingTable if wanted.crash == "screen" else FakeTable)(wanted.players, wanted.seed.encode())
    options = from_environment()
    options.grace = wanted.grace
    try:
        return run_screen(peer(table, wanted.goodbye, wanted.crash), options, Drbg(b"screen"))
    except* Crash as crash:
        print(f"crash: {crash.exceptions[0]}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
