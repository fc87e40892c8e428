"""Cheats with ballots, absence and strangers' messages: 7, 39 and 51 to 56, 63 and 64 of the catalogue."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable

from otto_protocol.match import messages as m
from otto_protocol.match.session import MAX_AHEAD
from tests.adversary.harness import A, E, Silent, X, cheat
from tests.adversary.scene import Cheat, Sent, Table

Votes = Callable[[Table], Iterable[m.Message]]


class Vote(Cheat):
    """Signs ballots or a LEAVE as it likes, and is honest (or silent) from then on."""

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


def ballot(table: Table, number: int, *gone: int, **fields: object) -> m.Message:
    """A ballot of the cheating seat; `fields` are others than the usual ones."""
    body = m.Ballot(number, tuple(sorted(gone)), (), b"", 0, b"")
    return table.sign(table.header(), dataclasses.replace(body, **fields))  # type: ignore[arg-type]


def leave(table: Table, last: int = 0, cite: int = 0) -> m.Message:
    return table.sign(table.header(), m.Leave(last, cite))


def victim(table: Table) -> int:
    return table.honest()[0].seat


# -- ballots that contradict each other ------------------------------------------------------------------


@voting("51", "yes and no in one round", E, "P16")
def yes_and_no(table: Table) -> Iterable[m.Message]:
    return ballot(table, 1, victim(table)), ballot(table, 1)


@voting("x28", "a ballot that cites less than the one before", E, "P17")
def cites_less(table: Table) -> Iterable[m.Message]:
    return ballot(table, 3, cite=2, opens=bytes(32)), ballot(table, 4)


@voting("x29", "a ballot after LEAVE", E, "P18")
def after_leave(table: Table) -> Iterable[m.Message]:
    return leave(table), ballot(table, 1)


@voting("x30", "LEAVE that hides a ballot", E, "P18")
def hidden_ballot(table: Table) -> Iterable[m.Message]:
    return ballot(table, 2), leave(table, 1)


class TwoOwn(Cheat):
    """Says something, votes for what it has said, and then as if it had said nothing."""

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        yield Sent(m.wire(message))
        if not self.done:
            self.done = True
            for number, own in ((1, message.content_hash()), (2, b"")):
                body = m.Ballot(number, (), (), own, 0, b"")
                yield Sent(m.wire(table.sign(message.header, body)))


cheat("x31", "two own messages for one step", E, "P19", start="answer", kind=m.Answer)(TwoOwn)


# -- ballots that come to nothing ------------------------------------------------------------------------


@voting("52", "call a seat a cheat without evidence", X)
def unproven(table: Table) -> Iterable[m.Message]:
    seat = victim(table)
    return [ballot(table, 1, seat, excluded=(seat,))]


@voting("53", "vote against a live seat", X)
def against_the_living(table: Table) -> Iterable[m.Message]:
    return [ballot(table, 1, victim(table))]


@voting("56", "a late ballot of an older round", X)
def older_round(table: Table) -> Iterable[m.Message]:
    return ballot(table, 5), ballot(table, 2, victim(table))


@voting("x32", "cite an agreement that is none", A, silent=True)
def no_agreement(table: Table) -> Iterable[m.Message]:
    return ballot(table, 1, victim(table)), ballot(table, 2, victim(table), cite=1, opens=bytes(32))


@voting("x33", "a ballot without meaning", X)
def senseless(table: Table) -> Iterable[m.Message]:
    everybody = tuple(range(len(table.sessions)))
    return [
        ballot(table, 0),
        ballot(table, 1, *everybody),
        ballot(table, 2, gone=(1, 0)),
        ballot(table, 3, 7),
        ballot(table, 4, excluded=(0,)),
        ballot(table, 5, cite=5, opens=bytes(32)),
        ballot(table, 6, opens=bytes(32)),
        ballot(table, 7, cite=3),
        ballot(table, 2**31, victim(table)),
    ]


@voting("x34", "a false message of one's own in a ballot", A, silent=True)
def false_own(table: Table) -> Iterable[m.Message]:
    return [ballot(table, 1, own=bytes(32))]


@voting("x35", "ballots for another place in the log", X)
def other_place(table: Table) -> Iterable[m.Message]:
    header = table.header()
    body = m.Ballot(1, (), (), b"", 0, b"")
    return [table.sign(dataclasses.replace(header, step=header.step + 40, previous=bytes(32)), body)]


@voting("x36", "vote in every view, to stop the game", X)
def nuisance(table: Table) -> Iterable[m.Message]:
    header = table.header()
    return [
        table.sign(dataclasses.replace(header, view=header.view + n), m.Ballot(1, (), (), b"", 0, b""))
        for n in range(5)
    ]


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
            assert any(self.last.signed in step for step in session.log)


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
        yield Sent(
            m.wire(table.sign(table.header(), m.Ballot(1, (table.honest()[0].seat,), (), b"", 0, b"")))
        )


cheat("63", "speak after the removal", A, start="answer", kind=m.Answer)(Returns)


# -- floods ----------------------------------------------------------------------------------------------


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
            assert len(session.messages_since(here.view, here.step)) <= 4 * MAX_AHEAD


cheat("64", "a flood of messages for steps far ahead", X, start="lead", who=lambda _: 1)(
    lambda: Flood(range(MAX_AHEAD + 20, MAX_AHEAD + 1500))
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
