"""The watch over the network interfaces: one look for all that want to know."""

from __future__ import annotations

import ipaddress

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from otto_p2p.net.addresses import Address, Interface
from otto_p2p.net.interfaces import InterfaceWatch

CABLE = Interface("eth0", 1, (ipaddress.ip_interface("192.168.1.5/24"),))
RADIO = Interface("wlan0", 2, (ipaddress.ip_interface("10.1.0.7/16"),))


class Machine:
    """Interfaces that come and go; how often somebody has looked."""

    def __init__(self) -> None:
        self.interfaces: list[Interface] = [CABLE]
        self.looks = 0
        self.broken = False

    def __call__(self) -> tuple[Interface, ...]:
        self.looks += 1
        if self.broken:
            raise OSError("no netlink")
        return tuple(self.interfaces)


async def test_all_followers_are_told_at_once_and_after_each_change_by_one_look() -> None:
    machine = Machine()
    watch = InterfaceWatch(machine)
    told: dict[int, list[tuple[Address, ...]]] = {1: [], 2: []}
    async with trio.open_nursery() as nursery:
        for port, addresses in told.items():
            nursery.start_soon(watch.follow, port, addresses.append)
        await wait_all_tasks_blocked()
        assert told == {port: [(Address("192.168.1.5", port),)] for port in told}
        await watch.look()
        machine.interfaces.append(RADIO)
        await watch.look()
        await wait_all_tasks_blocked()
        assert machine.looks == 3
        assert [len(addresses) for addresses in told.values()] == [2, 2]
        assert set(told[1][1]) == {Address("192.168.1.5", 1), Address("10.1.0.7", 1)}
        assert watch.listed() == (CABLE, RADIO)
        nursery.cancel_scope.cancel()


async def test_a_machine_that_cannot_list_them_has_none_for_the_moment() -> None:
    machine = Machine()
    machine.broken = True
    watch = InterfaceWatch(machine)
    assert watch.own_addresses(1) == ()
    with pytest.raises(OSError, match="no netlink"):
        watch.listed()
    machine.broken = False
    await watch.look()
    assert watch.own_addresses(1) == (Address("192.168.1.5", 1),)
