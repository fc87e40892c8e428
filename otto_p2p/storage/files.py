"""The files of a journal: made for the user alone, locked; what is wrong with them in one clear line."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from otto_p2p.i18n import _
from otto_protocol.crypto.identity import PRIVATE_BYTES, IdentityKey
from otto_protocol.errors import LocalError
from otto_protocol.hashing import tagged_hash


class JournalError(LocalError):
    """The journal cannot be read or written; one clear line that says what to do."""


class JournalInUse(JournalError):
    """Another process (or another peer of this one) has this journal open."""


def make_folder(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    path.chmod(0o700)


def connect(path: Path) -> sqlite3.Connection:
    # SQLite gives its log the mode of the database. Never open a file that exists: closing it would drop the
    # POSIX locks that another Journal of this process holds on it.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    db = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        # Exclusive before WAL: the lock is held until the process ends, and no shared memory file is needed.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
    except BaseException:
        db.close()
        raise
    return db


def load_key(path: Path) -> IdentityKey:
    """The identity key of a folder, made if there is none. The journal's lock is held."""
    try:
        secret = path.read_bytes()
    except FileNotFoundError:
        identity = IdentityKey.generate(os.urandom)
        unfinished = path.with_name("key.new")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(identity.to_bytes())
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        return identity
    if len(secret) != PRIVATE_BYTES:
        raise JournalError(
            _("{path} is damaged: an identity key has {n} bytes").format(path=path, n=PRIVATE_BYTES)
        )
    return IdentityKey(secret)


def write_mark(descriptor: int, commits: int) -> None:
    """Write the count of commits; not synced, but in place before anything else happens."""
    number = commits.to_bytes(8, "big")
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, number + tagged_hash("mark", number)[:8])


def read_mark(path: Path) -> int:
    """The count in the mark; 0 if it is missing or damaged (it is not synced, a power cut may spoil it)."""
    try:
        mark = path.read_bytes()
    except FileNotFoundError:
        return 0
    number, check = mark[:8], mark[8:]
    return int.from_bytes(number, "big") if check == tagged_hash("mark", number)[:8] else 0


def damaged(path: Path) -> str:
    return _("the journal in {path} is damaged: move that folder away to start afresh").format(path=path)


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into one clear line."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None) or 0
        match code & 0xFF:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                raise JournalInUse(_("{path} is in use by another otto-p2p").format(path=path)) from error
            case sqlite3.SQLITE_FULL:
                raise JournalError(_("no space left for the journal in {path}").format(path=path)) from error
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_FORMAT:
                raise JournalError(damaged(path)) from error
            case _ if isinstance(error, sqlite3.ProgrammingError):
                raise JournalError(_("the journal in {path} is closed").format(path=path)) from error
            case _:
                raise JournalError(
                    _("cannot use the journal in {path}: {problem}").format(path=path, problem=error)
                ) from error
    except OSError as error:
        raise JournalError(
            _("cannot use {path}: {problem}").format(path=path, problem=error.strerror or error)
        ) from error
