"""Where peers are: HOST[:PORT] as typed, usable network interfaces, and which address to try first."""

from __future__ import annotations

import ipaddress
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import ifaddr

from otto_p2p.i18n import _
from otto_protocol.errors import LocalError

DEFAULT_PORT = 47701
PORTS_TO_TRY = 10  # several peers on one machine take the ports from DEFAULT_PORT on
MAX_HOST = 253  # the longest DNS name, in characters

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# What carries no LAN party: bridges of containers and virtual machines, tunnels of VPNs, radio links of
# phones. By the names that Linux, macOS and Windows give them.
_VIRTUAL = re.compile(
    r"^(docker|podman|cni|br-|veth|virbr|vmnet|vboxnet|lxc|lxd|cali|flannel|kube"
    r"|tun|tap\d|wg|utun|ppp|ipsec|zt|tailscale|nordlynx|proton|gpd|awdl|llw|anpi|ap\d|rmnet|dummy)"
    r"|vethernet|virtualbox|vmware|hyper-v|wsl|tap-windows|wireguard|openvpn|zerotier|loopback pseudo",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)$")
_SCOPE = re.compile(r"^[A-Za-z0-9_.:-]{1,32}$")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A place to dial: an IP address (IPv6 perhaps with `%scope`) or a name, and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_peer(text: str) -> tuple[Address, ...]:
    """The addresses that HOST[:PORT] stands for: one, or without a port the usual ports of one host.

    Takes IPv4 addresses, names, and IPv6 addresses, which need brackets when a port follows:
    `[fe80::1%eth0]:47701`. Raises LocalError, saying what is wrong.
    """
    text = text.strip()
    port_text: str | None
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise LocalError(_("{text} is no address: write [IPv6]:PORT").format(text=repr(text)))
        port_text = rest[1:] if rest else None
        if _literal(host) is None or ":" not in host:
            raise LocalError(
                _("{text} is no address: there is no IPv6 address between the brackets").format(
                    text=repr(text)
                )
            )
    elif text.count(":") > 1:
        host, port_text = text, None
    else:
        host, colon, rest = text.partition(":")
        port_text = rest if colon else None
    if _literal(host) is None and not _is_name(host):
        raise LocalError(
            _("{text} is no address: write HOST, HOST:PORT or [IPv6]:PORT").format(text=repr(text))
        )
    if port_text is not None:
        return (Address(host, parse_port(port_text)),)
    return tuple(Address(host, DEFAULT_PORT + offset) for offset in range(PORTS_TO_TRY))


def parse_port(text: str) -> int:
    """A TCP port that can be dialled, 1..65535; raises LocalError for anything else."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        raise LocalError(_("{text} is no port: a number from 1 to 65535").format(text=repr(text)))
    return int(text)


def parse_hint(text: str) -> Address | None:
    """The address that another peer sent, "1.2.3.4:5" or "[v6]:5"; None unless it is one.

    Names are not looked up for strangers.
    """
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([0-9.]{7,15})):([0-9]{1,5})", text)
    if match is None:
        return None
    host = match[1] or match[2]
    port = int(match[3])
    if _literal(host) is None or not 1 <= port <= 65535 or (match[1] is not None) != (":" in host):
        return None
    return Address(host, port)


def _literal(host: str) -> IPAddress | None:
    """The IP address, without its scope, or None if `host` is a name or nonsense."""
    bare, percent, scope = host.partition("%")
    if percent and not _SCOPE.match(scope):
        return None
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    if percent and address.version == 4:
        return None
    return address


def _is_name(host: str) -> bool:
    if not host or len(host) > MAX_HOST or re.fullmatch(r"[0-9.]+", host):
        return False
    return all(_LABEL.match(label) for label in host.removesuffix(".").split("."))


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface: its name, the system's index, and the addresses with their networks."""

    name: str
    index: int
    addresses: tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, ...]

    @property
    def scope(self) -> str:
        """What to write behind `%` in a link-local address on this interface."""
        return str(self.index) if sys.platform == "win32" else self.name


ListInterfaces = Callable[[], Sequence[Interface]]


def list_interfaces() -> tuple[Interface, ...]:
    """All interfaces that have an address now (of the network namespace of the calling thread)."""
    found = []
    for adapter in ifaddr.get_adapters():
        addresses = []
        for entry in adapter.ips:
            host = entry.ip if isinstance(entry.ip, str) else entry.ip[0]
            try:
                # Some systems put a scope into the text ("fe80::1%{GUID}"); the index says it better.
                addresses.append(ipaddress.ip_interface(f"{host.partition('%')[0]}/{entry.network_prefix}"))
            except ValueError:
                continue
        name = adapter.nice_name if not adapter.name.isascii() or "{" in adapter.name else adapter.name
        if addresses:
            found.append(Interface(name, adapter.index or 0, tuple(addresses)))
    return tuple(found)


def usable(interfaces: Iterable[Interface]) -> tuple[Interface, ...]:
    """The interfaces that a LAN party can be on.

    Container bridges and VPNs are left out; loopback too, unless there is nothing else (several peers on
    one machine without a network).
    """
    present = tuple(interfaces)
    real = tuple(i for i in present if not is_virtual(i) and not is_loopback(i))
    return real or tuple(i for i in present if is_loopback(i))


def is_loopback(interface: Interface) -> bool:
    """Whether this is the machine's way to itself."""
    return all(address.ip.is_loopback for address in interface.addresses)


def is_virtual(interface: Interface) -> bool:
    """Whether the name is that of a container bridge or a VPN."""
    return _VIRTUAL.search(interface.name) is not None


def own_addresses(interfaces: Iterable[Interface], port: int) -> tuple[Address, ...]:
    """What others may dial to reach this machine, best first, without scopes (those are the dialler's)."""
    hosts = {address.ip for interface in interfaces for address in interface.addresses}
    return tuple(Address(str(ip), port) for ip in sorted(hosts, key=lambda ip: (_rank(ip, ()), int(ip))))


def to_dial(hints: Iterable[Address], interfaces: Sequence[Interface]) -> tuple[Address, ...]:
    """The hints of another peer in the order to try them, without those that cannot be meant.

    On the same network first, link-local last. A link-local IPv6 address means something only with a scope,
    and the scope that somebody else wrote means nothing here: such an address is tried on each of our
    interfaces. Loopback is tried only when we have nothing else. `interfaces` are the usable ones.
    """
    alone = all(is_loopback(interface) for interface in interfaces)
    networks = tuple(address.network for interface in interfaces for address in interface.addresses)
    ranked: dict[Address, tuple[int, int]] = {}
    for order, hint in enumerate(hints):
        ip = _literal(hint.host)
        if ip is None or ip.is_multicast or ip.is_unspecified or (ip.is_loopback and not alone):
            continue
        if ip.version == 6 and ip.is_link_local:
            for interface in interfaces:
                if any(a.version == 6 and a.ip.is_link_local for a in interface.addresses):
                    scoped = Address(f"{ip}%{interface.scope}", hint.port)
                    ranked.setdefault(scoped, (_rank(ip, networks), order))
        else:
            ranked.setdefault(Address(str(ip), hint.port), (_rank(ip, networks), order))
    return tuple(sorted(ranked, key=ranked.__getitem__))


def _rank(ip: IPAddress, networks: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> int:
    if ip.is_link_local:
        return 4 if ip.version == 6 else 3
    if any(ip.version == network.version and ip in network for network in networks):
        return 0
    return 1 if ip.version == 4 else 2
