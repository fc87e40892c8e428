"""An Ethernet switch in user space: frames between TAP devices, late, lost, doubled or blocked at will."""

from __future__ import annotations

import heapq
import os
import random
import selectors
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

MAX_FRAME = 65536
_ETHERTYPE_IPV6 = 0x86DD
_ICMPV6 = 58


@dataclass(frozen=True, slots=True)
class Conditions:
    """What happens to a frame: seconds of delay, up to so many more at random, shares lost and doubled.

    Frames between two ports keep their order unless `reorder`.
    """

    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: bool = False


@dataclass(slots=True)
class Counters:
    """Frames and bytes that came in, and frames that were dropped on purpose."""

    frames: int = 0
    bytes: int = 0
    dropped: int = 0


@dataclass(eq=False, slots=True)
class _Port:
    name: str
    fd: int
    last_due: dict[str, float] = field(default_factory=dict)


class Switch:
    """Ports are attached by name; everything may be changed while it runs. Seeded: same seed, same losses."""

    def __init__(self, seed: int = 1) -> None:
        self.conditions = Conditions()
        self.multicast_blocked = False
        self.counters = Counters()
        self.listen: Callable[[str, bytes], None] | None = None
        self._random = random.Random(seed)
        self._groups: dict[str, int] | None = None
        self._relays: frozenset[str] | None = None
        self._cut: set[frozenset[str]] = set()
        self._unplugged: set[str] = set()
        self._ports: dict[str, _Port] = {}
        self._learned: dict[bytes, _Port] = {}
        self._heap: list[tuple[float, int, _Port, bytes]] = []
        self._sequence = 0
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._lock = threading.Lock()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="switch", daemon=True)
        self._thread.start()

    def attach(self, name: str, fd: int) -> None:
        """A port for the TAP device behind `fd`, which the switch owns from now on."""
        os.set_blocking(fd, False)
        with self._lock:
            port = self._ports[name] = _Port(name, fd)
            self._selector.register(fd, selectors.EVENT_READ, port)
        os.write(self._wake_write, b"x")

    def partition(self, groups: Iterable[Iterable[str]]) -> None:
        """Only ports of one group hear each other; ports in no group hear nobody."""
        self._groups = {name: number for number, group in enumerate(groups) for name in group}

    def unplug(self, name: str) -> None:
        """Nothing passes this port."""
        self._unplugged.add(name)

    def plug(self, name: str) -> None:
        """The port works again."""
        self._unplugged.discard(name)

    def cut(self, one: str, other: str) -> None:
        """These two do not hear each other, everybody else does."""
        self._cut.add(frozenset((one, other)))

    def isolate(self, relays: Iterable[str] = ()) -> None:
        """Client isolation, as access points do it: clients hear only the relays, those hear everybody."""
        self._relays = frozenset(relays)

    def heal(self) -> None:
        """No partition, cut, isolation or block any more."""
        self._groups = None
        self._relays = None
        self._cut = set()
        self.multicast_blocked = False

    def close(self) -> None:
        """Stop, and close the TAP devices."""
        self._stopping = True
        os.write(self._wake_write, b"x")
        self._thread.join(5)
        self._selector.close()
        for port in self._ports.values():
            os.close(port.fd)
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _run(self) -> None:
        while not self._stopping:
            timeout = max(0.0, self._heap[0][0] - time.monotonic()) if self._heap else None
            for key, _ in self._selector.select(timeout):
                if key.data is None:
                    self._drain_wake()
                else:
                    self._receive(key.data)
            now = time.monotonic()
            while self._heap and self._heap[0][0] <= now:
                _, _, port, frame = heapq.heappop(self._heap)
                _write(port, frame)

    def _drain_wake(self) -> None:
        try:
            os.read(self._wake_read, 4096)
        except BlockingIOError:
            return

    def _receive(self, port: _Port) -> None:
        for _ in range(64):
            try:
                frame = os.read(port.fd, MAX_FRAME)
            except (BlockingIOError, OSError):
                return
            if len(frame) < 14:
                continue
            self.counters.frames += 1
            self.counters.bytes += len(frame)
            if self.listen is not None:
                self.listen(port.name, frame)
            self._forward(port, frame)

    def _forward(self, source: _Port, frame: bytes) -> None:
        self._learned[frame[6:12]] = source
        target = self._learned.get(frame[:6])
        with self._lock:
            ports = [target] if target is not None and not frame[0] & 1 else list(self._ports.values())
        for port in ports:
            if port is source:
                continue
            if not self._passes(source.name, port.name, frame):
                self.counters.dropped += 1
                continue
            conditions = self.conditions
            copies = 2 if conditions.duplicate and self._random.random() < conditions.duplicate else 1
            for _ in range(copies):
                if conditions.loss and self._random.random() < conditions.loss:
                    self.counters.dropped += 1
                elif conditions.delay or conditions.jitter:
                    self._later(source, port, frame, conditions)
                else:
                    _write(port, frame)

    def _later(self, source: _Port, port: _Port, frame: bytes, conditions: Conditions) -> None:
        due = time.monotonic() + conditions.delay + self._random.random() * conditions.jitter
        if not conditions.reorder:
            due = max(due, source.last_due.get(port.name, 0.0))
            source.last_due[port.name] = due
        self._sequence += 1
        heapq.heappush(self._heap, (due, self._sequence, port, frame))

    def _passes(self, source: str, target: str, frame: bytes) -> bool:
        if source in self._unplugged or target in self._unplugged:
            return False
        groups = self._groups
        if groups is not None and groups.get(source, -1) != groups.get(target, -2):
            return False
        relays = self._relays
        if relays is not None and source not in relays and target not in relays:
            return False
        if self._cut and frozenset((source, target)) in self._cut:
            return False
        return not (self.multicast_blocked and _is_multicast(frame))


def _is_multicast(frame: bytes) -> bool:
    """Multicast that applications send; without ARP and neighbour discovery not even unicast would work."""
    if frame[:3] == b"\x01\x00\x5e":
        return True
    if frame[:2] == b"\x33\x33":
        (ethertype,) = struct.unpack_from("!H", frame, 12)
        return not (ethertype == _ETHERTYPE_IPV6 and len(frame) > 20 and frame[20] == _ICMPV6)
    return False


def _write(port: _Port, frame: bytes) -> None:
    try:
        os.write(port.fd, frame)
    except OSError:
        return  # the cable is out, or the device's queue is full: frames get lost like that
