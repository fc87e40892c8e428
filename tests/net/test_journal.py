"""The journal: what was sent is never forgotten, what is secret does not outlive its match."""

from __future__ import annotations

import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from otto_p2p.storage.files import JournalError, JournalInUse
from otto_p2p.storage.journal import Journal, MatchState, StoredResult, open_bot, open_identity
from otto_protocol.errors import LocalError

MATCH = b"m" * 32
SEED = b"secret seed of this match 32 byte"[:32]
START = b"start certificate"


def messages(count: int, first: int = 0) -> list[tuple[bytes, bytes]]:
    return [(b"message %d " % n + bytes(100), b"note %d" % n) for n in range(first, first + count)]


def test_everything_is_there_again(tmp_path: Path) -> None:
    with_path = tmp_path / "identity"
    first = Journal(with_path)
    first.begin(MATCH, START, SEED)
    first.begin(MATCH, START, b"x" * 32)  # again: the first seed stays
    first.append(MATCH, messages(3))
    for state in (b"first", b"second"):
        first.remember("lobby", state)
    first.append(MATCH, [*messages(1), *messages(2, 3)])  # the known one is not kept twice
    first.meet([(b"k" * 32, "Anna"), (b"l" * 32, "Bob")])
    first.close()
    again = Journal(with_path)
    assert again.identity.public == first.identity.public
    assert [(m.id, m.start, m.seed) for m in again.running()] == [(MATCH, START, SEED)]
    assert again.records(MATCH) == messages(5)
    assert again.recall("lobby") == b"second"
    assert again.recall("nothing") is None
    again.meet([(b"k" * 32, "Ann")])
    assert {person.key[:1]: person.name for person in again.people()} == {b"k": "Ann", b"l": "Bob"}
    again.close()


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    book = Journal(tmp_path / "data" / "identity")
    book.begin(MATCH, START, SEED)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").rglob("*")}
    assert modes.pop("identity") == 0o700
    assert {"key", "mark", "journal.db", "journal.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    book.close()


def test_hands_do_not_outlive_the_match(tmp_path: Path) -> None:
    book = Journal(tmp_path / "identity")
    book.begin(MATCH, START, SEED)
    book.append(MATCH, [(b"data", b"a note that tells the hand"), (b"other", b"a fresh secret")])
    book.append(MATCH, [(b"its use", b"")], [b"other"])
    assert not on_disk(tmp_path, b"a fresh secret")
    kept = [(b"data", b"a note that tells the hand"), (b"other", b""), (b"its use", b"")]
    assert book.records(MATCH) == kept
    assert on_disk(tmp_path, SEED)
    book.finish(MATCH, StoredResult((12, 3), (0, None)), tmp_path / "game.otto")
    assert not on_disk(tmp_path, SEED)
    assert not on_disk(tmp_path, b"a note that tells the hand")
    assert book.running() == []
    (past,) = book.history()
    assert (past.start, past.state, past.transcript) == (START, MatchState.FINISHED, tmp_path / "game.otto")
    assert past.result == StoredResult((12, 3), (0, None))
    with pytest.raises(LocalError, match="does not run"):
        book.append(MATCH, messages(1))
    book.close()


def test_a_secret_is_forgotten_with_the_message_that_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash between the two would leave the fresh secret of a heal beside what was raised with it."""
    book = Journal(tmp_path / "identity")
    book.begin(MATCH, START, SEED)
    book.append(MATCH, [(b"heal proof", b"a fresh secret")])

    def crash() -> None:
        raise RuntimeError("crash")

    monkeypatch.setattr(book, "_wipe", crash)
    with pytest.raises(RuntimeError, match="crash"):
        book.append(MATCH, [(b"raise", b"")], [b"heal proof"])
    assert book.records(MATCH) == [(b"heal proof", b""), (b"raise", b"")]
    book.close()


def on_disk(folder: Path, secret: bytes) -> bool:
    # A second descriptor on the database would drop its locks when closed; `cat` has its own process.
    return any(
        secret in subprocess.check_output(["cat", path]) for path in folder.rglob("*") if path.is_file()
    )


def test_two_peers_with_one_data_folder_are_two_players(tmp_path: Path) -> None:
    first, second = open_identity(tmp_path), open_identity(tmp_path)
    bot = open_bot(first, 1)
    assert len({first.identity.public, second.identity.public, bot.identity.public}) == 3
    with pytest.raises(JournalInUse, match="in use"):
        Journal(first.path)
    first.close()
    third = open_identity(tmp_path)
    assert third.identity.public == first.identity.public
    for book in (second, third, bot):
        book.close()


HOLDER = """
import sys, time
from pathlib import Path
from otto_p2p.storage.journal import open_identity
book = open_identity(Path(sys.argv[1]))
book.begin(b"m" * 32, b"start", b"s" * 32)
number = 0
while True:
    book.append(b"m" * 32, [(b"message %d" % number, b"")])
    print(number, flush=True)  # "sent"
    number += 1
"""


def test_kill_9_frees_the_identity_and_loses_nothing_that_was_sent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(20):
            last = int(process.stdout.readline())
        other = open_identity(tmp_path)
        assert other.path.name == "identity-2"
        other.close()
        process.send_signal(signal.SIGKILL)
        sent = [last, *(int(line) for line in process.stdout.read().split("\n")[:-1])]
    book = open_identity(tmp_path)
    assert book.path.name == "identity"
    kept = [data for data, _ in book.records(MATCH)]
    assert kept[: sent[-1] + 1] == [b"message %d" % number for number in range(sent[-1] + 1)]
    assert len(kept) <= sent[-1] + 2
    book.close()


def test_a_changed_byte_of_a_record_is_noticed(tmp_path: Path) -> None:
    book = Journal(tmp_path / "identity")
    book.begin(MATCH, START, SEED)
    book.append(MATCH, messages(3))
    book.close()
    path = tmp_path / "identity" / "journal.db"
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"message 1 ", b"message 7 "))
    book = Journal(tmp_path / "identity")
    with pytest.raises(JournalError, match="damaged"):
        book.records(MATCH)
    book.close()


def test_a_full_disk_is_one_line_and_keeps_what_was_there(tmp_path: Path) -> None:
    book = Journal(tmp_path / "identity")
    book.begin(MATCH, START, SEED)
    book.append(MATCH, messages(2))
    pages = book._db.execute("PRAGMA page_count").fetchone()[0]
    book._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(JournalError, match="no space left") as caught:
        book.append(MATCH, [(b"big" * 10_000, b"")])
    assert "\n" not in str(caught.value)
    assert book.records(MATCH) == messages(2)
    book._db.execute("PRAGMA max_page_count = 100000")
    book.append(MATCH, messages(1, 2))
    assert book.records(MATCH) == messages(3)
    book.close()


def test_a_write_that_fails_is_one_line(tmp_path: Path) -> None:
    """The system refuses (here: the limit on file sizes, seen as EFBIG): the call fails as a whole."""
    book = Journal(tmp_path / "identity")
    book.begin(MATCH, START, SEED)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, old[1]))
        with pytest.raises(JournalError, match=r"cannot use the journal|no space left"):
            book.append(MATCH, [(b"big" * 200_000, b"")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)
    book.append(MATCH, messages(1))
    assert book.records(MATCH) == messages(1)
    book.close()


def test_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    Journal(tmp_path / "identity").close()
    db = sqlite3.connect(tmp_path / "identity" / "journal.db")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(JournalError, match="newer otto-p2p"):
        Journal(tmp_path / "identity")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JournalError, match="cannot use"):
        open_identity(tmp_path / "file" / "data")
