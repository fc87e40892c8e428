"""Cheats with votes, absence and strangers' messages: 7, 39 and 51 to 56, 63 and 64 of the catalogue."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable

from otto_protocol.match import messages as m
from otto_protocol.match.contradictions import opens
from tests.adversary.harness import A, E, Silent, X, cheat
from tests.adversary.scene import Cheat, Sent, Table, standing

Votes = Callable[[Table], Iterable[m.Message]]


class Vote(Cheat):
    """Signs votes, entries or a LEAVE as it likes, and is honest (or silent) from then on."""

    def __init__(self, make: Votes, silent: bool = False) -> None:
        self.make = make
        self.silent = silent

    def begin(self, table: Table) -> Iterable[Sent]:
        self.done = True
        signed = list(self.make(table))
        for message in signed:
            table.me.receive(m.wire(message))  # its own session counts with what it has signed
        return [Sent(m.wire(message)) for message in signed]

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        return [] if self.silent else super().outgoing(table, message)


def voting(
    number: str, title: str, verdict: object, *rules: str, **options: object
) -> Callable[[Votes], Votes]:
    """Enter a function table -> what the seat signs at the beginning."""
    silent = bool(options.pop("silent", False))

    def enter(make: Votes) -> Votes:
        entry = {"start": "2: lead", "who": lambda _: 1, **options}
        cheat(number, title, verdict, *rules, **entry)(lambda: Vote(make, silent))  # type: ignore[arg-type]
        return make

    return enter


def vote(table: Table, number: int, *gone: int, **fields: object) -> m.Message:
    """A vote of the cheating seat, to go on without some, that names all it holds; `fields` are changed."""
    body = table.me.log.proposal(frozenset(gone))
    return table.sign(table.header(), dataclasses.replace(body, round=number, **fields))  # type: ignore[arg-type]


def enter(table: Table, *votes: m.Message) -> Iterable[m.Message]:
    """Votes, and an ENTER for the last one."""
    body = votes[-1].body
    assert isinstance(body, m.Vote)
    return (*votes, table.sign(votes[-1].header, m.Enter(body.round, opens(votes[-1]))))


def leave(table: Table, last: int = 0) -> m.Message:
    return table.sign(table.header(), m.Leave(last))


def victim(table: Table) -> int:
    return table.honest()[0].seat


# -- votes that contradict each other --------------------------------------------------------------------


@voting("51", "yes and no in one round", E, "P16")
def yes_and_no(table: Table) -> Iterable[m.Message]:
    return vote(table, 1, victim(table)), vote(table, 1)


@voting("x28", "two next views", E, "P17")
def two_views(table: Table) -> Iterable[m.Message]:
    one, other = vote(table, 1), vote(table, 2, victim(table))
    return (*enter(table, one), *enter(table, other))


@voting("x55", "a vote after entering the next view", E, "P17")
def votes_on(table: Table) -> Iterable[m.Message]:
    return (*enter(table, vote(table, 1)), vote(table, 2, victim(table)))


@voting("x56", "another next view than the one that was voted for", E, "P17")
def enters_another(table: Table) -> Iterable[m.Message]:
    one = vote(table, 1)
    return one, table.sign(one.header, m.Enter(1, bytes(32)))


@voting("x29", "a vote after LEAVE", E, "P18")
def after_leave(table: Table) -> Iterable[m.Message]:
    return leave(table), vote(table, 1)


@voting("x30", "LEAVE that hides a vote", E, "P18")
def hidden_vote(table: Table) -> Iterable[m.Message]:
    return vote(table, 2), leave(table, 1)


@voting("x57", "two LEAVEs", E, "P18")
def leaves_twice(table: Table) -> Iterable[m.Message]:
    return leave(table), leave(table, 3)


class TakesBack(Cheat):
    """Says something, and votes as if it had said nothing, or something else."""

    def __init__(self, own: bytes | None) -> None:
        self.own = own

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        yield Sent(m.wire(message))
        if not self.done:
            self.done = True
            owns = () if self.own is None else (m.Own(message.header.seat, self.own),)
            yield Sent(m.wire(table.sign(message.header, m.Vote(1, (), (), owns))))


cheat("x31", "a move is taken back by a vote that names nothing", E, "P19", start="answer", kind=m.Answer)(
    lambda: TakesBack(None)
)
cheat(
    "x58", "a vote names another message than the one that was said", E, "P19", start="answer", kind=m.Answer
)(lambda: TakesBack(bytes(32)))


@voting("x33", "a vote that cannot be meant", E, "P16")
def senseless(table: Table) -> Iterable[m.Message]:
    return [vote(table, 1, gone=(2, 0))]


@voting("x59", "a vote in round 0", E, "P16")
def no_round(table: Table) -> Iterable[m.Message]:
    return [vote(table, 0)]


@voting("x60", "a vote to go on without oneself", E, "P16")
def without_me(table: Table) -> Iterable[m.Message]:
    assert table.cheater is not None
    return [vote(table, 1, gone=(table.cheater,), owns=())]


# -- votes that come to nothing --------------------------------------------------------------------------


@voting("52", "call a seat a cheat without evidence", X)
def unproven(table: Table) -> Iterable[m.Message]:
    seat = victim(table)
    return [vote(table, 1, seat, excluded=(seat,))]


@voting("53", "vote against a live seat", X)
def against_the_living(table: Table) -> Iterable[m.Message]:
    return [vote(table, 1, victim(table))]


@voting("56", "a late vote of an older round", X)
def older_round(table: Table) -> Iterable[m.Message]:
    return vote(table, 5), vote(table, 2, victim(table))


@voting("x32", "enter what nobody else has voted for", A, silent=True)
def no_agreement(table: Table) -> Iterable[m.Message]:
    return enter(table, vote(table, 1, victim(table)))


@voting("x34", "a message that nobody has seen in a vote", A, silent=True)
def false_own(table: Table) -> Iterable[m.Message]:
    return [vote(table, 1, owns=(m.Own(victim(table), bytes(32)),))]


@voting("x35", "votes for another place in the log", X)
def other_place(table: Table) -> Iterable[m.Message]:
    header = table.header()
    there = dataclasses.replace(header, step=header.step + 40, previous=bytes(32))
    return [table.sign(there, m.Vote(1, (), (), ()))]


@voting("x36", "vote in every view, to stop the game", X)
def nuisance(table: Table) -> Iterable[m.Message]:
    header = table.header()
    votes = [vote(table, 1)]
    for n in range(1, 5):
        votes.append(table.sign(dataclasses.replace(header, view=header.view + n), m.Vote(1, (), (), ())))
    return votes


@voting("x37", "speak after LEAVE", A)
def speaks_after_leave(table: Table) -> Iterable[m.Message]:
    return [leave(table)]


# -- absence ---------------------------------------------------------------------------------------------

cheat("54", "two seats vanish at once", A, start="lead", who=lambda _: 1, accomplices=1, players=5)(Silent)


@cheat("55", "the last message reaches one survivor only", A, start="answer", kind=m.Answer, players=4)
class LastWord(Cheat):
    def __init__(self) -> None:
        self.last: m.Message | None = None

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if self.done:
            return []
        self.done, self.last = True, message
        return [Sent(m.wire(message), (table.honest()[-1].seat,))]

    def after(self, table: Table) -> None:
        assert self.last is not None
        for session in table.honest():
            assert self.last in standing(session)


class Returns(Cheat):
    """Is silent until it is removed, then says what it owed, and more in the new view."""

    def __init__(self) -> None:
        self.owed: m.Message | None = None

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if self.owed is None:
            self.owed = message
        return []

    def tick(self, table: Table) -> Iterable[Sent]:
        assert self.owed is not None or not self.done
        if self.done or any(table.cheater in s.replica.live for s in table.honest()):
            return
        assert self.owed is not None
        self.done = True
        yield Sent(m.wire(self.owed))
        yield Sent(m.wire(table.sign(table.header(), self.owed.body)))
        yield Sent(m.wire(table.sign(table.header(), m.Vote(1, (table.honest()[0].seat,), (), ()))))


cheat("63", "speak after the removal", A, start="answer", kind=m.Answer)(Returns)


# -- floods ----------------------------------------------------------------------------------------------


MOST = 60  # messages that are held of the last steps of three seats, whatever is sent


class Flood(Cheat):
    """Signs a message for every step of a range, before its time."""

    def __init__(self, steps: range, views: range = range(1)) -> None:
        self.steps = steps
        self.views = views

    def begin(self, table: Table) -> Iterable[Sent]:
        header, self.done = table.header(), True
        for view in self.views:
            for n in self.steps:
                there = dataclasses.replace(header, view=header.view + view, step=header.step + n)
                yield Sent(m.wire(table.sign(there, m.GoOn(b""))))

    def after(self, table: Table) -> None:
        for session in table.honest():
            here = session.replica
            assert len(session.messages_since(here.view, here.step)) <= MOST


cheat("64", "a flood of messages for steps far ahead", X, start="lead", who=lambda _: 1)(
    lambda: Flood(range(2, 1500))
)
cheat("x38", "a flood of messages for views far ahead", X, start="lead", who=lambda _: 1)(
    lambda: Flood(range(1, 40), range(2, 40))
)
cheat("x39", "messages for the next steps, before their time", E, "P1", "P3", start="lead", who=lambda _: 1)(
    lambda: Flood(range(1, 40))
)


class Late(Cheat):
    """A second content for a step that is long over."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.first: m.Message | None = None

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if self.first is None and isinstance(message.body, m.Answer):
            self.first = message
        return super().outgoing(table, message)

    def tick(self, table: Table) -> Iterable[Sent]:
        first = self.first
        if self.done or first is None or table.header().step < first.header.step + self.steps:
            return
        assert isinstance(first.body, m.Answer)
        self.done = True
        yield Sent(m.wire(table.sign(first.header, m.Answer(first.body.slot + 1, first.body.opening))))


for _id, _steps in (("x40", 1), ("x41", 9), ("x42", 70)):
    cheat(_id, f"another answer {_steps} steps later", E, "P1", "T7", start="answer", kind=m.Answer)(
        functools.partial(Late, _steps)
    )
cheat(
    "x43",
    "another answer 9 steps later, to one peer",
    E,
    "P1",
    "T7",
    start="answer",
    kind=m.Answer,
    players=4,
)(lambda: Late(9))


class Forged(Cheat):
    """Signs a message in another's name."""

    def begin(self, table: Table) -> Iterable[Sent]:
        self.done = True
        header = dataclasses.replace(table.header(), seat=victim(table))
        yield Sent(m.wire(table.sign(header, m.Collect(()))), (table.honest()[1].seat,))


cheat("x51", "a message in another's name", X, start="lead", who=lambda _: 1)(Forged)
