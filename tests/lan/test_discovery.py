"""Discovery and mesh on a LAN of real sockets, in one process: found by mDNS, or without it."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator

import pytest
import trio

from otto_p2p.net.addresses import Address, parse_peer
from otto_p2p.net.discovery import browse_once
from otto_p2p.net.events import PeerDown
from otto_p2p.net.frames import CloseReason, MatchMessage
from tests.lan.lab import Host, Lan
from tests.lan.measure_games import LONG
from tests.lan.peers import LanPeer, until

pytestmark = pytest.mark.lan


@contextlib.asynccontextmanager
async def running(*peers: LanPeer) -> AsyncIterator[trio.Nursery]:
    """These peers run; the nursery may start more."""
    async with trio.open_nursery() as nursery:
        for peer in peers:
            await nursery.start(peer.run)
        yield nursery
        nursery.cancel_scope.cancel()


def everybody_linked(peers: list[LanPeer]) -> bool:
    return all(len(peer.linked()) == len(peers) - 1 for peer in peers)


@pytest.mark.parametrize("count", [3, 10])
async def test_peers_find_each_other_and_link_up(lan: Lan, count: int) -> None:
    peers = [LanPeer(host) for host in lan.hosts(count)]
    begin = trio.current_time()
    async with running(*peers):
        await until(lambda: everybody_linked(peers), 10)
        mesh = trio.current_time() - begin
        await until(lambda: all(len(peer.adverts) == count - 1 for peer in peers), 10)
        found = max(max(peer.seen_at.values()) for peer in peers) - begin
        print(f"{count} peers: all found in {found:.2f} s, full mesh in {mesh:.2f} s")
        for peer in peers:
            # One entry a peer, however many addresses and families it was seen with.
            for advert in peer.adverts.values():
                assert len(set(advert.addresses)) == len(advert.addresses)
                assert any(":" in address.host for address in advert.addresses)
                assert any("." in address.host for address in advert.addresses)


async def test_on_a_bad_network_too(lan: Lan) -> None:
    lan.conditions(delay=0.1, jitter=0.05, loss=0.05)
    peers = [LanPeer(host) for host in lan.hosts(4)]
    async with running(*peers):
        taken = await until(lambda: everybody_linked(peers), 30)
        print(f"4 peers, 100 ms + 50 ms, 5 % lost: full mesh in {taken:.2f} s")
        peers[0].mesh.broadcast(MatchMessage(bytes(60_000)))
        await until(lambda: all(peer.messages() for peer in peers[1:]), 30)


async def test_leaving_takes_the_advert_away(lan: Lan) -> None:
    a, b = (LanPeer(host) for host in lan.hosts(2))
    async with running(a, b):
        await until(lambda: everybody_linked([a, b]) and a.key in b.adverts, 10)
        a.scope.cancel()
        await until(lambda: a.key in b.gone, 5)
        assert [event.reason for event in b.events if isinstance(event, PeerDown)] == [CloseReason.LEFT]


async def test_a_goodbye_that_nobody_hears_is_made_good_by_the_link(lan: Lan) -> None:
    # mDNS goes on telling of a peer whose goodbye was lost; the link knows better. (Killed: test_killed.py.)
    a, b = (LanPeer(host) for host in lan.hosts(2))
    async with running(a, b):
        await until(lambda: everybody_linked([a, b]) and a.key in b.adverts, 10)
        lan.partition([["h1"], ["h2"]])
        a.scope.cancel()
        await a.finished.wait()
        lan.heal()
        await until(lambda: not b.linked(), 9)
        assert a.key in b.adverts


async def test_without_multicast_an_address_is_enough_for_all(lan: Lan) -> None:
    # field report 4
    lan.block_multicast()
    peers = [LanPeer(host) for host in lan.hosts(4)]
    first = peers[0]
    async with running(*peers):
        await trio.sleep(1)
        assert not any(peer.linked() or peer.adverts for peer in peers)
        lines = [f"{first.host.address()}:{first.port}", f"[{first.host.address6()}]:{first.port}"]
        lines.append(first.host.address())
        for peer, line in zip(peers[1:], lines, strict=True):
            peer.mesh.add_candidate(parse_peer(line), label=line)
        taken = await until(lambda: everybody_linked(peers), 10)
        print(f"4 peers by one typed address: full mesh in {taken:.2f} s")


async def test_a_scoped_link_local_address_works(lan: Lan) -> None:
    a, b = (LanPeer(host, mdns=False) for host in lan.hosts(2))
    local = next(
        str(address.ip)
        for interface in a.interfaces()
        if interface.name == "lan0"
        for address in interface.addresses
        if address.version == 6 and address.ip.is_link_local
    )
    async with running(a, b):
        b.mesh.add_candidate(parse_peer(f"[{local}%lan0]:{a.port}"))
        await until(lambda: everybody_linked([a, b]), 10)


@pytest.mark.parametrize(("ipv4", "ipv6"), [(True, False), (False, True)])
async def test_one_family_is_enough(lan: Lan, ipv4: bool, ipv6: bool) -> None:
    hosts = [lan.host(name, ipv4=ipv4, ipv6=ipv6) for name in ("a", "b", "c")]
    peers = [LanPeer(host) for host in hosts]
    async with running(*peers):
        await until(lambda: everybody_linked(peers), 10)
        assert not any(peer.troubles for peer in peers)


async def test_docker_vpn_and_a_second_card(lan: Lan) -> None:
    # field report 2, and two LANs with one machine in both
    both = lan.host("both", networks=("red", "blue"))
    both.add_dead_end("docker0", "172.17.0.1/16")
    both.add_dead_end("wg0", "10.200.0.2/24")
    peers = [
        LanPeer(both),
        LanPeer(lan.host("red", networks=("red",))),
        LanPeer(lan.host("blue", networks=("blue",))),
    ]
    async with running(*peers):
        await until(lambda: len(peers[0].linked()) == 2 and peers[0].key in peers[1].adverts, 10)
        hosts = {address.host for address in peers[1].addresses(peers[0].key)}
        assert both.address("red") in hosts
        assert not hosts & {"172.17.0.1", "10.200.0.2"}
        # red and blue cannot reach each other, and hear of each other through the one that is in both.
        await until(lambda: peers[2].key in {info.key for info in peers[1].mesh.contacts()}, 10)
        heard = peers[1].mesh.last_heard
        await until(lambda: (at := heard(peers[2].key)) is not None and trio.current_time() - at < 2.5, 5)
        assert peers[1].linked() == {peers[0].key}


async def test_a_cable_that_is_out_for_a_while(lan: Lan) -> None:
    peers = [LanPeer(host) for host in lan.hosts(3)]
    async with running(*peers):
        await until(lambda: everybody_linked(peers), 10)
        peers[0].host.unplug()
        for peer in peers:
            peer.mesh.broadcast(MatchMessage(b"while it is out"))
        await until(lambda: not peers[0].linked(), 12)
        assert peers[1].linked() == {peers[2].key}
        peers[0].host.plug()
        taken = await until(lambda: everybody_linked(peers), 12)
        print(f"cable back: full mesh again after {taken:.2f} s")


async def test_an_address_that_changes(lan: Lan) -> None:
    # field report 47
    peers = [LanPeer(host) for host in lan.hosts(3)]
    async with running(*peers):
        await until(lambda: everybody_linked(peers), 10)
        changed = peers[0]
        changed.host.set_address("10.77.0.99/24")
        wanted = Address("10.77.0.99", changed.port)
        taken = await until(lambda: all(wanted in peer.addresses(changed.key) for peer in peers[1:]), 15)
        print(f"another address: announced after {taken:.2f} s")
        await until(lambda: everybody_linked(peers), 15)


async def test_nonsense_on_the_multicast_port(
    lan: Lan, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    # field report 8
    def shout(host: Host, data: bytes) -> None:
        with host.entered():
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(host.address()))
            one.sendto(data, ("224.0.0.251", 5353))
            one.close()

    evil = lan.host("evil")
    a, b = (LanPeer(lan.host(name)) for name in ("a", "b"))
    async with running(a):
        for data in (
            b'{"command": "broadcast"}',
            b"",
            os.urandom(1400),
            bytes(12),
            b"\x00\x00\x84" + bytes(1400),
        ):
            shout(evil, data)
            await trio.sleep(0.02)
        async with running(b):
            await until(lambda: everybody_linked([a, b]), 10)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    output = capfd.readouterr()
    assert output.out == output.err == ""


async def test_looking_around_once(lan: Lan) -> None:
    a, b = (LanPeer(lan.host(name)) for name in ("a", "b"))
    visitor = LanPeer(lan.host("visitor"), mdns=False)
    async with running(a, b):
        await until(lambda: everybody_linked([a, b]), 10)
        found = await browse_once(0.5, interfaces=visitor.interfaces, in_network=visitor.host.in_network)
        assert {advert.key for advert in found} == {a.key, b.key}
        assert {advert.name for advert in found} == {"a", "b"}
        for listener in visitor.listeners:
            await listener.aclose()


async def test_discovery_leaves_nothing_behind(lan: Lan) -> None:
    visitor = LanPeer(lan.host("visitor"), mdns=False)

    def resources() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    await browse_once(0.1, interfaces=visitor.interfaces, in_network=visitor.host.in_network)
    before = resources()
    for _ in range(200 if LONG else 5):
        await browse_once(0.05, interfaces=visitor.interfaces, in_network=visitor.host.in_network)
    after = resources()
    assert after[0] <= before[0]
    assert after[1] <= before[1] + 2  # trio keeps idle worker threads for a while
    for listener in visitor.listeners:
        await listener.aclose()
