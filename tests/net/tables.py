"""Whole peers in one process: mesh, journal, engine, table; no screen. On a virtual LAN, or on the loopback interface.

On a virtual LAN nothing uses the real clock: links are memory streams, work runs in the event loop, and all
that waits takes no time (`autojump_clock`). Sessions there are guarded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import trio

from otto_p2p.net.addresses import Address
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import listening_port, open_listeners
from otto_p2p.storage.journal import Journal
from otto_p2p.table.match_driver import MatchDriver
from otto_p2p.table.peer import play_by_itself
from otto_p2p.table.settings import Settings
from otto_p2p.table.table import Table
from otto_p2p.updates import Closed, GameUpdate, MatchEnded, News, Notice, Update
from otto_protocol.match.session import Session
from otto_protocol.roster import TableRules
from tests.net.virtual_lan import PORT, VirtualLan, VirtualStream, credentials

T = TypeVar("T")


class GuardedSession(Session):
    """A session that fails whenever it is touched while no worker is inside."""

    inside = False  # of all sessions: in virtual time there is one thread

    def __getattribute__(self, name: str) -> Any:
        assert GuardedSession.inside, f"{name} of a session is read outside of the engine's worker"
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: object) -> None:
        assert GuardedSession.inside, f"{name} of a session is set outside of the engine's worker"
        super().__setattr__(name, value)


class GuardedMatch(MatchDriver):
    """A match whose session nobody but its engine can touch."""

    session = GuardedSession


@contextmanager
def inside() -> Iterator[None]:
    """What a worker does; also for a test that looks into a session at rest."""
    GuardedSession.inside = True
    try:
        yield
    finally:
        GuardedSession.inside = False


async def run_here(function: Callable[..., T], /, *arguments: Any) -> T:
    """In place of a worker thread, which a virtual clock would not wait for."""
    await trio.lowlevel.checkpoint()
    with inside():
        return function(*arguments)


class Peer:
    """One peer. It plays by itself when `plays`; what its table says is in `updates`. `options` are the table's."""

    def __init__(
        self,
        folder: Path,
        name: str,
        settings: Settings,
        lan: VirtualLan | None = None,
        *,
        plays: bool = True,
        **options: Any,
    ) -> None:
        self.name = name
        self.plays = plays
        self.updates: list[Update] = []
        self.lan = lan or VirtualLan()
        self.scope = trio.CancelScope()
        self.journal = Journal(folder / name)
        if lan is None:
            self.mesh, self.address = self._on_loopback()
        else:
            self.mesh, self.address = self._on_virtual_lan(lan)
            options = {"run": run_here, "wall": trio.current_time, "driver": GuardedMatch, **options}
        self.table = Table(settings, self.journal, self.mesh, **options)

    def _on_loopback(self) -> tuple[Mesh, Address]:
        listeners = open_listeners(0)
        port = listening_port(listeners)
        mesh = Mesh(
            self.journal.identity,
            listeners=listeners,
            port=port,
            choose=lambda hints: tuple(hints),
        )
        return mesh, Address("127.0.0.1", port)

    def _on_virtual_lan(self, lan: VirtualLan) -> tuple[Mesh, Address]:
        number = len(lan.listeners)
        host = f"p{number}"

        async def dial(address: Address) -> trio.abc.Stream:
            return await lan.connect(host, address.host)

        mesh = Mesh(
            self.journal.identity,
            listeners=[lan.listener(host)],
            port=PORT,
            dial=dial,
            remote=lambda stream: stream.there if isinstance(stream, VirtualStream) else "",
            choose=lambda hints: tuple(hints),
            credentials=credentials(number),
        )
        return mesh, Address(host, PORT)

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


def three(folder: Path, *, idle: str = "", turn_seconds: int = 120, grace: float = 150.0) -> list[Peer]:
    """Three peers of one table on a virtual LAN; `idle`: this one never decides."""
    lan = VirtualLan()
    return [
        Peer(folder, name, settings(name, 3, turn_seconds, grace), lan, plays=name != idle)
        for name in ("Anna", "Bob", "Cil")
    ]


def introduce(peers: Sequence[Peer]) -> None:
    """Let everybody dial everybody."""
    for peer in peers:
        for other in peers:
            if other is not peer:
                peer.mesh.add_candidate((other.address,), label=other.name)


@asynccontextmanager
async def running(peers: Sequence[Peer]) -> AsyncIterator[trio.Nursery]:
    """The peers at work, as long as the block lasts; all know where the others are."""
    async with trio.open_nursery() as nursery:
        for peer in peers:
            await nursery.start(peer.run)
        introduce(peers)
        yield nursery
        nursery.cancel_scope.cancel()


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for something; a test fails when it takes too long."""
    with trio.fail_after(seconds):
        while not condition():
            await trio.sleep(0.02)
