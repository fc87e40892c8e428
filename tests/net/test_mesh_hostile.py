"""Strangers and misbehaving peers on a virtual LAN: they get nowhere, and the others are not disturbed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock

from otto_p2p.net.events import FrameFrom, PeerDown, PeerSilent, PeerUp, StrangerRefused
from otto_p2p.net.frames import Beat, CloseReason, Hears, MatchMessage, PeerHint, Peers, encode_frame
from otto_p2p.net.handshake import Self, finish, open_half
from otto_p2p.net.link import Limits, Timing
from otto_p2p.net.streams import FrameStream
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from otto_protocol.roster import PROTOCOL_VERSION
from tests.net.virtual_lan import VirtualPeer, credentials, fully_linked, introduce, peers


@asynccontextmanager
async def proven(target: VirtualPeer, name: str, host: str = "evil") -> AsyncIterator[FrameStream]:
    """A stream of somebody who has proven a key, but does not run our mesh."""
    identity = IdentityKey.generate(Drbg(name.encode()))
    me = Self(identity, credentials(0), os.urandom(16), PROTOCOL_VERSION, os.urandom, lambda: 0)
    stream = await target.lan.connect(host, target.name)
    frames = await finish(await open_half(me, stream, target.key))
    try:
        yield frames
    finally:
        await frames.aclose()


async def closed(frames: FrameStream) -> bool:
    """Whether the other side ends the stream within two seconds."""
    with trio.move_on_after(2):
        try:
            while await frames.stream.receive_some():
                pass
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        return True
    return False


@pytest.mark.parametrize(
    "garbage",
    [
        (64).to_bytes(4, "big") + bytes(range(64)),
        b"\xff\xff\xff\xff",
        (9).to_bytes(4, "big") + bytes.fromhex("9ffd74f7dd74fffdbd"),
        (200_000).to_bytes(4, "big") + b"\x91" * 200_000,
        b"\x00\x00\x00\x00",
    ],
)
async def test_garbage_ends_the_link_and_nothing_else(autojump_clock: MockClock, garbage: bytes) -> None:
    # field report 31
    async with peers(3) as everybody:
        introduce(*everybody)
        await trio.sleep(2)
        a = everybody[0]
        async with proven(a, "garbage") as frames:
            await frames.send_bytes(garbage)
            assert await closed(frames)
        await trio.sleep(0.1)
        assert a.down() == [CloseReason.GARBAGE]
        assert fully_linked(everybody)
        # It is not let in again at once.
        with pytest.raises(Exception, match="UNWANTED"):
            async with proven(a, "garbage"):
                pass


async def test_a_dropped_peer_stays_out_for_a_while(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        introduce(a, b)
        await trio.sleep(2)
        a.mesh.drop(b.key)
        await trio.sleep(4)
        assert not a.linked()
        assert a.down() == [CloseReason.UNWANTED]
        await trio.sleep(20)
        assert a.linked() == {b.key}


async def test_a_peer_that_does_not_read_is_dropped_and_holds_up_nobody(autojump_clock: MockClock) -> None:
    async with peers(3, limits=Limits(outbox_bytes=100_000)) as everybody:
        introduce(*everybody)
        a, b, c = everybody
        await trio.sleep(2)
        a.lan.clogged.add((a.name, b.name))
        for number in range(50):
            a.mesh.broadcast(MatchMessage(b"%d" % number + bytes(10_000)))
            await trio.sleep(0.01)
        assert CloseReason.SLOW in a.down()
        assert len(c.frames()) == 50
        a.lan.clogged.clear()
        await trio.sleep(15)
        assert fully_linked(everybody)


async def test_a_write_that_never_ends_ends_the_link(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        introduce(a, b)
        await trio.sleep(2)
        a.lan.clogged.add((a.name, b.name))
        # b goes on sending, so this is no silence to a.
        await trio.sleep(9)
        assert b.down()[0] == CloseReason.SILENT


async def test_a_game_that_does_not_listen_loses_no_link(autojump_clock: MockClock) -> None:
    # The driver is busy for a minute; peers that wait for it are not taken for silent.
    async with peers(2, limits=Limits(events=4)) as (a, b):
        introduce(a, b)
        await trio.sleep(2)
        deaf = VirtualPeer(a.lan, 3, collect=False, limits=Limits(events=4))
        async with trio.open_nursery() as nursery:
            await nursery.start(deaf.run)
            introduce(a, deaf)
            await trio.sleep(2)
            for number in range(20):
                a.mesh.send(deaf.key, MatchMessage(b"%d" % number))
            await trio.sleep(60)
            assert deaf.linked() == {a.key}
            assert not a.of(PeerDown)
            nursery.start_soon(deaf._collect)
            await trio.sleep(1)
            assert deaf.frames() == [b"%d" % number for number in range(20)]
            assert not deaf.of(PeerSilent)
            nursery.cancel_scope.cancel()


async def test_a_flood_of_frames_does_not_delay_the_others(autojump_clock: MockClock) -> None:
    async with peers(3) as everybody:
        introduce(*everybody)
        a, b, _ = everybody
        await trio.sleep(2)
        a.mesh.protect(peer.key for peer in everybody)
        async with trio.open_nursery() as nursery:

            async def flood() -> None:
                async with proven(a, "flood") as frames:
                    frame = encode_frame(MatchMessage(b"spam"))
                    while True:
                        await frames.send([frame] * 100)
                        await trio.sleep(0.01)

            nursery.start_soon(flood)
            await trio.sleep(1)
            for number in range(10):
                await trio.sleep(0.2)
                b.mesh.send(a.key, MatchMessage(b"%d" % number))
                await trio.sleep(0.05)
                assert FrameFrom(b.key, MatchMessage(b"%d" % number)) in a.log[-200:]
            nursery.cancel_scope.cancel()
        assert a.frames().count(b"spam") < 4000  # of 35,000


async def test_another_version_is_told_once(autojump_clock: MockClock) -> None:
    async with peers(1) as (a,):
        ours, theirs = PROTOCOL_VERSION, PROTOCOL_VERSION + 1
        newer = VirtualPeer(a.lan, 1, version=theirs)
        async with trio.open_nursery() as nursery:
            await nursery.start(newer.run)
            newer.mesh.add_candidate([a.address], label="a")
            await trio.sleep(30)
            told = f"plays version {theirs}; this is {ours}"
            assert a.log == [StrangerRefused("p1", CloseReason.OTHER_VERSION, told)]
            assert [(e.reason, e.detail) for e in newer.log] == [  # type: ignore[union-attr]
                (CloseReason.OTHER_VERSION, f"plays version {ours}; this is {theirs}")
            ]
            nursery.cancel_scope.cancel()


async def test_half_open_and_slow_strangers_keep_nobody_out(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        for number in range(300):
            stream = await a.lan.connect(f"10.9.0.{number % 3}", a.name)
            if number % 2:
                await stream.send_all(b"\x16\x03\x01\x02")
        await trio.sleep(0.1)
        introduce(a, b)
        await trio.sleep(2)
        assert fully_linked([a, b])
        for _ in range(20):
            await a.lan.connect("10.9.0.9", a.name)
            await trio.sleep(0.5)
        assert fully_linked([a, b])
        assert not a.of(PeerDown)


async def test_one_host_holds_only_so_many_connections(autojump_clock: MockClock) -> None:
    async with peers(1) as (a,):
        streams = [await a.lan.connect("evil", a.name) for _ in range(40)]
        await trio.sleep(0.1)
        refused = 0
        for stream in streams:
            with trio.move_on_after(0.01):
                refused += await stream.receive_some() == b""
        assert refused == 40 - Limits().strangers_per_host


async def test_strangers_are_thrown_out_in_time(autojump_clock: MockClock) -> None:
    async with peers(1, timing=Timing(handshake=3.0)) as (a,):
        stream = await a.lan.connect("evil", a.name)
        begin = trio.current_time()
        with trio.fail_after(5):
            assert await stream.receive_some() == b""
        assert trio.current_time() - begin == pytest.approx(3.0, abs=0.1)


async def test_many_keys_of_one_host_do_not_take_all_the_room(autojump_clock: MockClock) -> None:
    limits = Limits(links=6, links_per_host=4, strangers_burst=100)
    async with peers(2, limits=limits) as (a, b), trio.open_nursery() as nursery:

        async def sit(name: str, host: str) -> None:
            async with proven(a, name, host) as frames:
                while True:
                    await frames.send([encode_frame(Beat())])
                    await trio.sleep(1)

        for number in range(4):
            nursery.start_soon(sit, f"evil {number}", "evil")
        await trio.sleep(1)
        with pytest.raises(Exception, match="BUSY"):
            async with proven(a, "one more"):
                pass
        for number in range(2):
            nursery.start_soon(sit, f"bad {number}", "bad")
        await trio.sleep(1)
        with pytest.raises(Exception, match="BUSY"):
            async with proven(a, "full", "good"):
                pass
        # Who plays with us is let in all the same.
        a.mesh.protect([b.key])
        b.mesh.add_candidate([a.address], a.key)
        await trio.sleep(2)
        assert b.key in a.linked()
        assert len(a.linked()) == 7
        nursery.cancel_scope.cancel()


async def test_hearsay_is_bounded_and_does_not_spread(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        introduce(a, b)
        await trio.sleep(2)
        async with proven(a, "liar") as frames:
            for batch in range(10):
                hints = tuple(
                    PeerHint(Drbg(b"%d %d" % (batch, number))(32), ("10.0.0.77:1", "10.0.0.78:1"))
                    for number in range(64)
                )
                await frames.send([encode_frame(Peers(hints))])
            await frames.send([encode_frame(Beat((Hears(bytes(32), 0),)))])
            await trio.sleep(1)
            assert len(a.mesh.contacts()) <= 2 + Limits().hearsay
            assert len(b.mesh.contacts()) == 1
            before = len(a.lan.dials)
            for _ in range(120):
                await frames.send([encode_frame(Beat())])
                await trio.sleep(1)
            # Two dials for each of 32 contacts: soon, then about twice a minute.
            assert len(a.lan.dials) - before < 800
        await trio.sleep(1)
        assert a.linked() == {b.key}


async def test_two_programs_with_one_key_do_not_upset_others(autojump_clock: MockClock) -> None:
    async with peers(3) as everybody:
        introduce(*everybody)
        a, _, c = everybody
        await trio.sleep(2)
        twin = VirtualPeer(a.lan, 1)
        twin.name = "p9"
        async with trio.open_nursery() as nursery:
            await nursery.start(twin.run)
            twin.mesh.add_candidate([a.address], a.key)
            await trio.sleep(60)
            assert c.key in a.linked()
            assert not [event for event in c.of(PeerDown) if event.key == a.key]
            assert len(a.of(PeerUp)) < 100
            nursery.cancel_scope.cancel()
