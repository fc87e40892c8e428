"""Discovery with responders that are played: what comes and goes, what is told once, what is opened anew."""

from __future__ import annotations

import dataclasses
import errno
import ipaddress
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

import pytest
import trio

from otto_p2p.net import discovery
from otto_p2p.net.addresses import Address, Interface
from otto_p2p.net.adverts import Advert
from otto_p2p.net.discovery import AdvertGone, AdvertSeen, Discovery, DiscoveryEvent, DiscoveryTrouble
from otto_p2p.net.responder import Heard, NotReady, Place, families

ANN = Advert(
    key=bytes(range(32)),
    nonce=b"nonce6",
    name="Ann",
    table=bytes(16),
    title="red otter",
    seated=1,
    seats=4,
    pinned=False,
    playing=False,
    port=47701,
)
ME = dataclasses.replace(ANN, key=bytes(32), name="me")
ETH = Interface("eth0", 2, (ipaddress.ip_interface("192.168.1.5/24"), ipaddress.ip_interface("fe80::5/64")))
WLAN = Interface("wlan0", 3, (ipaddress.ip_interface("10.0.0.9/24"),))


class FakeResponder:
    """Stands for zeroconf. `broken` addresses raise, `tentative` ones are not ready yet."""

    made: list[FakeResponder]
    broken: set[str]
    tentative: set[str]

    def __init__(self, places: Sequence[Place], heard: Heard) -> None:
        self.places = tuple(places)
        self.heard = heard
        self.published: list[tuple[Advert, tuple[str, ...]]] = []
        self.announced = 0
        self.closed = False
        addresses = {place.address for place in places}
        self.problems = [f"no discovery on {address}" for address in sorted(addresses & self.broken)]
        self.waiting = len(addresses & self.tentative)
        if addresses <= self.tentative:
            raise NotReady(errno.EADDRNOTAVAIL, "not ready")
        if addresses <= self.broken:
            raise OSError(errno.ENXIO, "no such device")
        self.made.append(self)

    def publish(self, advert: Advert, hosts: Iterable[object]) -> None:
        self.published.append((advert, tuple(str(host) for host in hosts)))

    def announce(self) -> None:
        self.announced += 1

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def _play(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeResponder.made, FakeResponder.broken, FakeResponder.tentative = [], set(), set()
    monkeypatch.setattr(discovery, "Responder", FakeResponder)
    monkeypatch.setattr(discovery, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(discovery, "ANNOUNCE_SECONDS", 0.05)


class Watched:
    def __init__(self, *interfaces: Interface) -> None:
        self.interfaces = list(interfaces)
        self.log: list[DiscoveryEvent] = []
        self.discovery = Discovery(ME.key, interfaces=lambda: tuple(self.interfaces))
        self.discovery.publish(ME)

    def open(self) -> list[FakeResponder]:
        """Those that are open, IPv4 first (they are opened at the same time)."""
        still = [one for one in FakeResponder.made if not one.closed]
        return sorted(still, key=lambda one: ":" in one.places[0].address)

    async def collect(self) -> None:
        async for event in self.discovery.events:
            self.log.append(event)

    async def until(self, condition: Callable[[], bool]) -> None:
        with trio.fail_after(3):
            while not condition():
                await trio.sleep(0.005)


@asynccontextmanager
async def watched(*interfaces: Interface) -> AsyncIterator[Watched]:
    one = Watched(*interfaces)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.collect)
        await nursery.start(one.discovery.run)
        yield one
        nursery.cancel_scope.cancel()
    assert not one.open()  # closed with a goodbye


async def test_one_entry_for_a_peer_heard_by_both_families() -> None:
    # field report 1
    async with watched(ETH) as found:
        v4, v6 = found.open()
        here = dataclasses.replace(ANN, addresses=(Address("192.168.1.7", 47701),))
        there = dataclasses.replace(ANN, addresses=(Address("fe80::7%2", 47701),))
        for _ in range(3):
            v4.heard(ANN.instance, here)
            v6.heard(ANN.instance, there)
            await trio.sleep(0.02)
        both = dataclasses.replace(ANN, addresses=here.addresses + there.addresses)
        assert found.log == [AdvertSeen(here), AdvertSeen(both)]
        v4.heard(ANN.instance, None)
        await trio.sleep(0.02)
        assert len(found.log) == 2  # the other family still hears it
        v6.heard(ANN.instance, None)
        await found.until(lambda: found.log[-1] == AdvertGone(ANN.key))


async def test_our_own_advert_is_not_told() -> None:
    async with watched(ETH) as found:
        found.open()[0].heard(ME.instance, ME)
        await trio.sleep(0.05)
        assert found.log == []


async def test_a_new_run_takes_the_place_of_the_old_one() -> None:
    async with watched(ETH) as found:
        again = dataclasses.replace(ANN, nonce=b"nonce7")
        for advert in (ANN, again):
            found.open()[0].heard(advert.instance, advert)
            await trio.sleep(0.02)
        found.open()[0].heard(ANN.instance, None)
        await trio.sleep(0.02)
        assert found.log == [AdvertSeen(ANN), AdvertSeen(again)]


async def test_what_is_no_longer_repeated_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "STALE_SECONDS", 0.1)
    async with watched(ETH) as found:
        for _ in range(10):
            found.open()[0].heard(ANN.instance, ANN)
            await trio.sleep(0.03)
        assert found.log == [AdvertSeen(ANN)]
        await found.until(lambda: found.log[-1] == AdvertGone(ANN.key))


