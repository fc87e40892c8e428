"""The driver of a peer: its turn clock, who is away, going on without somebody, coming back, ways out."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

import otto_p2p.table.table
from otto_p2p.net.frames import Frame, MatchMessage, Sync
from otto_p2p.storage.journal import MatchState
from otto_p2p.updates import News
from otto_protocol.encoding import pack, unpack
from otto_protocol.lobby.actions import Memory
from otto_protocol.lobby.record import Stage
from tests.net.tables import Peer, introduce, settings, until


@asynccontextmanager
async def running(peers: Sequence[Peer]) -> AsyncIterator[trio.Nursery]:
    async with trio.open_nursery() as nursery:
        for peer in peers:
            await nursery.start(peer.run)
        introduce(list(peers))
        yield nursery
        nursery.cancel_scope.cancel()


def three(folder: Path, *, idle: str = "", turn_seconds: int = 120, grace: float = 150.0) -> list[Peer]:
    return [
        Peer(folder, name, settings(name, 3, turn_seconds, grace), plays=name != idle)
        for name in ("Anna", "Bob", "Cil")
    ]


async def test_who_does_not_decide_is_played_for_by_the_own_client(tmp_path: Path) -> None:
    peers = three(tmp_path, idle="Bob", turn_seconds=1)
    async with running(peers):
        await until(lambda: peers[1].turn >= 1)
        assert len(peers[1].said(News.PLAYED_FOR_YOU)) >= 2  # the number, a card
        assert not peers[0].said(News.PLAYED_FOR_YOU)
        assert not any(peer.said(News.REMOVED) for peer in peers)


async def test_without_a_clock_everybody_waits(tmp_path: Path) -> None:
    peers = three(tmp_path, idle="Bob", turn_seconds=0)
    async with running(peers):
        await until(lambda: peers[1].game is not None and peers[1].game.decisions)
        await trio.sleep(1.5)
        assert peers[1].game is not None
        assert peers[1].game.decisions
        assert not peers[1].said(News.PLAYED_FOR_YOU)


async def test_who_is_away_is_shown_and_can_be_done_without(tmp_path: Path) -> None:
    peers = three(tmp_path)
    anna, bob, cil = peers
    async with running(peers):
        await until(lambda: bob.turn >= 1)
        began = time.time()
        bob.scope.cancel()
        await until(lambda: anna.said(News.LEFT) == [("Bob",)] == cil.said(News.LEFT))
        game = anna.game
        assert game is not None
        (seat,) = game.away
        assert game.members[seat].name == "Bob"
        assert game.away[seat] == "left"
        assert abs(game.away_since[seat] - began) < 5
        anna.table.drop(seat)
        await until(lambda: anna.said(News.REMOVED) == [("Bob",)] == cil.said(News.REMOVED))
        turn = anna.turn
        await until(lambda: anna.turn > turn)


async def test_what_one_link_holds_back_comes_by_another_within_a_second(tmp_path: Path) -> None:
    """Anna is heard by all, but what she says in the game does not get through to Bob."""
    peers = three(tmp_path)
    anna, bob, cil = peers
    asked: list[tuple[float, bytes]] = []
    send, ask = anna.mesh.send, bob.mesh.send

    def held_back(key: bytes, frame: Frame) -> bool:
        return (key == bob.mesh.key and isinstance(frame, MatchMessage)) or send(key, frame)

    def noted(key: bytes, frame: Frame) -> bool:
        if isinstance(frame, Sync) and bob.turn >= 1:
            asked.append((bob.table._patience.standstill(trio.current_time()), key))
        return ask(key, frame)

    anna.mesh.send, bob.mesh.send = held_back, noted  # type: ignore[method-assign]
    async with running(peers):
        await until(lambda: bob.turn >= 3, 60)
    assert not bob.said(News.SILENT)
    assert min(after for after, _ in asked) < 1.0
    assert {key for _, key in asked} == {anna.mesh.key, cil.mesh.key}


async def test_a_resumed_game_asks_at_once(tmp_path: Path) -> None:
    """Field report 44: all have gone, all come back, and one of them has to move."""
    peers = three(tmp_path, idle="Bob", turn_seconds=0)
    async with running(peers):
        await until(lambda: peers[1].game is not None and peers[1].game.decisions)
    back = three(tmp_path, turn_seconds=0)
    async with running(back):
        await until(lambda: all(peer.turn >= 1 for peer in back))
        assert back[1].said(News.RESUMED) == [()]


async def test_who_leaves_while_its_journal_is_at_work_is_heard(tmp_path: Path) -> None:
    """The match is finished in the journal when its last message has been stored and sent, not before."""
    peers = three(tmp_path)
    anna, bob, cil = peers
    finished = threading.Event()
    append, finish = bob.journal.append, bob.journal.finish

    def slow(match: bytes, messages: Iterable[tuple[bytes, bytes]], forget: Iterable[bytes] = ()) -> None:
        finished.wait(0.3)
        append(match, messages, forget)

    def last(*words: Any) -> None:
        finish(*words)
        finished.set()

    async with running(peers):
        await until(lambda: all(peer.turn >= 1 for peer in peers))
        bob.journal.append, bob.journal.finish = slow, last  # type: ignore[method-assign]
        bob.table.leave()
        await until(lambda: anna.said(News.REMOVED) == [("Bob",)] == cil.said(News.REMOVED))
        await until(finished.is_set)


async def lost(peers: Sequence[Peer]) -> None:
    """Play for a moment, then close all: the matches run on in the journals."""
    async with running(peers):
        await until(lambda: all(peer.turn >= 1 for peer in peers))


def again(folder: Path, names: Iterable[str], *, forgetful: bool = False) -> list[Peer]:
    """Peers of before, at a larger table; `forgetful`: the match is over in their journals."""
    back = [Peer(folder, name, settings(name, 5)) for name in names]
    for peer in back if forgetful else ():
        (match,) = peer.journal.running()
        peer.journal.finish(match.id, None, None, MatchState.ABANDONED)
    return back


async def test_a_match_that_all_others_have_ended_can_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otto_p2p.table.table, "DESERTED", 1.0)
    await lost(three(tmp_path))
    others, (back,) = again(tmp_path, ("Anna", "Bob"), forgetful=True), again(tmp_path, ("Cil",))
    stored = back.journal.recall("lobby")
    assert stored is not None
    memory = unpack(Memory, stored)  # as if it was killed just after its deal
    back.journal.remember("lobby", pack(replace(memory, here=replace(memory.here, stage=Stage.DEALT))))
    async with running([*others, back]):
        await until(lambda: back.ended)
        assert back.ended is not None
        assert not back.ended.complete
        assert back.said(News.PUT_OUT) == [()]


async def test_too_few_are_told_that_they_wait_and_that_the_others_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of four without the lowest seat decide nothing: they wait, and when the others come it is over."""
    peers = [Peer(tmp_path, name, settings(name, 4)) for name in ("Anna", "Bob", "Cil", "Dzo")]
    await lost(peers)
    assert not any(peer.said(News.TOO_FEW) or peer.said(News.PUT_OUT) for peer in peers)
    assert peers[0].game is not None
    names = [member.name for member in peers[0].game.members]
    monkeypatch.setattr(
        otto_p2p.table.table, "TOO_FEW", 1.0
    )  # only now: a slow machine is silent for a second
    monkeypatch.setattr(otto_p2p.table.table, "DESERTED", 1.0)
    back, others = again(tmp_path, names[2:]), again(tmp_path, names[:2], forgetful=True)
    async with running(back) as nursery:
        await until(lambda: all(peer.said(News.TOO_FEW) for peer in back))
        assert not any(peer.said(News.PUT_OUT) for peer in back)
        for other in others:
            await nursery.start(other.run)
        introduce([*others, *back])
        await until(lambda: all(peer.ended for peer in back))
        assert [peer.said(News.PUT_OUT) for peer in back] == [[()], [()]]
