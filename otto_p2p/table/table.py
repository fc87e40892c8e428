"""The driver of one peer: the lobby, then a match in an engine, over a mesh and a journal.

It is what a screen controls (`updates.Controls`) and hears from (`updates.Update`). Everything that decides
lies in `otto_protocol`; here are time, sending, storing, and who is told what.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import trio

from otto_p2p.i18n import _
from otto_p2p.lookalikes import told_apart
from otto_p2p.net import events as net
from otto_p2p.net import frames
from otto_p2p.net.addresses import parse_peer
from otto_p2p.net.mesh import Mesh
from otto_p2p.players import bots
from otto_p2p.storage.journal import Journal, MatchState, StoredResult
from otto_p2p.storage.transcripts import save_evidence, save_transcript
from otto_p2p.table import last_addresses
from otto_p2p.table.absences import Presence
from otto_p2p.table.deadlines import Patience
from otto_p2p.table.engine import (
    Act,
    CallVote,
    Engine,
    Incoming,
    Lacking,
    Nudge,
    Report,
    SignLeave,
    beginning,
)
from otto_p2p.table.known_keys import Acquaintances
from otto_p2p.table.snapshots import game_update, lobby_update
from otto_p2p.updates import Closed, GameUpdate, MatchEnded, News, Notice, ShuffleVerified, Update
from otto_p2p.words import table_name
from otto_protocol.encoding import pack, unpack
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.lobby.actions import Abandoned, Action, Memory, Moved, Publish, Started
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.record import Here, OtherVersion, Ready, Stage, open_here, sign_here
from otto_protocol.match.phases import BEFORE_DEAL, PROOFS, MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import (
    Convicted,
    Conviction,
    Diverged,
    Heard,
    Removed,
    Session,
    StepDone,
    ViewOpened,
    Voted,
)
from otto_protocol.match.transcript import Transcript
from otto_protocol.quorum import is_quorum
from otto_protocol.roster import Roster, Start, TableRules
from otto_protocol.rules import moves
from otto_protocol.rules.end import Outcome

COUNTDOWN = 5.0  # seconds between "all are ready" and the start
TICK = 0.25
LACKING = (0.25, 0.5, 1.0, 2.0, 4.0, 5.0)  # seconds between questions for what is missing; then the last one
FEW = 2  # so many are asked in the first second, at random: enough to get round a bad link
SILENT = 6.0  # an attempt to start ends when a member was not heard for so long
STUCK = 20.0  # ... or when it does not come further for so long
CAUGHT = 2.0  # ... or so long after a member was convicted: by then all have the evidence
REST = 3.0  # seconds after a game before a built-in player is ready for another one
CONSENT = 2  # so many others must want to go on without somebody before a person's peer is less patient
VOTE_AGAIN = 1.0  # seconds between two rounds of ballots
OFTEN = 16  # own ballots in one view, a second apart; the next ones come
RARELY = 30.0  # seconds apart: more rarely than the `Allowance` of the others grows
BACK = 8  # steps that are compared when logs differ
LINGER = 3.0  # the longest wait for others to have the end of a match before we leave
DESERTED = 30.0  # a match that too many others have ended is given up when its end has not come for so long
TOO_FEW = 10.0  # seconds without so many others that nothing can be decided, before the player is told
PACE = 0.02  # seconds after a question at which a built-in player answers: thinking takes no visible time
FLUSH = 3.0  # the longest wait for the last messages to go out when we leave
GARBAGE = 200  # messages of no match of ours, before a peer is dropped
FLOOD_AGE = 2.5  # seconds: before that a new link has not told yet whom it hears


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line decides for one peer."""

    name: str
    rules: TableRules = field(default_factory=TableRules)
    seats: int | None = None
    wanted: str | None = None  # name of the table to join
    own_table: bool = False  # open a table of one's own
    automatic: int = 0  # ready by itself when so many sit there (0: the person says when)
    owner: bytes = b""  # whom a built-in player goes with
    indirect: bool = False  # play also with those that are reached only through others
    transcript: Path | None = None
    keep_transcript: bool = True
    grace: float = 150.0  # seconds: who is not heard for so long, or overdue by so much, is voted out


