"""Addresses as people type them and as peers tell them; interfaces that count."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otto_p2p.net.addresses import (
    DEFAULT_PORT,
    PORTS_TO_TRY,
    Address,
    Interface,
    list_interfaces,
    own_addresses,
    parse_hint,
    parse_peer,
    to_dial,
    usable,
)
from otto_protocol.errors import LocalError


def interface(name: str, *addresses: str, index: int = 2) -> Interface:
    return Interface(name, index, tuple(ipaddress.ip_interface(address) for address in addresses))


LO = interface("lo", "127.0.0.1/8", "::1/128", index=1)
ETH = interface("eth0", "192.168.1.5/24", "fe80::5/64", "2001:db8::5/64")
WLAN = interface("wlp3s0", "10.0.0.9/24", "fe80::9/64", index=3)
DOCKER = interface("docker0", "172.17.0.1/16", index=4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("192.168.1.5:47701", Address("192.168.1.5", 47701)),
        (" pc.local:5 ", Address("pc.local", 5)),
        ("[fe80::1%eth0]:47701", Address("fe80::1%eth0", 47701)),
        ("[2001:db8::1]:65535", Address("2001:db8::1", 65535)),
        ("my-pc:1", Address("my-pc", 1)),
    ],
)
def test_host_and_port(text: str, expected: Address) -> None:
    assert parse_peer(text) == (expected,)


@pytest.mark.parametrize("text", ["192.168.1.5", "pc", "fe80::1%eth0", "[fe80::1%eth0]", "2001:db8::1"])
def test_a_host_alone_stands_for_the_usual_ports(text: str) -> None:
    found = parse_peer(text)
    assert [address.port for address in found] == list(range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TO_TRY))
    assert {address.host for address in found} == {text.strip("[]")}


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        ":5",
        "host:",
        "host:0",
        "host:65536",
        "host:-1",
        "host:٣",
        "host:1e3",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "[::1",
        "[::1]x",
        "[::1]:",
        "[host]:5",
        "[1.2.3.4]:5",
        "1.2.3.4%eth0:5",
        "a b",
        "-x",
        "x" * 300,
        "http://host:5",
        "fe80::1%{GUID}",
        "host\x1b[2J",
    ],
)
def test_nonsense_is_one_clear_line(text: str) -> None:
    with pytest.raises(LocalError) as caught:
        parse_peer(text)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_local_error(text: str) -> None:
    try:
        assert parse_peer(text)
    except LocalError:
        return


@given(st.text(max_size=60))
def test_hints_are_ip_addresses_or_nothing(text: str) -> None:
    hint = parse_hint(text)
    if hint is not None:
        assert ipaddress.ip_address(hint.host)
        assert parse_hint(str(hint)) is not None


@pytest.mark.parametrize("text", ["host:5", "1.2.3.4", "[::1%eth0]:5", "::1:5", "[1.2.3.4]:5", "1.2.3.4:0"])
def test_names_and_scopes_of_strangers_are_not_taken(text: str) -> None:
    assert parse_hint(text) is None


def test_bridges_and_vpns_are_left_out() -> None:
    names = ("docker0", "br-0a1b2c", "veth12", "virbr0", "wg0", "tun0", "utun3", "tailscale0", "ppp0", "zt7")
    virtual = [interface(name, "10.8.0.2/24") for name in names]
    assert usable([LO, *virtual, ETH, WLAN]) == (ETH, WLAN)
    assert usable([interface("lan0", "10.77.0.1/24")]) == (interface("lan0", "10.77.0.1/24"),)


def test_loopback_counts_only_when_there_is_nothing_else() -> None:
    assert usable([LO, DOCKER]) == (LO,)
    assert usable([LO, ETH]) == (ETH,)
    assert usable([]) == ()


def test_bad_addresses_do_not_block_the_good_one() -> None:
    # field report 3
    hints = [Address("fe80::1%{GUID}", 5), Address("192.0.2.1", 5), Address("127.0.0.1", 5)]
    assert to_dial(hints, [interface("eth0", "192.0.2.9/24")]) == (Address("192.0.2.1", 5),)


def test_the_same_network_goes_first_and_link_local_last() -> None:
    hints = [Address(host, 5) for host in ("fe80::7", "2001:db8:1::7", "172.16.0.7", "192.168.1.7")]
    assert to_dial(hints, [ETH]) == (
        Address("192.168.1.7", 5),
        Address("172.16.0.7", 5),
        Address("2001:db8:1::7", 5),
        Address("fe80::7%eth0", 5),
    )


def test_a_link_local_address_gets_each_of_our_scopes() -> None:
    # Somebody else's scope means nothing here.
    assert to_dial([Address("fe80::7%17", 5)], [ETH, WLAN]) == (
        Address("fe80::7%eth0", 5),
        Address("fe80::7%wlp3s0", 5),
    )


def test_what_cannot_be_dialled_is_left_out() -> None:
    hints = [Address(host, 5) for host in ("0.0.0.0", "224.0.0.251", "::", "ff02::fb", "127.0.0.1", "::1")]
    assert to_dial(hints, [ETH]) == ()
    assert to_dial(hints, [LO]) == (Address("127.0.0.1", 5), Address("::1", 5))


def test_what_we_tell_of_ourselves_has_no_scope_and_the_best_first() -> None:
    assert [str(address) for address in own_addresses([ETH, WLAN], 5)] == [
        "10.0.0.9:5",
        "192.168.1.5:5",
        "[2001:db8::5]:5",
        "[fe80::5]:5",
        "[fe80::9]:5",
    ]


def test_this_machine_has_interfaces() -> None:
    assert any(address.ip.is_loopback for found in list_interfaces() for address in found.addresses)
