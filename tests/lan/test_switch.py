"""The lab itself: what the switch is told to do to frames happens to them."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable

import pytest

from tests.lan.lab import Host, Lan

pytestmark = pytest.mark.lan


def udp(host: Host, address: str, port: int = 5000) -> socket.socket:
    with host.entered():
        one = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        one.bind((address, port))
    one.settimeout(10.0)
    return one


def pair(lan: Lan) -> tuple[socket.socket, socket.socket, Callable[[int], int]]:
    """Two sockets, and a function that sends so many datagrams and says how many came within 0.3 s."""
    a, b = lan.hosts(2)
    one, other = udp(a, a.address()), udp(b, b.address())
    one.sendto(b"resolve", (b.address(), 5000))
    assert other.recv(100) == b"resolve"

    def exchange(count: int) -> int:
        for _ in range(count):
            one.sendto(b"x", (b.address(), 5000))
        received = 0
        other.settimeout(0.3)
        try:
            while True:
                other.recv(100)
                received += 1
        except TimeoutError:
            return received

    return one, other, exchange


def test_hosts_have_names_addresses_and_a_clean_network(lan: Lan) -> None:
    one, other, exchange = pair(lan)
    assert exchange(50) == 50
    assert lan.host("h1") is lan.hosts(2)[0]
    one.close()
    other.close()
    a, b = lan.hosts(2)
    one6, other6 = udp(a, a.address6()), udp(b, b.address6())
    one6.sendto(b"six", (b.address6(), 5000))
    assert other6.recv(100) == b"six"
    one6.close()
    other6.close()


def test_loss_doubling_and_delay(lan: Lan) -> None:
    one, other, exchange = pair(lan)
    lan.conditions(loss=0.3)
    assert 100 < exchange(200) < 180
    lan.conditions(duplicate=0.5)
    assert 120 < exchange(100) < 180
    lan.conditions(delay=0.1)
    begin = time.monotonic()
    one.sendto(b"late", (lan.host("h2").address(), 5000))
    other.settimeout(10)
    assert other.recv(100) == b"late"
    assert time.monotonic() - begin >= 0.1
    lan.conditions()
    assert exchange(20) == 20
    one.close()
    other.close()


def test_partition_cut_isolation_and_cable(lan: Lan) -> None:
    one, other, exchange = pair(lan)
    lan.partition([["h1"], ["h2"]])
    assert exchange(5) == 0
    lan.heal()
    assert exchange(5) == 5
    lan.isolate(relays=["h3"])
    assert exchange(5) == 0
    lan.isolate(relays=["h1"])
    assert exchange(5) == 5
    lan.heal()
    lan.host("h2").unplug()
    assert exchange(5) == 0
    lan.host("h2").plug()
    assert exchange(5) == 5
    one.close()
    other.close()


def test_multicast_can_be_blocked_alone(lan: Lan) -> None:
    a, b = lan.hosts(2)
    sender, listener = udp(a, a.address()), udp(b, "")
    group = socket.inet_aton("224.0.0.251")
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(a.address()))
    listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + socket.inet_aton(b.address()))
    sender.sendto(b"one", ("224.0.0.251", 5000))
    assert listener.recv(100) == b"one"
    lan.block_multicast()
    sender.sendto(b"two", ("224.0.0.251", 5000))
    sender.sendto(b"three", (b.address(), 5000))
    assert listener.recv(100) == b"three"
    sender.close()
    listener.close()


def test_commands_run_in_their_host(lan: Lan) -> None:
    host = lan.host("alice")
    script = "import socket; print(sorted(name for _, name in socket.if_nameindex())); print(input())"
    done = host.run([sys.executable, "-c", script], input="hello\n")
    assert done.stdout == "['lan0', 'lo']\nhello\n"
    assert done.returncode == 0
    server = host.popen([sys.executable, "-c", "import time; time.sleep(60)"])
    assert server.poll() is None


def test_two_network_cards_and_dead_ends(lan: Lan) -> None:
    bridge = lan.host("bridge", networks=("red", "blue"))
    bridge.add_dead_end("docker0", "172.17.0.1/16")
    red, blue = lan.host("red-1", networks=("red",)), lan.host("blue-1", networks=("blue",))
    for other, network in ((red, "red"), (blue, "blue")):
        here, there = udp(bridge, bridge.address(network)), udp(other, other.address(network))
        here.sendto(network.encode(), (other.address(network), 5000))
        assert there.recv(100) == network.encode()
        here.close()
        there.close()
