"""Ways out of a match: leaving, waiting for the others' end, and matches whose end never comes; in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from otto_p2p.net.frames import MatchMessage
from otto_p2p.storage.journal import MatchState
from otto_p2p.table.engine import SignLeave
from otto_p2p.table.timing import TableTiming
from otto_p2p.updates import Closed, News
from otto_protocol.encoding import pack, unpack
from otto_protocol.lobby.actions import Memory
from otto_protocol.lobby.record import Stage
from tests.net.tables import Peer, T, introduce, run_here, running, settings, three, until
from tests.net.virtual_lan import VirtualLan

TIMING = TableTiming()
NAMES = ("Anna", "Bob", "Cil")


async def test_who_leaves_while_its_journal_is_at_work_is_heard(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """The match is finished in the journal when its last message has been stored and sent, not before."""
    lan = VirtualLan()
    slow = False

    async def run(function: Callable[..., T], /, *arguments: Any) -> T:
        if slow and function.__name__ in ("_absorb", "_work"):
            with trio.CancelScope(shield=True):  # like a thread that has begun
                await trio.sleep(0.3)
        return await run_here(function, *arguments)

    anna, cil = (Peer(tmp_path, name, settings(name, 3), lan) for name in ("Anna", "Cil"))
    bob = Peer(tmp_path, "Bob", settings("Bob", 3), lan, run=run)
    written: list[str] = []
    append, finish = bob.journal.append, bob.journal.finish

    def noted_append(*words: Any) -> None:
        append(*words)
        written.append("append")

    def noted_finish(*words: Any) -> None:
        finish(*words)
        written.append("finish")

    async with running([anna, bob, cil]):
        await until(lambda: all(peer.turn >= 1 for peer in (anna, bob, cil)))
        slow = True
        bob.journal.append, bob.journal.finish = noted_append, noted_finish  # type: ignore[method-assign]
        bob.table.leave()
        await until(lambda: anna.said(News.REMOVED) == [("Bob",)] == cil.said(News.REMOVED))
        await until(lambda: "finish" in written)
        await trio.sleep(1)
        assert written.index("finish") == len(written) - 1 > 0


async def lost(peers: Sequence[Peer]) -> None:
    """Play for a moment, then close all: the matches run on in the journals."""
    async with running(peers):
        await until(lambda: all(peer.turn >= 1 for peer in peers))


def again(folder: Path, names: Iterable[str], lan: VirtualLan, *, forgetful: bool = False) -> list[Peer]:
    """Peers of before, at a larger table; `forgetful`: the match is over in their journals."""
    back = [Peer(folder, name, settings(name, 5), lan) for name in names]
    for peer in back if forgetful else ():
        (match,) = peer.journal.running()
        peer.journal.finish(match.id, None, None, MatchState.ABANDONED)
    return back


async def test_a_match_that_all_others_have_ended_can_be_left(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    await lost(three(tmp_path))
    lan = VirtualLan()
    others, (back,) = again(tmp_path, NAMES[:2], lan, forgetful=True), again(tmp_path, NAMES[2:], lan)
    stored = back.journal.recall("lobby")
    assert stored is not None
    memory = unpack(Memory, stored)  # as if it was killed just after its deal
    back.journal.remember("lobby", pack(replace(memory, here=replace(memory.here, stage=int(Stage.DEALT)))))
    async with running([*others, back]):
        await until(lambda: back.mesh.links())
        linked = trio.current_time()
        await until(lambda: back.ended)
        assert TIMING.deserted <= trio.current_time() - linked <= TIMING.deserted + 4 * TIMING.tick
        assert back.ended is not None
        assert not back.ended.complete
        assert back.said(News.PUT_OUT) == [()]


async def test_too_few_are_told_that_they_wait_and_that_the_others_have_ended(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Two of four without the lowest seat decide nothing: they wait, and when the others come it is over."""
    lan = VirtualLan()
    peers = [Peer(tmp_path, name, settings(name, 4), lan) for name in ("Anna", "Bob", "Cil", "Dzo")]
    await lost(peers)
    assert not any(peer.said(News.TOO_FEW) or peer.said(News.PUT_OUT) for peer in peers)
    assert peers[0].game is not None
    names = [member.name for member in peers[0].game.members]
    lan = VirtualLan()
    back, others = again(tmp_path, names[2:], lan), again(tmp_path, names[:2], lan, forgetful=True)
    async with running(back) as nursery:
        begun = trio.current_time()
        await until(lambda: all(peer.said(News.TOO_FEW) for peer in back))
        assert TIMING.too_few <= trio.current_time() - begun <= TIMING.too_few + 4 * TIMING.tick
        assert not any(peer.said(News.PUT_OUT) for peer in back)
        for other in others:
            await nursery.start(other.run)
        introduce([*others, *back])
        await until(lambda: all(peer.ended for peer in back))
        assert [peer.said(News.PUT_OUT) for peer in back] == [[()], [()]]


async def closing(peer: Peer) -> float:
    """Leave; how many seconds that takes."""
    begun = trio.current_time()
    peer.table.leave()
    await until(lambda: any(isinstance(update, Closed) for update in peer.updates))
    return trio.current_time() - begun


async def test_whoever_leaves_after_a_match_waits_a_moment_for_others_to_have_its_end(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    lan = VirtualLan()
    anna, bob = peers = [Peer(tmp_path, name, settings(name, 2, 0), lan) for name in NAMES[:2]]
    async with running(peers):
        await until(lambda: all(peer.turn >= 1 for peer in peers))
        assert bob.table.match is not None
        bob.table.match.engine.poke(SignLeave())  # out of the match, but still there
        await until(lambda: anna.ended)
        assert anna.ended is not None
        assert anna.ended.complete
        anna.table.lobby.lobby.has_gone_on = lambda roster, key: False  # type: ignore[method-assign]
        assert await closing(anna) == pytest.approx(TIMING.linger, abs=0.1)


async def test_whoever_leaves_waits_a_moment_for_its_last_messages_to_go_out(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    lan = VirtualLan()
    anna, bob = peers = [Peer(tmp_path, name, settings(name, 3), lan) for name in NAMES[:2]]
    async with running(peers):
        await until(lambda: anna.mesh.links())
        lan.clogged |= {("p0", "p1")}
        anna.mesh.send(bob.mesh.key, MatchMessage(bytes(100)))
        assert await closing(anna) == pytest.approx(TIMING.flush, abs=0.1)
