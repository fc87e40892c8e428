"""How much a stranger may cost: limits on connections whose other end has not proven who it is."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import trio

REMEMBERED_HOSTS = 1024


class Bucket:
    """A token bucket: `rate` a second, at most `burst` at once."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._level = burst
        self._at = clock()

    def take(self, amount: float = 1.0) -> float:
        """Take `amount`; the seconds to wait until the level is above zero again (0.0: go on)."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate) - amount
        self._at = now
        return max(0.0, -self._level / self._rate)

    def give(self, amount: float = 1.0) -> None:
        """Give back what was taken."""
        self._level = min(self._burst, self._level + amount)

    @property
    def full(self) -> bool:
        """Whether it holds the whole burst, as a new one does."""
        return self._level + (self._clock() - self._at) * self._rate >= self._burst


@dataclass(eq=False, slots=True)
class Ticket:
    """One stranger's connection while it proves itself; cancelling `scope` ends it."""

    host: str
    scope: trio.CancelScope


class Gate:
    """Lets strangers' connections in; limits how many at once (in all, from one host) and a second (from one).

    When it is full, the host that has the most makes room: a flood from one machine keeps nobody else out.
    """

    def __init__(
        self, *, total: int, per_host: int, rate: float, burst: float, clock: Callable[[], float]
    ) -> None:
        self._total = total
        self._per_host = per_host
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._inside: dict[str, list[Ticket]] = {}
        self._count = 0
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def enter(self, host: str, scope: trio.CancelScope) -> Ticket | None:
        """A ticket, to be given back with `leave`; None when the connection is to be closed at once."""
        host = _group(host)
        mine = self._inside.get(host, [])
        bucket = self._bucket(host)
        if len(mine) >= self._per_host:
            return None
        if bucket.take() > 0.0:
            bucket.give()
            return None
        if self._count >= self._total:
            greatest = max(self._inside.values(), key=len)
            if len(greatest) < len(mine):
                bucket.give()
                return None
            oldest = greatest[0]
            oldest.scope.cancel()
            self._remove(oldest)
        ticket = Ticket(host, scope)
        self._inside.setdefault(host, []).append(ticket)
        self._count += 1
        return ticket

    def leave(self, ticket: Ticket, *, proven: bool) -> None:
        """The connection has proven itself, or is closed. A proven one costs its host nothing."""
        self._remove(ticket)
        if proven:
            self._bucket(ticket.host).give()

    @property
    def count(self) -> int:
        """Connections inside now."""
        return self._count

    def _remove(self, ticket: Ticket) -> None:
        tickets = self._inside.get(ticket.host, [])
        if ticket in tickets:
            tickets.remove(ticket)
            self._count -= 1
            if not tickets:
                del self._inside[ticket.host]

    def _bucket(self, host: str) -> Bucket:
        bucket = self._buckets.get(host)
        if bucket is None:
            while len(self._buckets) >= REMEMBERED_HOSTS:
                self._buckets.popitem(last=False)
            bucket = self._buckets[host] = Bucket(self._rate, self._burst, self._clock)
        self._buckets.move_to_end(host)
        return bucket


def _group(host: str) -> str:
    """One name for all that a machine can cheaply call itself: its IPv6 /64 unless that is everybody's."""
    try:
        ip = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if ip.version == 6 and not ip.is_link_local:
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)
