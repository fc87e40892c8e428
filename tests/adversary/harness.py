"""A table in memory with one cheating seat, and what must come of it.

A cheat is a small strategy (`Cheat`) over an honest session: it sees what its session would send, and sends
something else, to whom it likes, signed with its own key. The others are honest sessions; when nothing moves
they exchange all they have and vote, as peers on a network do.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from otto_protocol.lab import PATIENCE, Chooser, Lab
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Proven, Verified, audit, judge
from otto_protocol.match.events import Convicted, Record
from otto_protocol.match.log import Conviction
from otto_protocol.match.phases import BEFORE_DEAL, MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript, dump, load
from otto_protocol.roster import TableRules
from otto_protocol.rules import moves
from otto_protocol.rules.cards import number
from otto_protocol.rules.legal import SeatView
from tests.protocol.lab_games import duellist, eager, patient

LIMIT = 20_000  # rounds of a table: more is a table that never comes to rest


class Verdict(enum.Enum):
    """What must come of a cheat (the letters of the catalogue)."""

    CONVICTED = "E"  # the seat is convicted by everybody, with evidence
    ABSENT = "A"  # the seat is removed, and not called a cheat
    HARMLESS = "X"  # refused or without effect: nobody is blamed, the game goes on with everybody


E, A, X = Verdict.CONVICTED, Verdict.ABSENT, Verdict.HARMLESS


@dataclass(frozen=True)
class Sent:
    """Wire bytes of the cheating seat, and who gets them (None: everybody)."""

    data: bytes
    to: tuple[int, ...] | None = None


class Cheat:
    """A strategy over an honest session. Override what you like; by itself it is honest.

    `done` is set once the cheat has been played: a test of a cheat that never happened proves nothing.
    """

    done = False

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        """What the seat sends instead of `message`."""
        return [Sent(m.wire(message))]

    def body(self, table: Scene, body: m.Body) -> m.Body:
        """What the seat's own session says and believes to have said, instead of `body`."""
        return body

    def begin(self, table: Table) -> Iterable[Sent]:
        """What the seat sends before anything else happens."""
        return []

    def tick(self, table: Table) -> Iterable[Sent]:
        """What the seat sends besides, asked again and again."""
        return []

    def after(self, table: Table) -> None:
        """What must hold once the cheat is dealt with; raises AssertionError."""


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


class Scene:
    """What a strategy sees and uses: the sessions, its own key, and the seat that cheats (None: nobody does)."""

    sessions: list[Session]
    identities: list[IdentityKey]
    gone: set[int]  # seats whose program does not run any more

    def enter(self, cheat: Cheat, kind: type | tuple[type, ...] | None = None) -> None:
        """The strategy to be played, by whoever says something of `kind` first unless `corrupt` says who."""
        self.cheat = cheat
        self.kind = kind
        self.cheater: int | None = None
        self.culprits: set[int] = set()  # the cheating seat and its accomplices

    @property
    def me(self) -> Session:
        """The session of the cheating seat."""
        assert self.cheater is not None
        return self.sessions[self.cheater]

    def honest(self) -> list[Session]:
        """The sessions of everybody else that still runs."""
        return [s for s in self.sessions if s.seat not in self.culprits | self.gone]

    def sign(self, header: m.Header, body: m.Body) -> m.Message:
        """A message signed with the cheating seat's key."""
        assert self.cheater is not None
        return m.sign(self.identities[self.cheater], header, body)

    def corrupt(self, seat: int, accomplices: int = 0) -> None:
        """This seat cheats from now on; so do some after it."""
        self.cheater = seat
        self.culprits = {(seat + n) % len(self.sessions) for n in range(accomplices + 1)}
        for one in self.culprits:
            self.sessions[one].instead = lambda body: self.cheat.body(self, body)

    def header(self, session: Session | None = None) -> m.Header:
        """The header of a message of the cheating seat where `session` stands (default: whoever is furthest)."""
        assert self.cheater is not None
        replica = (session or newest(self.honest())).replica
        return m.Header(replica.match, replica.view, replica.step, self.cheater, replica.digest)