async def test_we_announce_again_and_again() -> None:
    async with watched(ETH, WLAN) as found:
        await found.until(lambda: all(one.announced >= 3 for one in found.open()))
        for one in found.open():
            assert one.published == [(ME, ("10.0.0.9", "192.168.1.5", "fe80::5"))]
        changed = dataclasses.replace(ME, seated=2)
        found.discovery.publish(changed)
        await found.until(lambda: all(one.published[-1][0] == changed for one in found.open()))


async def test_a_bad_interface_is_one_warning_and_the_others_work() -> None:
    # field report 2
    FakeResponder.broken = {"10.0.0.9"}
    async with watched(ETH, WLAN) as found:
        found.open()[0].heard(ANN.instance, ANN)
        await trio.sleep(0.2)
        troubles = [event for event in found.log if isinstance(event, DiscoveryTrouble)]
        assert troubles == [DiscoveryTrouble("no discovery on 10.0.0.9")]
        assert AdvertSeen(ANN) in found.log
        assert found.discovery.works


async def test_no_interface_at_all_is_no_error() -> None:
    async with watched() as found:
        await trio.sleep(0.05)
        assert not found.discovery.works
        found.interfaces.append(ETH)
        await found.until(lambda: len(found.open()) == 2 and found.discovery.works)
        assert found.log == []


async def test_interfaces_that_fail_to_list_are_told_once() -> None:
    def broken() -> tuple[Interface, ...]:
        raise OSError(errno.EPERM, "not permitted")

    one = Discovery(interfaces=broken)
    async with trio.open_nursery() as nursery:
        await nursery.start(one.run)
        await trio.sleep(0.1)
        event = one.events.receive_nowait()
        assert isinstance(event, DiscoveryTrouble)
        assert "not permitted" in event.text
        with pytest.raises(trio.WouldBlock):
            one.events.receive_nowait()
        nursery.cancel_scope.cancel()


async def test_a_changed_interface_opens_anew_only_its_own_family() -> None:
    # field report 47
    async with watched(ETH) as found:
        v4, v6 = found.open()
        moved = Interface("eth0", 2, (ipaddress.ip_interface("192.168.1.6/24"), *ETH.addresses[1:]))
        found.interfaces[:] = [moved]
        await found.until(lambda: v4.closed and len(found.open()) == 2)
        assert not v6.closed
        now = (ME, ("192.168.1.6", "fe80::5"))
        await found.until(lambda: all(one.published[-1:] == [now] for one in found.open()))


async def test_after_a_long_sleep_everything_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "ASLEEP_SECONDS", 0.5)
    async with watched(ETH) as found:
        before = found.open()
        offset = 0.0
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + offset)
        offset = 120.0  # the clock of the wall goes on while the machine sleeps
        await found.until(lambda: all(one.closed for one in before) and len(found.open()) == 2)


async def test_an_address_that_is_too_new_is_tried_again() -> None:
    FakeResponder.tentative = {"fe80::5"}
    async with watched(ETH) as found:
        assert [one.places for one in found.open()] == [(Place("192.168.1.5"),)]
        FakeResponder.tentative = set()
        await found.until(lambda: len(found.open()) == 2)
        assert found.open()[1].places == (Place("fe80::5", 2),)
        assert found.log == []


async def test_a_flood_of_adverts_is_bounded() -> None:
    async with watched(ETH) as found:
        for number in range(2000):
            advert = dataclasses.replace(ANN, key=number.to_bytes(32, "little"))
            found.open()[0].heard(advert.instance, advert)
        await trio.sleep(0.1)
        assert len(found.log) <= discovery.MAX_KNOWN


def test_each_family_has_its_places() -> None:
    assert families([ETH, WLAN]) == {4: (Place("192.168.1.5"), Place("10.0.0.9")), 6: (Place("fe80::5", 2),)}
    assert families([]) == {}
