"""A journal cut off anywhere, and the whole table after it: the peer goes on, or refuses.

What the journal gives back is looked at for each cut, and the table is played on for each different thing
that it gives. With OTTO_BIG=1 the log is cut at every byte of its last message, and often before that (five
minutes with --basetemp on a RAM disk).
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import pytest

from otto_p2p.storage.files import JournalError
from otto_p2p.storage.journal import Journal
from otto_protocol.encoding import pack
from otto_protocol.match.events import Record
from otto_protocol.match.phases import MatchPhase
from tests.protocol.losing_tables import BIG, LosingTable

Records = list[tuple[bytes, bytes]]
PAGE, FRAME, HEAD = 4096, 4096 + 24, 32  # of SQLite's database, and of its log
CUT_AT = 4  # the message of seat 0 at which it is killed, counted from the beginning of the play


class Written(LosingTable):
    """Seat 0 has a journal on disk, and is killed before and after it sends one of its messages."""

    path: Path
    journal: Journal | None
    before: LosingTable  # the table when the message was written, and not sent
    after: LosingTable  # ... and when it was sent
    mark = b""  # the file beside the journal, when the message was written
    safe = 0  # size of the log without that message
    own = CUT_AT  # messages since the play began; until then it is past the one at which it is killed

    def store(self, seat: int, record: Record) -> None:
        if seat == 0 and self.journal is not None:
            if record.own:
                self.own += 1
            if record.own and self.own == CUT_AT:
                self.before, self.mark = self.fork("before"), (self.journal.path / "mark").read_bytes()
                self.safe = (self.journal.path / "journal.db-wal").stat().st_size
            self.journal.append(self.start.roster.match_id(), [(record.data, record.note)])
        super().store(seat, record)

    def send(self, seat: int, record: Record) -> None:
        super().send(seat, record)
        if seat == 0 and self.journal is not None and self.own == CUT_AT:
            self.after = self.fork("after")
            copied(self.journal.path, "sent")
            (copied(self.journal.path, "unsent") / "mark").write_bytes(self.mark)

    def fork(self, seed: str) -> Self:
        other = super().fork(seed)
        other.journal = None
        return other

    def goes_on(self, records: Records) -> None:
        """Seat 0 comes back with these records: the match ends well. `send` sees what is signed twice."""
        self.restart(0, records)
        turn = self.sessions[1].replica.play.turn
        assert self.run(lambda now: now.sessions[0].replica.play.turn > turn), self.standing()
        for seat in (1, 2):
            self.leave(seat)
        assert self.run(lambda now: now.sessions[0].over), self.standing()
        self.check_end()


def copied(folder: Path, name: str) -> Path:
    """The files of a journal as kill -9 leaves them now, in a folder beside it."""
    copy = folder.with_name(name)
    copy.mkdir()
    for path in folder.iterdir():
        subprocess.run(["cp", path, copy / path.name], check=True)  # not in this process: its locks
    return copy


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A table of three that has begun to play; the journal was opened again then, so that its log is short."""
    folder = tmp_path_factory.mktemp("cut") / "identity"
    made = Written(3, "cut journal")
    made.path, made.journal = folder, Journal(folder)
    made.journal.begin(made.start.roster.match_id(), pack(made.start), made.seeds[0])
    assert made.run(lambda now: all(one.replica.phase is MatchPhase.PLAY for one in now.sessions))
    made.journal.close()
    made.journal, made.own = Journal(folder), 0
    assert made.run(lambda now: made.own >= CUT_AT)
    made.journal.close()
    return made


def given_back(folder: Path, match: bytes) -> Records | str:
    """What a journal gives back, or what it says when it refuses."""
    try:
        with contextlib.closing(Journal(folder)) as journal:
            return journal.records(match)
    except JournalError as error:
        return str(error)


def cuts(path: Path, last: int) -> Iterable[int]:
    """The lengths to try: around each page or frame, and some more; `last`: look closely from here on."""
    size = path.stat().st_size
    if size <= PAGE // 8:
        return range(size + 1)
    if BIG and path.suffix == ".db-wal":
        return [*range(0, last, 211), *range(last - 1, size + 1)]
    head, step = (HEAD, FRAME) if path.suffix == ".db-wal" else (0, PAGE)
    edges = range(head, size + 1, step)
    chosen = random.Random(path.name)
    if not BIG:
        edges = sorted({*chosen.sample(edges, 8), *(edge for edge in edges if edge >= last), size})
    near = {edge + by for edge in edges for by in (-1, 0, 1)}
    return sorted({0, *chosen.sample(range(size), 8), *near} & set(range(size + 1)))


@pytest.mark.parametrize("sent", [False, True], ids=["unsent", "sent"])
def test_a_journal_cut_anywhere(table: Written, tmp_path: Path, sent: bool) -> None:
    """What was sent is there, or the journal is refused; a message that was written only may be lost."""
    match = table.start.roster.match_id()
    origin, folder = table.path.with_name("sent" if sent else "unsent"), tmp_path / "identity"
    whole = given_back(shutil.copytree(origin, folder), match)
    assert isinstance(whole, list)
    possible = [whole] if sent else [whole[:-1], whole]
    found: set[int] = set()
    for path in sorted(origin.iterdir()):
        counted = Counter[int]()
        for length in cuts(path, table.safe):
            shutil.rmtree(folder)
            shutil.copytree(origin, folder)
            os.truncate(folder / path.name, length)
            records = given_back(folder, match)
            if isinstance(records, str):
                assert "\n" not in records
                assert str(folder) in records
                # Killed while it wrote: it always comes back.
                assert sent or path.suffix != ".db-wal" or length < table.safe, length
                counted[0] += 1
            else:
                assert records in possible, (path.name, length)
                counted[len(records)] += 1
        print(f"{path.name}: {sum(counted.values())} cuts; refused {counted.pop(0, 0)}, else {dict(counted)}")
        found |= counted.keys()
    assert found == {len(records) for records in possible}
    for records in possible:
        point = (table.after if sent else table.before).fork(f"{len(records)} records")
        assert isinstance(point, Written)
        point.goes_on(records)