class Table(Lab, Scene):
    """A table in memory with a cheating seat: when nothing moves, the honest exchange all they have and vote."""

    def __init__(self, players: int, seed: str, choose: Chooser, decks: int) -> None:
        super().__init__(players, Drbg(seed.encode()), TableRules(decks=decks))
        self.enter(Cheat())
        self.choose = choose
        self.reporters: list[Session] = []  # the honest sessions when all was noticed
        self.meant = 0  # the seat that a special moment is about
        self.done_step: int | None = None  # where the table stood when the cheat was over
        self.evidence: dict[tuple[int, int], Transcript] = {}  # (holder, accused)
        self.convictions: dict[tuple[int, int], Conviction] = {}
        self._until: Callable[[Session], bool] = lambda _: False

    def fork(self) -> Table:
        """A table that goes on from here by itself."""
        other = self.copy(Drbg(b"fork"))
        other.evidence, other.convictions = dict(self.evidence), dict(self.convictions)
        return other

    @property
    def here(self) -> list[int]:
        """The seats that do something: not a cheating one that everybody has convicted."""
        return [s.seat for s in self.sessions if s.seat not in self.gone and not self._is_caught(s)]

    def _is_caught(self, session: Session) -> bool:
        return session.seat in self.culprits and all(session.seat in s.convicted for s in self.honest())

    def say(self, sent: Iterable[Sent], seat: int) -> bool:
        """Deliver what the cheating seat sends; False if that is nothing."""
        said = list(sent)
        for one in said:
            self.deliver(seat, one.data, range(len(self.sessions)) if one.to is None else one.to)
        return bool(said)

    def send(self, seat: int, record: Record) -> None:
        """Through the cheat, if it is the cheating seat's."""
        message = m.parse_content(m.parse_signed(record.data))
        if self.cheater is None and self.kind is not None and isinstance(message.body, self.kind):
            self.corrupt(seat)
        if seat in self.culprits:
            self.say(self.cheat.outgoing(self, message), seat)
        else:
            self.deliver(seat, record.data, range(len(self.sessions)))

    def flush(self, seat: int) -> None:
        """Keep the evidence that the session has just found, and send what it has to say."""
        session = self.sessions[seat]
        for event in session.take_events():
            if isinstance(event, Convicted):
                key = (seat, event.conviction.seat)
                self.convictions[key] = event.conviction
                self.evidence[key] = session.evidence(event.conviction)
        super().flush(seat)

    def play(self, choose: Chooser | None = None) -> None:
        """One after the other does one thing, until nothing is left to do or all that is waited for has come."""
        for _ in range(LIMIT):
            if self.reached():
                return
            busy = self.cheater is not None and self.say(self.cheat.tick(self), self.cheater)
            busy |= any([self.turn_of(seat, choose or self.choose) for seat in self.here])
            if not busy:
                return
        raise AssertionError("the table never comes to rest")

    def exchange(self, seats: Sequence[int] | None = None) -> None:
        """The honest ones tell each other what they hold."""
        super().exchange([s.seat for s in self.honest()] if seats is None else seats)

    def run(self, until: Callable[[Session], bool]) -> None:
        """Go on until this holds at every honest session (or the session is out)."""
        self._until, self.quiet = until, 0
        self.play()
        while not self.reached():
            self.second()
            if self.quiet > PATIENCE:
                raise Stuck(self)

    def reached(self) -> bool:
        """Whether what is waited for holds at every honest session."""
        if self.cheat.done and self.done_step is None:
            self.done_step = max(s.replica.step for s in self.honest())
        return all(self._until(s) or s.out for s in self.honest())


def replica_at(session: Session, step: int) -> Replica:
    """The replica at the start of the step at which a session stands, or of the one before."""
    return next(node.replica for node in session.log.view.known.values() if node.replica.step == step)


def standing(session: Session) -> Iterator[m.Message]:
    """All messages that stand, as a session knows it."""
    for step in (*session.log.steps, *(node.before for node in session.log.path[1:])):
        yield from step
    yield from (one.message for one in session.spoken().values())


