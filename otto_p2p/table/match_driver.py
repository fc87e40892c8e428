"""Drives one match: born with it and gone with it. What its engine reports is sent, shown, kept and waited for."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import trio

from otto_p2p.i18n import _
from otto_p2p.net import frames
from otto_p2p.players import bots
from otto_p2p.table import last_addresses
from otto_p2p.table.absences import Absences
from otto_p2p.table.archive import keep_evidence
from otto_p2p.table.context import Context
from otto_p2p.table.deadlines import Deadlines
from otto_p2p.table.display import Display
from otto_p2p.table.engine import (
    Act,
    AllowDeal,
    AllowSigning,
    Answer,
    Engine,
    Incoming,
    Lacking,
    Report,
    SignLeave,
)
from otto_p2p.table.lobby_driver import LobbyDriver
from otto_p2p.table.removals import Removals
from otto_p2p.table.snapshots import Standing
from otto_p2p.updates import News
from otto_protocol.encoding import pack
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.lobby.actions import Action
from otto_protocol.lobby.record import Stage
from otto_protocol.match.events import (
    Convicted,
    Diverged,
    Heard,
    Removed,
    StepDone,
    ViewOpened,
    Voted,
)
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript
from otto_protocol.match.views import Conviction
from otto_protocol.quorum import is_majority
from otto_protocol.roster import Start
from otto_protocol.rules import moves

GARBAGE = 200  # messages of no match of ours, before a peer is dropped


class MatchDriver:
    """One match of this peer. `over` is called when it has ended, here or for the others."""

    session: Callable[..., Session] = Session

    def __init__(
        self,
        context: Context,
        lobby: LobbyDriver,
        nursery: trio.Nursery,
        start: Start,
        seed: bytes,
        records: Sequence[tuple[bytes, bytes]] | None,
        over: Callable[[MatchDriver], None],
    ) -> None:
        """`records`: what the journal has of the match when it is resumed; None at its beginning."""
        now, roster, timing = trio.current_time(), start.roster, context.timing
        self.roster = roster
        self.members = tuple(member.key for member in roster.members)
        self.seat = self.members.index(context.mesh.key)
        self.resumed = records is not None
        self._start, self._seed = start, seed
        self._context = context
        self._lobby = lobby
        self._nursery = nursery
        self._over = over
        self._others = tuple(key for key in self.members if key != context.mesh.key)
        self.engine = Engine(
            roster, self.make_session, records, context.journal, self.on_report, run=context.run
        )
        self._scope = trio.CancelScope()
        self._ended = False
        self._may_deal = False
        self._asked = (now, 0)  # when, and how often, we asked for what is missing in this step
        self._deadlines = Deadlines(roster.rules.turn_seconds, context.settings.grace, now, timing)
        linked = [link.key for link in context.mesh.links()]
        self._absences = Absences(self._others, linked, now, timing)
        self._display = Display(context, roster, self.seat, self._absences)
        self._removals = Removals(self.seat, context.settings, timing, self._deadlines)
        self._garbage: Counter[bytes] = Counter()
        self._began = now
        self._answered: set[bytes] = set()  # who has told us all that it has, since we began
        self._answering: set[bytes] = set()  # members whose question for what they lack is being answered
        self._deserted_since = math.inf  # since when too many others are seen to have ended this match
        self._too_few = False  # whether so many are away that nothing can be decided, and the player knows
        self._addresses = b""  # where the players were reached, as the journal has it

    # -- beginning and end -----------------------------------------------------------------------------

    def make_session(self, records: Sequence[tuple[bytes, bytes]] | None) -> Session:
        """In a worker: the session of this seat, as the journal has it.

        Raises LocalError when the journal has something that cannot be taken again.
        """
        journal = self._context.journal
        session = self.session(self._start, journal.identity, self._seed, os.urandom)
        if records is None:
            session.may_deal = False  # not before the lobby has bound this seat to the roster
            return session
        try:
            session.restore(records)
        except DecodeError:
            text = _("the match in {path} cannot be read: move that folder away")
            raise LocalError(text.format(path=journal.path)) from None
        session.may_sign = False  # the disk may be a copy of an older one: first the others are asked
        return session

    async def open(self) -> None:
        """Make the session, in a worker; until then there is no `standing`."""
        self._context.mesh.protect(self.members)
        await self.engine.open()
        self._may_deal = self.standing.may_deal

    async def begin(self) -> None:
        """Let the engine run, and ask the others for what is missing."""
        if self.resumed:  # the player may be the one whom all wait for
            self._display.resumed(self.standing)
            self._note_question()
        await self._nursery.start(self._run_engine)
        self._ask_for_missing(self.members)
        if self._context.mesh.links():
            await self._note_addresses()
        if self.standing.over or self.standing.out:  # it had ended before, but that was not noted
            self._over(self)

    async def _run_engine(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        with self._scope:
            task_status.started()
            await self.engine.run()

    def end(self) -> None:
        """Stop: nothing is sent or shown of this match any more. A visit under way is still completed."""
        self._ended = True
        self._scope.cancel()
        self._context.mesh.protect(())

    # -- what others ask of it -------------------------------------------------------------------------

    @property
    def standing(self) -> Standing:
        """How the match stood at the last report."""
        return self.engine.standing

    @property
    def convicts(self) -> list[bytes]:
        """The other members that are convicted: one never sits down with them again."""
        return [self.members[seat] for seat in self.standing.convicted if seat != self.seat]

    def held_up_by(self) -> bytes | None:
        """Because of whom this match does not come to its deal; None: it goes on."""
        accused, timing = self.standing.accused, self._context.timing
        limit = timing.caught if accused else timing.stuck
        if self._deadlines.standstill(trio.current_time()) <= limit:
            return None
        late = [seat for seat in self.standing.awaited if seat != self.seat]
        return self.members[[*accused, *late, self.seat][0]]

    def act(self, move: moves.Move) -> None:
        """Make a move; a built-in player's comes at one time after the question, however long it has thought."""
        if self._context.settings.automatic:
            self._nursery.start_soon(self._act_in_pace, move)
        else:
            self.engine.poke(Act(move))

    async def _act_in_pace(self, move: moves.Move) -> None:
        waited = self._deadlines.waited(trio.current_time())
        await trio.sleep(max(0.0, self._context.timing.pace - waited))
        self.engine.poke(Act(move))

    def drop(self, seat: int) -> None:
        """Go on without a seat that is not heard, as soon as the others agree."""
        self._removals.drop(seat)

    async def leave(self) -> None:
        """Sign LEAVE, and wait until it is on its way."""
        self.engine.poke(SignLeave())
        await self.engine.left.wait()

    # -- what the engine reports -----------------------------------------------------------------------

    def on_report(self, report: Report) -> None:
        """Called by the engine, in the event loop, after each visit to its thread."""
        if self._ended:
            return  # what was under way when the match was ended here
        mesh = self._context.mesh
        for out in report.outgoing:
            mesh.send_to(self.members, frames.MatchMessage(out))
        self._relay(report.heard)
        for answer in report.answers:
            self._answering.discard(answer.key)
            self.send_answer(answer)
        for fault in report.put_aside:
            text = _(
                "a message of this match could not be read ({fault}): it was put aside, the game goes on"
            )
            self._context.notify(News.WARNING, text.format(fault=fault))
        for key, _detail in report.garbage:
            self._garbage[key] += 1
            if self._garbage[key] > GARBAGE:
                mesh.drop(key)
        for conviction, evidence in report.evidence:
            self.on_conviction(conviction, evidence)
        if report.events or report.woken or report.refused is not None:
            self._on_events(report)

    def send_answer(self, answer: Answer) -> None:
        """Messages of this match that a peer lacks, and whether that is all."""
        for data in answer.messages:
            self._context.mesh.send(answer.key, frames.MatchMessage(data))
        if answer.complete:
            self._context.mesh.send(answer.key, frames.Synced(self.engine.match))

    def on_synced(self, key: bytes) -> None:
        """A peer has told us all that it has. After a restart that is what we wait for before we sign anything."""
        self._answered.add(key)
        self._allow_signing(trio.current_time())

    def _allow_signing(self, now: float) -> None:
        if self.standing.may_sign:
            return
        unsure, waited = self._context.timing.unsure, now - self._began
        others = {self.members[seat] for seat in self.standing.live if seat != self.seat}
        linked = {link.key for link in self._context.mesh.links()} & others
        if others <= self._answered or waited > 3 * unsure or (linked <= self._answered and waited > unsure):
            self.engine.poke(AllowSigning())

    def _on_events(self, report: Report) -> None:
        happened, outcome, name = [], None, self._display.name
        news: list[tuple[News, tuple[str, ...]]] = []  # behind the update: that shows what they speak of
        for event in report.events:
            match event:
                case Heard(move=move) if move is not None:
                    happened.append(move)
                case StepDone(before=before, after=after):
                    self._on_progress()
                    if len(after.results) > len(before.results):
                        outcome = after.results[-1]
                    if before.phase is MatchPhase.TAGS:
                        news.append((News.HEALED, ()))
                    self._display.step_done(before)
                    if report.standing.at_first_deal:
                        self._nursery.start_soon(self.try_deal)
                case Voted(seat=voter, gone=gone):
                    for seat in self._removals.voted(voter, gone, trio.current_time()):
                        news.append((News.WANTS_ON, (name(voter), name(seat))))
                case ViewOpened(gone=gone):
                    self._removals.view_opened()
                    self._display.view_opened()
                    if gone:  # whoever makes the others vote for nothing gains no time by it
                        self._on_progress()
                    news += [(News.REMOVED, (name(seat),)) for seat in gone]
                case Diverged(seat=seat, step=step):
                    self._compare(seat, step)
                case Removed():
                    news.append((News.PUT_OUT, ()))
                case Heard() | Convicted():
                    pass
        if report.refused is not None:
            news.append((News.NOT_MADE, (report.refused,)))
        self._display.show(report.standing, tuple(happened), outcome)
        self._note_question()
        for what, words in news:
            self._context.notify(what, *words)
        if report.standing.over or any(isinstance(event, Removed) for event in report.events):
            self._over(self)

    def _note_question(self) -> None:
        """The clock of a question runs from when it was shown."""
        game = self.standing.game
        self._deadlines.asked(game.place if game.decisions else None, trio.current_time())

    def _on_progress(self) -> None:
        now = trio.current_time()
        self._asked = (now, 0)
        self._deadlines.moved_on(now)

    def on_conviction(self, conviction: Conviction, evidence: Transcript) -> None:
        """Everybody gets the evidence, and judges it for itself; a file of it is for third parties."""
        self._context.mesh.send_to(self.members, frames.MatchMessage(pack(conviction.evidence)))
        if self._lobby.stage < Stage.DEALT:
            self._deadlines.moved_on(trio.current_time())
        name = self._display.name(conviction.seat)
        self._nursery.start_soon(keep_evidence, self._context, conviction, evidence, name)

    def _compare(self, seat: int, step: int) -> None:
        """Two logs differ: both sides show all that they hold, and whoever signed twice is found."""
        view, first = self.standing.view, max(0, step - 1)
        self._context.mesh.send_to(self.members, frames.Sync(self.engine.match, view, first))
        self.engine.poke(Lacking(self.members[seat], view, first))

    def _relay(self, heard: Iterable[Incoming]) -> None:
        """Pass new messages on to members that do not hear their author themselves."""
        heard = list(heard)
        if not heard:
            return
        young = trio.current_time() - self._context.timing.flood_age
        linked = self._context.mesh.links()
        links = [link for link in linked if link.key in self.members and link.since < young]
        for item in heard:
            lacking = [link.key for link in links if link.key != item.key and item.key not in link.hears]
            self._context.mesh.send_to(lacking, frames.MatchMessage(item.data))

    # -- the network -----------------------------------------------------------------------------------

    async def on_up(self, key: bytes) -> None:
        """There is a link to this peer, or it is heard again."""
        now = trio.current_time()
        silence = self._absences.back(key, now)
        if silence is not None:
            self._deadlines.returned(silence, now)
            self._display.show_away(News.LINK_BACK, key)
        if key in self._others:
            self._ask_for_missing((key,))
        await self._note_addresses()

    async def on_sync(self, key: bytes, view: int, step: int) -> None:
        """A peer asks for what it lacks. Members are answered, one question at a time: they ask again anyway."""
        if key in self._others and key not in self._answering:
            self._answering.add(key)
            await self.engine.put(Lacking(key, view, step))

    def on_away(self, key: bytes, why: str) -> None:
        """There is no link to this peer any more, or nothing is heard."""
        if self._absences.lost(key, why, trio.current_time()):
            news = {"left": News.LEFT, "lost": News.LINK_LOST, "silent": News.SILENT}[why]
            self._display.show_away(news, key)

    def _ask_for_missing(self, keys: Iterable[bytes]) -> None:
        """Tell peers where we stand, so that they send what we lack."""
        frame = frames.Sync(self.engine.match, self.standing.view, self.standing.step)
        self._context.mesh.send_to(keys, frame)

    async def _note_addresses(self) -> None:
        """Keep where the others are: after a restart they are dialled without discovery."""
        addresses = last_addresses.noted(self._context.mesh, self._others)
        if addresses != self._addresses:
            self._addresses = addresses
            await self._context.run(last_addresses.keep, self._context.journal, addresses)

    # -- time ------------------------------------------------------------------------------------------

    async def tick(self) -> None:
        """To be called now and then."""
        now = trio.current_time()
        await self.try_deal()
        for key in self._absences.found_indirect(self._context.mesh.last_heard):
            self._display.show_indirect(key)
        self._allow_signing(now)
        standing, lobby = self.standing, self._lobby
        if lobby.stage == Stage.DEALT and not standing.at_first_deal and self._may_deal:
            await lobby.change(lambda: lobby.lobby.reached(Stage.PLAYING))
        if lobby.stage >= Stage.DEALT:
            self._tick_votes(now)
            self._tick_clock(now)
            self._tick_deserted(now)
        self._tick_missing(now)

    def _tick_missing(self, now: float) -> None:
        timing, (asked, times) = self._context.timing, self._asked
        lacks = self.standing.voting or set(self.standing.awaited) - {self.seat}
        if lacks and now - asked > timing.lacking[min(times, len(timing.lacking) - 1)]:
            self._asked = (now, times + 1)
            most = timing.few if self._deadlines.standstill(now) < timing.soon else len(self._others)
            self._ask_for_missing(random.sample(self._others, min(most, len(self._others))))

    def _tick_votes(self, now: float) -> None:
        vote = self._removals.due(self.standing, self._silence(now), now)
        if vote is not None:
            self.engine.poke(vote)

    def _tick_clock(self, now: float) -> None:
        """The turn clock: a player who is here but does not decide is played for by the built-in player."""
        shown = self._display.shown
        if shown is None or shown.view is None or not self._deadlines.time_is_up(now):
            return
        if shown.decisions:
            self._context.notify(News.PLAYED_FOR_YOU)
            self.engine.poke(Act(bots.choose(shown.view, shown.decisions, os.urandom)))

    def _tick_deserted(self, now: float) -> None:
        """Say so when nothing can be decided here; and a way out of a match whose end nobody has any more."""
        timing, live, silence = self._context.timing, self.standing.live, self._silence(now)
        too_few = not is_majority([seat for seat in live if silence.get(seat, 0.0) <= timing.too_few], live)
        if too_few and not self._too_few:
            self._context.notify(News.TOO_FEW)
        self._too_few = too_few
        has_gone_on = self._lobby.lobby.has_gone_on
        stay = [seat for seat in live if not has_gone_on(self.roster, self.members[seat])]
        if is_majority(stay, live):
            self._deserted_since = math.inf
        elif self._deserted_since == math.inf:
            self._deserted_since = now
        elif now - self._deserted_since > timing.deserted:
            self._context.notify(News.PUT_OUT)
            self._deserted_since = math.inf
            self._over(self)

    def _silence(self, now: float) -> dict[int, float]:
        """For how many seconds each other live seat was not heard, directly or through others."""
        heard = self._context.mesh.last_heard
        others = [seat for seat in self.standing.live if seat != self.seat]
        return {seat: self._absences.silence(self.members[seat], heard, now) for seat in others}

    async def try_deal(self) -> None:
        """When all are that far: bind this seat to the roster, on disk, before its first DEAL can be made."""
        if self._ended or self._may_deal or not self.standing.at_first_deal:
            return
        driver, lobby = self._lobby, self._lobby.lobby

        def bind() -> tuple[Action, ...]:
            return lobby.reached(Stage.DEALT) if lobby.may_reach(Stage.DEALT) else ()

        if lobby.may_reach(Stage.DEALT):
            await driver.change(bind)
        if not self._ended and not self._may_deal and driver.stage >= Stage.DEALT:
            self._may_deal = True
            self.engine.poke(AllowDeal())
            await driver.meet(self.roster)
