"""Runs one session in worker threads: hears, works, stores before it sends, answers a peer that lacks something.

The session computes for tens of milliseconds at a time (shuffles, proofs), and the journal waits for the
disk; neither may hold up the event loop, which keeps links alive and the screen drawn. So everything goes
through one queue, and one task hands it to a thread, batch by batch. The session is made in such a thread
and nobody else ever holds it: what the event loop knows of it is the `Standing` of the last report.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import trio

from otto_p2p.storage.journal import Journal
from otto_p2p.table.ballot_limits import Allowance, voter
from otto_p2p.table.context import RunSync
from otto_p2p.table.snapshots import Standing, standing
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.match.events import Convicted, Record, SessionEvent
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript
from otto_protocol.match.views import Conviction
from otto_protocol.roster import Roster
from otto_protocol.rules import moves

MAX_BATCH = 256  # items that one visit to the thread takes
MAX_QUEUE = 4096
MAX_ANSWER = 1 << 20  # bytes of one answer to a peer that lacks messages: it asks again from where it then is
MAX_ANSWERS = 1000  # messages of one answer


@dataclass(frozen=True, slots=True)
class Incoming:
    """A signed message of the match, from the peer with this key (not always its author)."""

    key: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Act:
    """The player's decision."""

    move: moves.Move


@dataclass(frozen=True, slots=True)
class Lacking:
    """A peer stands at this view and step and asks for everything from there on."""

    key: bytes
    view: int
    step: int


@dataclass(frozen=True, slots=True)
class AllowDeal:
    """The lobby has bound this seat to the roster: its first DEAL may be given."""


@dataclass(frozen=True, slots=True)
class AllowSigning:
    """The others have told what they know of this seat: after a restart it may sign again."""


@dataclass(frozen=True, slots=True)
class _Wake:
    """There is something of our own to take."""


@dataclass(frozen=True, slots=True)
class CallVote:
    """These seats should go; `again`: a second has gone by since the last ballot."""

    suspects: frozenset[int]
    again: bool


@dataclass(frozen=True, slots=True)
class SignLeave:
    """Sign LEAVE: this seat is out of the match."""


OwnItem = Act | Lacking | AllowDeal | AllowSigning | CallVote | SignLeave
Item = Incoming | OwnItem | _Wake