class Table:
    """One peer at its table. `run` it in a nursery; give its `updates` to a screen."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        mesh: Mesh,
        *,
        addresses: tuple[str, ...] = (),
        on_publish: Callable[[Here], None] | None = None,
    ) -> None:
        self.settings = settings
        self.journal = journal
        self.mesh = mesh
        self.lobby = Lobby(
            journal.identity,
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
        self.engine: Engine | None = None
        self.join_line = ""
        self._on_publish = on_publish
        self._send_update, self.updates = trio.open_memory_channel[Update](math.inf)
        self._send_wish, self._wishes = trio.open_memory_channel[Callable[[], Iterable[Action]]](math.inf)
        self._lock = trio.Lock()  # one change of the lobby at a time: its actions are done in order
        self._record = b""
        self._nursery: trio.Nursery | None = None
        self._match_scope: trio.CancelScope | None = None
        self._last: Session | None = None  # the last match, for those who lack its end
        self._seal_at: float | None = None
        self._asked = (0.0, 0)  # when, and how often, we asked for what is missing in this step
        self._patience = Patience(0, settings.grace, 0.0)
        self._shown: GameUpdate | None = None  # the last one of this match
        self._known = Acquaintances()  # with whom games were played
        self._names: dict[bytes, str] = {}  # of the players of this match, told apart
        self._verified: ShuffleVerified | None = None  # the last shuffle whose proofs were checked here
        self._deserted = math.inf  # since when too many others are seen to have ended this match
        self._too_few = False  # whether so many are away that nothing can be decided, and the player knows
        self._presence = Presence((), (), 0.0)
        self._garbage: Counter[bytes] = Counter()
        self._named: dict[int, tuple[int, ...]] = {}  # by voter of this view: whom its last ballot leaves out
        self._dropped: frozenset[bytes] = frozenset()  # whom the player does not want to wait for
        self._voted = 0.0
        self._ballots, self._balloted = 0, -math.inf  # own ones in this view; when the last one was signed
        self._wake_at: float | None = None
        self._noted = b""  # where the players of this match were reached, as the journal has it
        self._leaving = trio.Event()
        self._for_good = False

    # -- Controls --------------------------------------------------------------------------------------

    def ready(self, value: int) -> None:
        """Say that I am ready (0 no, 1 yes, 2 yes also without those who are not)."""
        self._wish(lambda: self.lobby.set_ready(Ready(value)))

    def act(self, move: moves.Move) -> None:
        """Make one of the decisions of the last GameUpdate."""
        if self.engine is None:
            return
        if self.settings.automatic and self._nursery is not None:
            self._nursery.start_soon(self._act_in_pace, self.engine, move)
        else:
            self.engine.poke(Act(move))

    async def _act_in_pace(self, engine: Engine, move: moves.Move) -> None:
        """However long or short the thinking was, the answer comes at one time after the question."""
        await trio.sleep(max(0.0, PACE - self._patience.waited(trio.current_time())))
        engine.poke(Act(move))

    def sit_at(self, table: bytes) -> None:
        """Go to another table of the lobby."""
        self._wish(lambda: self.lobby.join(table))

    def open_table(self) -> None:
        """Open a table of one's own."""
        self._wish(lambda: self.lobby.join(os.urandom(16)))

    def change_rules(self, rules: TableRules) -> None:
        """Change the table rules; clears everybody's ready."""
        self._wish(lambda: self.lobby.set_rules(rules))

    def stop_countdown(self) -> None:
        """Do not start yet."""
        self.ready(Ready.NO)

    def dial(self, address: str) -> None:
        """Look for others at HOST[:PORT]. Raises LocalError when that is no address."""
        self.mesh.add_candidate(parse_peer(address), label=address)

    def drop(self, seat: int) -> None:
        """Go on without a seat that is not heard, as soon as the others agree."""
        if self.engine is not None:
            self._dropped |= {self.engine.session.start.roster.members[seat].key}

    def leave(self) -> None:
        """SignLeave for good: the others are told, and go on without this seat. The last update is Closed."""
        self._for_good = True
        self._leaving.set()

    def close(self) -> None:
        """Go away, but keep the seat: `join` comes back to it. The last update is Closed."""
        self._leaving.set()

    def moved(self, addresses: tuple[str, ...], join_line: str) -> None:
        """This machine has other addresses now: tell the others, and show what to type elsewhere."""
        self.join_line = join_line
        self._wish(lambda: self.lobby.set_addresses(addresses))

    def notice(self, news: News, *words: str) -> None:
        """Tell the screen what the table itself cannot know (how discovery goes)."""
        self._notify(news, *words)

    async def left(self) -> bool:
        """Wait for `leave` or `close`; whether it is for good."""
        await self._leaving.wait()
        return self._for_good

    def _wish(self, change: Callable[[], Iterable[Action]]) -> None:
        self._send_wish.send_nowait(change)

    # -- running ---------------------------------------------------------------------------------------

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until `leave` or cancelled. The mesh must be running."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await self._begin()
            self._show_lobby()
            nursery.start_soon(self._hear_mesh)
            nursery.start_soon(self._grant_wishes)
            nursery.start_soon(self._tick)
            task_status.started()
            await self._leaving.wait()
            await self._change(self.lobby.rest)
            if self._for_good:
                await self._say_goodbye()
            await self._linger()
            await self._flush()
            nursery.cancel_scope.cancel()
        self._tell(Closed())

    def _memory(self, stored: bytes | None) -> Memory | None:
        try:
            return unpack(Memory, stored) if stored else None
        except DecodeError:
            raise LocalError(
                _("{path} was written by another version of otto-p2p: move that folder away").format(
                    path=self.journal.path
                )
            ) from None

    async def _begin(self) -> None:
        stored = await trio.to_thread.run_sync(self.journal.recall, "lobby")
        memory = self._memory(stored)
        running = await trio.to_thread.run_sync(self.journal.running)
        self._known = Acquaintances(await trio.to_thread.run_sync(self.journal.people))
        async with self._lock:
            actions = self.lobby.announce() if memory is None else self.lobby.restore(memory)
            roster = self.lobby.roster
            bound = roster.match_id() if roster is not None and self.lobby.stage >= Stage.DEALT else None
            resumed = False
            for match in running:
                if match.id == bound and not self.settings.own_table:
                    session = await self._resume(unpack(Start, match.start), match.seed, match.id)
                    resumed = True
                    if self.lobby.stage == Stage.DEALT and not session.at_first_deal:
                        actions = (*actions, *self.lobby.reached(Stage.PLAYING))
                else:
                    await trio.to_thread.run_sync(
                        self.journal.finish, match.id, None, None, MatchState.ABANDONED
                    )
            if bound is not None and not resumed:
                actions = (*actions, *self._finished())
            await self._do(actions)

    async def _say_goodbye(self) -> None:
        """Sign LEAVE, and give the game up here."""
        engine = self.engine
        if engine is None or engine.session.over:
            return
        with trio.move_on_after(FLUSH):
            engine.poke(SignLeave())
            await engine.left.wait()
        async with self._lock:
            if self.engine is engine:
                await self._give_up(engine)

    async def _linger(self) -> None:
        """Answer those who lack the end of the last match: who is still in it may need us for that."""
        if self._last is None or self.engine is not None:
            return
        roster = self._last.start.roster
        keys = [member.key for member in roster.members]
        with trio.move_on_after(LINGER):
            while any(
                link.key in keys and not link.silent and not self.lobby.has_gone_on(roster, link.key)
                for link in self.mesh.links()
            ):
                await trio.sleep(0.05)

    async def _flush(self) -> None:
        """Let the last messages go out."""
        with trio.move_on_after(FLUSH):
            while any(link.queued for link in self.mesh.links()):
                await trio.sleep(0.02)

    async def _grant_wishes(self) -> None:
        async for change in self._wishes:
            try:
                await self._change(change)
            except LocalError as error:
                self._notify(News.NOT_MADE, str(error))

    async def _change(self, change: Callable[[], Iterable[Action]]) -> None:
        async with self._lock:
            await self._do(change())
        self._show_lobby()

    # -- the lobby -------------------------------------------------------------------------------------

    async def _do(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case Publish():
                    await self._publish(action.memory)
                case Moved():
                    self._notify(News.TABLE_FULL if action.full else News.MOVED, table_name(action.table))
                case Started():
                    await self._start(action.start)
                case Abandoned():
                    await self._abandon(action)

    async def _publish(self, memory: Memory) -> None:
        await trio.to_thread.run_sync(self.journal.remember, "lobby", pack(memory))
        self._record = sign_here(self.journal.identity, memory.here)
        self.mesh.broadcast(frames.LobbyRecord(self._record))
        if self._on_publish is not None:
            self._on_publish(memory.here)

    async def _hear_here(self, key: bytes, data: bytes) -> None:
        try:
            record = open_here(data)
        except DecodeError:
            self.mesh.drop(key)
            return
        if isinstance(record, OtherVersion):
            self._notify(News.OTHER_VERSION, record.name, str(record.protocol))
        await self._change(lambda: self.lobby.on_here(record))
        if not isinstance(record, OtherVersion):
            for other in self.lobby.relay_to(record.key):
                if other != key:
                    self.mesh.send(other, frames.LobbyRecord(data))
        self._look_for_wanted()
        await self._try_deal()

    def _look_for_wanted(self) -> None:
        wanted = self.settings.wanted
        if wanted is None or self.lobby.stage != Stage.LOBBY or self.lobby.me.pinned:
            return
        for record in self.lobby.records().values():
            if table_name(record.table) == wanted or record.table.hex().startswith(wanted.lower()):
                self.sit_at(record.table)
                return

    def _show_lobby(self) -> None:
        if self.lobby.stage < Stage.KEYS:
            left = None if self._seal_at is None else max(0, math.ceil(self._seal_at - trio.current_time()))
            self._tell(lobby_update(self.lobby, self.join_line, left, self._known))

    # -- the match -------------------------------------------------------------------------------------

    async def _start(self, start: Start) -> None:
        seed = os.urandom(32)
        match = start.roster.match_id()
        await trio.to_thread.run_sync(self.journal.begin, match, pack(start), seed)
        session = Session(start, self.journal.identity, seed, os.urandom)
        session.may_deal = False
        await self._run_session(session)
        await self._do(self.lobby.reached(Stage.KEYS))

    async def _resume(self, start: Start, seed: bytes, match: bytes) -> Session:
        records = await trio.to_thread.run_sync(self.journal.records, match)
        session = Session(start, self.journal.identity, seed, os.urandom)
        await trio.to_thread.run_sync(session.restore, records)
        last_addresses.tell(self.mesh, await trio.to_thread.run_sync(last_addresses.kept, self.journal))
        await self._run_session(session, resumed=True)
        if session.over or session.out:  # it had ended, but that was not noted
            self._wish(self._match_over)
        return session

    async def _run_session(self, session: Session, *, resumed: bool = False) -> None:
        assert self._nursery is not None
        self.engine = Engine(session, self.journal, partial(self._on_report, session))
        self._garbage.clear()
        now = trio.current_time()
        self._asked = (now, 0)
        self._patience = Patience(session.start.roster.rules.turn_seconds, self.settings.grace, now)
        self._shown, self._deserted, self._too_few = None, math.inf, False
        self._dropped = frozenset()
        self._named = {}
        self._ballots = 0
        self._names = _names(session.start.roster)
        self._verified = None
        members = [member.key for member in session.start.roster.members]
        others = [key for key in members if key != self.mesh.key]
        self._presence = Presence(others, [link.key for link in self.mesh.links()], now)
        self.mesh.protect(members)
        if resumed:  # the player may be the one whom all wait for
            if session.replica.phase not in BEFORE_DEAL:  # coming back has checked all proofs again
                self._verified = ShuffleVerified(time.time(), session.replica.live)
            self._show_game(session)
            self._notify(News.RESUMED)
        await self._nursery.start(self._run_engine, self.engine)
        self._ask_for_missing(session)
        if self.mesh.links():
            await self._note_addresses(session)

    async def _run_engine(
        self, engine: Engine, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        with trio.CancelScope() as self._match_scope:
            task_status.started()
            await engine.run()

    def _stop_engine(self) -> None:
        if self._match_scope is not None:
            self._match_scope.cancel()
        self.engine = self._match_scope = None
        self.mesh.protect(())

    async def _abandon(self, action: Abandoned) -> None:
        engine = self.engine
        self._stop_engine()
        name = _names(action.roster).get(action.key, "")
        if engine is not None:
            await engine.stopped.wait()
            await trio.to_thread.run_sync(self.journal.finish, engine.match, None, None, MatchState.ABANDONED)
        self._notify(News.NOT_STARTED, action.cause.value, name)
        for key in [] if engine is None else _convicts(engine.session):  # also when another one gave up first
            await self._do(self.lobby.shun(key))

    def _on_report(self, session: Session, report: Report) -> None:
        """Called by the engine, in the event loop, after each visit to its thread."""
        if self.engine is None or self.engine.session is not session:
            return  # what was under way when the match was ended here
        members = [member.key for member in session.start.roster.members]
        for out in report.outgoing:
            for key in members:
                self.mesh.send(key, frames.MatchMessage(out.data))
        self._relay(members, report.heard)
        for key, messages in report.answers:
            for data in messages:
                self.mesh.send(key, frames.MatchMessage(data))
        for key, _detail in report.garbage:
            self._garbage[key] += 1
            if self._garbage[key] > GARBAGE:
                self.mesh.drop(key)
        if report.refused is not None:
            self._notify(News.NOT_MADE, report.refused)
        if report.events or report.refused is not None:
            self._on_events(session, report)

    def _on_events(self, session: Session, report: Report) -> None:
        assert self._nursery is not None
        happened = []
        outcome = None
        for event in report.events:
            match event:
                case Heard(move=move) if move is not None:
                    happened.append(move)
                case StepDone(before=before, after=after):
                    self._on_progress()
                    if session.at_first_deal:
                        self._nursery.start_soon(self._try_deal)
                    if len(after.results) > len(before.results):
                        outcome = after.results[-1]
                    if before.phase is MatchPhase.TAGS:
                        self._notify(News.HEALED)
                    self._note_verified(session.seat, before)
                case Voted(seat=seat, gone=gone):
                    self._on_vote(session, seat, gone)
                case ViewOpened(gone=gone):
                    self._named = {}
                    self._ballots = 0
                    if self._verified is not None and len(self._verified.seats) == 1:
                        self._verified = None
                    if gone:  # who makes the others vote for nothing gains no time by it
                        self._on_progress()
                    for seat in gone:
                        self._notify(News.REMOVED, self._name(session.start.roster.members[seat].key))
                case Convicted(conviction=conviction):
                    self._on_conviction(session, conviction)
                case Diverged(seat=seat, step=step):
                    self._compare(session, seat, step)
                case Removed():
                    self._notify(News.PUT_OUT)
                    self._wish(self._match_over)
        self._show_game(session, tuple(happened), outcome)
        if session.over:
            self._wish(self._match_over)

    def _show_game(
        self, session: Session, happened: tuple[moves.Move, ...] = (), outcome: Outcome | None = None
    ) -> None:
        """Tell the screen how the game stands. The session must not be at work in a thread."""
        away, since = self._who_is_away()
        self._shown = game_update(session, happened, outcome, away, since, self._verified)
        place = (session.replica.view, session.replica.step) if self._shown.decisions else None
        self._patience.asked(place, trio.current_time())
        self._tell(self._shown)

    def _note_verified(self, me: int, before: Replica) -> None:
        """When the proofs of a shuffle were checked here, and who has signed something on top of them since."""
        if before.phase in PROOFS:
            self._verified = ShuffleVerified(time.time(), (me,))
        elif self._verified is not None and not set(before.live) <= set(self._verified.seats):
            seats = tuple(sorted({*self._verified.seats, *before.awaited()}))
            self._verified = replace(self._verified, seats=seats)

    def _on_vote(self, session: Session, voter: int, gone: tuple[int, ...]) -> None:
        if voter == session.seat:
            self._ballots, self._balloted = self._ballots + 1, trio.current_time()
        members = session.start.roster.members
        for seat in gone:
            if voter != session.seat and seat not in self._named.get(voter, ()) and seat != voter:
                self._notify(News.WANTS_ON, self._name(members[voter].key), self._name(members[seat].key))
        self._named[voter] = gone

    def _on_progress(self) -> None:
        now = trio.current_time()
        self._asked = (now, 0)
        self._patience.moved_on(now)

    def _who_is_away(self) -> tuple[dict[int, str], dict[int, float]]:
        """By seat: why somebody is not here, and since when (Unix seconds)."""
        assert self.engine is not None
        members = self.engine.session.start.roster.members
        away = self._presence.away()
        seats = {seat: away[member.key] for seat, member in enumerate(members) if member.key in away}
        shift = time.time() - trio.current_time()
        return (
            {seat: why for seat, (why, _) in seats.items()},
            {seat: since + shift for seat, (_, since) in seats.items()},
        )

    def _show_away(self) -> None:
        """Somebody went or came, and nothing else has happened."""
        if self._shown is not None and self.engine is not None:
            away, since = self._who_is_away()
            self._shown = replace(self._shown, happened=(), outcome=None, away=away, away_since=since)
            self._tell(self._shown)

    def _on_conviction(self, session: Session, conviction: Conviction) -> None:
        """Everybody gets the evidence, and judges it for itself; a file of it is for third parties."""
        assert self._nursery is not None
        members = session.start.roster.members
        for data in conviction.messages:
            for member in members:
                self.mesh.send(member.key, frames.MatchMessage(data))
        if self.lobby.stage < Stage.DEALT:
            self._patience.moved_on(trio.current_time())
        evidence = session.evidence(conviction)
        name = self._name(members[conviction.seat].key)
        self._nursery.start_soon(self._keep_evidence, evidence, conviction, name)

    async def _keep_evidence(self, evidence: Transcript, conviction: Conviction, name: str) -> None:
        path = ""
        if self.settings.keep_transcript:
            folder = self.journal.path.parent / "evidence"
            owner = self.mesh.key.hex()[:8]
            try:
                path = str(await trio.to_thread.run_sync(save_evidence, evidence, folder, owner))
            except LocalError as error:
                self._notify(News.WARNING, str(error))
        self._notify(News.CHEAT, name, conviction.rule, conviction.text, path)

    def _compare(self, session: Session, seat: int, step: int) -> None:
        """Two logs differ: both sides show all that they hold, and whoever signed twice is found."""
        member = session.start.roster.members[seat].key
        first = max(0, step - BACK)
        frame = frames.Sync(session.replica.match, session.replica.view, first)
        for other in session.start.roster.members:
            self.mesh.send(other.key, frame)
        if self.engine is not None:
            self.engine.poke(Lacking(member, session.replica.view, first))

    def _relay(self, members: list[bytes], heard: Iterable[Incoming]) -> None:
        """Pass new messages on to members that do not hear their author themselves."""
        heard = list(heard)
        if not heard:
            return
        young = trio.current_time() - FLOOD_AGE
        links = [link for link in self.mesh.links() if link.key in members and link.since < young]
        for item in heard:
            for link in links:
                if link.key != item.key and item.key not in link.hears:
                    self.mesh.send(link.key, frames.MatchMessage(item.data))

    def _match_over(self) -> Iterable[Action]:
        engine = self.engine
        if engine is None:
            return ()
        assert self._nursery is not None
        self._stop_engine()
        self._last = engine.session
        self._nursery.start_soon(self._keep_match, engine)
        return self._finished(engine.session)

    def _finished(self, session: Session | None = None) -> Iterable[Action]:
        self._wake_at = trio.current_time() + REST
        actions = self.lobby.finished()
        for key in [] if session is None else _convicts(session):
            actions = (*actions, *self.lobby.shun(key))
        return actions

    async def _give_up(self, engine: Engine) -> None:
        """This seat is out of a match that is not over."""
        self._stop_engine()
        await self._keep_match(engine)
        await self._do(self._finished(engine.session))

    async def _keep_match(self, engine: Engine) -> None:
        await engine.stopped.wait()  # its thread may still be at work, and what is finished takes no more
        session, path = engine.session, None
        if self.settings.keep_transcript:
            folder = self.journal.path.parent / "transcripts"
            owner = self.mesh.key.hex()[:8]
            try:
                path = await trio.to_thread.run_sync(
                    save_transcript, session.transcript(), self.settings.transcript, folder, owner
                )
            except LocalError as error:
                self._notify(News.WARNING, str(error))
        winners = tuple(outcome.winner for outcome in session.replica.results)
        result = StoredResult(session.replica.totals, winners)
        state = MatchState.FINISHED if session.over else MatchState.ABANDONED
        await trio.to_thread.run_sync(self.journal.finish, session.replica.match, result, path, state)
        self._tell(MatchEnded(path, session.over))

    # -- the network -----------------------------------------------------------------------------------

    async def _hear_mesh(self) -> None:
        async for event in self.mesh.events:
            match event:
                case net.PeerUp():
                    await self._on_up(event.key)
                case net.PeerDown():
                    await self._on_away(
                        event.key, "left" if event.reason is frames.CloseReason.LEFT else "lost"
                    )
                case net.PeerSilent(silent=True):
                    await self._on_away(event.key, "silent")
                case net.PeerSilent():
                    await self._on_up(event.key)
                case net.FrameFrom():
                    await self._on_frame(event.key, event.frame)
                case net.DialFailed() if event.key is None:
                    self._notify(News.UNREACHABLE, event.address, event.detail or event.reason.name.lower())
                case net.DialFailed():
                    pass
                case net.StrangerRefused():
                    self._notify(News.OTHER_VERSION, event.address, event.detail)

    async def _on_up(self, key: bytes) -> None:
        if self._record:
            self.mesh.send(key, frames.LobbyRecord(self._record))
        await self._change(lambda: self.lobby.on_link(key))
        now = trio.current_time()
        gone = self._presence.back(key, now)
        if gone is not None and self.engine is not None:
            self._patience.returned(gone, now)
            self._notify(News.LINK_BACK, self._name(key))
            self._show_away()
        if self.engine is not None:
            self._ask_for_missing(self.engine.session, (key,))
            await self._note_addresses(self.engine.session)

    async def _note_addresses(self, session: Session) -> None:
        """Keep where the others are: after a restart they are dialled without discovery."""
        noted = last_addresses.noted(self.mesh, [member.key for member in session.start.roster.members])
        if noted != self._noted:
            self._noted = noted
            await trio.to_thread.run_sync(last_addresses.keep, self.journal, noted)

    async def _on_away(self, key: bytes, why: str) -> None:
        await self._change(lambda: self.lobby.on_gone(key))
        if self.engine is not None and self._presence.lost(key, why, trio.current_time()):
            news = {"left": News.LEFT, "lost": News.LINK_LOST, "silent": News.SILENT}[why]
            self._notify(news, self._name(key))
            self._show_away()

    def _name(self, key: bytes) -> str:
        return self._names.get(key, "")

    async def _on_frame(self, key: bytes, frame: object) -> None:
        engine = self.engine
        match frame:
            case frames.LobbyRecord(record=record):
                await self._hear_here(key, record)
            case frames.MatchMessage(message=message) if engine is not None:
                await engine.put(Incoming(key, message))
            case frames.Sync(match=match, view=view, step=step):
                if engine is not None and match == engine.match:
                    await engine.put(Lacking(key, view, step))
                elif self._last is not None and match == self._last.replica.match:
                    for data in beginning(self._last.messages_since(view, step)):
                        self.mesh.send(key, frames.MatchMessage(data))
            case _:
                pass

    def _ask_for_missing(self, session: Session, keys: Iterable[bytes] | None = None) -> None:
        """Tell peers where we stand, so that they send what we lack."""
        replica = session.replica
        frame = frames.Sync(replica.match, replica.view, replica.step)
        for key in [m.key for m in session.start.roster.members] if keys is None else keys:
            self.mesh.send(key, frame)

    # -- time ------------------------------------------------------------------------------------------

    async def _tick(self) -> None:
        while True:
            await trio.sleep(TICK)
            if self._wake_at is not None and trio.current_time() > self._wake_at:
                self._wake_at = None
                if not self._leaving.is_set():
                    await self._change(self.lobby.wake)
            if self.engine is None or self.lobby.stage < Stage.DEALT:
                await self._tick_lobby()
            if self.engine is not None:
                await self._tick_match(self.engine)

    async def _tick_lobby(self) -> None:
        now = trio.current_time()
        roster = self.lobby.can_seal()
        if roster is None or self.settings.automatic:
            if self._seal_at is not None:
                self._seal_at = None
                self._show_lobby()
        elif self._seal_at is None:
            others = [
                record for record in self.lobby.records().values() if record.key in self.lobby.me.seated
            ]
            alone = all(record.automatic or record.key == self.mesh.key for record in others)
            self._seal_at = now if alone else now + COUNTDOWN
            self._show_lobby()
        elif now >= self._seal_at:
            self._seal_at = None
            await self._change(self.lobby.seal)
        elif math.ceil(self._seal_at - now) != math.ceil(self._seal_at - now + TICK):
            self._show_lobby()
        if self.lobby.stage in (Stage.SEALED, Stage.KEYS) and self.lobby.roster is not None:
            lost = self._holds_up(self.lobby.roster, now)
            if lost is not None and self.engine is not None and lost in _convicts(self.engine.session):
                await self._change(lambda: self.lobby.shun(lost))
            elif lost is not None:
                await self._change(lambda: self.lobby.abandon(lost))

    def _holds_up(self, roster: Roster, now: float) -> bytes | None:
        """Because of whom an attempt to start is given up; None: it goes on."""
        for member in roster.members:
            heard = self.mesh.last_heard(member.key)
            if member.key != self.mesh.key and (heard is None or now - heard > SILENT):
                return member.key
        if self.engine is None:
            return None
        session = self.engine.session
        convicts = sorted(session.accused())
        if self._patience.standstill(now) <= (CAUGHT if convicts else STUCK):
            return None
        late = [seat for seat in session.awaited() if seat != session.seat]
        return roster.members[[*convicts, *late, session.seat][0]].key

    async def _tick_match(self, engine: Engine) -> None:
        session, now = engine.session, trio.current_time()
        await self._try_deal()
        for key in self._presence.found_round_about(self.mesh.last_heard):
            self._notify(News.ROUND_ABOUT, self._name(key))
        if self.lobby.stage == Stage.DEALT and not session.at_first_deal and session.may_deal:
            await self._change(lambda: self.lobby.reached(Stage.PLAYING))
        if self.lobby.stage >= Stage.DEALT:
            self._tick_votes(engine)
            self._tick_clock(engine)
            self._tick_deserted(session, now)
        asked, times = self._asked
        lacks = session.ballots.any or set(session.awaited()) - {session.seat}
        if lacks and now - asked > LACKING[min(times, len(LACKING) - 1)]:
            self._asked = (now, times + 1)
            others = [m.key for m in session.start.roster.members if m.key != self.mesh.key]
            few = FEW if self._patience.standstill(now) < 1.0 else len(others)
            self._ask_for_missing(session, random.sample(others, min(few, len(others))))

    def _tick_votes(self, engine: Engine) -> None:
        """Say whom this peer would go on without, when there is somebody, or a vote is under way."""
        session, now = engine.session, trio.current_time()
        suspects = self._suspects(session, now)
        if session.over or session.out or not (suspects or session.ballots.any or session.accused()):
            return
        if now - self._voted >= VOTE_AGAIN:
            self._voted = now
            engine.poke(CallVote(suspects, self._ballots < OFTEN or now - self._balloted >= RARELY))

    def _suspects(self, session: Session, now: float) -> frozenset[int]:
        """Whom this peer would go on without."""
        members, silence = session.start.roster.members, self._silence(session, now)
        named = Counter(seat for gone in self._named.values() for seat in gone)
        consent = 1 if self.settings.automatic else CONSENT
        return self._patience.suspects(
            now,
            silence,
            session.awaited(),
            [seat for seat in silence if members[seat].key in self._dropped or named[seat] >= consent],
            voting=session.ballots.any,
        )

    def _tick_clock(self, engine: Engine) -> None:
        """The turn clock: a player who is here but does not decide is played for by the built-in player."""
        shown = self._shown
        if shown is None or shown.view is None or not self._patience.time_is_up(trio.current_time()):
            return
        choices = [m for m in shown.decisions if not isinstance(m, (moves.Reshuffled, moves.Drawn))]
        if choices:
            self._notify(News.PLAYED_FOR_YOU)
            engine.poke(Act(bots.choose(shown.view, choices, os.urandom)))

    def _tick_deserted(self, session: Session, now: float) -> None:
        """Say so when nothing can be decided here; and a way out of a match whose end nobody has any more."""
        roster, live = session.start.roster, session.replica.live
        silence = self._silence(session, now)
        too_few = not is_quorum([seat for seat in live if silence.get(seat, 0.0) <= TOO_FEW], live)
        if too_few and not self._too_few:
            self._notify(News.TOO_FEW)
        self._too_few = too_few
        stay = [seat for seat in live if not self.lobby.has_gone_on(roster, roster.members[seat].key)]
        if is_quorum(stay, live):
            self._deserted = math.inf
        elif self._deserted == math.inf:
            self._deserted = now
        elif now - self._deserted > DESERTED:
            self._notify(News.PUT_OUT)
            self._deserted = math.inf
            self._wish(self._match_over)

    def _silence(self, session: Session, now: float) -> dict[int, float]:
        """For how many seconds each other live seat was not heard, directly or through others."""
        members = session.start.roster.members
        others = [seat for seat in session.replica.live if seat != session.seat]
        return {seat: self._presence.silence(members[seat].key, self.mesh.last_heard, now) for seat in others}

    async def _try_deal(self) -> None:
        """When all are that far: bind this seat to the roster, on disk, before its first DEAL can be made."""
        engine = self.engine
        if engine is None or not engine.session.at_first_deal or engine.session.may_deal:
            return

        def bind() -> tuple[Action, ...]:
            return self.lobby.reached(Stage.DEALT) if self.lobby.may_reach(Stage.DEALT) else ()

        if self.lobby.may_reach(Stage.DEALT):
            await self._change(bind)
        if self.engine is engine and self.lobby.stage >= Stage.DEALT:
            engine.session.may_deal = True
            engine.poke(Nudge())
            await self._meet(engine.session.start.roster)

    async def _meet(self, roster: Roster) -> None:
        """Remember the people with whom this match begins; built-in players are nobody's acquaintances."""
        records = self.lobby.records()
        bots = {key for key, record in records.items() if record.automatic}
        met = [(m.key, m.name) for m in roster.members if m.key != self.mesh.key and m.key not in bots]
        if met and not self.settings.owner:
            await trio.to_thread.run_sync(self.journal.meet, met)
            self._known = Acquaintances(await trio.to_thread.run_sync(self.journal.people))

    # -- the screen ------------------------------------------------------------------------------------

    def _tell(self, update: Update) -> None:
        self._send_update.send_nowait(update)

    def _notify(self, news: News, *words: str) -> None:
        self._tell(Notice(news, words))


def _convicts(session: Session) -> list[bytes]:
    """The other members of a match, or of an attempt, that are convicted: one never sits down with them again."""
    members = session.start.roster.members
    return [members[seat].key for seat in session.convicted if seat != session.seat]


def _names(roster: Roster) -> dict[bytes, str]:
    """The players by key, as notices call them."""
    return {m.key: name for m, name in zip(roster.members, told_apart(roster.members), strict=True)}
