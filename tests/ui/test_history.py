"""The history: what was played, with whom, against which keys, how it ended, and what everybody has won in all."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from otto_p2p import i18n
from otto_p2p.commands.history import history
from otto_p2p.friends import Played, records
from otto_p2p.storage.journal import Journal, MatchState, StoredResult
from otto_p2p.storage.transcripts import fought_duels
from otto_protocol.crypto.identity import IdentityKey, fingerprint
from otto_protocol.encoding import pack
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab, make_start
from otto_protocol.roster import TableRules
from otto_protocol.rules import GamePhase, SeatView
from otto_protocol.rules.moves import Challenge, SeatMove


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
    lines = capsys.readouterr().out.partition("\n\n")[0].splitlines()
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
    (match,) = json.loads(capsys.readouterr().out)["matches"]
    assert match["duels"] is None, "nobody noted them"
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


def many(folder: Path) -> tuple[bytes, list[bytes]]:
    """Three matches of the same three people, one of them not finished; my key, and all: I am the first."""
    rng = Drbg(b"friends")
    friends = [IdentityKey.generate(rng) for _ in range(2)]
    ends: list[tuple[tuple[int, ...], tuple[int | None, ...], list[tuple[int, int]], MatchState]] = [
        ((12, 3, 5), (0,), [(0, 1), (2, 0)], MatchState.FINISHED),
        ((14, 30, 30), (1, None, 2), [(1, 2)], MatchState.FINISHED),
        ((99, 0, 0), (0,), [(0, 1)], MatchState.ABANDONED),
    ]
    with contextlib.closing(Journal(folder)) as journal:
        keys = [journal.identity.public, *(friend.public for friend in friends)]
        for totals, winners, duels, state in ends:
            start = make_start([journal.identity, *friends], TableRules(games=len(winners)), rng)
            seats = [[member.key for member in start.roster.members].index(key) for key in keys]
            result = StoredResult(
                tuple(total for _, total in sorted(zip(seats, totals, strict=True))),
                tuple(None if winner is None else seats[winner] for winner in winners),
                tuple((seats[won], seats[lost]) for won, lost in duels),
            )
            journal.begin(start.roster.match_id(), pack(start), bytes(32))
            journal.finish(start.roster.match_id(), result, None, state)
    return keys[0], keys


def test_what_everybody_has_won_in_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    me, keys = many(tmp_path / "identity")
    history(tmp_path)
    _matches, told = capsys.readouterr().out.split("\n\n")
    title, *rows = told.splitlines()
    assert title == "All finished matches together:"
    assert fingerprint(me) in rows[0]
    assert [row for row in rows if "(you): " in row] == rows[:1]
    for key, points in zip(keys, (26, 33, 35), strict=True):
        won = f"matches won: 1 of 2, games won: 1 of 4, {points} points, duels won: 1 of 2, key {fingerprint(key)}"
        assert sum(row.endswith(won) for row in rows) == 1
    i18n.use("lv")
    history(tmp_path)
    told = capsys.readouterr().out
    assert "uzvarētie mači: 1 no 2, uzvarētās spēles: 1 no 4, 35 punkti, uzvarētie dueļi: 1 no 2, " in told


def test_json_has_the_same_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    me, keys = many(tmp_path / "identity")
    history(tmp_path, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert sorted(len(match["duels"]) for match in shown["matches"]) == [1, 1, 2]
    assert shown["players"][0]["key"] == me.hex()
    assert [player["me"] for player in shown["players"]] == [True, False, False]
    first = next(player for player in shown["players"] if player["key"] == keys[0].hex())
    numbers = {name: value for name, value in first.items() if name not in ("key", "name", "me")}
    assert numbers == {
        "matches": 2,
        "matches_won": 1,
        "games": 4,
        "games_won": 1,
        "points": 26,
        "duels": 2,
        "duels_won": 1,
    }


def test_a_match_of_two_own_identities_counts_once() -> None:
    members = make_start([IdentityKey.generate(Drbg(bytes([n]))) for n in range(2)], TableRules(), Drbg(b"2"))
    seats = members.roster.members
    played = Played(b"match", seats, (10, 2), (0,), ((0, 1),))
    one, two = records([played, played], [seat.key for seat in seats])
    assert (one.matches, two.matches, one.points + two.points) == (1, 1, 12)
    assert one.me
    assert two.me


def test_results_of_older_programs_can_be_read(tmp_path: Path) -> None:
    play(tmp_path / "identity", (3, 25, 14), (1,))
    with contextlib.closing(sqlite3.connect(tmp_path / "identity" / "journal.db")) as old:
        old.execute("UPDATE matches SET result = '[[3, 25, 14], [1]]'")
        old.commit()
    with contextlib.closing(Journal(tmp_path / "identity")) as journal:
        (past,) = journal.history()
    assert past.result == StoredResult((3, 25, 14), (1,), None)


def test_duels_are_found_in_the_log_of_a_match() -> None:
    """Played out with all messages; whoever lost each duel is known from the state as well."""
    lab = Lab(players=3, rng=Drbg(b"duels in a log"), table_rules=TableRules(decks=1))
    expected: list[tuple[int, int]] = []

    def decide(view: SeatView, decisions: Sequence[SeatMove]) -> SeatMove:
        duel = view.state.duel
        if view.state.phase is GamePhase.LOSE_CARD and duel is not None and duel.loser is not None:
            challenged_lost = duel.loser == duel.target
            leader, target = view.state.leader, duel.target
            expected.append((leader, target) if challenged_lost else (target, leader))
        challenges = [move for move in decisions if isinstance(move, Challenge)]
        return challenges[-1] if challenges else lab.at_random(view, decisions)

    assert lab.play_until(lambda: len(expected) == 7, decide)  # the last one's card is on its way
    assert len(set(expected)) > 2
    assert fought_duels(lab.transcript())[:6] == tuple(expected)[:6]
