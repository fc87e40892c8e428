"""Hosts in network namespaces on switches in user space: a LAN on one machine, for peers and for commands."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import ipaddress
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.lan.switch import Conditions, Switch

_CLONE_NEWNET = 0x40000000
_TUNSETIFF = 0x400454CA
_TUNSETCARRIER = 0x400454E2
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_IFF_UP = 0x1
_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_SIOCSIFADDR = 0x8916
_SIOCSIFNETMASK = 0x891C
_SIOCSIFHWADDR = 0x8924
_SIOCDIFADDR = 0x8936
_ARPHRD_ETHER = 1

_libc = ctypes.CDLL(None, use_errno=True)


def problem() -> str | None:
    """Why there can be no lab on this machine, or None."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    if os.geteuid() != 0:
        return "the lab needs root"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "the lab needs /dev/net/tun"
    try:
        Namespace().close()
    except OSError as error:
        return f"no network namespace can be made: {error}"
    return None


def _setns(fd: int) -> None:
    if _libc.setns(fd, _CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class Namespace:
    """A network namespace with nothing in it but loopback, which is up."""

    def __init__(self) -> None:
        self.fd = -1
        self._error: OSError | None = None
        thread = threading.Thread(target=self._make)
        thread.start()
        thread.join()
        if self._error is not None:
            raise self._error

    def _make(self) -> None:
        # A thread of its own enters the new namespace; the open file keeps it when the thread is gone.
        try:
            if _libc.unshare(_CLONE_NEWNET) != 0:
                error = ctypes.get_errno()
                raise OSError(error, os.strerror(error))
            self.fd = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            # No waiting for duplicate addresses (1-2 s), no questions for routers.
            for name, value in (("accept_dad", "0"), ("dad_transmits", "0"), ("router_solicitations", "0")):
                for scope in ("default", "all"):
                    path = Path(f"/proc/sys/net/ipv6/conf/{scope}/{name}")
                    if path.exists():
                        path.write_text(value)
            _set_up("lo", up=True)
        except OSError as error:
            self._error = error

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """The calling thread is in the namespace within this block. Never await in it."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _setns(self.fd)
            try:
                yield
            finally:
                _setns(before)
        finally:
            os.close(before)

    def close(self) -> None:
        """The kernel removes it when the last process and socket in it are gone."""
        os.close(self.fd)


class Host:
    """A machine on the LAN: `run` and `popen` commands in it, or make sockets within `entered()`."""

    def __init__(self, lan: Lan, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.namespace = Namespace()
        self._lan = lan
        self._carriers: dict[str, int] = {}
        self._switches: dict[str, Switch] = {}
        self._processes: list[subprocess.Popen[Any]] = []

    def entered(self) -> contextlib.AbstractContextManager[None]:
        """The calling thread is in this host within the block. Never await in it."""
        return self.namespace.entered()

    def in_network(self, function: Any) -> Any:
        """Call a function in this host; for `Discovery(in_network=...)`."""
        with self.entered():
            return function()

    def attach(self, network: str = "lan", *, ipv4: bool = True, ipv6: bool = True, device: str = "") -> str:
        """Another network card, on a network of this LAN; the name of the device."""
        switch = self._lan.network(network)
        subnet = self._lan.subnet(network)
        name = device or f"lan{len(self._carriers)}"
        fd = self._make_tap(name, subnet)
        with self.entered():
            if not ipv6:
                Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
            _set_up(name, up=True)
            if ipv4:
                set_address(name, f"10.77.{subnet}.{self.number}/24")
            if ipv6:
                set_address(name, f"fd77:{subnet:x}::{self.number:x}/64")
            _wait_until_usable(name)
        switch.attach(self.name, fd)
        self._switches[name] = switch
        self._carriers[name] = fd
        return name

    def add_dead_end(self, device: str, address: str) -> None:
        """An interface that leads nowhere, such as docker0 or a VPN's."""
        fd = self._make_tap(device, 250 + len(self._carriers))
        with self.entered():
            _set_up(device, up=True)
            set_address(device, address)
        self._carriers[device] = fd
        self._lan.keep(fd)

    def _make_tap(self, name: str, subnet: int) -> int:
        with self.entered():
            fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
            fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI))
            mac = bytes([2, 0, 0, 0, subnet & 0xFF, self.number])
            request = struct.pack("16sH14s", name.encode(), _ARPHRD_ETHER, mac)
            _control(socket.AF_INET, _SIOCSIFHWADDR, request)
        return fd

    def unplug(self, device: str = "lan0") -> None:
        """Pull the cable: the interface loses its carrier."""
        fcntl.ioctl(self._carriers[device], _TUNSETCARRIER, struct.pack("i", 0))
        self._switches[device].unplug(self.name)

    def plug(self, device: str = "lan0") -> None:
        """Put the cable back."""
        self._switches[device].plug(self.name)
        fcntl.ioctl(self._carriers[device], _TUNSETCARRIER, struct.pack("i", 1))

    def set_address(self, address: str, device: str = "lan0") -> None:
        """Another IPv4 address ("10.77.0.99/24") instead of the one it has, or one more IPv6 address."""
        with self.entered():
            set_address(device, address)

    def address(self, network: str = "lan") -> str:
        """The host's IPv4 address on a network."""
        return f"10.77.{self._lan.subnet(network)}.{self.number}"

    def address6(self, network: str = "lan") -> str:
        """The host's IPv6 address on a network."""
        return f"fd77:{self._lan.subnet(network):x}::{self.number:x}"

    def popen(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a command in this host. "otto-p2p" is the installed one. Killed, if need be, with the LAN."""
        namespace = self.namespace.fd
        process = subprocess.Popen(
            [*_program(command[0]), *command[1:]],
            preexec_fn=lambda: _setns(namespace),
            pass_fds=(namespace, *options.pop("pass_fds", ())),
            env={**os.environ, **(env or {})},
            **options,
        )
        self._processes.append(process)
        return process

    def run(
        self, command: Sequence[str], *, timeout: float = 60.0, input: str | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in this host to its end, and return what it wrote (text)."""
        process = self.popen(
            command,
            text=True,
            stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        try:
            out, err = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise subprocess.TimeoutExpired(command, timeout, out, err) from None
        return subprocess.CompletedProcess(list(command), process.returncode, out, err)

    def close(self) -> None:
        """Kill what still runs here."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait(10)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        self.namespace.close()


class Lan:
    """Hosts by name, made when first asked for, all on the network "lan" unless told otherwise."""

    def __init__(self, seed: int = 1) -> None:
        self._seed = seed
        self._switches: dict[str, Switch] = {}
        self._hosts: dict[str, Host] = {}
        self._kept: list[int] = []

    def host(
        self, name: str, *, networks: Sequence[str] = ("lan",), ipv4: bool = True, ipv6: bool = True
    ) -> Host:
        """The host of this name; the options count when it is made."""
        if name not in self._hosts:
            host = self._hosts[name] = Host(self, name, len(self._hosts) + 1)
            for network in networks:
                host.attach(network, ipv4=ipv4, ipv6=ipv6)
        return self._hosts[name]

    def hosts(self, count: int) -> list[Host]:
        """So many hosts, called h1, h2, ..."""
        return [self.host(f"h{number + 1}") for number in range(count)]

    def network(self, name: str = "lan") -> Switch:
        """The switch of a network, for what the methods below do not say."""
        if name not in self._switches:
            self._switches[name] = Switch(self._seed + len(self._switches))
        return self._switches[name]

    def subnet(self, name: str) -> int:
        """The number of a network: the third byte of its IPv4 addresses."""
        self.network(name)
        return list(self._switches).index(name)

    def conditions(self, network: str = "lan", **changes: Any) -> None:
        """delay, jitter (seconds), loss, duplicate (shares of 1), reorder; none given: a clean network."""
        self.network(network).conditions = Conditions(**changes)

    def partition(self, groups: Iterable[Iterable[str]], network: str = "lan") -> None:
        """Cut the network: hosts hear each other only within a group."""
        self.network(network).partition(groups)

    def isolate(self, relays: Iterable[str] = (), network: str = "lan") -> None:
        """Client isolation: everybody hears only the relays."""
        self.network(network).isolate(relays)

    def block_multicast(self, network: str = "lan") -> None:
        """Multicast no longer passes, unicast does."""
        self.network(network).multicast_blocked = True

    def heal(self, network: str = "lan") -> None:
        """Undo partition, cuts, isolation and block."""
        self.network(network).heal()

    def keep(self, fd: int) -> None:
        """Close this descriptor with the LAN."""
        self._kept.append(fd)

    def close(self) -> None:
        """Kill what runs, remove everything."""
        for host in self._hosts.values():
            host.close()
        for switch in self._switches.values():
            switch.close()
        for fd in self._kept:
            os.close(fd)


def _wait_until_usable(device: str) -> None:
    """In the namespace of the calling thread: IPv6 addresses are tentative for a moment, even unchecked."""
    tentative = 0x40
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        lines = [line.split() for line in Path("/proc/thread-self/net/if_inet6").read_text().splitlines()]
        if not any(fields[5] == device and int(fields[4], 16) & tentative for fields in lines):
            return
        time.sleep(0.005)


def set_address(device: str, address: str) -> None:
    """In the namespace of the calling thread: the IPv4 address of a device, or one more IPv6 address."""
    interface = ipaddress.ip_interface(address)
    if interface.version == 4:
        for request, value in ((_SIOCSIFADDR, interface.ip), (_SIOCSIFNETMASK, interface.netmask)):
            sockaddr = struct.pack("HH4s8x", socket.AF_INET, 0, value.packed)
            _control(socket.AF_INET, request, struct.pack("16s16s8x", device.encode(), sockaddr))
    else:
        _control(socket.AF_INET6, _SIOCSIFADDR, _address6(device, interface))


def remove_address6(device: str, address: str) -> None:
    """In the namespace of the calling thread: take an IPv6 address away."""
    _control(socket.AF_INET6, _SIOCDIFADDR, _address6(device, ipaddress.ip_interface(address)))


def _address6(device: str, interface: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> bytes:
    index = socket.if_nametoindex(device)
    return struct.pack("16sIi", interface.ip.packed, interface.network.prefixlen, index)


def _set_up(device: str, *, up: bool) -> None:
    request = struct.pack("16sH22x", device.encode(), 0)
    flags = struct.unpack_from("H", _control(socket.AF_INET, _SIOCGIFFLAGS, request), 16)[0]
    flags = flags | _IFF_UP if up else flags & ~_IFF_UP
    _control(socket.AF_INET, _SIOCSIFFLAGS, struct.pack("16sH22x", device.encode(), flags))


def _control(family: int, request: int, argument: bytes) -> bytes:
    with socket.socket(family, socket.SOCK_DGRAM) as control:
        return fcntl.ioctl(control, request, argument)


def _program(name: str) -> list[str]:
    if name != "otto-p2p":
        return [name]
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return [str(beside)]
    found = shutil.which(name)
    return [found] if found else [sys.executable, "-m", "otto_p2p.cli"]