@dataclass(frozen=True, slots=True)
class Answer:
    """What the peer `key` lacks; `complete`: there is nothing more."""

    key: bytes
    messages: tuple[bytes, ...]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came out of one visit to the thread."""

    outgoing: tuple[bytes, ...]
    events: tuple[SessionEvent, ...]
    heard: tuple[Incoming, ...]  # new messages, for those who do not hear their author
    answers: tuple[Answer, ...]
    garbage: tuple[tuple[bytes, str], ...]  # (peer, what was wrong with its bytes)
    put_aside: tuple[str, ...]  # faults of ours in messages that could not be taken
    refused: str | None  # why the player's move was not made
    woken: bool  # this seat may sign again: the player can be asked
    evidence: tuple[tuple[Conviction, Transcript], ...]  # of each conviction in `events`
    standing: Standing


class Engine:
    """One session and its journal; `report` is called in the event loop after each visit to the thread."""

    standing: Standing  # of the last report; there is one from `open` on

    def __init__(
        self,
        roster: Roster,
        make: Callable[[Sequence[tuple[bytes, bytes]] | None], Session],
        records: Sequence[tuple[bytes, bytes]] | None,
        journal: Journal,
        report: Callable[[Report], None],
        *,
        run: RunSync = trio.to_thread.run_sync,
    ) -> None:
        """`make` makes the session in a worker, out of `records` of the journal if there are any.

        `run` runs something in a worker.
        """
        self.roster = roster
        self.match = roster.match_id()
        # This seat is out of the match, and its LEAVE is on its way; or all is stopped.
        self.left = trio.Event()
        # The session is at rest for good, and nothing is written to the journal any more.
        self.stopped = trio.Event()
        self._make = make
        self._records = records
        self._journal = journal
        self._report = report
        self._run = run
        self._put, self._queue = trio.open_memory_channel[Item](MAX_QUEUE)
        self._mine, self._decided = trio.open_memory_channel[Item](math.inf)
        self._taken: list[
            tuple[Record, bytes]
        ] = []  # what is new, and from which peer it came (b"": from nobody)
        self._stored = 0  # how many of them are in the journal
        self._answers: list[Answer] = []
        self._put_aside: list[str] = []
        self._faulty: set[bytes] = set()  # messages that were put aside
        self._garbage: list[tuple[bytes, str]] = []
        self._refused: str | None = None
        self._woken = False
        self._members = [member.key for member in roster.members]
        self._allowance = Allowance(self._members)
        self._given: dict[bytes, tuple[int, int, int]] = {}  # (view, step, count) of answers cut short
        self._late = trio.Lock()  # one answer at a time when all is over

    async def open(self) -> None:
        """Make the session, and see how it stands. To be called once, before all else."""
        self.standing = await self._run(self._open)

    def is_member(self, key: bytes) -> bool:
        """Whether this peer has a seat in the match."""
        return key in self._members

    async def put(self, item: Incoming | Lacking) -> None:
        """Hand in something from the network; waits while the queue is full."""
        with contextlib.suppress(trio.BrokenResourceError):  # stopped
            await self._put.send(item)

    def poke(self, item: OwnItem) -> None:
        """Hand in something of our own; never waits."""
        self._mine.send_nowait(item)
        # A full queue wakes the task anyway.
        with contextlib.suppress(trio.WouldBlock, trio.BrokenResourceError):
            self._put.send_nowait(_Wake())

    async def run(self) -> None:
        """Serve the queue until cancelled. A visit to the thread that has begun is completed first."""
        try:
            with self._queue:
                while True:
                    await self._visit([])
                    batch = [await self._queue.receive()]
                    batch += self._waiting(self._queue, MAX_BATCH)
                    batch += self._waiting(self._decided, MAX_BATCH)
                    await self._visit(batch)
        finally:
            self.left.set()
            self.stopped.set()

    async def answer(self, asked: Lacking) -> Answer:
        """What a peer lacks of a match that has ended here. Waits for the end of what is under way."""
        await self.stopped.wait()
        async with self._late:
            return await self._run(self._answer, asked)

    async def transcript(self) -> Transcript:
        """The whole log, when the match has ended here. Waits for the end of what is under way."""
        await self.stopped.wait()
        async with self._late:
            return await self._run(self._transcript)

    @staticmethod
    def _waiting(queue: trio.MemoryReceiveChannel[Item], most: int) -> list[Item]:
        items: list[Item] = []
        while len(items) < most:
            try:
                items.append(queue.receive_nowait())
            except trio.WouldBlock:
                break
        return items

    async def _visit(self, batch: list[Item]) -> None:
        report: Report | None = await self._run(self._absorb, batch, trio.current_time())
        while report is not None:
            self.standing = report.standing
            self._report(report)
            if report.standing.out:
                self.left.set()
            report = await self._run(self._work)

    # -- in the thread: nothing above touches the session ----------------------------------------------

    def _open(self) -> Standing:
        self._session, self._records = self._make(self._records), None
        return standing(self._session)

    def _transcript(self) -> Transcript:
        return self._session.transcript()

    def _absorb(self, batch: list[Item], now: float) -> Report:
        for item in batch:
            match item:
                case Incoming():
                    self._hear(item, now)
                case Act():
                    try:
                        self._session.act(item.move)
                    except LocalError as error:
                        self._refused = str(error)
                case Lacking():
                    self._answers.append(self._answer(item))
                case CallVote():
                    self._session.suspect(item.suspects)
                    if item.again:
                        self._session.vote()
                case SignLeave():
                    self._session.leave()
                case AllowDeal():
                    self._session.may_deal = True
                case AllowSigning():
                    self._session.may_sign = self._woken = True
                case _Wake():
                    pass
        return self._store()

    def _hear(self, item: Incoming, now: float) -> None:
        seat = voter(item.data)
        self._allowance.enter(self._session.replica.view, now)
        if seat is not None and not self._allowance.admits(item.key, seat, now):
            return  # it is late, as far as the session can tell
        if item.data in self._faulty:
            return
        self._collect()
        try:
            new = self._session.receive(item.data)
        except DecodeError as error:
            self._garbage.append((item.key, str(error)))
        except Exception as error:  # noqa: BLE001  a fault of ours in one message must not end the match
            self._set_aside(item, error)
        else:
            self._collect(item.key)
            if new and seat is not None:
                self._allowance.take(item.key, seat)

    def _collect(self, key: bytes = b"") -> None:
        self._taken += [(record, key) for record in self._session.take_records()]

    def _set_aside(self, item: Incoming, error: Exception) -> None:
        """Go on as if the message had never come: what the session has made of it so far cannot be trusted."""
        self._faulty.add(item.data)
        self._put_aside.append(f"{type(error).__name__} in {hashlib.sha256(item.data).hexdigest()[:16]}")
        self._append()
        may_deal, may_sign = self._session.may_deal, self._session.may_sign
        self._session = self._make(self._journal.records(self.match))
        self._session.may_deal, self._session.may_sign = may_deal, may_sign

    def _answer(self, asked: Lacking) -> Answer:
        """What a peer lacks. If that was too much, and it asks again from the same place, the rest of it."""
        messages = self._session.messages_since(asked.view, asked.step)
        view, step, count = self._given.pop(asked.key, (0, 0, 0))
        first = count if (view, step) == (asked.view, asked.step) and count < len(messages) else 0
        answer = beginning(messages[first:])
        complete = first + len(answer) == len(messages)
        if not complete and asked.key in self._members:
            self._given[asked.key] = (asked.view, asked.step, first + len(answer))
        return Answer(asked.key, answer, complete)

    def _work(self) -> Report | None:
        return self._store() if self._session.work() else None

    def _store(self) -> Report:
        """Persist before send: what is in the report may go out, because it is on disk."""
        self._append()
        events = tuple(self._session.take_events())
        happened = events or self._woken or self._refused is not None
        seen = None if happened else self.standing.game
        report = Report(
            outgoing=tuple(record.data for record, _ in self._taken if record.own),
            events=events,
            heard=tuple(Incoming(key, record.data) for record, key in self._taken if not record.own),
            answers=tuple(self._answers),
            garbage=tuple(self._garbage),
            put_aside=tuple(self._put_aside),
            refused=self._refused,
            woken=self._woken,
            evidence=tuple(
                (event.conviction, self._session.evidence(event.conviction))
                for event in events
                if isinstance(event, Convicted)
            ),
            standing=standing(self._session, seen),
        )
        self._taken, self._stored, self._put_aside = [], 0, []
        self._answers, self._garbage, self._refused, self._woken = [], [], None, False
        return report

    def _append(self) -> None:
        """Put what is new in the journal, in the order in which it was taken: so it is taken again."""
        self._collect()
        new = [record for record, _ in self._taken[self._stored :]]
        self._stored = len(self._taken)
        if new:
            kept = [(record.data, record.note) for record in new]
            self._journal.append(self.match, kept, [record.forget for record in new if record.forget])


def beginning(messages: list[bytes]) -> tuple[bytes, ...]:
    """As much of an answer as a link's outbox takes well."""
    size = 0
    for count, data in enumerate(messages[:MAX_ANSWERS]):
        size += len(data)
        if size > MAX_ANSWER:
            return tuple(messages[:count])
    return tuple(messages[:MAX_ANSWERS])
