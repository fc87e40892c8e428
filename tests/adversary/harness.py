"""Every cheat in one list, how it is played against honest sessions, and what must come of it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from otto_protocol.hashing import Drbg
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Proven, Verified, audit, judge
from otto_protocol.match.phases import BEFORE_DEAL, MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript, dump, load
from tests.adversary.moments import moments
from tests.adversary.scene import Cheat, Sent, Table


class Verdict(enum.Enum):
    """What must come of a cheat (the letters of the catalogue)."""

    CONVICTED = "E"  # the seat is convicted by everybody, with evidence
    ABSENT = "A"  # the seat is removed, and not called a cheat
    HARMLESS = "X"  # refused or without effect: nobody is blamed, the game goes on with everybody


E, A, X = Verdict.CONVICTED, Verdict.ABSENT, Verdict.HARMLESS


@dataclass
class Told:
    """One cheat as it is played: where it begins, what must come of it, and by which rule."""

    number: str
    title: str
    verdict: Verdict
    rules: tuple[str, ...]
    make: Callable[[], Cheat]
    start: str = "key commit"  # the moment of an honest game at which the cheat begins: `moments`
    players: int = 3
    player: str = "eager"
    who: Callable[[Table], int] | None = None  # who cheats; None: who first says something of `kind`
    accomplices: int = 0  # how many seats after the cheating one do the same
    kind: type | tuple[type, ...] | None = None
    ends: str = "leave"  # how the game ends after the cheat: others "leave", or it is "played" out
    slow: bool = False  # whether it takes long to notice
    resumes: bool = True  # whether the game must go on after the removal
    removed: bool = True  # whether the seat must be out of the game

    @property
    def name(self) -> str:
        """As in the documents and the test ids."""
        return f"{self.number} {self.title}"


# -- playing a cheat, and judging what came of it --------------------------------------------------------


@dataclass
class Count:
    """What the table at the end of a test run adds up."""

    tried: int = 0  # games with a cheat in them
    refused: int = 0  # came to nothing: refused, convicted, or without effect
    blamed: int = 0  # convictions that had to be, by honest seats of the right one
    expected: int = 0  # ... and how many there had to be
    honest_blamed: int = 0


COUNT = Count()
SURE = 40  # steps after a cheat: who has not noticed by then will not


@dataclass
class Played:
    """What came of a cheat."""

    told: Told
    table: Table
    final: Transcript | None


def play(told: Told, finish: bool = True) -> Played:
    """Play a cheat against honest sessions. Raises AssertionError if anything is not as it must be.

    Without `finish` the game is not ended, and its transcript not verified.
    """
    table = moments(told.players, told.player, told.start.startswith("loss: "))[
        told.start.removeprefix("loss: ")
    ].fork()
    table.enter(told.make(), told.kind)
    if told.who is not None:
        table.corrupt(told.who(table), told.accomplices)
    view = table.sessions[0].replica.view
    table.say(table.cheat.begin(table), table.cheater or 0)
    COUNT.tried += 1
    try:
        played = _play(told, table, view, finish)
    finally:
        COUNT.honest_blamed += sum(len(s.convicted.keys() - table.culprits) for s in table.honest())
    COUNT.refused += 1
    if told.verdict is E:
        COUNT.expected += len(table.culprits) * len(table.reporters)
        COUNT.blamed += sum(len(table.culprits & s.convicted.keys()) for s in table.reporters)
    return played


def _play(told: Told, table: Table, view: int, finish: bool) -> Played:
    table.run(lambda s: table.cheat.done and _settled(s, told, view, table))
    table.reporters = table.honest()
    assert table.cheat.done, "the cheat was never played"
    _check_blame(told, table)
    table.cheat.after(table)
    final = _finish(told, table) if finish else None
    return Played(told, table, final)


def _settled(session: Session, told: Told, view: int, table: Table) -> bool:
    """Whether the cheat is dealt with, and the game goes on (or is over)."""
    if session.over:
        return True
    replica = session.replica
    if told.verdict is X:
        far = table.done_step is not None and replica.step >= table.done_step + 6
        return told.ends == "leave" and far
    if told.verdict is E and replica.view == view and table.done_step is not None:
        assert replica.step <= table.done_step + SURE or told.slow, "nobody has noticed"
    if not told.removed:
        return table.culprits <= session.convicted.keys()
    if replica.view == view or table.culprits & set(replica.live):
        return False
    if not told.resumes:
        return True
    begun = session.log.view.first
    healing = (MatchPhase.HEAL_SHUFFLE, MatchPhase.HEAL_PROVE, MatchPhase.RAISE, MatchPhase.TAGS)
    steps = 3 if replica.phase in BEFORE_DEAL else 6
    return replica.phase not in healing and replica.step >= begun + steps


def _check_blame(told: Told, table: Table) -> None:
    for session in table.honest():
        blamed = {seat: conviction.rule for seat, conviction in session.convicted.items()}
        if told.verdict is E:
            assert set(blamed) == table.culprits, (session.seat, blamed)
            assert set(blamed.values()) <= set(told.rules), (session.seat, blamed)
        else:
            assert blamed == {}, (session.seat, blamed)
        assert not session.out, f"seat {session.seat} is out"
    if told.verdict is E:
        for (holder, accused), file in table.evidence.items():
            if holder in table.culprits:
                continue
            rule = table.convictions[holder, accused].rule
            verdict = judge(load(dump(file)), Drbg(b"judge"))
            assert isinstance(verdict, Proven), (holder, verdict)
            assert (verdict.seat, verdict.rule) == (accused, rule)


def _finish(told: Told, table: Table) -> Transcript | None:
    """End the game soon: one after the other leaves, or it is played out. The transcripts must hold."""
    if not told.removed:
        return None
    if told.ends == "leave":
        if told.verdict is X and not table.me.over:
            table.leave(table.me.seat)
            table.run(lambda s: table.cheater not in s.replica.live or s.over)
        while len(table.honest()) > 1 and not table.honest()[0].over:
            table.leave(table.honest()[-1].seat)
            left = len(table.honest())
            table.run(lambda s, left=left: len(s.replica.live) == left or s.over)  # type: ignore[misc]
    table.run(lambda s: s.over)
    _agree(table)
    final = table.honest()[0].transcript()
    verdict = audit(load(dump(final)), Drbg(b"audit"))
    assert isinstance(verdict, Verified), verdict
    expelled = {failed.seat: failed.rule for failed in verdict.expelled}
    if told.verdict is E:
        assert set(expelled) == table.culprits, expelled
        assert set(expelled.values()) <= set(told.rules), expelled
    else:
        assert expelled == {}
    return final


def _agree(table: Table) -> None:
    """All honest sessions have the same log, view by view."""
    digests = {(s.replica.digest, s.replica.totals, s.replica.live) for s in table.honest()}
    assert len(digests) == 1, digests
    assert not any(set(s.convicted) - table.culprits for s in table.honest())


# -- the table of cheats ---------------------------------------------------------------------------------

ALL: dict[str, Told] = {}


def cheat(
    number: str, title: str, verdict: Verdict, *rules: str, **options: object
) -> Callable[[Callable[[], Cheat]], Callable[[], Cheat]]:
    """Enter a strategy in the list of all cheats; `number` is that of the catalogue, or "x..." for others."""

    def enter(make: Callable[[], Cheat]) -> Callable[[], Cheat]:
        assert number not in ALL, number
        ALL[number] = Told(number, title, verdict, rules, make, **options)  # type: ignore[arg-type]
        return make

    return enter


Change = Callable[[Table, m.Message], "m.Body | m.Message | None"]


class Instead(Cheat):
    """Says something else once, in place of the first message of a kind. None: says nothing."""

    def __init__(self, change: Change, to: tuple[int, ...] | None = None) -> None:
        self.change = change
        self.to = to

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if self.done or (table.kind is not None and not isinstance(message.body, table.kind)):
            return super().outgoing(table, message)
        return self.say(table, message)

    def say(self, table: Table, message: m.Message) -> Iterator[Sent]:
        changed = self.change(table, message)
        if changed is None:
            return
        self.done = True
        if not isinstance(changed, m.Message):
            changed = table.sign(message.header, changed)
        assert changed.signed.content != message.signed.content, "that is no cheat"
        yield Sent(m.wire(changed), self.to)


class Silent(Cheat):
    """Says nothing any more from the first message of a kind on."""

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if not self.done and table.kind is not None and not isinstance(message.body, table.kind):
            return super().outgoing(table, message)
        self.done = True
        return []


def instead(
    number: str, title: str, verdict: Verdict, *rules: str, **options: object
) -> Callable[[Change], Change]:
    """Enter a function (table, honest message) -> other body as a cheat."""

    def enter(change: Change) -> Change:
        cheat(number, title, verdict, *rules, **options)(lambda: Instead(change))
        return change

    return enter


def opening(table: Table, *slots: int) -> m.Opening:
    """A valid opening of slots by the cheating seat, at the step where its session stands."""
    return table.me.speaker.opening(table.me.replica, tuple(sorted(slots)))


def meant(table: Table) -> int:
    """The seat that the special moment is about."""
    return table.meant


def leader(table: Table) -> int:
    """The seat whose turn it is."""
    return table.sessions[0].replica.play.leader
