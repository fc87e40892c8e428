"""One peer at its table: the lobby, then a match, then the lobby again, over a mesh and a journal.

It is what a screen controls (`updates.Controls`) and hears from (`updates.Update`). Everything that decides
lies in `otto_protocol`; the drivers have time, sending, storing, and who is told what. The table owns both: it
begins and ends the match when the lobby says so, and hands each what concerns it.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence

import trio

from otto_p2p.net import events as net
from otto_p2p.net import frames
from otto_p2p.net.addresses import parse_peer
from otto_p2p.net.mesh import Mesh
from otto_p2p.storage.journal import Journal, MatchState
from otto_p2p.table import last_addresses
from otto_p2p.table.archive import forget_match, keep_match
from otto_p2p.table.context import Context, RunSync
from otto_p2p.table.display import names
from otto_p2p.table.engine import Engine, Incoming, Lacking
from otto_p2p.table.lobby_driver import LobbyDriver
from otto_p2p.table.match_driver import MatchDriver
from otto_p2p.table.settings import Settings
from otto_p2p.table.timing import TableTiming
from otto_p2p.updates import Closed, News, Update
from otto_protocol.encoding import pack, unpack
from otto_protocol.lobby.actions import Abandoned, Action
from otto_protocol.lobby.record import Here, Ready, Stage
from otto_protocol.roster import Start, TableRules
from otto_protocol.rules import moves


class Table:
    """One peer at its table. `run` it in a nursery; give its `updates` to a screen."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        mesh: Mesh,
        *,
        addresses: tuple[str, ...] = (),
        join_line: str = "",
        on_publish: Callable[[Here], None] | None = None,
        timing: TableTiming | None = None,
        run: RunSync = trio.to_thread.run_sync,
        wall: Callable[[], float] = time.time,
        driver: Callable[..., MatchDriver] = MatchDriver,
    ) -> None:
        """`run` runs what computes or waits for the disk, `wall` is the time of day: tests have their own, and may
        have another `driver` of matches."""
        self._send_update, self.updates = trio.open_memory_channel[Update](math.inf)
        self.context = Context(
            settings=settings,
            journal=journal,
            mesh=mesh,
            timing=timing or TableTiming(),
            run=run,
            wall=wall,
            tell=self._send_update.send_nowait,
        )
        self.lobby = LobbyDriver(
            self.context, addresses=addresses, on_publish=on_publish, start=self._start, abandon=self._abandon
        )
        self.lobby.join_line = join_line
        self.match: MatchDriver | None = None
        self._driver = driver
        self._last: Engine | None = None  # of the last match, for those who lack its end
        self._kept = trio.Event()  # the last match is on disk: until then we do not go
        self._kept.set()
        self._nursery: trio.Nursery | None = None
        self._leaving = trio.Event()
        self._for_good = False

    # -- Controls --------------------------------------------------------------------------------------

    def ready(self, value: int) -> None:
        """Say that I am ready (0 no, 1 yes, 2 yes also without those who are not)."""
        self.lobby.wish(lambda: self.lobby.lobby.set_ready(Ready(value)))

    def act(self, move: moves.Move) -> None:
        """Make one of the decisions of the last GameUpdate."""
        if self.match is not None:
            self.match.act(move)

    def sit_at(self, table: bytes) -> None:
        """Go to another table of the lobby."""
        self.lobby.wish(lambda: self.lobby.lobby.join(table))

    def open_table(self) -> None:
        """Open a table of one's own."""
        self.sit_at(os.urandom(16))

    def change_rules(self, rules: TableRules) -> None:
        """Change the table rules; clears everybody's ready."""
        self.lobby.wish(lambda: self.lobby.lobby.set_rules(rules))

    def stop_countdown(self) -> None:
        """Do not start yet."""
        self.ready(Ready.NO)

    def check_address(self, address: str) -> None:
        """Raises LocalError when that is no HOST[:PORT]. Touches nothing: any thread may call it."""
        parse_peer(address)

    def dial(self, address: str) -> None:
        """Look for others at HOST[:PORT]. Raises LocalError when that is no address."""
        self.context.mesh.add_candidate(parse_peer(address), label=address)

    def drop(self, seat: int) -> None:
        """Go on without a seat that is not heard, as soon as the others agree."""
        if self.match is not None:
            self.match.drop(seat)

    def leave(self) -> None:
        """Leave for good: the others are told, and go on without this seat. The last update is Closed."""
        self._for_good = True
        self._leaving.set()

    def close(self) -> None:
        """Go away, but keep the seat: `join` comes back to it. The last update is Closed."""
        self._leaving.set()

    # -- what else belongs to a peer -------------------------------------------------------------------

    def moved(self, addresses: tuple[str, ...], join_line: str) -> None:
        """This machine has other addresses now: tell the others, and show what to type elsewhere."""
        self.lobby.join_line = join_line
        self.lobby.wish(lambda: self.lobby.lobby.set_addresses(addresses))

    def notice(self, news: News, *words: str) -> None:
        """Tell the screen what the table itself cannot know (how discovery goes)."""
        self.context.notify(news, *words)

    async def left(self) -> bool:
        """Wait for `leave` or `close`; whether it is for good."""
        await self._leaving.wait()
        return self._for_good

    # -- running ---------------------------------------------------------------------------------------

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until `leave` or cancelled. The mesh must be running."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await self._begin()
            self.lobby.show()
            nursery.start_soon(self._hear_mesh)
            nursery.start_soon(self.lobby.grant_wishes)
            nursery.start_soon(self._tick)
            task_status.started()
            await self._leaving.wait()
            await self.lobby.change(self.lobby.lobby.rest)
            if self._for_good:
                await self._say_goodbye()
            await self._linger()
            await self._flush()
            await self._kept.wait()
            nursery.cancel_scope.cancel()
        self.context.tell(Closed())

    async def _begin(self) -> None:
        """Go on where the program ended last: in the lobby, or in a match that still binds this seat."""
        context, lobby = self.context, self.lobby.lobby
        memory = await self.lobby.recall()
        running = await context.run(context.journal.running)
        async with self.lobby.lock:
            actions = lobby.announce() if memory is None else lobby.restore(memory)
            roster = lobby.roster
            bound = roster.match_id() if roster is not None and lobby.stage >= Stage.DEALT else None
            for match in running:
                if match.id == bound and not context.settings.own_table:
                    driver = await self._resume(unpack(Start, match.start), match.seed)
                    if lobby.stage == Stage.DEALT and not driver.standing.at_first_deal:
                        actions = (*actions, *lobby.reached(Stage.PLAYING))
                else:
                    await context.run(context.journal.finish, match.id, None, None, MatchState.ABANDONED)
            if bound is not None and self.match is None:
                actions = (*actions, *self.lobby.finished())
            await self.lobby.do(actions)

    async def _say_goodbye(self) -> None:
        """Sign LEAVE, and give the game up here."""
        match = self.match
        if match is None:
            return
        if not match.standing.over:
            with trio.move_on_after(self.context.timing.flush):
                await match.leave()
        async with self.lobby.lock:
            if self.match is match:
                self._end(match)
                await keep_match(self.context, match.engine)
                await self.lobby.do(self.lobby.finished(match.convicts))

    async def _linger(self) -> None:
        """Answer those who lack the end of the last match: whoever is still in it may need us for that."""
        if self._last is None or self.match is not None:
            return
        roster, lobby = self._last.roster, self.lobby.lobby
        keys = [member.key for member in roster.members]
        with trio.move_on_after(self.context.timing.linger):
            while any(
                link.key in keys and not link.silent and not lobby.has_gone_on(roster, link.key)
                for link in self.context.mesh.links()
            ):
                await trio.sleep(0.05)

    async def _flush(self) -> None:
        """Let the last messages go out."""
        await self.lobby.catch_up(now=True)
        with trio.move_on_after(self.context.timing.flush):
            while any(link.queued for link in self.context.mesh.links()):
                await trio.sleep(0.02)

    async def _tick(self) -> None:
        while True:
            await trio.sleep(self.context.timing.tick)
            await self.lobby.catch_up()
            if not self._leaving.is_set():
                await self.lobby.wake()
            if self.match is None or self.lobby.stage < Stage.DEALT:
                await self.lobby.tick()
                await self._tick_attempt()
            if self.match is not None:
                await self.match.tick()

    async def _tick_attempt(self) -> None:
        """Give an attempt to start up that somebody holds up."""
        lobby, match = self.lobby.lobby, self.match
        if lobby.stage not in (Stage.SEALED, Stage.KEYS) or lobby.roster is None:
            return
        lost = self.lobby.unheard(lobby.roster)
        if lost is None and match is not None:
            lost = match.held_up_by()
        if lost is None:
            return
        key = lost
        if match is not None and key in match.convicts:
            await self.lobby.change(lambda: lobby.shun(key))
        else:
            await self.lobby.change(lambda: lobby.abandon(key))

    # -- a match begins and ends -----------------------------------------------------------------------

    async def _start(self, start: Start) -> Iterable[Action]:
        seed, journal = os.urandom(32), self.context.journal
        await self.context.run(journal.begin, start.roster.match_id(), pack(start), seed)
        await self._play(start, seed, None)
        return self.lobby.lobby.reached(Stage.KEYS)

    async def _resume(self, start: Start, seed: bytes) -> MatchDriver:
        context = self.context
        records = await context.run(context.journal.records, start.roster.match_id())
        last_addresses.tell(context.mesh, await context.run(last_addresses.kept, context.journal))
        return await self._play(start, seed, records)

    async def _play(
        self, start: Start, seed: bytes, records: Sequence[tuple[bytes, bytes]] | None
    ) -> MatchDriver:
        assert self._nursery is not None
        match = self._driver(self.context, self.lobby, self._nursery, start, seed, records, self._over)
        await match.open()
        self.match = match
        await match.begin()
        return match

    async def _keep(self, engine: Engine, kept: trio.Event) -> None:
        try:
            await keep_match(self.context, engine)
        finally:
            kept.set()

    def _end(self, match: MatchDriver) -> None:
        match.end()
        self.match = None

    async def _abandon(self, action: Abandoned) -> Iterable[Action]:
        """The attempt to start has failed. One never sits down with convicts, whoever gave up first."""
        match = self.match
        actions: list[Action] = []
        if match is not None:
            self._end(match)
            await forget_match(self.context, match.engine)
            for key in match.convicts:
                actions += self.lobby.lobby.shun(key)
        name = names(action.roster).get(action.key, "")
        self.lobby.notify_behind(News.NOT_STARTED, action.cause.value, name)
        return actions

    def _over(self, match: MatchDriver) -> None:
        """A match has ended; it may say so more than once."""
        self.lobby.wish(lambda: self._match_over(match))

    def _match_over(self, match: MatchDriver) -> Iterable[Action]:
        if self.match is not match:
            return ()
        assert self._nursery is not None
        self._end(match)
        self._last = match.engine
        self._kept = trio.Event()
        self._nursery.start_soon(self._keep, match.engine, self._kept)
        return self.lobby.finished(match.convicts)

    # -- the network -----------------------------------------------------------------------------------

    async def _hear_mesh(self) -> None:
        async for event in self.context.mesh.events:
            match event:
                case net.PeerUp():
                    await self._on_up(event.key)
                case net.PeerDown():
                    left = event.reason is frames.CloseReason.LEFT
                    await self._on_away(event.key, "left" if left else "lost")
                case net.PeerSilent(silent=True):
                    await self._on_away(event.key, "silent")
                case net.PeerSilent():
                    await self._on_up(event.key)
                case net.FrameFrom():
                    await self._on_frame(event.key, event.frame)
                case net.DialFailed() if event.key is None:
                    why = event.detail or event.reason.name.lower()
                    self.context.notify(News.UNREACHABLE, event.address, why)
                case net.DialFailed():
                    pass
                case net.StrangerRefused():
                    self.context.notify(News.OTHER_VERSION, event.address, event.detail)

    async def _on_up(self, key: bytes) -> None:
        await self.lobby.on_up(key)
        if self.match is not None:
            await self.match.on_up(key)

    async def _on_away(self, key: bytes, why: str) -> None:
        await self.lobby.on_away(key)
        if self.match is not None:
            self.match.on_away(key, why)

    async def _on_frame(self, key: bytes, frame: object) -> None:
        driver, last = self.match, self._last
        match frame:
            case frames.LobbyRecord(record=record):
                await self.lobby.hear(key, record)
                if self.match is not None:
                    await self.match.try_deal()
            case frames.MatchMessage(message=message) if driver is not None:
                await driver.engine.put(Incoming(key, message))
            case frames.Sync(match=match, view=view, step=step):
                if driver is not None and match == driver.engine.match:
                    await driver.on_sync(key, view, step)
                elif last is not None and match == last.match and last.is_member(key):
                    answer = await last.answer(Lacking(key, view, step))
                    for data in answer.messages:
                        self.context.mesh.send(key, frames.MatchMessage(data))
            case frames.Synced(match=match) if driver is not None and match == driver.engine.match:
                driver.on_synced(key)
            case _:
                pass