def newest(sessions: Iterable[Session]) -> Session:
    """The session that has come furthest."""
    return max(sessions, key=lambda one: (one.replica.view, one.replica.step))


class Stuck(AssertionError):
    """A table at which nothing moves any more, and nobody can do anything about it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        super().__init__(
            [
                (s.seat, s.replica.view, s.replica.step, moment(s), s.awaited(), sorted(s.convicted))
                for s in table.honest()
            ]
        )


# -- moments of an honest game ---------------------------------------------------------------------------


def shy(view: SeatView, legal: Sequence[moves.SeatMove]) -> moves.SeatMove:
    """Like `eager`, but begins without a collection if it can."""
    if isinstance(legal[0], moves.Choose):
        return min(legal, key=lambda move: len(move.slots) if isinstance(move, moves.Choose) else 0)
    return eager(view, legal)


PLAYERS: dict[str, Chooser] = {"eager": eager, "duellist": duellist, "patient": patient, "shy": shy}


def _answerers(session: Session) -> tuple[int, ...]:
    return session.replica.play.waiting if moment(session) == "answer" else ()


def _holds_led(table: Table, session: Session) -> int | None:
    said = session.replica.play.said
    for seat in _answerers(session):
        cards = table.sessions[seat].secret.cards
        if any(number(cards[slot]) == said for slot in session.replica.play.hands[seat]):
            return seat
    return None


def _has_collected(table: Table, session: Session) -> int | None:
    return next((seat for seat in _answerers(session) if session.replica.play.collections[seat]), None)


def _leader_out_of_exchange(table: Table, session: Session) -> int | None:
    state = session.replica.play
    return state.leader if moment(session) == "exchange" and state.leader not in state.waiting else None


def _dueled(table: Table, session: Session) -> int | None:
    return session.replica.play.leader if moment(session) == "lead" and session.replica.play.dueled else None


SPECIAL: dict[str, Callable[[Table, Session], int | None]] = {
    "an answerer holds the number": _holds_led,
    "an answerer has collected": _has_collected,
    "the leader may not exchange": _leader_out_of_exchange,
    "after a duel": _dueled,
}
"""Moments of a game that are no phase: the seat that is meant, or None when it is not such a moment."""


def moment(session: Session) -> str:
    """What the table is about to do, in words: the phase, in play that of the rules."""
    replica = session.replica
    return replica.play.phase.value if replica.phase is MatchPhase.PLAY else replica.phase.value


@functools.cache
def moments(players: int, player: str, loss: bool = False) -> dict[str, Table]:
    """An honest game, with a copy of the table at the first time of each `moment` ("2: lead" for turn 2 on).

    `loss`: one more player was there, and has left in the second turn.
    """
    seats = players + 1 if loss else players
    table = Table(seats, f"adversary {seats} {player}", PLAYERS[player], 1 if seats < 6 else 2)
    kept: dict[str, Table] = {}
    for _ in range(LIMIT):
        there = table.honest()
        enough = {"tags", "2: answer"} if loss else {"4: answer" if players > 3 else "over"}
        if enough <= kept.keys():
            return kept
        busy = False
        for session in there:
            busy |= table.turn_of(session.seat, table.choose)
            # Whoever comes first to a step has not spoken in it, and nobody else has.
            for prefix in ("", *(f"{turn}: " for turn in (2, 4) if _turn(session) >= turn)):
                if prefix + moment(session) not in kept:
                    kept[prefix + moment(session)] = table.fork()
            for name, meant in SPECIAL.items():
                if name not in kept and session.replica.phase is MatchPhase.PLAY and not session.spoken():
                    seat = meant(table, session)
                    if seat is not None:
                        kept[name] = table.fork()
                        kept[name].meant = seat
            if loss and moment(session) == "lead" and _turn(session) == 2 and not table.gone:
                table.leave(seats - 1)
                kept = {}
        if not busy:
            table.vote()
    raise AssertionError("an honest game does not end")


def _turn(session: Session) -> int:
    return session.replica.play.turn if session.replica.state is not None else 0


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
