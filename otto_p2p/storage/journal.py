"""What a peer must not forget: identity, lobby, matches, and every message before it is sent.

One folder holds one identity (a "slot" of the data folder): `key` (32 secret bytes), `journal.db` (SQLite in
WAL mode, each commit synced) and `mark`. SQLite cannot see that the end of its log was cut off; `mark` counts
the commits and is written after each of them, so a journal that has lost a message which may have been sent
is refused instead of signing another one in its place. An open journal is locked for as long as its process
lives. All calls block: make them from a worker thread. Journaling as in magic-wormhole's docs/journal.rst.
"""

from __future__ import annotations

import contextlib
import enum
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otto_p2p.i18n import _
from otto_p2p.storage.files import (
    JournalError,
    JournalInUse,
    connect,
    damaged,
    explained,
    load_key,
    make_folder,
    read_mark,
    write_mark,
)
from otto_protocol.errors import LocalError
from otto_protocol.hashing import tagged_hash

FORMAT = 1  # PRAGMA user_version
MAX_PEOPLE = 500  # identity keys that are remembered
MAX_SLOTS = 64  # identities of one data folder that can be in use at the same time

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE matches (
    id BLOB PRIMARY KEY, start BLOB NOT NULL, seed BLOB, begun INTEGER NOT NULL, ended INTEGER,
    state TEXT NOT NULL, records INTEGER NOT NULL DEFAULT 0, result TEXT, transcript TEXT
);
CREATE TABLE records (
    number INTEGER PRIMARY KEY, match BLOB NOT NULL, hash BLOB NOT NULL, data BLOB NOT NULL,
    note BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (match, hash)
);
CREATE TABLE memories (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE people (
    key BLOB PRIMARY KEY, name TEXT NOT NULL, first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL
);
"""


class MatchState(enum.Enum):
    """Whether a match can still be gone on with."""

    RUNNING = "running"
    FINISHED = "finished"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A match that runs: packed START certificate, the 32 secret bytes of this seat, begin (Unix seconds)."""

    id: bytes
    start: bytes
    seed: bytes
    begun: int


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What a history shows of a match: its points, and of each game the winner's seat (None: nobody).

    `duels`: the seats that won and lost each duel; None where that was not noted.
    """

    totals: tuple[int, ...]
    winners: tuple[int | None, ...]
    duels: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """A match that is over; names and keys are in the START certificate. Times are Unix seconds."""

    id: bytes
    start: bytes
    begun: int
    ended: int
    state: MatchState
    result: StoredResult | None
    transcript: Path | None


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody with whom a game was played: identity key, the name then, first and last time (Unix seconds)."""

    key: bytes
    name: str
    first_seen: int
    last_seen: int


class Journal:
    """The journal of one identity, in the folder `path` (made if need be, for the user alone).

    Raises JournalInUse when somebody has it open, JournalError when it is damaged, newer than this program,
    or has lost its end. Every method may raise JournalError (a full disk: nothing of that call was written).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._mark = -1
        with explained(path):
            make_folder(path)
            self._db = connect(path / "journal.db")
            try:
                self.identity = load_key(path / "key")
                self._commits = self._check()
                self._mark = os.open(path / "mark", os.O_RDWR | os.O_CREAT, 0o600)
                write_mark(self._mark, self._commits)
            except BaseException:
                self._shut()
                raise

    def _check(self) -> int:
        """Look for damage; the number of commits so far."""
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            with self._transaction():
                for statement in _SCHEMA.split(";\n"):
                    self._db.execute(statement)
                self._db.execute("INSERT INTO meta VALUES ('commits', 0)")
                self._db.execute(f"PRAGMA user_version = {FORMAT}")
        elif version > FORMAT:
            text = _("{path} was written by a newer otto-p2p: use that one, or another --data-dir")
            raise JournalError(text.format(path=self.path))
        if self._db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise JournalError(damaged(self.path))
        commits = int(self._meta("commits"))
        marked = read_mark(self.path / "mark")
        if marked > commits:
            text = _(
                "the journal in {path} has lost its end and cannot be played on with: "
                "move that folder away to start afresh"
            )
            raise JournalError(text.format(path=self.path))
        return commits

    def close(self) -> None:
        """Close and unlock; harmless when closed already."""
        with self._lock, explained(self.path):
            self._shut()

    def _shut(self) -> None:
        self._db.close()
        if self._mark >= 0:
            os.close(self._mark)
            self._mark = -1

    # -- writing -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, on disk when the block has been left, and counted in the mark."""
        with self._lock, explained(self.path):
            with self._transaction():
                self._db.execute("UPDATE meta SET value = value + 1 WHERE name = 'commits'")
                yield self._db
            self._commits += 1
            write_mark(self._mark, self._commits)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _meta(self, name: str) -> int:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if row is None or type(row[0]) is not int:
            raise JournalError(damaged(self.path))
        return row[0]

    # -- the lobby -----------------------------------------------------------------------------------

    def meet(self, people: Iterable[tuple[bytes, str]]) -> None:
        """Remember (key, name) of those with whom a game begins; of too many, those unseen longest go."""
        now = int(time.time())
        with self._writing() as db:
            for key, name in people:
                db.execute(
                    "INSERT INTO people VALUES (?, ?, ?, ?) "
                    "ON CONFLICT (key) DO UPDATE SET name = excluded.name, last_seen = excluded.last_seen",
                    (key, name, now, now),
                )
            db.execute(
                "DELETE FROM people WHERE key NOT IN "
                "(SELECT key FROM people ORDER BY last_seen DESC, first_seen LIMIT ?)",
                (MAX_PEOPLE,),
            )

    def people(self) -> list[Known]:
        """Everybody with whom a game was played, the latest first."""
        rows = self._select(
            "SELECT key, name, first_seen, last_seen FROM people ORDER BY last_seen DESC, key"
        )
        return [Known(*row) for row in rows]

    def remember(self, name: str, data: bytes) -> None:
        """Keep bytes under a name, in place of what was there (the lobby's memory, settings)."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO memories VALUES (?, ?)", (name, data))

    def recall(self, name: str) -> bytes | None:
        """The bytes that were kept under a name last, or None."""
        rows = self._select("SELECT data FROM memories WHERE name = ?", name)
        return rows[0][0] if rows else None

    # -- matches -------------------------------------------------------------------------------------

    def begin(self, match: bytes, start: bytes, seed: bytes) -> None:
        """A match begins: its id (32 bytes), the packed START certificate, the 32 secret bytes of this seat.

        Beginning it again changes nothing (the first seed stays).
        """
        with self._writing() as db:
            db.execute(
                "INSERT INTO matches (id, start, seed, begun, state) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (match, start, seed, int(time.time()), MatchState.RUNNING.value),
            )

    def running(self) -> list[StoredMatch]:
        """The matches to go on with, the latest first."""
        rows = self._select(
            "SELECT id, start, seed, begun FROM matches WHERE state = ? ORDER BY begun DESC, rowid DESC",
            MatchState.RUNNING.value,
        )
        return [StoredMatch(*row) for row in rows]

    def append(
        self, match: bytes, messages: Iterable[tuple[bytes, bytes]], forget: Iterable[bytes] = ()
    ) -> None:
        """Keep (data, note) of messages, and wipe the notes of those in `forget` (data): all or none of it.

        It is on disk when this returns. Data that is known already is skipped. Raises LocalError for a match
        that does not run.
        """
        wiped = tuple(forget)
        with self._writing() as db:
            query = "SELECT 1 FROM matches WHERE id = ? AND state = ?"
            if db.execute(query, (match, MatchState.RUNNING.value)).fetchone() is None:
                raise LocalError("this match does not run any more")
            for data, note in messages:
                digest = _hash(data)
                added = db.execute(
                    "INSERT INTO records (match, hash, data, note, seal) VALUES (?, ?, ?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    (match, digest, data, note, _seal(match, data, note)),
                )
                if added.rowcount:
                    db.execute("UPDATE matches SET records = records + 1 WHERE id = ?", (match,))
            for data in wiped:
                db.execute(
                    "UPDATE records SET note = x'', seal = ? WHERE match = ? AND hash = ?",
                    (_seal(match, data, b""), match, _hash(data)),
                )
        if wiped:
            self._wipe()

    def records(self, match: bytes) -> list[tuple[bytes, bytes]]:
        """(data, note) of all messages of a match, in the order in which they were kept."""
        rows = self._select("SELECT data, note, seal FROM records WHERE match = ? ORDER BY number", match)
        expected = self._select("SELECT records FROM matches WHERE id = ?", match)
        if not expected or expected[0][0] != len(rows):
            raise JournalError(damaged(self.path))
        for data, note, seal in rows:
            if seal != _seal(match, data, note):
                raise JournalError(damaged(self.path))
        return [(data, note) for data, note, _seal_of_it in rows]

    def finish(
        self,
        match: bytes,
        result: StoredResult | None,
        transcript: Path | None,
        state: MatchState = MatchState.FINISHED,
    ) -> None:
        """A match is over: wipe its seed, messages and notes, keep what a history needs.

        Write the transcript first: the messages are gone afterwards.
        """
        shown = None if result is None else json.dumps([result.totals, result.winners, result.duels])
        with self._writing() as db:
            db.execute("DELETE FROM records WHERE match = ?", (match,))
            db.execute(
                "UPDATE matches SET seed = NULL, records = 0, ended = ?, state = ?, result = ?, "
                "transcript = ? WHERE id = ?",
                (int(time.time()), state.value, shown, str(transcript) if transcript else None, match),
            )
        self._wipe()

    def history(self) -> list[Past]:
        """The matches that are over, the latest first."""
        rows = self._select(
            "SELECT id, start, begun, ended, state, result, transcript FROM matches WHERE state != ? "
            "ORDER BY ended DESC, rowid DESC",
            MatchState.RUNNING.value,
        )
        past = []
        for match, start, begun, ended, state, shown, transcript in rows:
            result = None if shown is None else _result(shown)
            path = None if transcript is None else Path(transcript)
            past.append(Past(match, start, begun, ended, MatchState(state), result, path))
        return past

    def _select(self, query: str, *values: object) -> list[Any]:
        with self._lock, explained(self.path):
            return self._db.execute(query, values).fetchall()

    def _wipe(self) -> None:
        """Overwrite what was deleted: secure_delete zeroes it in the database, this empties the log."""
        with self._lock, explained(self.path):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def open_identity(data_dir: Path) -> Journal:
    """The first identity of the data folder that nobody uses now: `identity`, else `identity-2`, ..."""
    for number in range(1, MAX_SLOTS + 1):
        try:
            return Journal(data_dir / ("identity" if number == 1 else f"identity-{number}"))
        except JournalInUse:
            continue
    raise JournalError(_("all {n} identities in {path} are in use").format(n=MAX_SLOTS, path=data_dir))


def open_bot(owner: Journal, number: int) -> Journal:
    """The journal of the owner's built-in player `number` (1..): it comes back when its owner does."""
    return Journal(owner.path / f"bot-{number}")


def _result(shown: str) -> StoredResult:
    """A result as `finish` wrote it; of older matches the duels were not noted."""
    totals, winners, *rest = json.loads(shown)
    duels = rest[0] if rest else None
    return StoredResult(
        tuple(totals), tuple(winners), None if duels is None else tuple((won, lost) for won, lost in duels)
    )


def _hash(data: bytes) -> bytes:
    return tagged_hash("record", data)[:16]


def _seal(match: bytes, data: bytes, note: bytes) -> bytes:
    return tagged_hash("record seal", match, data, note)[:16]
