"""The driver of a peer: its turn clock, who is away, going on without somebody, coming back, ways out.

All in virtual time: what waits for minutes here takes as long as its cryptography.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from otto_p2p.net.events import LinkInfo
from otto_p2p.net.frames import Frame, MatchMessage, Sync
from otto_p2p.table.match_driver import GARBAGE
from otto_p2p.table.timing import TableTiming
from otto_p2p.updates import GameUpdate, LobbyUpdate, News, Notice, Update
from tests.net.tables import (
    GuardedSession,
    Peer,
    inside,
    running,
    settings,
    three,
    until,
)
from tests.net.virtual_lan import VirtualLan

TIMING = TableTiming()
NAMES = ("Anna", "Bob", "Cil")


def after(peer: Peer, kind: Callable[[Update], bool]) -> Update:
    """The update just before the last one of this kind."""
    place = max(place for place, update in enumerate(peer.updates) if kind(update))
    return peer.updates[place - 1]


def told(news: News) -> Callable[[Update], bool]:
    return lambda update: isinstance(update, Notice) and update.news is news


# -- the turn clock ---------------------------------------------------------------------------------------


async def test_who_does_not_decide_is_played_for_by_the_own_client(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    peers = three(tmp_path, idle="Bob")
    async with running(peers):
        await until(lambda: peers[1].game is not None and peers[1].game.decisions)
        asked = trio.current_time()
        await until(lambda: peers[1].said(News.PLAYED_FOR_YOU), 200)
        assert 119.9 < trio.current_time() - asked < 120 + 2 * TIMING.tick
        await until(lambda: peers[1].turn >= 1, 3000)
        assert len(peers[1].said(News.PLAYED_FOR_YOU)) >= 2  # the number, a card
        assert not peers[0].said(News.PLAYED_FOR_YOU)
        assert not any(peer.said(News.REMOVED) for peer in peers)


async def test_without_a_clock_everybody_waits(tmp_path: Path, autojump_clock: MockClock) -> None:
    peers = three(tmp_path, idle="Bob", turn_seconds=0)
    async with running(peers):
        await until(lambda: peers[1].game is not None and peers[1].game.decisions)
        await trio.sleep(1000)
        assert peers[1].game is not None
        assert peers[1].game.decisions
        assert not peers[1].said(News.PLAYED_FOR_YOU)
        assert not any(peer.said(News.REMOVED) for peer in peers)


# -- away -------------------------------------------------------------------------------------------------


async def test_who_is_away_is_shown_and_can_be_done_without(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    peers = three(tmp_path)
    anna, bob, cil = peers
    async with running(peers):
        await until(lambda: bob.turn >= 1)
        began = trio.current_time()
        bob.scope.cancel()
        await until(lambda: anna.said(News.LEFT) == [("Bob",)] == cil.said(News.LEFT))
        game = anna.game
        assert game is not None
        (seat,) = game.away
        assert game.members[seat].name == "Bob"
        assert game.away[seat] == "left"
        assert game.away_since[seat] == pytest.approx(began, abs=0.1)
        anna.table.drop(seat)
        await until(lambda: anna.said(News.REMOVED) == [("Bob",)] == cil.said(News.REMOVED))
        assert TIMING.hurried < trio.current_time() - began < TIMING.hurried + 3 * TIMING.vote_again
        turn = anna.turn
        await until(lambda: anna.turn > turn)


async def test_a_notice_comes_behind_the_update_that_shows_what_it_speaks_of(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    peers = three(tmp_path, turn_seconds=0)
    anna, bob, cil = peers
    async with running(peers):
        await until(lambda: bob.turn >= 1)
        bob.scope.cancel()
        await until(lambda: anna.said(News.LEFT))
        shown = after(anna, told(News.LEFT))
        assert isinstance(shown, GameUpdate)
        assert list(shown.away.values()) == ["left"]
        assert anna.game is not None
        (seat,) = anna.game.away
        cil.table.drop(seat)
        await until(lambda: anna.said(News.REMOVED))
        shown = after(anna, told(News.REMOVED))
        assert isinstance(shown, GameUpdate)
        assert seat not in shown.live
        await until(lambda: anna.said(News.HEALED))
        shown = after(anna, told(News.HEALED))
        assert isinstance(shown, GameUpdate)
        assert "HEAL" not in shown.phase.name


async def test_a_person_hurries_when_enough_others_do(tmp_path: Path, autojump_clock: MockClock) -> None:
    """One other alone hurries nobody's peer but a built-in player's; `consent` others do."""
    lan = VirtualLan()
    people = [replace(settings(name, 4), automatic=0) for name in ("Anna", "Bob", "Cil", "Dzo")]
    peers = [Peer(tmp_path, one.name, one, lan, plays=False) for one in people]
    anna, bob, cil, dzo = peers
    async with running(peers):
        await until(lambda: all(len(lobby(peer).seated) == 4 for peer in peers))
        for peer in peers:
            peer.table.ready(1)
        await until(lambda: all(peer.game and peer.game.view for peer in peers))
        dzo.scope.cancel()
        await until(lambda: anna.game is not None and anna.game.away)
        assert anna.game is not None
        (seat,) = anna.game.away
        anna.table.drop(seat)
        await trio.sleep(60)
        assert not cil.said(News.REMOVED)
        assert cil.said(News.WANTS_ON) == [("Anna", "Dzo")]
        bob.table.drop(seat)
        await until(lambda: cil.said(News.REMOVED) == [("Dzo",)], 10)
    assert TIMING.consent == 2


def lobby(peer: Peer) -> LobbyUpdate:
    return next(update for update in reversed(peer.updates) if isinstance(update, LobbyUpdate))


# -- what is missing --------------------------------------------------------------------------------------


async def test_what_one_link_holds_back_comes_by_another_within_a_second(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Anna is heard by all, but what she says in the game does not get through to Bob."""
    peers = three(tmp_path)
    anna, bob, cil = peers
    asked: list[tuple[float, bytes]] = []
    send, ask = anna.mesh.send_to, bob.mesh.send_to

    def held_back(keys: Iterable[bytes], frame: Frame) -> None:
        send([key for key in keys if not (key == bob.mesh.key and isinstance(frame, MatchMessage))], frame)

    def noted(keys: Iterable[bytes], frame: Frame) -> None:
        keys = list(keys)
        if isinstance(frame, Sync) and bob.turn >= 1:
            assert bob.table.match is not None
            standstill = bob.table.match._deadlines.standstill(trio.current_time())
            asked.extend((standstill, key) for key in keys)
        ask(keys, frame)

    anna.mesh.send_to, bob.mesh.send_to = held_back, noted  # type: ignore[method-assign]
    anna.mesh.send = lambda key, frame: bool(held_back((key,), frame))  # type: ignore[method-assign]
    async with running(peers):
        await until(lambda: bob.turn >= 3, 60)
    assert not bob.said(News.SILENT)
    assert TIMING.lacking[0] < min(standstill for standstill, _ in asked) < TIMING.soon
    assert {key for _, key in asked} == {anna.mesh.key, cil.mesh.key}


