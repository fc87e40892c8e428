"""Whole peers in one process, linked over the loopback interface: mesh, journal, engine, table; no screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import trio

from otto_p2p.net.addresses import Address
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import listening_port, open_listeners
from otto_p2p.storage.journal import Journal
from otto_p2p.table.peer import play_by_itself
from otto_p2p.table.table import Settings, Table
from otto_p2p.updates import Closed, GameUpdate, MatchEnded, News, Notice, Update
from otto_protocol.roster import TableRules


class Peer:
    """One peer. It plays by itself when `plays`; what its table says is in `updates`."""

    def __init__(self, folder: Path, name: str, settings: Settings, *, plays: bool = True) -> None:
        self.name = name
        self.plays = plays
        self.updates: list[Update] = []
        self.scope = trio.CancelScope()
        self.journal = Journal(folder / name)
        listeners = open_listeners(0)
        self.address = Address("127.0.0.1", listening_port(listeners))
        self.mesh = Mesh(
            self.journal.identity,
            listeners=listeners,
            port=self.address.port,
            own=lambda: (self.address,),
            choose=lambda hints: tuple(hints),
        )
        self.table = Table(settings, self.journal, self.mesh)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until it is closed, or its scope is cancelled: then its links say goodbye, and its seat is kept."""
        try:
            with self.scope:
                async with trio.open_nursery() as nursery:
                    await nursery.start(self.mesh.run)
                    await nursery.start(self.table.run)
                    task_status.started()
                    if self.plays:
                        send, receive = trio.open_memory_channel[Update](1000)
                        nursery.start_soon(play_by_itself, self.table, receive)
                    async for update in self.table.updates:
                        self.updates.append(update)
                        if self.plays:
                            send.send_nowait(update)
                        if isinstance(update, Closed):
                            nursery.cancel_scope.cancel()
        finally:
            self.journal.close()

    def said(self, news: News) -> list[tuple[str, ...]]:
        """The words of all notices of a kind."""
        return [u.words for u in self.updates if isinstance(u, Notice) and u.news is news]

    @property
    def game(self) -> GameUpdate | None:
        """The last that was shown of a game."""
        return next((u for u in reversed(self.updates) if isinstance(u, GameUpdate)), None)

    @property
    def turn(self) -> int:
        """The turn that was shown last; 0 before the game."""
        game = self.game
        return 0 if game is None or game.view is None else game.view.state.turn

    @property
    def ended(self) -> MatchEnded | None:
        """What was said of the end of the match."""
        return next((u for u in reversed(self.updates) if isinstance(u, MatchEnded)), None)


def settings(name: str, players: int, turn_seconds: int = 120, grace: float = 150.0) -> Settings:
    """A built-in player that starts by itself when so many are there."""
    rules = TableRules(1, 1, turn_seconds)
    return Settings(name, rules, players, automatic=players, keep_transcript=False, grace=grace)


def introduce(peers: list[Peer]) -> None:
    """Let everybody dial everybody."""
    for peer in peers:
        for other in peers:
            if other is not peer:
                peer.mesh.add_candidate((other.address,), label=other.name)


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for something; a test fails when it takes too long."""
    with trio.fail_after(seconds):
        while not condition():
            await trio.sleep(0.02)
