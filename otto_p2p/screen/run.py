"""The full screen from outside: run a peer under it, and leave the terminal as it was."""

from __future__ import annotations

import asyncio
import os
import sys

from otto_p2p.exits import INTERRUPTED
from otto_p2p.screen.app import OttoApp
from otto_p2p.screen.guest import Guest, Peer
from otto_p2p.screen.options import Options
from otto_p2p.stdio import encoded
from otto_protocol.hashing import Rng

SWITCH_SECONDS = 0.0005


def run_screen(peer: Peer, options: Options, rng: Rng = os.urandom) -> int:
    """Show the table that `peer` runs until it is closed; the exit status.

    `rng` decides among equally good usual choices. Raises what the peer or the screen died of; the terminal
    is as it was before, the others are told.
    """
    # The cryptography of other threads must give way to the screen: the default lets each of them compute
    # for 5 ms whenever the screen wants to go on.
    sys.setswitchinterval(SWITCH_SECONDS)
    return asyncio.run(_run(peer, options, rng))


async def _run(peer: Peer, options: Options, rng: Rng) -> int:
    guest: Guest | None = None

    def start(app: OttoApp) -> None:
        nonlocal guest
        guest = Guest(peer, app.sit, app.tell, app.exit)
        guest.start()

    app = OttoApp(options, start, rng)
    try:
        await app.run_async()
    finally:
        # The terminal is back already; now the others are told.
        if guest is not None:
            await guest.stop()
    if app.crash is not None:
        raise app.crash
    encoding = sys.stdout.encoding or "ascii"
    for line in app.desk.summary if app.desk is not None else ():
        sys.stdout.buffer.write(encoded(line, encoding) + b"\n")
    return INTERRUPTED if app.interrupted else 0
