"""What strangers may cost."""

from __future__ import annotations

import trio

from otto_p2p.net.admission import Bucket, Gate, Ticket


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def gate(clock: Clock, *, total: int = 4, per_host: int = 3, rate: float = 1.0, burst: float = 100.0) -> Gate:
    return Gate(total=total, per_host=per_host, rate=rate, burst=burst, clock=clock)


def enter(through: Gate, host: str) -> Ticket | None:
    return through.enter(host, trio.CancelScope())


def test_so_many_from_one_host() -> None:
    door = gate(Clock())
    tickets = [enter(door, "10.0.0.1") for _ in range(4)]
    assert [ticket is not None for ticket in tickets] == [True, True, True, False]
    assert tickets[0] is not None
    door.leave(tickets[0], proven=False)
    assert enter(door, "10.0.0.1") is not None
    assert door.count == 3


async def test_a_full_gate_makes_room_at_the_cost_of_the_flood() -> None:
    door = gate(Clock())
    flood = [enter(door, "10.0.0.1") for _ in range(3)]
    assert enter(door, "10.0.0.2") is not None
    assert door.count == 4
    honest = enter(door, "10.0.0.3")
    assert honest is not None
    assert flood[0] is not None
    assert flood[0].scope.cancel_called
    assert not honest.scope.cancel_called
    assert door.count == 4
    door.leave(flood[0], proven=False)  # its task notices later
    assert door.count == 4


def test_so_many_a_second_from_one_host_unless_they_prove_themselves() -> None:
    clock = Clock()
    door = gate(clock, burst=2.0, per_host=10, total=10)
    for _ in range(2):
        ticket = enter(door, "10.0.0.1")
        assert ticket is not None
        door.leave(ticket, proven=False)
    assert enter(door, "10.0.0.1") is None
    assert enter(door, "10.0.0.2") is not None
    clock.now = 1.5
    assert enter(door, "10.0.0.1") is not None
    for _ in range(50):
        ticket = enter(door, "10.0.0.3")
        assert ticket is not None
        door.leave(ticket, proven=True)


def test_one_machine_is_one_host_whatever_it_calls_itself() -> None:
    door = gate(Clock())
    assert [enter(door, f"2001:db8::{n}") is not None for n in range(1, 6)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert enter(door, "fe80::1%eth0") is not None


def test_hosts_are_forgotten_before_they_fill_the_memory() -> None:
    door = gate(Clock())
    for number in range(5000):
        ticket = enter(door, f"10.{number >> 8}.{number & 255}.1")
        assert ticket is not None
        door.leave(ticket, proven=False)
    assert len(door._buckets) <= 1024


def test_a_bucket_says_how_long_to_wait() -> None:
    clock = Clock()
    bucket = Bucket(10.0, 5.0, clock)
    assert bucket.take(5.0) == 0.0
    assert bucket.take(5.0) == 0.5
    clock.now = 0.5
    assert bucket.take(0.0) == 0.0
