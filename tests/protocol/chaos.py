"""Tables of sessions under everything that can happen to them, from one seed: liars, losses, crashes, false suspicion.

`Chaos(seed)` sets up a table of 2 to 6 seats, somewhere in a match, up to two of which lie; `run` lets things happen
at random, then lets the faults stop (what is withheld stays withheld), and checks what must hold. A failure names its
seed; `python -m tests.protocol.chaos SEED` plays it again and prints its story.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
import traceback
from collections import deque
from collections.abc import Callable

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import pack
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.hashing import Drbg, random_below
from otto_protocol.lab import make_start
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Failed, audit
from otto_protocol.match.contradictions import contradiction, opens
from otto_protocol.match.log import Log
from otto_protocol.match.retelling import since
from otto_protocol.match.session import Session
from otto_protocol.roster import TableRules

PROGRESS = 12  # steps that a table must make once the faults have stopped


class Broken(AssertionError):
    """Something that must hold does not."""


class World:
    """A table without faults, played on when somebody asks for a later step of it; the same at every run."""

    def __init__(self, seats: int, games: int) -> None:
        self.rng = Drbg(f"world {seats} {games}".encode())
        made = [IdentityKey.generate(self.rng) for _ in range(seats)]
        self.start = make_start(made, TableRules(games=games), self.rng)
        by_key = {one.public: one for one in made}
        self.identities = [by_key[member.key] for member in self.start.roster.members]
        self.seeds = [self.rng(32) for _ in made]
        self.sessions = [
            Session(self.start, identity, seed, self.rng)
            for identity, seed in zip(self.identities, self.seeds, strict=True)
        ]
        self.disk: list[list[tuple[bytes, bytes]]] = [[] for _ in made]
        self.moments = [self.moment()]
        self.said: list[list[m.Message]] = [[] for _ in made]

    def moment(self) -> tuple[list[Session], list[int]]:
        return [one.copy() for one in self.sessions], [len(kept) for kept in self.disk]

    def at(self, step: int) -> tuple[list[Session], list[int]]:
        """The sessions at a step, or at the last one of the match; and how much each has stored."""
        while len(self.moments) <= step and not self.sessions[0].over:
            self.play()
            self.moments.append(self.moment())
        return self.moments[min(step, len(self.moments) - 1)]

    def play(self) -> None:
        """All of one step: what is said is heard when everybody has spoken."""
        step, made = self.sessions[0].replica.step, list[tuple[int, bytes]]()
        for seat, session in enumerate(self.sessions):
            while session.replica.step == step and not session.over:
                if not session.work():
                    decisions = session.decisions()
                    if not decisions:
                        break
                    session.act(decisions[random_below(len(decisions), self.rng)])
            made += [(seat, data) for data in self.stored(seat)]
        for seat, data in made:
            for other, session in enumerate(self.sessions):
                if other != seat:
                    session.receive(data)
                    self.stored(other)

    def stored(self, seat: int) -> list[bytes]:
        own = []
        for record in self.sessions[seat].take_records():
            if record.forget:
                self.disk[seat] = [(d, b"" if d == record.forget else note) for d, note in self.disk[seat]]
            self.disk[seat].append((record.data, record.note))
            if record.own:
                own.append(record.data)
        return own


world = functools.cache(World)


class Chaos:
    """A table, and what happens at it."""

    def __init__(self, seed: int, *, seats: int | None = None, liars: int | None = None) -> None:
        self.seed = seed
        self.rng = Drbg(f"chaos {seed}".encode())
        self.story: list[str] = []
        count = seats or 2 + self.below(5)
        most = max(0, (count - 1) // 2)
        lying = liars if liars is not None else (self.below(3) if self.below(3) == 0 else 0)
        self.liars = frozenset(self.sample(range(count), min(lying, most)))
        there = world(count, 1 + self.below(2))
        began, stored = there.at(self.below(3) * self.below(60))
        self.start, self.identities, self.seeds = there.start, there.identities, there.seeds
        self.sessions: list[Session | None] = [one.copy(self.rng) for one in began]
        self.disk = [kept[:number] for kept, number in zip(there.disk, stored, strict=True)]
        self.faces: dict[int, Session] = {}  # of a liar that is two
        self.queues: dict[tuple[int, int], deque[bytes]] = {
            (a, b): deque() for a in range(count) for b in range(count) if a != b
        }
        self.cut: set[tuple[int, int]] = set()
        self.said: dict[int, dict[bytes, m.Message]] = {seat: {} for seat in range(count)}
        self.unsure: dict[int, set[int]] = {}  # who came back, and whose answers it waits for
        self.doubts: dict[int, frozenset[int]] = {}
        self.before: dict[int, int] = {}
        for seat in range(count):
            for data, _ in self.disk[seat]:
                self.note_said(seat, data)
        self.tell(f"from step {self.session(0).replica.step}, {self.session(0).replica.phase.value}")

    # -- randomness -------------------------------------------------------------------------------------

    def below(self, limit: int) -> int:
        return random_below(limit, self.rng)

    def sample(self, values: object, count: int) -> list[int]:
        left = list(values)  # type: ignore[call-overload]
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def tell(self, text: str) -> None:
        self.story.append(text)

    # -- the table ----------------------------------------------------------------------------------------

    @property
    def seats(self) -> range:
        return range(len(self.sessions))

    def honest(self) -> list[int]:
        """The honest seats that run."""
        return [seat for seat in self.seats if seat not in self.liars and self.sessions[seat] is not None]

    def fresh(self, seat: int) -> Session:
        return Session(self.start, self.identities[seat], self.seeds[seat], self.rng)

    def session(self, seat: int) -> Session:
        session = self.sessions[seat]
        assert session is not None
        return session

    def flush(self, seat: int) -> None:
        """Store what is new, and send what is our own (a liar sends what it likes)."""
        session = self.session(seat)
        for record in session.take_records():
            if record.forget:
                self.disk[seat] = [(d, b"" if d == record.forget else note) for d, note in self.disk[seat]]
            self.disk[seat].append((record.data, record.note))
            if record.own:
                self.note_said(seat, record.data)
                for other in self.seats:
                    if other != seat:
                        self.send(seat, other, record.data)
            elif self.chance(40):  # passed on
                for other in self.seats:
                    if other != seat and self.chance(50):
                        self.send(seat, other, record.data)

    def note_said(self, seat: int, data: bytes) -> None:
        if seat in self.liars:
            return
        parsed = m.parse(data)
        if not isinstance(parsed, m.Signed) or parsed.seat != seat:
            return
        message = m.parse_content(parsed)
        for other in self.said[seat].values():
            if contradiction(other, message) is not None:
                raise Broken(f"honest seat {seat} contradicts itself: {other.body} {message.body}")
        self.said[seat][parsed.content] = message

    def send(self, seat: int, other: int, data: bytes) -> None:
        if seat in self.liars and self.chance(15):
            return  # withheld
        if (seat, other) not in self.cut or self.chance(50):
            self.queues[seat, other].append(data)

    def hear(self, seat: int, data: bytes) -> None:
        with contextlib.suppress(DecodeError):
            self.session(seat).receive(data)
            if seat in self.faces:
                self.faces[seat].receive(data)
        self.flush(seat)

    # -- what happens ---------------------------------------------------------------------------------------

    def deliver(self) -> bool:
        waiting = [(a, b) for (a, b), queue in self.queues.items() if queue and self.sessions[b] is not None]
        waiting = [pair for pair in waiting if pair not in self.cut]
        if not waiting:
            return False
        a, b = waiting[self.below(len(waiting))]
        for _ in range(1 + self.below(6)):
            queue = self.queues[a, b]
            if not queue:
                break
            place = self.below(len(queue)) if self.chance(10) else 0
            queue.rotate(-place)
            data = queue.popleft()
            queue.rotate(place)
            self.hear(b, data)
        return True

    def play(self, seat: int) -> bool:
        session = self.session(seat)
        if not session.work():
            decisions = session.decisions()
            if not decisions:
                return False
            session.act(decisions[self.below(len(decisions))])
        self.flush(seat)
        return True

    def sync(self, asking: int, asked: int) -> None:
        session = self.session(asking)
        for data in self.session(asked).messages_since(session.replica.view, session.replica.step):
            if asked not in self.liars or not self.chance(20):
                self.hear(asking, data)
        waiting = self.unsure.get(asking)
        if waiting is not None:
            waiting.discard(asked)
            if not waiting:
                del self.unsure[asking]
                self.session(asking).may_sign = True

    def crash(self, seat: int) -> None:
        self.tell(f"{seat} crashes")
        if not self.liars and len(self.honest()) == len(self.sessions) and self.chance(30):
            self.put_back(seat)
        self.sessions[seat] = None
        self.unsure.pop(seat, None)

    def put_back(self, seat: int) -> None:
        """An old copy of its journal is all that is left to it; the others have heard what it said since."""
        for (a, b), queue in self.queues.items():
            while a == seat and queue:
                self.hear(b, queue.popleft())
        lost = self.below(min(20, len(self.disk[seat])) + 1)
        self.tell(f"{seat} loses the last {lost} records")
        del self.disk[seat][len(self.disk[seat]) - lost :]

    def restart(self, seat: int) -> None:
        self.tell(f"{seat} is back")
        session = self.fresh(seat)
        session.restore(self.disk[seat])
        self.sessions[seat] = session
        others = {other for other in self.honest() if other != seat}
        if others:
            session.may_sign = False
            self.unsure[seat] = others

    def vote(self, seat: int) -> None:
        self.session(seat).suspect(self.doubts.get(seat, frozenset()))
        self.flush(seat)
        if self.session(seat).vote():
            self.flush(seat)

    def doubt(self, seat: int) -> None:
        """Somebody takes others for silent: those that are, mostly, and sometimes one that is not."""
        gone = {other for other in self.seats if self.sessions[other] is None}
        if self.chance(40):
            gone |= set(self.sample(range(len(self.sessions)), 1))
        elif self.chance(50):
            gone |= self.liars
        self.doubts[seat] = frozenset(gone - {seat})
        self.tell(f"{seat} doubts {sorted(self.doubts[seat])}")

    def step(self) -> None:
        """One thing happens."""
        seats = [seat for seat in self.seats if self.sessions[seat] is not None]
        seat = seats[self.below(len(seats))]
        dice = self.below(1000)
        if dice < 450:
            self.deliver()
        elif dice < 880:
            self.play(seat)
        elif dice < 930:
            other = seats[self.below(len(seats))]
            if other != seat and (other, seat) not in self.cut:
                self.sync(seat, other)
        elif dice < 940:
            self.doubt(seat)
        elif dice < 965:
            self.vote(seat)
        elif dice < 972 and seat not in self.liars and len(self.honest()) > 1:
            self.crash(seat)
        elif dice < 985:
            away = [one for one in self.seats if self.sessions[one] is None]
            if away:
                self.restart(away[self.below(len(away))])
        elif dice < 990:
            self.cut = {pair for pair in self.queues if self.chance(30)} if self.chance(40) else set()
        elif dice < 991 and seat not in self.liars and self.chance(20):
            self.tell(f"{seat} leaves")
            self.session(seat).leave()
            self.flush(seat)
        elif self.liars:
            liar = sorted(self.liars)[self.below(len(self.liars))]
            self.lie(liar)

    # -- lies -------------------------------------------------------------------------------------------------

    def lie(self, seat: int) -> None:
        lies: list[Callable[[int], list[bytes]]] = [
            self.another_move, self.another_move, self.illegal, self.elsewhere, self.garbage, self.ahead,
            self.false_vote, self.false_vote, self.false_entry, self.false_leave, self.another_vote,
            self.spoilt, self.spoilt, self.two_faces, self.two_faces, self.two_faces, self.false_evidence,
            self.false_evidence, self.wild_vote, self.third, self.late,
        ]  # fmt: skip
        lie = lies[self.below(len(lies))]
        made = lie(seat)
        self.tell(f"{seat} lies: {lie.__name__} ({len(made)})")
        for data in made:
            for other in self.seats:
                if other != seat and self.chance(55):
                    self.queues[seat, other].append(data)
            if self.chance(50):  # it believes itself
                with contextlib.suppress(DecodeError):
                    self.session(seat).receive(data)
                self.flush(seat)

    def sign(self, seat: int, header: m.Header, body: m.Body) -> bytes:
        return m.wire(m.sign(self.identities[seat], header, body))

    def header(self, seat: int, of: Session | None = None) -> m.Header:
        replica = (of or self.session(seat)).replica
        return m.Header(replica.match, replica.view, replica.step, seat, replica.digest)

    def another_move(self, seat: int) -> list[bytes]:
        """Two or three contents for one step, all of them legal."""
        made = []
        for _ in range(2):
            twin = self.session(seat).copy(self.rng)
            twin.may_sign = True
            twin.log.convicted = {}
            decisions = twin.decisions()
            try:
                if decisions:
                    twin.act(decisions[self.below(len(decisions))])
                elif not twin.work():
                    continue
            except LocalError:
                continue
            made += [record.data for record in twin.take_records() if record.own]
        if len(made) < 2 and seat not in self.session(seat).replica.wanted():
            made.append(self.sign(seat, self.header(seat), m.Challenge(0)))
        return made

    def illegal(self, seat: int) -> list[bytes]:
        bodies: list[m.Body] = [m.Challenge(seat), m.Ack(), m.Exchange(True), m.Result((1, 2)), m.Guess(1)]
        return [self.sign(seat, self.header(seat), bodies[self.below(len(bodies))])]

    def elsewhere(self, seat: int) -> list[bytes]:
        header = self.header(seat)
        away = m.Header(header.match, header.view, header.step, seat, self.rng(32))
        return [self.sign(seat, away, m.Ack())]

    def ahead(self, seat: int) -> list[bytes]:
        header = self.header(seat)
        away = m.Header(
            header.match, header.view + self.below(2), header.step + self.below(3), seat, header.previous
        )
        return [self.sign(seat, away, m.Ack())]

    def garbage(self, seat: int) -> list[bytes]:
        content = self.rng(20)
        signature = self.identities[seat].sign(m.SIGNATURE_TAG, self.session(seat).replica.match, content)
        return [pack(m.Signed(seat, content, signature))]

    def false_vote(self, seat: int) -> list[bytes]:
        """A vote like one of the others', or of its own, in some round."""
        log = self.session(seat).log
        votes = [vote for vote in log.view.ballots.all() if isinstance(vote.body, m.Vote)]
        if votes and self.chance(70):
            vote = votes[self.below(len(votes))]
            body = vote.body
            assert isinstance(body, m.Vote)
            number = max(1, body.round + self.below(3) - 1)
            header = m.Header(
                vote.header.match, vote.header.view, vote.header.step, seat, vote.header.previous
            )
            return [self.sign(seat, header, m.Vote(number, body.gone, body.excluded, body.owns))]
        gone = frozenset(self.sample([one for one in log.live if one != seat], 1)) & frozenset(log.live)
        body = log.proposal(gone)
        owns = body.owns[: self.below(len(body.owns) + 1)]
        return [self.sign(seat, self.header(seat), m.Vote(1 + self.below(4), body.gone, body.excluded, owns))]

    def another_vote(self, seat: int) -> list[bytes]:
        return self.false_vote(seat) + self.false_vote(seat)

    def false_entry(self, seat: int) -> list[bytes]:
        log = self.session(seat).log
        made = []
        for vote in log.view.ballots.all():
            if isinstance(vote.body, m.Vote) and self.chance(50):
                header = m.Header(
                    vote.header.match, vote.header.view, vote.header.step, seat, vote.header.previous
                )
                copied = m.Vote(vote.body.round, vote.body.gone, vote.body.excluded, vote.body.owns)
                if seat not in copied.gone:
                    made.append(self.sign(seat, header, copied))
                    made.append(self.sign(seat, header, m.Enter(vote.body.round, opens(vote))))
        return made

    def spoilt(self, seat: int) -> list[bytes]:
        """What it ought to say, with some bytes of it changed: proofs and shares that do not hold."""
        twin = self.session(seat).copy(self.rng)
        twin.may_sign, twin.log.convicted = True, {}
        twin.instead = self.spoil
        try:
            decisions = twin.decisions()
            if not twin.work() and decisions:
                twin.act(decisions[self.below(len(decisions))])
        except (LocalError, AssertionError):
            pass
        return [record.data for record in twin.take_records() if record.own]

    def spoil(self, body: m.Body) -> m.Body:
        fields = [
            field.name
            for field in dataclasses.fields(body)
            if isinstance(value := getattr(body, field.name), bytes) and value
        ]
        if not fields:
            return body
        name = fields[self.below(len(fields))]
        value = bytearray(getattr(body, name))
        value[self.below(len(value))] ^= 1 + self.below(255)
        return dataclasses.replace(body, **{name: bytes(value)})  # type: ignore[arg-type]

    def two_faces(self, seat: int) -> list[bytes]:
        """Another copy of it, that hears the same and decides otherwise, speaks to some of the others."""
        face = self.faces.setdefault(seat, self.session(seat).copy(self.rng))
        face.take_records()
        for _ in range(1 + self.below(4)):
            try:
                decisions = face.decisions()
                if decisions:
                    face.act(decisions[self.below(len(decisions))])
                elif not face.work():
                    face.suspect(self.sample(self.seats, self.below(2)))
                    face.vote()
            except (LocalError, AssertionError, KeyError):
                self.faces.pop(seat)
                break
        return [record.data for record in face.take_records() if record.own]

    def false_evidence(self, seat: int) -> list[bytes]:
        """Messages that are held, put together as if they proved something."""
        log = self.session(seat).log
        held = [m.parse(data) for data in since(log, 0, max(0, log.replica.step - 3))]
        held += [one for kept in [self.lie_once(seat)] for one in kept]
        signed = [one for one in held if isinstance(one, m.Signed)]
        found = [one for one in held if isinstance(one, m.Evidence)]
        if found and self.chance(30):
            one = found[self.below(len(found))]
            return [pack(m.Evidence(one.accused, one.before[: self.below(len(one.before) + 1)]))]
        if not signed:
            return []
        accused = [signed[self.below(len(signed))] for _ in range(1 + self.below(2))]
        before = log.path[-1].before if self.chance(50) else log.path[0].before
        mixed = [one.signed for one in before]
        if mixed and self.chance(50):
            mixed[self.below(len(mixed))] = signed[self.below(len(signed))]
        return [pack(m.Evidence(tuple(accused), tuple(mixed)))]

    def lie_once(self, seat: int) -> list[m.Signed]:
        made = [m.parse(data) for data in (self.illegal(seat) + self.garbage(seat) + self.ahead(seat))]
        return [one for one in made if isinstance(one, m.Signed)]

    def wild_vote(self, seat: int) -> list[bytes]:
        """A vote for contents that nobody has, or in a round that nobody is in, or at another step."""
        header, live = self.header(seat), self.session(seat).log.live
        step = max(0, header.step - self.below(3) + self.below(2))
        away = m.Header(header.match, header.view, step, seat, header.previous)
        gone = tuple(
            sorted(self.sample([one for one in live if one != seat], min(len(live) - 1, self.below(3))))
        )
        owns = tuple(m.Own(one, self.rng(32)) for one in sorted(live) if one not in gone and self.chance(50))
        number = (1, 2, 3, 2**31, 2**32 - 1)[self.below(5)]
        return [self.sign(seat, away, m.Vote(number, gone, (), owns))]

    def third(self, seat: int) -> list[bytes]:
        """More contents for a step than are kept, and a vote that names one of them."""
        header = self.header(seat)
        step = max(0, header.step - self.below(2))
        away = m.Header(header.match, header.view, step, seat, header.previous)
        made = [self.sign(seat, away, m.Challenge(number)) for number in range(2 + self.below(2))]
        said = m.parse(made[-1])
        assert isinstance(said, m.Signed)
        vote = m.Vote(1 + self.below(3), (), (), (m.Own(seat, m.content_hash(said)),))
        return [*made, self.sign(seat, away, vote)]

    def late(self, seat: int) -> list[bytes]:
        """Another content for a step that is long over, of this view or one before."""
        steps = self.session(seat).log.steps
        own = [one for step in steps[-6:] for one in step if one.header.seat == seat]
        return [self.sign(seat, own[self.below(len(own))].header, m.Exchange(True))] if own else []

    def false_leave(self, seat: int) -> list[bytes]:
        return [self.sign(seat, self.header(seat), m.Leave(self.below(2)))] if self.chance(20) else []

    # -- all of it -----------------------------------------------------------------------------------------------

    def run(self, length: int = 400) -> None:
        """Everything, and then what must hold. Raises Broken."""
        for _ in range(length):
            self.step()
        self.check_always()
        self.settle()
        self.check_settled()

    def settle(self) -> None:
        """The faults stop: everybody is back, all that honest peers hold gets to all, whoever lies is silent."""
        self.tell("-- the faults stop")
        self.cut = set()
        for seat in self.seats:
            if self.sessions[seat] is None:
                self.restart(seat)
        for queue in self.queues.values():
            queue.clear()
        self.before = {seat: self.session(seat).replica.step for seat in self.honest()}
        for _ in range(40):
            self.exchange()
            silent = self.liars
            for seat in self.honest():
                session = self.session(seat)
                self.doubts[seat] = (
                    frozenset(
                        {one for one in session.replica.live if one in silent or one in self.gone_for(seat)}
                        - {seat}
                    )
                    if self.stands_still(seat)
                    else frozenset()
                )
            for seat in self.honest():
                self.vote(seat)
            self.exchange()
            for _ in range(3):
                for seat in self.honest():
                    while self.play(seat):
                        pass
                self.exchange()
            if all(
                self.session(seat).over
                or self.session(seat).out
                or self.session(seat).replica.step > self.before[seat] + PROGRESS
                for seat in self.honest()
            ):
                break

    def gone_for(self, seat: int) -> set[int]:
        """Whom a seat does not hear any more: whoever is out, or has left."""
        return {other for other in self.honest() if self.session(other).out}

    def stands_still(self, seat: int) -> bool:
        session = self.session(seat)
        return bool(session.awaited()) or bool(session.voting)

    def exchange(self) -> None:
        """Until nothing new is learnt by anybody honest."""
        while True:
            before = sum(len(self.disk[seat]) for seat in self.honest())
            for queue in self.queues.values():
                queue.clear()
            for a in self.honest():
                for b in self.honest():
                    if a != b:
                        self.sync(a, b)
            if sum(len(self.disk[seat]) for seat in self.honest()) == before:
                return

    # -- what must hold ------------------------------------------------------------------------------------------

    def check_always(self) -> None:
        for seat in self.honest():
            session = self.session(seat)
            wrong = set(session.convicted) - self.liars
            if wrong:
                raise Broken(f"{seat} convicts honest {wrong}: {[session.convicted[one] for one in wrong]}")
            again = self.fresh(seat)
            again.restore(self.disk[seat])
            if state_of(again) != state_of(session):
                raise Broken(f"{seat} restored differs: {difference(state_of(again), state_of(session))}")

    def check_order(self) -> None:
        """The same messages in another order lead to the same place, and convict the same seats."""
        honest = self.honest()
        seat = honest[self.below(len(honest))]
        session, data = self.session(seat), [data for data, _ in self.disk[seat]]
        again = self.fresh(seat)
        again.may_sign = False
        for end in range(20, len(data) + 20, 20):
            block = data[max(0, end - 40) : end] if end < len(data) else data[-200:]
            known = -1
            while known != len(again.log.taken):  # what is far ahead is not kept yet
                known = len(again.log.taken)
                for place in self.sample(range(len(block)), len(block)):
                    again.receive(block[place])
        if again.replica.digest != session.replica.digest or set(again.convicted) != set(session.convicted):
            there, here = again.replica, session.replica
            raise Broken(
                f"{seat} in another order: {(there.view, there.step)} {sorted(again.convicted)},"
                f" not {(here.view, here.step)} {sorted(session.convicted)}"
            )

    def check_settled(self) -> None:
        self.check_always()
        self.check_order()
        going = [seat for seat in self.honest() if not self.session(seat).out]
        convicts = {frozenset(self.session(seat).convicted) for seat in going}
        if len(convicts) > 1:
            raise Broken(f"convicts differ: {[sorted(self.session(seat).convicted) for seat in going]}")
        places = {seat: (self.session(seat).replica.view, self.session(seat).replica.step) for seat in going}
        for one in going:
            for other in going:
                a, b = self.session(one).replica, self.session(other).replica
                mutual = other in a.live and one in b.live
                if mutual and (a.view, a.step, a.digest) != (b.view, b.step, b.digest):
                    raise Broken(f"positions differ: {places}")
        for one in going:
            for other in going:
                a, b = self.session(one).replica, self.session(other).replica
                if a.results[: len(b.results)] != b.results[: len(a.results)]:
                    raise Broken(f"results differ: {a.results} {b.results}")
        for seat in self.honest():
            verdict = audit(self.session(seat).transcript(), self.rng)
            if isinstance(verdict, Failed) and verdict.seat not in self.liars:
                raise Broken(f"the transcript of {seat} does not verify: {verdict}")
        for seat in going:
            session = self.session(seat)
            voters = [one for one in session.replica.live if one in going]
            enough = 2 * len(voters) > len(
                [
                    one
                    for one in session.replica.live
                    if one not in session.log.leaves and one not in session.convicted
                ]
            )
            if not session.over and enough and session.replica.step <= self.before[seat] + PROGRESS:
                raise Broken(f"{seat} waits for ever at {places[seat]}: awaited {session.awaited()}")


