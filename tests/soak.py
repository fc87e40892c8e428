"""Many games in one process, with links that break: memory, tasks and files must level off.

Run by hand: `python -m tests.soak --games 60`. A game of three of these simple players takes about 200 turns,
as many as one of three built-in players. The peers are whole ones (mesh, journal, engine, table) on the loopback
interface; now and then a link between two of them is ended. Memory grows for two matches: a peer keeps the
last one for those who lack its end. Ctrl-C ends it with the sums so far.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import resource
import tempfile
import time
from pathlib import Path

import trio

from otto_p2p.net.addresses import Address
from otto_p2p.net.frames import CloseReason
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import listening_port, open_listeners
from otto_p2p.storage.journal import Journal
from otto_p2p.table.settings import Settings
from otto_p2p.table.table import Table
from otto_p2p.table.timing import TableTiming
from otto_p2p.updates import Closed, GameUpdate
from otto_protocol.match.phases import MatchPhase
from otto_protocol.roster import TableRules
from tests.protocol.lab_games import eager

GAMES = 5  # in a match


class Soak:
    """The peers, and what is counted."""

    def __init__(self, folder: Path, peers: int, games: int, breaks: int, timing: TableTiming) -> None:
        self.timing = timing
        self.peers = peers
        self.games = games
        self.breaks = breaks
        self.folder = folder
        self.tables: list[Table] = []
        self.ports: list[int] = []
        self.played = self.turns = self.broken = 0

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            for place in range(self.peers):
                await self._open(place, nursery)
            await self._watch()
            nursery.cancel_scope.cancel()

    async def _open(self, place: int, nursery: trio.Nursery) -> None:
        journal = Journal(self.folder / str(place))
        listeners = open_listeners(0)
        port = listening_port(listeners)
        mesh = Mesh(journal.identity, listeners=listeners, port=port, choose=lambda hints: tuple(hints))
        mesh.announce((Address("127.0.0.1", port),))
        for known in self.ports:
            mesh.add_candidate((Address("127.0.0.1", known),), label="peer")
        settings = Settings(
            f"peer {place}",
            TableRules(1, GAMES),
            automatic=self.peers,
            keep_transcript=False,
            seats=self.peers,
        )
        table = Table(settings, journal, mesh, timing=self.timing)
        self.tables.append(table)
        self.ports.append(port)
        await nursery.start(mesh.run)
        await nursery.start(table.run)
        nursery.start_soon(play, table)

    async def _watch(self) -> None:
        begun, seen, shown = time.monotonic(), (b"", 0, 0), -1
        step = max(1, self.games // 25)
        while self.played < self.games:
            await trio.sleep(0.05)
            match = self.tables[0].match
            if match is None:
                continue
            game = match.standing.game
            turn = game.view.state.turn if game.view is not None else 0
            now = (match.engine.match, game.game, turn)
            if now[:2] != seen[:2]:  # what stands there until the new cards are dealt is the last game's
                self.played += seen[1] > 0
            else:
                self.turns += max(0, turn - seen[2])
            seen = now
            if self.breaks and self.played * self.breaks >= (self.broken + 1) * self.games:
                self._break()
            if self.played // step > shown:
                shown = self.played // step
                print(f"{time.monotonic() - begun:7.0f} s  {self.played:4} games  {figures()}", flush=True)

    def _break(self) -> None:
        """A link between two peers is reset."""
        mesh = self.tables[self.broken % self.peers].context.mesh
        for link in mesh.links()[:1]:
            mesh.drop(link.key, CloseReason.LOST)
            self.broken += 1


async def play(table: Table) -> None:
    """A simple player in place of a screen."""
    decided: object = None
    async for update in table.updates:
        if isinstance(update, Closed):
            return
        if isinstance(update, GameUpdate):
            if update.view is None or not update.decisions:
                decided = None
            elif update.place != decided and update.phase is not MatchPhase.OVER:
                decided = update.place
                table.act(eager(update.view, update.decisions))


def figures() -> str:
    """Memory, tasks, threads and files of this process now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(os.listdir("/proc/self/fd"))
    tasks = trio.lowlevel.current_statistics().tasks_living
    cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    rss = pages * resource.getpagesize() / 2**20
    return f"{rss:6.1f} MiB  {tasks:3} tasks  {files:3} files  {cpu:6.0f} s CPU"


def main() -> None:
    """Prints a line of figures now and then, and the sums at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=int, default=3)
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--breaks", type=int, default=20, help="links that are broken, over the whole run")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds that a built-in player takes")
    options = parser.parse_args()
    timing = TableTiming(pace=options.pace, rest=0.1)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        soak = Soak(Path(folder), options.peers, options.games, options.breaks, timing)
        try:
            trio.run(soak.run)
        finally:
            print(f"{soak.played} games, {soak.turns} turns, {soak.broken} links broken and made again")


if __name__ == "__main__":
    main()