async def test_few_are_asked_at_first_and_later_all_ever_more_rarely(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    lan = VirtualLan()
    peers = [Peer(tmp_path, name, settings(name, 4, 0), lan) for name in ("Anna", "Bob", "Cil", "Dzo")]
    anna, *others = peers
    asked: list[tuple[float, int]] = []
    ask = anna.mesh.send_to

    def noted(keys: Iterable[bytes], frame: Frame) -> None:
        keys = list(keys)
        if isinstance(frame, Sync):
            asked.append((trio.current_time(), len(keys)))
        ask(keys, frame)

    async with running(peers):
        await until(lambda: all(peer.turn >= 1 for peer in peers))
        anna.mesh.send_to = noted  # type: ignore[method-assign]
        for peer in others:
            lan.cut("p0", peer.address.host)
        begun = trio.current_time()
        await trio.sleep(30)
    first = [count for at, count in asked if at - begun < TIMING.soon]
    assert first
    assert set(first) == {TIMING.few}
    assert {count for at, count in asked if at - begun > 2 * TIMING.soon} == {3}
    gaps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(asked)]
    for gap, expected in zip(gaps, [*TIMING.lacking[1:], *[TIMING.lacking[-1]] * 9], strict=False):
        assert expected <= gap <= expected + 2 * TIMING.tick


