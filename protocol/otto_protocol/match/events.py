"""What a session tells its caller: messages to send, evidence, and what happened, as values."""

from __future__ import annotations

from dataclasses import dataclass

from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.views import Conviction
from otto_protocol.rules import moves


@dataclass(frozen=True, slots=True)
class Record:
    """Something new: store `data` and `note`, and then send `data` to everybody, if it is our `own`.

    Once it is stored, the note of the earlier message `forget` must be wiped (empty: of none).
    """

    data: bytes
    own: bool
    note: bytes = b""
    forget: bytes = b""


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of a seat was accepted in this step (the move that it means, in PLAY)."""

    seat: int
    phase: MatchPhase
    move: moves.Move | None


@dataclass(frozen=True, slots=True)
class StepDone:
    """Everybody has spoken; `before` and `after` are the replicas on both sides."""

    before: Replica
    after: Replica


@dataclass(frozen=True, slots=True)
class ViewOpened:
    """The table goes on without the seats of `gone`; `before` and `after` are the replicas on both sides."""

    before: Replica
    after: Replica
    gone: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Convicted:
    """Evidence against a seat was found."""

    conviction: Conviction


@dataclass(frozen=True, slots=True)
class Diverged:
    """A seat signed a message on top of another log: both sides must exchange all that they hold."""

    seat: int
    step: int


@dataclass(frozen=True, slots=True)
class Voted:
    """A ballot or a LEAVE of a seat was taken: the table considers going on without somebody."""

    seat: int
    gone: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Removed:
    """The others go on without this seat: nothing that it says counts any more."""


SessionEvent = Heard | StepDone | ViewOpened | Convicted | Diverged | Voted | Removed
