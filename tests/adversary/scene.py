"""A table in memory with one cheating seat.

A cheat is a small strategy (`Cheat`) over an honest session: it sees what its session would send, and sends
something else, to whom it likes, signed with its own key. The others are honest sessions; when nothing moves
they exchange all they have and vote, as peers on a network do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from otto_protocol.lab import PATIENCE, Chooser, Lab
from otto_protocol.match import messages as m
from otto_protocol.match.events import Convicted, Record
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript
from otto_protocol.match.views import Conviction
from otto_protocol.roster import TableRules

LIMIT = 20_000  # rounds of a table: more is a table that never comes to rest


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


def moment(session: Session) -> str:
    """What the table is about to do, in words: the phase, in play that of the rules."""
    replica = session.replica
    return replica.play.phase.value if replica.phase is MatchPhase.PLAY else replica.phase.value
