"""What a table tells its screen, and what a screen may ask of its table: the only seam between the two.

A screen (plain lines, Textual, a built-in player) gets `Update` values from a channel and calls the
methods of `Controls`. It never touches a session, a mesh or a journal.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from otto_protocol.lobby.seating import Obstacle
from otto_protocol.match.phases import MatchPhase
from otto_protocol.roster import Member, TableRules
from otto_protocol.rules import moves
from otto_protocol.rules.end import Outcome
from otto_protocol.rules.legal import SeatView


class Face(enum.Enum):
    """Whether somebody's identity key was met in an earlier game."""

    NEW = "new"
    KNOWN = "known"
    CHANGED = "changed"  # not this key, but another one under a name that looks the same


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Whether one has played with somebody before.

    `name` and `seen` (Unix seconds) say how it was called then, and when; of the other key if CHANGED.
    """

    face: Face
    name: str = ""
    seen: float = 0.0


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on the LAN. `tag` tells equal names apart; `ready`: 0 no, 1 yes, 2 even without others."""

    key: bytes
    name: str
    tag: str
    ready: int
    automatic: bool  # a built-in player
    me: bool
    linked: bool  # there is an authenticated connection now
    acquaintance: Acquaintance | None = None  # None: oneself, or a built-in player


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table on this LAN that one could sit at."""

    table: bytes
    name: str
    people: tuple[str, ...]
    rules: TableRules
    seats_free: int
    playing: bool
    version: int  # of the protocol; another one than ours cannot be joined


@dataclass(frozen=True, slots=True)
class LobbyUpdate:
    """Who sits at my table, in seat order of the roster to be; what keeps the game from starting."""

    table_name: str
    table_id: bytes
    seated: tuple[Person, ...]
    rules: TableRules
    obstacles: tuple[Obstacle, ...]  # why it has not started (keys are identity keys; the screen words them)
    others: tuple[OpenTable, ...]
    join_line: str  # what to type elsewhere when discovery finds nothing
    countdown: int | None  # seconds until the start, any key stops it


@dataclass(frozen=True, slots=True)
class ShuffleVerified:
    """All proofs of a shuffle were checked here at `when` (Unix seconds), and hold; `seats` say so, too.

    A seat says so by signing the next step on top of them.
    """

    when: float
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameUpdate:
    """The game as this seat may know it, and what happened since the last update (public moves, in order)."""

    seat: int
    members: tuple[Member, ...]
    tags: tuple[str, ...]
    game: int
    games: int
    phase: MatchPhase
    progress: tuple[int, int]  # shuffles done or proofs verified, of how many (0, 0 outside of these phases)
    table_number: int  # 33 bits, shown as the table words
    view: SeatView | None
    decisions: tuple[moves.SeatMove, ...]  # what I may do now, usual choice first
    awaited: tuple[int, ...]
    live: tuple[int, ...]
    totals: tuple[int, ...]
    over: bool
    # View and step of the log: at another place the same decisions are another question.
    place: tuple[int, int] = (0, 0)
    happened: tuple[moves.Move, ...] = ()
    outcome: Outcome | None = None  # of the game that has just ended
    away: dict[int, str] = field(default_factory=dict)  # seat -> why it is not here ("silent", "left", ...)
    away_since: dict[int, float] = field(default_factory=dict)  # seat -> Unix seconds, of those who are away
    memory_aid: bool = True  # of the table rules: the screen may show which cards were seen
    verified: ShuffleVerified | None = None  # the last shuffle whose proofs this peer has checked


class News(enum.Enum):
    """What a Notice is about; in brackets its `words`."""

    LINK_LOST = "link lost"  # (name)
    LINK_BACK = "link back"  # (name)
    ROUND_ABOUT = "round about"  # (name): no link to it, but it is heard through others
    SILENT = "silent"  # (name): connected, or so it seems, but nothing is heard
    LEFT = "left"  # (name)
    WANTS_ON = "wants on"  # (name, name): the first wants to go on without the second
    REMOVED = "removed"  # (name): the table goes on without it
    PUT_OUT = "put out"  # (): the others have ended this match, or go on without us
    TOO_FEW = "too few"  # (): so many are away that the others cannot even go on without them
    PLAYED_FOR_YOU = "played for you"  # (): the turn clock has run out, the built-in player has decided
    HEALED = "healed"  # (): the cards of the gone are back in the pile
    CHEAT = "cheat"  # (name, rule, text, path of the evidence file or "")
    UNREACHABLE = "unreachable"  # (address, reason)
    OTHER_VERSION = "other version"  # (name or address, text)
    TABLE_FULL = "table full"  # (table name): we opened another one
    MOVED = "moved"  # (table name)
    NOT_STARTED = "not started"  # (cause, name): the attempt to start was given up, nothing was at stake
    NOT_MADE = "not made"  # (text): a move was refused
    RESUMED = "resumed"  # (): back at the seat after a crash or a restart
    NO_MULTICAST = "no multicast"  # (line to type elsewhere): nobody was found; why that may be
    STORED = "stored"  # (path): where the transcript is
    WARNING = "warning"  # (text)


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for people; the screen words it."""

    news: News
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is over, or broken off for this seat (`complete` is False): where its transcript is.

    The table goes back to its lobby for another match.
    """

    transcript: Path | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Closed:
    """The last update: the table is closed, because we left."""


Update = LobbyUpdate | GameUpdate | Notice | MatchEnded | Closed


class Controls(Protocol):
    """What a screen may ask for; all calls return at once, errors are `LocalError` with one clear line."""

    def ready(self, value: int) -> None:
        """Say that I am ready (0 no, 1 yes, 2 yes also without those who are not)."""

    def act(self, move: moves.Move) -> None:
        """Make one of the decisions of the last GameUpdate."""

    def sit_at(self, table: bytes) -> None:
        """Go to another table of the lobby."""

    def open_table(self) -> None:
        """Open a table of one's own."""

    def change_rules(self, rules: TableRules) -> None:
        """Change the table rules; clears everybody's ready."""

    def stop_countdown(self) -> None:
        """Do not start yet."""

    def check_address(self, address: str) -> None:
        """Raises LocalError when that is no HOST[:PORT]; the one call that any thread may make."""

    def dial(self, address: str) -> None:
        """Look for others at HOST[:PORT], where discovery finds nobody; LocalError if that is no address."""

    def drop(self, seat: int) -> None:
        """Go on without a seat that is not heard, as soon as the others agree."""

    def leave(self) -> None:
        """Leave for good: the others are told, and go on without this seat. The last update is Closed."""

    def close(self) -> None:
        """Go away, but keep the seat: `join` comes back to it. The last update is Closed."""
