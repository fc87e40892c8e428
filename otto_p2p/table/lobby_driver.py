"""Drives the lobby: its changes one at a time, its record on the disk and to everybody, its countdown."""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import trio

from otto_p2p.i18n import _
from otto_p2p.net import frames
from otto_p2p.table.context import Context
from otto_p2p.table.known_keys import KnownKeys
from otto_p2p.table.pace import Pace
from otto_p2p.table.snapshots import lobby_update
from otto_p2p.updates import News, Notice
from otto_p2p.words import table_name
from otto_protocol.encoding import pack, unpack
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.lobby.actions import Abandoned, Action, Memory, Moved, Publish, Started
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.record import Here, OtherVersion, Stage, author_of, open_here, sign_here
from otto_protocol.roster import Member, Roster, Start

Change = Callable[[], Iterable[Action]]

MAX_AUTHORS = 64  # whose records through one link are kept until somebody looks at them


class LobbyDriver:
    """The lobby of one peer. `start` and `abandon` begin and end a match; what they return is done next."""

    def __init__(
        self,
        context: Context,
        *,
        addresses: tuple[str, ...],
        on_publish: Callable[[Here], None] | None,
        start: Callable[[Start], Awaitable[Iterable[Action]]],
        abandon: Callable[[Abandoned], Awaitable[Iterable[Action]]],
    ) -> None:
        settings = context.settings
        self.lobby = Lobby(
            context.journal.identity,
            settings.name,
            os.urandom(16),
            rules=settings.rules,
            seats=settings.seats,
            addresses=addresses,
            pinned=settings.own_table,
            automatic=settings.automatic,
            hold=settings.automatic == 0,
            owner=settings.owner,
            indirect=settings.indirect,
        )
        self.join_line = ""
        self.lock = trio.Lock()  # one change of the lobby at a time: its actions are done in order
        self._context = context
        self._on_publish = on_publish
        self._start = start
        self._abandon = abandon
        self._known = KnownKeys()  # with whom games were played
        self._send_wish, self._wishes = trio.open_memory_channel[Change](math.inf)
        self._record = b""
        self._signed: tuple[Stage, tuple[Member, ...]] | None = None  # what the last record says of a roster
        self._pace = Pace(context.timing.publish)
        self._unpublished = False  # whether there is a newer record than the one that was published last
        self._put_off: dict[tuple[bytes, bytes], bytes] = {}  # (link, author) -> its newest record, in a game
        self._looked = -math.inf  # when the last of those were looked at
        self._seal_at: float | None = None
        self._wake_at: float | None = None
        self._news: list[Notice] = []  # to be told behind the next update

    @property
    def stage(self) -> Stage:
        """How far this peer is on its way into a match."""
        return self.lobby.stage

    async def recall(self) -> Memory | None:
        """What the lobby was when the program ended, and who is known. Raises LocalError."""
        context = self._context
        self._known = KnownKeys(await context.run(context.journal.people))
        stored = await context.run(context.journal.recall, "lobby")
        try:
            return unpack(Memory, stored) if stored else None
        except DecodeError:
            raise LocalError(
                _("{path} was written by another version of otto-p2p: move that folder away").format(
                    path=context.journal.path
                )
            ) from None

    # -- changes ---------------------------------------------------------------------------------------

    def wish(self, change: Change) -> None:
        """Change the lobby soon; never waits. What is not possible becomes a notice."""
        self._send_wish.send_nowait(change)

    async def grant_wishes(self) -> None:
        """Serve `wish` until cancelled."""
        async for change in self._wishes:
            try:
                await self.change(change)
            except LocalError as error:
                self._context.notify(News.NOT_MADE, str(error))

    async def change(self, change: Change) -> None:
        """Change the lobby now, do what follows, and show it."""
        async with self.lock:
            await self.do(change())
        self.show()

    async def do(self, actions: Iterable[Action]) -> None:
        """What a change asks for, in order. The caller holds the lock."""
        for action in actions:
            match action:
                case Publish():
                    await self._publish(action.memory)
                case Moved():
                    news = News.TABLE_FULL if action.full else News.MOVED
                    self.notify_behind(news, table_name(action.table))
                case Started():
                    await self.do(await self._start(action.start))
                case Abandoned():
                    await self.do(await self._abandon(action))

    async def _publish(self, memory: Memory) -> None:
        """Store and send our own record, soon: strangers can change it all the time, and each costs a write.

        What is signed for a roster, or binds to it, is on the disk before anything else follows from it.
        """
        waits = (memory.here.stage, memory.here.members) == self._signed
        most = 1 if self.stage >= Stage.DEALT else self._context.timing.at_once
        if not self._pace.take(trio.current_time(), most) and waits:
            self._unpublished = True
            return
        await self._publish_now(memory)

    async def _publish_now(self, memory: Memory) -> None:
        context = self._context
        self._unpublished = False
        self._signed = (memory.here.stage, memory.here.members)
        await context.run(context.journal.remember, "lobby", pack(memory))
        self._record = sign_here(context.journal.identity, memory.here)
        context.mesh.broadcast(frames.LobbyRecord(self._record))
        if self._on_publish is not None:
            self._on_publish(memory.here)

    def notify_behind(self, news: News, *words: str) -> None:
        """One line for people, behind the next update: that shows what it speaks of."""
        self._news.append(Notice(news, words))

    def show(self) -> None:
        """Tell the screen how the lobby is now, unless a match is on."""
        context = self._context
        if self.stage < Stage.KEYS:
            left = None if self._seal_at is None else max(0, math.ceil(self._seal_at - trio.current_time()))
            context.tell(lobby_update(self.lobby, self.join_line, left, self._known))
        news, self._news = self._news, []
        for notice in news:
            context.tell(notice)

    # -- others ----------------------------------------------------------------------------------------

    async def on_up(self, key: bytes) -> None:
        """There is a link to this peer, or it is heard again."""
        if self._record:
            self._context.mesh.send(key, frames.LobbyRecord(self._record))
        await self.change(lambda: self.lobby.on_link(key))

    async def on_away(self, key: bytes) -> None:
        """There is no link to this peer any more, or nothing is heard."""
        await self.change(lambda: self.lobby.on_gone(key))

    async def hear(self, key: bytes, data: bytes) -> None:
        """A record, from the peer with this key (not always its author)."""
        if self.stage is not Stage.PLAYING:
            await self._take(key, data)
            return
        try:
            author = author_of(data)
        except DecodeError:
            self._context.mesh.drop(key)
            return
        place = (key, author)
        if place in self._put_off or sum(link == key for link, _ in self._put_off) < MAX_AUTHORS:
            self._put_off[place] = data

    async def catch_up(self, *, now: bool = False) -> None:
        """What waited for its time: our own newest record, and those of others; `now`: our own at once."""
        time, timing = trio.current_time(), self._context.timing
        async with self.lock:
            if self._unpublished and (now or self._pace.take(time, 1)):
                await self._publish_now(self.lobby.memory)
        if self.stage is not Stage.PLAYING or time - self._looked >= timing.publish:
            self._looked = time
            put_off, self._put_off = self._put_off, {}
            for (key, _), data in put_off.items():
                await self._take(key, data)

    async def _take(self, key: bytes, data: bytes) -> None:
        mesh = self._context.mesh
        try:
            record = open_here(data)
        except DecodeError:
            mesh.drop(key)
            return
        if isinstance(record, OtherVersion):
            self.notify_behind(News.OTHER_VERSION, record.name, str(record.protocol))
        await self.change(lambda: self.lobby.on_here(record))
        if not isinstance(record, OtherVersion):
            others = [other for other in self.lobby.relay_to(record.key) if other != key]
            mesh.send_to(others, frames.LobbyRecord(data))
        self._look_for_wanted()

    def _look_for_wanted(self) -> None:
        wanted = self._context.settings.wanted
        if wanted is None or self.stage != Stage.LOBBY or self.lobby.me.pinned:
            return
        for record in self.lobby.records().values():
            if table_name(record.table) == wanted or record.table.hex().startswith(wanted.lower()):
                self.wish(partial(self.lobby.join, record.table))
                return

    async def meet(self, roster: Roster) -> None:
        """Remember the people with whom a match begins; built-in players are not remembered, nor do they."""
        context = self._context
        records = self.lobby.records()
        built_in = {key for key, record in records.items() if record.automatic}
        others = [member for member in roster.members if member.key != context.mesh.key]
        met = [(member.key, member.name) for member in others if member.key not in built_in]
        if met and not context.settings.owner:
            await context.run(context.journal.meet, met)
            self._known = KnownKeys(await context.run(context.journal.people))

    # -- time ------------------------------------------------------------------------------------------

    async def tick(self) -> None:
        """Count down, when all are ready and nobody has decided yet; to be called outside of a match."""
        now = trio.current_time()
        roster = self.lobby.can_seal()
        if roster is None or self._context.settings.automatic:
            if self._seal_at is not None:
                self._seal_at = None
                self.show()
        elif self._seal_at is None:
            self._seal_at = now if self._is_alone() else now + self._context.timing.countdown
            self.show()
        elif now >= self._seal_at:
            self._seal_at = None
            await self.change(self.lobby.seal)
        elif math.ceil(self._seal_at - now) != math.ceil(self._seal_at - now + self._context.timing.tick):
            self.show()

    def _is_alone(self) -> bool:
        """Whether all others at this table are built-in players: nobody else wants to stop a countdown."""
        mine, seated = self._context.mesh.key, self.lobby.me.seated
        records = [record for record in self.lobby.records().values() if record.key in seated]
        return all(record.automatic or record.key == mine for record in records)

    def unheard(self, roster: Roster) -> bytes | None:
        """A member of an attempt to start that is silent for too long."""
        now, mesh = trio.current_time(), self._context.mesh
        for member in roster.members:
            heard = mesh.last_heard(member.key)
            if member.key != mesh.key and (heard is None or now - heard > self._context.timing.silent):
                return member.key
        return None

    def finished(self, convicts: Iterable[bytes] = ()) -> Iterable[Action]:
        """A match is over; one never sits down again with those who were convicted in it."""
        self._wake_at = trio.current_time() + self._context.timing.rest
        actions = tuple(self.lobby.finished())
        for key in convicts:
            actions = (*actions, *self.lobby.shun(key))
        return actions

    async def wake(self) -> None:
        """Be ready for the next match, as far as that needs no person, when the rest after one is over."""
        if self._wake_at is not None and trio.current_time() > self._wake_at:
            self._wake_at = None
            await self.change(self.lobby.wake)
