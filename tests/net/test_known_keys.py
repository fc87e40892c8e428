"""Who is who: keys that are new, known from an earlier game, or not the one that had this name then."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

import otto_p2p.storage.journal
from otto_p2p.storage.journal import Journal, Known
from otto_p2p.table.known_keys import KnownKeys
from otto_p2p.table.settings import Settings
from otto_p2p.updates import Acquaintance, Face, LobbyUpdate
from otto_protocol.roster import TableRules
from tests.net.tables import Peer, introduce, until
from tests.net.virtual_lan import VirtualLan

BOB, ANNA, ZED = (bytes([number]) * 32 for number in (1, 2, 3))
KNOWN = KnownKeys([Known(BOB, "Bob", 100, 900), Known(ANNA, "Anna", 100, 500)])


@pytest.mark.parametrize(
    ("key", "name", "found"),
    [
        (BOB, "Bob", Acquaintance(Face.KNOWN, "Bob", 900)),
        (BOB, "Robert", Acquaintance(Face.KNOWN, "Bob", 900)),
        (ZED, "Zed", Acquaintance(Face.NEW)),
        (ZED, "Bob", Acquaintance(Face.CHANGED, "Bob", 900)),
        (ZED, "B0b", Acquaintance(Face.CHANGED, "Bob", 900)),
        (ZED, "Аnna", Acquaintance(Face.CHANGED, "Anna", 500)),  # a Cyrillic А
        (ANNA, "Bob", Acquaintance(Face.CHANGED, "Bob", 900)),  # known, but not by this name
    ],
)
def test_a_key_is_judged_by_what_it_was_called_in_earlier_games(
    key: bytes, name: str, found: Acquaintance
) -> None:
    assert KNOWN.judge(key, name) == found


def test_two_old_friends_of_one_name_are_both_known() -> None:
    known = KnownKeys([Known(BOB, "Bob", 1, 2), Known(ZED, "Bob", 1, 3)])
    assert [known.judge(key, "Bob").face for key in (BOB, ZED, ANNA)] == [
        Face.KNOWN,
        Face.KNOWN,
        Face.CHANGED,
    ]


def test_the_longest_unseen_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otto_p2p.storage.journal, "MAX_PEOPLE", 3)
    journal = Journal(tmp_path / "identity")
    for hour in range(6):
        monkeypatch.setattr(time, "time", lambda hour=hour: 3600.0 * hour)
        journal.meet([(BOB, "Bob"), (bytes([100 + hour]) * 32, f"stranger {hour}")])
    assert [(one.name, one.first_seen, one.last_seen) for one in journal.people()] == [
        ("Bob", 0, 18000),
        ("stranger 5", 18000, 18000),
        ("stranger 4", 14400, 14400),
    ]
    journal.close()


def person(folder: Path, lan: VirtualLan, name: str, called: str = "") -> Peer:
    """Somebody who is asked when ready, and then plays by itself."""
    return Peer(folder, name, Settings(called or name, TableRules(1, 1, 0), 4, keep_transcript=False), lan)


def seen(peer: Peer) -> dict[str, Acquaintance | None]:
    """Who the last update of the lobby says that somebody is, by name."""
    lobby = next(update for update in reversed(peer.updates) if isinstance(update, LobbyUpdate))
    return {one.name: one.acquaintance for one in lobby.seated if not one.me}


async def test_a_face_becomes_known_by_a_game_and_not_by_sitting_there(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    lan = VirtualLan()
    anna, bob, stranger = (person(tmp_path, lan, name) for name in ("Anna", "Bob", "Stranger"))
    built_in = Peer(
        tmp_path, "Cil", Settings("Cil", TableRules(1, 1, 0), 4, automatic=3, keep_transcript=False), lan
    )
    async with trio.open_nursery() as nursery:
        for peer in (anna, bob, stranger, built_in):
            await nursery.start(peer.run)
        introduce([anna, bob, stranger, built_in])
        new = Acquaintance(Face.NEW)
        await until(lambda: seen(anna) == {"Bob": new, "Cil": None, "Stranger": new})
        stranger.table.leave()
        await until(lambda: [len(seen(peer)) for peer in (anna, bob, built_in)] == [2, 2, 2])
        for peer in (anna, bob):
            peer.table.ready(1)
        await until(lambda: min(anna.turn, bob.turn) >= 1)
        assert [(one.key, one.name) for one in anna.journal.people()] == [(bob.mesh.key, "Bob")]
        for peer in (anna, bob):
            assert peer.game is not None
            assert peer.game.verified is not None
            assert peer.game.verified.seats == (0, 1, 2)
            assert 0 < peer.game.verified.when <= trio.current_time()
        for peer in (anna, bob, built_in):
            peer.table.leave()

    lan = VirtualLan()
    anna, bob = person(tmp_path, lan, "Anna"), person(tmp_path, lan, "Bob", "Bobby")
    other = person(tmp_path, lan, "other key", "B0b")
    async with trio.open_nursery() as nursery:
        for peer in (anna, bob, other):
            await nursery.start(peer.run)
        introduce([anna, bob, other])
        await until(lambda: len(seen(anna)) == 2)
        found = seen(anna)
        assert found["Bobby"] is not None
        assert found["B0b"] is not None
        assert (found["Bobby"].face, found["Bobby"].name) == (Face.KNOWN, "Bob")
        assert (found["B0b"].face, found["B0b"].name) == (Face.CHANGED, "Bob")
        assert [one.name for one in anna.journal.people()] == ["Bob"]  # nobody's name was taken over
        nursery.cancel_scope.cancel()
