"""The history: what was played, with whom, against which keys, and how it ended."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from otto_p2p import i18n
from otto_p2p.commands.history import history
from otto_p2p.storage.journal import Journal, MatchState, StoredResult
from otto_protocol.crypto.identity import IdentityKey, fingerprint
from otto_protocol.encoding import pack
from otto_protocol.hashing import Drbg
from otto_protocol.lab import make_start
from otto_protocol.roster import TableRules


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    i18n.use("en")
    yield
    i18n.use("en")


def play(folder: Path, totals: tuple[int, ...] | None, winners: tuple[int | None, ...] = ()) -> list[bytes]:
    """A match in the journal of an identity; the keys of its seats."""
    rng = Drbg(folder.name.encode() + repr(totals).encode())
    with contextlib.closing(Journal(folder)) as journal:
        others = [IdentityKey.generate(rng) for _ in range(2)]
        start = make_start([journal.identity, *others], TableRules(games=max(1, len(winners))), rng)
        match = start.roster.match_id()
        journal.begin(match, pack(start), bytes(32))
        if totals is None:
            journal.finish(match, None, None, MatchState.ABANDONED)
        else:
            journal.finish(match, StoredResult(totals, winners), Path("/tmp/x.otto"))
        return [member.key for member in start.roster.members]


def test_nothing_played_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history(tmp_path) == 0
    assert "No match has been played yet." in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"


def test_matches_with_points_and_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = play(tmp_path / "identity", (3, 25, 14), (1, 2))
    play(tmp_path / "identity-2", None)
    history(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    (head,) = [place for place, line in enumerate(lines) if "2 games" in line]
    best = lines[head + 1]
    assert "25 points, 1 game won" in best
    assert fingerprint(keys[1]) in best
    assert [line.split(":")[1].split()[0] for line in lines[head + 1 : head + 4]] == ["25", "14", "3"]
    assert sum("(you)" in line for line in lines) == 2
    assert "not finished" in "\n".join(lines)
    assert "  Transcript: /tmp/x.otto" in lines


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = play(tmp_path / "identity", (3, 25, 14), (1,))
    history(tmp_path, as_json=True)
    (match,) = json.loads(capsys.readouterr().out)
    assert match["state"] == "finished"
    assert match["winners"] == [1]
    assert [player["key"] for player in match["players"]] == [key.hex() for key in keys]
    assert [player["points"] for player in match["players"]] == [3, 25, 14]
    assert sum(player["me"] for player in match["players"]) == 1


def test_an_identity_in_use_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(tmp_path / "identity", (1, 2, 3), (2,))
    with contextlib.closing(Journal(tmp_path / "identity")):
        assert history(tmp_path) == 0
    out = capsys.readouterr().out
    assert "a game is going on" in out
    assert str(tmp_path / "identity") in out
