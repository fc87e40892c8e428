"""The mesh on a virtual LAN, in virtual time: links come about, are kept, break and come back."""

from __future__ import annotations

import random

import pytest
import trio
from trio.testing import MockClock

from otto_p2p.net.addresses import Address
from otto_p2p.net.events import DialFailed, FrameFrom, PeerDown, PeerSilent, PeerUp
from otto_p2p.net.frames import CloseReason, LobbyRecord, MatchMessage, Sync
from otto_p2p.net.link import Timing
from tests.net.virtual_lan import VirtualPeer, fully_linked, introduce, one_stream_each, peers


async def test_ten_peers_have_45_links_and_keep_them(autojump_clock: MockClock) -> None:
    async with peers(10) as everybody:
        introduce(*everybody)
        await trio.sleep(3)
        assert fully_linked(everybody)
        assert one_stream_each(everybody)
        assert sum(len(peer.of(PeerUp)) for peer in everybody) == 90  # nobody was linked twice
        await trio.sleep(60)
        assert fully_linked(everybody)
        assert not any(peer.of(PeerDown) or peer.of(PeerSilent) for peer in everybody)


async def test_frames_of_all_kinds_arrive_in_order(autojump_clock: MockClock) -> None:
    async with peers(3) as (a, b, c):
        introduce(a, b, c)
        await trio.sleep(2)
        kinds: list[LobbyRecord | Sync | MatchMessage] = [LobbyRecord(b"here"), Sync(bytes(32), 1, 2)]
        kinds += [MatchMessage(b"%d" % number) for number in range(1000)]
        for frame in kinds:
            assert a.mesh.broadcast(frame) == {b.key, c.key}
        await trio.sleep(1)
        for peer in (b, c):
            assert peer.of(FrameFrom) == [FrameFrom(a.key, frame) for frame in kinds]
        assert a.mesh.broadcast(MatchMessage(b"x"), but=[b.key]) == {c.key}
        assert not a.mesh.send(bytes(32), MatchMessage(b"x"))


