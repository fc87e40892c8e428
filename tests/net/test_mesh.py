"""The mesh on a virtual LAN, in virtual time."""

from __future__ import annotations

import time

import trio

from otto_p2p.events import FrameFrom, PeerDown, PeerUp
from otto_p2p.frames import Game, Reason
from tests.net.virtual_lan import fully_linked, introduce, peers


async def test_ten_peers_have_45_links_and_keep_them(autojump_clock: object) -> None:
    begin = time.perf_counter()
    async with peers(10) as everybody:
        introduce(*everybody)
        await trio.sleep(3)
        assert fully_linked(everybody)
        up = sum(len(peer.of(PeerUp)) for peer in everybody)
        assert up == 90  # nobody was linked twice
        await trio.sleep(60)
        assert fully_linked(everybody)
        assert not any(peer.of(PeerDown) for peer in everybody)
    print(time.perf_counter() - begin)


async def test_frames_arrive_in_order(autojump_clock: object) -> None:
    async with peers(3) as (a, b, c):
        introduce(a, b, c)
        await trio.sleep(2)
        for number in range(1000):
            a.mesh.broadcast(Game(b"%d" % number))
        await trio.sleep(1)
        for peer in (b, c):
            assert peer.of(FrameFrom) == [FrameFrom(a.key, Game(b"%d" % n)) for n in range(1000)]


async def test_leaving_is_said(autojump_clock: object) -> None:
    async with peers(2) as (a, b):
        introduce(a, b)
        await trio.sleep(2)
        a.scope.cancel()
        await trio.sleep(0.2)
        assert [event.reason for event in b.log if isinstance(event, PeerDown)] == [Reason.LEFT]
