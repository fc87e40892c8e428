"""What comes out of the lobby: things for the driver to do, and what it has to store."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from otto_protocol.encoding import AtMost, Max
from otto_protocol.lobby.record import MAX_COUNT, Here
from otto_protocol.roster import Roster, Start, TableId

MAX_SPENT = 64  # tables whose last signed round is remembered


@dataclass(frozen=True, slots=True)
class Spent:
    """The greatest round of a table in which this peer has signed READY: never again there."""

    table: TableId
    round: Annotated[int, Max(MAX_COUNT)]


@dataclass(frozen=True, slots=True)
class Memory:
    """What has to survive a crash: this peer's own record, and the rounds that are used up."""

    here: Here
    spent: Annotated[tuple[Spent, ...], AtMost(MAX_SPENT)]


class Cause(Enum):
    """Why an attempt to start ended."""

    OWN_WISH = "this peer withdrew"
    WITHDRAWN = "`key` withdrew, or is in a newer round"
    SILENT = "`key` is gone or says nothing"
    CHANGED = "the table changed before everybody had signed"
    RESTARTED = "this peer was started again"


@dataclass(frozen=True, slots=True)
class Publish:
    """Store `memory`, then sign `memory.here` and send it to everybody."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Moved:
    """This peer sits at another table now; `full` if the old one has no seat for it."""

    table: bytes
    full: bool


@dataclass(frozen=True, slots=True)
class Started:
    """Everybody in the roster has signed it: begin with the keys."""

    start: Start


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The attempt is over, nothing was at stake: drop its session. `key` caused it (empty: nobody did)."""

    roster: Roster
    cause: Cause
    key: bytes


Action = Publish | Moved | Started | Abandoned