async def test_leaving_is_said(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        introduce(a, b)
        await trio.sleep(2)
        a.mesh.send(b.key, MatchMessage(b"last words"))
        a.scope.cancel()
        await trio.sleep(0.2)
        assert b.frames() == [b"last words"]
        assert b.down() == [CloseReason.LEFT]


async def test_both_dial_at_once_and_one_stream_stays(autojump_clock: MockClock) -> None:
    for seed in range(20):
        async with peers(2) as (a, b):
            a.lan.slow = random.Random(seed)
            # Typed addresses are dialled at once by both, whatever the keys.
            a.mesh.add_candidate([b.address])
            b.mesh.add_candidate([a.address])
            await trio.sleep(5)
            assert fully_linked([a, b])
            ups = len(a.of(PeerUp)), len(b.of(PeerUp))
            assert max(ups) <= 2
            # Where two streams came about, that of the lower key is left.
            assert ups == (1, 1) or one_stream_each([a, b])
            a.mesh.send(b.key, MatchMessage(b"ab"))
            b.mesh.send(a.key, MatchMessage(b"ba"))
            await trio.sleep(10)
            assert (len(a.of(PeerUp)), len(b.of(PeerUp))) == ups  # stable
            assert len(a.of(PeerUp)) - len(a.of(PeerDown)) == 1
            assert (a.frames(), b.frames()) == ([b"ba"], [b"ab"])
            (one,), (other,) = a.mesh.links(), b.mesh.links()
            assert one.dialled != other.dialled


async def test_a_peer_that_is_typed_and_discovered_is_linked_once(autojump_clock: MockClock) -> None:
    for seed in range(10):
        async with peers(2) as (a, b):
            a.lan.slow = random.Random(seed)
            introduce(a, b)
            low, high = sorted((a, b), key=lambda peer: peer.key)
            low.mesh.add_candidate([high.address])
            await trio.sleep(5)
            assert fully_linked([a, b])
            assert len(a.of(PeerUp)) == len(b.of(PeerUp)) == 1


async def test_one_typed_address_reaches_the_whole_table(autojump_clock: MockClock) -> None:
    async with peers(5) as everybody:
        for peer in everybody:
            peer.mesh.announce([peer.address_hint])
        for peer in everybody[1:]:
            peer.mesh.add_candidate([everybody[0].address], label="typed")
        await trio.sleep(5)
        assert fully_linked(everybody)
        late = VirtualPeer(everybody[0].lan, 5)
        async with trio.open_nursery() as nursery:
            await nursery.start(late.run)
            late.mesh.announce([late.address_hint])
            late.mesh.add_candidate([everybody[3].address])
            await trio.sleep(5)
            assert len(late.linked()) == 5
            nursery.cancel_scope.cancel()


async def test_a_typed_address_is_tried_until_somebody_is_there(autojump_clock: MockClock) -> None:
    async with peers(1) as (a,):
        a.mesh.add_candidate([Address("p1", 47701)], label="friend")
        await trio.sleep(20)
        # Said once, however often it was tried.
        assert a.of(DialFailed) == [DialFailed(None, "friend", CloseReason.UNREACHABLE, "connection refused")]
        assert len(a.lan.dials) > 4
        b = VirtualPeer(a.lan, 1)
        async with trio.open_nursery() as nursery:
            await nursery.start(b.run)
            await trio.sleep(7)
            assert a.linked() == {b.key}
            b.scope.cancel()
        await trio.sleep(1)
        assert a.linked() == set()
        # Somebody else starts there.
        c = VirtualPeer(a.lan, 2)
        c.name = "p1"
        async with trio.open_nursery() as nursery:
            await nursery.start(c.run)
            await trio.sleep(15)
            assert a.linked() == {c.key}
            nursery.cancel_scope.cancel()


async def test_our_own_address_is_noticed(autojump_clock: MockClock) -> None:
    async with peers(1) as (a,):
        a.mesh.add_candidate([a.address], label="me")
        await trio.sleep(30)
        assert [event.reason for event in a.of(DialFailed)] == [CloseReason.MYSELF]
        assert a.lan.dials == [("p0", "p0")]


async def test_a_dead_address_does_not_hold_up_the_good_one(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        for name in ("p0", "p1"):
            a.lan.cut(name, "nowhere")  # no answer at all
        for one, other in ((a, b), (b, a)):
            one.mesh.add_candidate([Address("nowhere", 1), Address("closed", 1), other.address], other.key)
        await trio.sleep(1.5)
        assert fully_linked([a, b])


async def test_an_address_of_somebody_else_is_not_taken_for_the_peer(autojump_clock: MockClock) -> None:
    async with peers(3) as (a, b, c):
        a.mesh.add_candidate([c.address], b.key)
        await trio.sleep(10)
        assert b.key not in a.linked()
        assert a.linked() == {c.key}  # but c was met
        assert DialFailed(b.key, "", CloseReason.OTHER_PEER, "") in a.log


async def test_a_firewall_in_one_direction_is_got_round(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        low, high = sorted((a, b), key=lambda peer: peer.key)
        a.lan.firewall.add((low.name, high.name))
        introduce(a, b)
        await trio.sleep(3)
        assert fully_linked([a, b])
        assert [info.dialled for info in low.mesh.links()] == [False]


async def test_a_reset_is_mended_and_hurts_nobody_else(autojump_clock: MockClock) -> None:
    # field report 12
    async with peers(4) as everybody:
        introduce(*everybody)
        await trio.sleep(2)
        a, b, c, d = everybody
        for _ in range(3):
            for other in (a, b, c):
                other.mesh.send(d.key, MatchMessage(b"x" * 500_000))
                a.lan.reset(d.name, other.name)
            await trio.sleep(3)
            assert fully_linked(everybody)
        for peer in (a, b, c):
            assert {event.key for event in peer.of(PeerDown)} == {d.key}
            assert CloseReason.LOST in peer.down()


async def test_a_pulled_cable_is_noticed_and_mended(autojump_clock: MockClock) -> None:
    async with peers(3) as everybody:
        introduce(*everybody)
        a, b, c = everybody
        await trio.sleep(2)
        a.lan.cut("p0", "p1")
        begin = trio.current_time()
        while not (a.of(PeerSilent) and b.of(PeerSilent)):
            await trio.sleep(0.1)
        assert 3 <= trio.current_time() - begin <= 5.5
        while not (a.of(PeerDown) and b.of(PeerDown)):
            await trio.sleep(0.1)
        assert trio.current_time() - begin <= 10
        assert a.down() == b.down() == [CloseReason.SILENT]
        assert not c.of(PeerDown)
        a.lan.mend("p0", "p1")
        await trio.sleep(15)
        assert fully_linked(everybody)


async def test_a_short_silence_is_only_reported(autojump_clock: MockClock) -> None:
    async with peers(2) as (a, b):
        introduce(a, b)
        await trio.sleep(2)
        a.lan.cut("p0", "p1")
        await trio.sleep(5)
        assert a.mesh.links()[0].silent
        a.lan.mend("p0", "p1")
        # TLS notices what was lost in between; a real cable loses nothing that TCP does not send again.
        await trio.sleep(5)
        assert fully_linked([a, b])
        assert a.of(PeerSilent)[0] == PeerSilent(b.key, True)


async def test_others_vouch_for_a_peer_that_is_only_cut_off_from_us(autojump_clock: MockClock) -> None:
    async with peers(3) as everybody:
        introduce(*everybody)
        a, b, _ = everybody
        await trio.sleep(2)
        a.lan.cut("p0", "p1")
        await trio.sleep(30)
        heard = a.mesh.last_heard(b.key)
        assert heard is not None
        assert trio.current_time() - heard < 2.5
        # And when it is dead for everybody, nobody vouches.
        b.scope.cancel()
        b.lan.listeners.pop("p1")
        died = trio.current_time()
        await trio.sleep(10)
        heard = a.mesh.last_heard(b.key)
        assert heard is not None
        assert heard <= died + 0.1


async def test_who_hears_whom_is_known(autojump_clock: MockClock) -> None:
    async with peers(3) as everybody:
        introduce(*everybody)
        a, b, c = everybody
        await trio.sleep(5)
        assert {info.key: info.hears for info in a.mesh.links()} == {
            b.key: {a.key, c.key},
            c.key: {a.key, b.key},
        }


@pytest.mark.parametrize("victim", [0, 1])
async def test_a_restarted_peer_takes_the_place_of_its_dead_self(
    autojump_clock: MockClock, victim: int
) -> None:
    # Whichever of the two had dialled the old link: the new one comes from the peer that has restarted.
    async with peers(2) as everybody:
        introduce(*everybody)
        a, b = everybody[1 - victim], everybody[victim]
        await trio.sleep(2)
        # It dies without a word: nothing that it sends or closes is noticed.
        a.lan.cut("p0", "p1")
        b.scope.cancel()
        await trio.sleep(0.6)
        a.lan.mend("p0", "p1")
        a.lan.firewall.add((a.name, b.name))
        again = VirtualPeer(a.lan, b.number)
        async with trio.open_nursery() as nursery:
            await nursery.start(again.run)
            again.mesh.add_candidate([a.address])
            await trio.sleep(0.2)
            assert a.linked() == {b.key}
            again.mesh.send(a.key, MatchMessage(b"back"))
            await trio.sleep(0.1)
            assert a.frames() == [b"back"]
            nursery.cancel_scope.cancel()


async def test_attempts_back_off_and_end(autojump_clock: MockClock) -> None:
    async with peers(1, timing=Timing(forget=60.0)) as (a,):
        a.mesh.add_candidate([Address("p1", 1)], bytes(32))
        await trio.sleep(60)
        tried = len(a.lan.dials)
        assert 8 < tried < 25
        await trio.sleep(600)
        assert len(a.lan.dials) <= tried + 1
        assert a.mesh.contacts() == ()


async def test_peers_of_our_game_are_never_given_up(autojump_clock: MockClock) -> None:
    async with peers(1, timing=Timing(forget=60.0)) as (a,):
        a.mesh.add_candidate([Address("p1", 1)], bytes(32))
        a.mesh.protect([bytes(32)])
        await trio.sleep(3600)
        tried = len(a.lan.dials)
        await trio.sleep(60)
        assert len(a.lan.dials) > tried
        assert a.mesh.contacts()[0].problem == CloseReason.UNREACHABLE


async def test_an_address_that_has_worked_is_tried_whatever_is_chosen(autojump_clock: MockClock) -> None:
    # Names and loopback are typed by people; from adverts and gossip they would not be taken.
    async with peers(2, choose=lambda hints: ()) as (a, b):
        a.mesh.add_candidate([b.address], label="typed")
        await trio.sleep(2)
        assert fully_linked([a, b])
        a.lan.reset("p0", "p1")
        await trio.sleep(2)
        assert fully_linked([a, b])
        assert not a.of(DialFailed)