def state_of(session: Session) -> dict[str, object]:
    """All that a session is, but for what is only cached."""
    log: Log = session.log
    return {
        "position": (session.replica.view, session.replica.step, session.replica.digest),
        "path": [node.place for node in log.path],
        "steps": [[one.signed.content for one in step] for step in log.steps],
        "convicted": sorted(log.convicted),
        "leaves": sorted(log.leaves),
        "ballots": [
            sorted(one.signed.content for one in view.ballots.all()) for view in log.views
        ],
        "places": [
            {
                (step, seat): sorted(one.signed.content for one in kept)
                for step, said in view.places.items() for seat, kept in said.items()
            }
            for view in log.views
        ],
        "cards": session.secret,
        "promised": {key.value: note for key, note in session.speaker.promised.items()},
        "out": session.out,
    }  # fmt: skip


def difference(a: dict[str, object], b: dict[str, object]) -> str:
    return "; ".join(f"{key}: {a[key]} != {b[key]}" for key in a if a[key] != b[key])[:2000]


def main(arguments: list[str]) -> int:
    """Play the seeds FIRST to LAST, or one with its story."""
    first = int(arguments[0])
    last = int(arguments[1]) if len(arguments) > 1 else first
    length = int(arguments[2]) if len(arguments) > 2 else 400
    failed = 0
    for seed in range(first, last + 1):
        chaos = Chaos(seed)
        try:
            chaos.run(length)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told with its seed
            failed += 1
            print(
                f"seed {seed} ({len(chaos.sessions)} seats, liars {sorted(chaos.liars)}): {error!r}"[:1500],
                flush=True,
            )
            if first == last:
                print("\n".join(chaos.story))
                traceback.print_exc()
    print(f"{last - first + 1} seeds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