async def test_bytes_of_no_match_end_a_link(tmp_path: Path, autojump_clock: MockClock) -> None:
    peers = three(tmp_path)
    anna, bob, _ = peers
    async with running(peers):
        await until(lambda: all(peer.turn >= 1 for peer in peers))
        for _ in range(GARBAGE):
            bob.mesh.send(anna.mesh.key, MatchMessage(b"garbage"))
        await trio.sleep(1)
        assert not anna.said(News.LINK_LOST)
        bob.mesh.send(anna.mesh.key, MatchMessage(b"garbage"))
        await until(lambda: anna.said(News.LINK_LOST) == [("Bob",)], 5)


# -- coming back ------------------------------------------------------------------------------------------


async def test_a_resumed_game_asks_at_once(tmp_path: Path, autojump_clock: MockClock) -> None:
    """Field report 44: all have gone, all come back, and one of them has to move."""
    peers = three(tmp_path, idle="Bob", turn_seconds=0)
    async with running(peers):
        await until(lambda: peers[1].game is not None and peers[1].game.decisions)
    back = three(tmp_path, turn_seconds=0)
    async with running(back):
        await until(lambda: all(peer.turn >= 1 for peer in back))
        assert back[1].said(News.RESUMED) == [()]
        shown = after(back[1], told(News.RESUMED))
        assert isinstance(shown, GameUpdate)


# -- the session and its worker ----------------------------------------------------------------------------


async def test_nobody_but_the_engine_touches_a_session(tmp_path: Path, autojump_clock: MockClock) -> None:
    """From the lobby to the end of a match, with a removal, a heal, a transcript, and a question afterwards."""
    lan = VirtualLan()
    peers = [Peer(tmp_path, name, replace(settings(name, 3), keep_transcript=True), lan) for name in NAMES]
    anna, bob, cil = peers
    with pytest.raises(AssertionError, match="outside of the engine's worker"):
        object.__new__(GuardedSession).awaited()
    async with running(peers):
        await until(lambda: all(peer.turn >= 2 for peer in peers))
        match = anna.table.match
        assert match is not None
        with inside():
            assert isinstance(match.engine._session, GuardedSession)
        bob.table.leave()
        await until(lambda: anna.said(News.HEALED) and cil.said(News.HEALED))
        turn = anna.turn
        await until(lambda: anna.turn > turn)
        cil.table.leave()
        await until(lambda: anna.ended)
        assert anna.ended is not None
        assert anna.ended.complete
        assert anna.ended.transcript is not None
        answers: list[bytes] = []

        def noted(key: bytes, frame: Frame) -> bool:
            answers.append(key)
            return True

        anna.mesh.send = noted  # type: ignore[method-assign]
        await anna.table._on_frame(b"somebody", Sync(match.engine.match, 0, 0))
        assert not answers  # it had no seat
        await anna.table._on_frame(bob.mesh.key, Sync(match.engine.match, 0, 0))
        assert len(answers) > 20
        assert set(answers) == {bob.mesh.key}


# -- relaying ---------------------------------------------------------------------------------------------


async def test_nothing_is_relayed_to_a_link_that_has_not_told_yet_whom_it_hears(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Bob sees Anna as a peer that hears nobody: what Cil says is passed on to it, but not at once."""
    anna, bob, cil = peers = three(tmp_path)
    relayed: list[float] = []
    links, send = bob.mesh.links, bob.mesh.send_to
    new = 0.0

    def unhearing() -> tuple[LinkInfo, ...]:
        return tuple(replace(link, since=new, hears=frozenset()) for link in links())

    def noted(keys: Iterable[bytes], frame: Frame) -> None:
        keys = list(keys)
        if isinstance(frame, MatchMessage) and keys == [anna.mesh.key]:
            relayed.append(trio.current_time() - new)
        send(keys, frame)

    async with running(peers):
        await until(lambda: all(peer.turn >= 1 for peer in peers))
        new = trio.current_time()
        bob.mesh.links, bob.mesh.send_to = unhearing, noted  # type: ignore[method-assign]
        turn = cil.turn
        await until(lambda: relayed)
    assert cil.turn > turn + 3  # its messages had to be passed on to nobody at first
    assert TIMING.flood_age < relayed[0] < TIMING.flood_age + 1
