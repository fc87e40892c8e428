"""One link alone, in virtual time: what is not acknowledged is followed by beats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

import trio
from trio.testing import MockClock

from otto_p2p.net.frames import Beat, MatchMessage, encode_frame
from otto_p2p.net.handshake import Peer
from otto_p2p.net.link import Limits, Link, Timing
from otto_p2p.net.streams import Flight, FrameStream

BEAT = encode_frame(Beat())


class Wire:
    """A frame stream to nobody, whose state of acknowledgment a test decides."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, bytes]] = []
        self.flight: Flight | None = Flight(0, 0.0, 0)

    async def send(self, frames: Sequence[bytes]) -> None:
        self.sent += [(trio.current_time(), frame) for frame in frames]
        await trio.lowlevel.checkpoint()

    async def receive(self, limit: int = 0, on_bytes: Callable[[], None] | None = None) -> bytes:
        await trio.sleep_forever()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()

    def in_flight(self) -> Flight | None:
        return self.flight

    def beats(self, begin: float, end: float) -> list[float]:
        return [round(time - begin, 3) for time, frame in self.sent if frame == BEAT and begin < time < end]


async def _ignore(*_: object) -> None:
    await trio.lowlevel.checkpoint()


async def beats_after_a_message(
    *flights: tuple[float, Flight | None], round_trip: float = 0.001
) -> list[float]:
    """When beats go out in the 0.9 s after a message, if acknowledgments come like this: seconds, state."""
    wire = Wire()
    wire.flight = Flight(0, round_trip, 10)
    link = Link(
        cast(FrameStream, cast(Any, wire)),
        Peer(bytes(32), bytes(16), 0),
        remote="",
        dialled=True,
        timing=Timing(beat=60.0, silent=100.0, dead=200.0),
        limits=Limits(),
        on_frame=_ignore,
        on_silence=_ignore,
        beat=lambda: BEAT,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        await trio.sleep(2)
        begin = trio.current_time()
        link.send(encode_frame(MatchMessage(b"my turn")))
        for seconds, wire.flight in flights:
            await trio.sleep(seconds)
        await trio.sleep(begin + 0.9 - trio.current_time())
        nursery.cancel_scope.cancel()
    return wire.beats(begin, begin + 0.9)


async def test_what_is_acknowledged_in_time_is_not_followed_by_anything(autojump_clock: MockClock) -> None:
    assert await beats_after_a_message((0.02, Flight(1, 0.001, 10)), (0.1, Flight(0, 0.001, 20))) == []


async def test_what_is_not_acknowledged_is_followed_by_beats_less_and_less_often(
    autojump_clock: MockClock,
) -> None:
    beats = await beats_after_a_message((0.4, Flight(1, 0.001, 10)), (0.1, Flight(0, 0.001, 20)))
    assert beats[0] == 0.03
    assert 4 <= len(beats) <= 6
    assert beats[-1] < 0.4
    gaps = [later - earlier for earlier, later in pairwise(beats)]
    assert gaps == sorted(gaps)


async def test_on_a_slow_network_a_round_trip_is_waited_for(autojump_clock: MockClock) -> None:
    beats = await beats_after_a_message((0.8, Flight(1, 0.2, 10)), round_trip=0.2)
    assert beats == [0.3, 0.6, 0.9]


async def test_what_comes_forward_is_not_pushed(autojump_clock: MockClock) -> None:
    flights = [(0.025, Flight(3, 0.001, 20 + n)) for n in range(20)]
    assert await beats_after_a_message(*flights, (0.1, Flight(0, 0.001, 40))) == []


async def test_where_the_system_does_not_tell_nothing_is_added(autojump_clock: MockClock) -> None:
    assert await beats_after_a_message((0.5, None)) == []
