"""What a log is made of and what it tells: views, the steps that are known in them, changes of the position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from otto_protocol.match import messages as m
from otto_protocol.match.replica import Replica, Spoken
from otto_protocol.match.view_change import Ballots, Proposal

Place = tuple[int, bytes]  # a step of this view and the digest before it


@dataclass(frozen=True, slots=True)
class Conviction:
    """A seat broke a rule; `evidence` shows it to everybody who has the log before it."""

    seat: int
    rule: str
    text: str
    evidence: m.Evidence
    view: int
    step: int | None  # None when no log is needed: a pair, or what breaks a rule by itself


@dataclass(frozen=True, slots=True)
class Node:
    """A step that can be derived: its replica, and all messages of the step before (none in a new view)."""

    replica: Replica
    before: tuple[m.Message, ...]

    @property
    def place(self) -> Place:
        """Which step it is."""
        return self.replica.step, self.replica.digest


@dataclass(frozen=True, slots=True)
class Completed:
    """The position went on: these messages completed the step of `before`."""

    before: Replica
    spoken: Mapping[int, Spoken]
    after: Replica


@dataclass(frozen=True, slots=True)
class WentBack:
    """The position went back by a step: somebody signed twice."""

    to: Replica


@dataclass(frozen=True, slots=True)
class Opened:
    """The next view began, without the seats of `gone`."""

    before: Replica
    standing: Mapping[int, Spoken]
    after: Replica
    gone: frozenset[int]


Change = Completed | WentBack | Opened | Conviction


@dataclass(slots=True)
class View:
    """A view: the seats in it, what they said about it, and in it."""

    number: int
    ballots: Ballots
    first: int  # its first step
    places: dict[int, dict[int, list[m.Message]]] = field(default_factory=dict)  # step -> seat -> contents
    known: dict[Place, Node] = field(default_factory=dict)
    closed: Proposal | None = None  # by what it ended

    def copy(self) -> View:
        """The same view, to go on from here in another way."""
        places = {
            step: {seat: list(kept) for seat, kept in said.items()} for step, said in self.places.items()
        }
        return replace(self, ballots=self.ballots.copy(), places=places, known=dict(self.known))
