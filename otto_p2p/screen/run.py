"""The full screen from outside: run a peer under it, and leave the terminal as it was."""

from __future__ import annotations

import asyncio
import os
import sys

from otto_p2p.screen.app import OttoApp
from otto_p2p.screen.guest import Guest, Peer
from otto_p2p.screen.options import Options


def run_screen(peer: Peer, options: Options | None = None) -> None:
    """Show the table that `peer` runs until it is closed. Raises what the peer or the screen died of."""
    asyncio.run(_run(peer, options or from_environment()))


async def _run(peer: Peer, options: Options) -> None:
    guest: Guest | None = None

    def start(app: OttoApp) -> None:
        nonlocal guest
        guest = Guest(peer, app.sit, app.tell, app.exit)
        guest.start()

    app = OttoApp(options, start)
    try:
        await app.run_async()
    finally:
        # The terminal is back already; now the others are told.
        if guest is not None:
            await guest.stop()
    if app.crash is not None:
        raise app.crash


def from_environment(*, auto: bool = False) -> Options:
    """What the terminal and the environment ask for: ASCII, no colour, a light background."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return Options(
        ascii_only=not encoding.startswith("utf"),
        colour=not os.environ.get("NO_COLOR"),
        light=os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15"),
        auto=auto,
    )


def can_run() -> bool:
    """Whether standard input and output are a terminal that can show a full screen."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
