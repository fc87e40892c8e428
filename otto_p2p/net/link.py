"""One link between two proven peers: a reader, a writer with a bounded outbox, beats, a watch for silence."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import trio

from otto_p2p.net.admission import Bucket
from otto_p2p.net.frames import Beat, Bye, CloseReason, Frame, close_reason, decode_frame
from otto_p2p.net.handshake import Peer
from otto_p2p.net.streams import FrameStream, LinkError
from otto_protocol.errors import DecodeError

BATCH = 65536  # bytes of small frames that go out in one write


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. `silent`: when a peer is suspected; `dead`: when its link is given up."""

    beat: float = 1.0
    silent: float = 4.0
    dead: float = 8.0
    stall: float = 1.0  # a tick of ours that is late by that much counts against nobody
    nudge: float = 0.03  # what is not acknowledged for that long may be lost
    send: float = 15.0  # the longest that one write may take
    goodbye: float = 0.5
    first_retry: float = 0.2
    last_retry: float = 5.0
    hearsay_retry: float = 30.0  # for a peer that others told of and that was never reached
    stagger: float = 0.25  # between the addresses of one peer
    grace: float = 1.5  # how long the higher key waits to be dialled before it dials itself
    handshake: float = 10.0  # on a bad network a lost packet costs a second, or three
    forget: float = 120.0  # how long a peer that cannot be reached is tried without new signs of it
    refuse: float = 5.0  # how long a peer that was dropped is not let in again


@dataclass(frozen=True, slots=True)
class Limits:
    """What one peer, one machine or all strangers together may take."""

    links: int = 64
    links_per_host: int = 24
    contacts: int = 96
    hearsay: int = 32  # contacts that one peer may tell of
    strangers: int = 48
    strangers_per_host: int = 16
    strangers_rate: float = 4.0  # a second from one host, above the burst
    strangers_burst: float = 24.0
    outbox_frames: int = 4096
    outbox_bytes: int = 4 << 20
    frames_rate: float = 500.0  # a second from a peer that does not sit at our table
    frames_burst: float = 2000.0
    bytes_rate: float = 1 << 20
    bytes_burst: float = 4 << 20
    gossip_rate: float = 1.0  # address frames a second from one peer
    gossip_burst: float = 128.0
    events: int = 256


class Link:
    """A proven stream between us and `peer`. `run` it once; `send` never waits."""

    def __init__(
        self,
        frames: FrameStream,
        peer: Peer,
        *,
        remote: str,
        dialled: bool,
        timing: Timing,
        limits: Limits,
        on_frame: Callable[[Link, Frame], Awaitable[None]],
        on_silence: Callable[[Link, bool], Awaitable[None]],
        beat: Callable[[], bytes],
    ) -> None:
        self.peer = peer
        self.remote = remote
        self.dialled = dialled  # by us
        self.protected = False
        self.sent = 0  # bytes of frames, without their lengths and TLS
        self.since = trio.current_time()
        self.last_heard = self.since
        self.silent = False
        self.heard: Beat = Beat()
        self.reason: CloseReason | None = None
        self.detail = ""
        self.finished = trio.Event()
        self._frames = frames
        self._timing = timing
        self._limits = limits
        self._on_frame = on_frame
        self._on_silence = on_silence
        self._beat = beat
        self._busy = False
        self._outbox: deque[bytes] = deque()
        self._outbox_bytes = 0
        self._wake = trio.Event()
        self._said = trio.Event()
        self._drained = trio.Event()
        self._scope = trio.CancelScope()
        self.gossip = Bucket(limits.gossip_rate, limits.gossip_burst, trio.current_time)
        self._throttle_frames = Bucket(limits.frames_rate, limits.frames_burst, trio.current_time)
        self._throttle_bytes = Bucket(limits.bytes_rate, limits.bytes_burst, trio.current_time)

    @property
    def queued(self) -> int:
        """Bytes that wait to be sent."""
        return self._outbox_bytes

    def send(self, data: bytes) -> bool:
        """Queue a frame; False when the link is at its end. A full outbox ends it: the peer is too slow."""
        self._said.set()
        return self._queue(data)

    def _queue(self, data: bytes) -> bool:
        if self.reason is not None:
            return False
        limits = self._limits
        full = (
            len(self._outbox) >= limits.outbox_frames or self._outbox_bytes + len(data) > limits.outbox_bytes
        )
        if full:
            self.end(CloseReason.SLOW, f"{self._outbox_bytes} bytes not taken")
            return False
        self._outbox.append(data)
        self._outbox_bytes += len(data)
        self._wake.set()
        return True

    def end(self, reason: CloseReason, detail: str = "") -> None:
        """End the link now; the first reason stands."""
        if self.reason is None:
            self.reason = reason
            self.detail = detail
        self._scope.cancel()

    async def say_goodbye(self, data: bytes) -> None:
        """Send a last frame and wait until all is written, or the link has ended."""
        if self.send(data):
            self._drained = trio.Event()
            await self._drained.wait()

    async def run(self) -> None:
        """Until the link ends for whatever reason: see `reason`. Raises nothing of its own."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._read)
                    nursery.start_soon(self._write)
                    nursery.start_soon(self._beats)
                    nursery.start_soon(self._nudges)
                    nursery.start_soon(self._watch)
        finally:
            if self.reason is None:
                self.reason = CloseReason.LEFT
            self._drained.set()
            await self._frames.aclose()

    async def _read(self) -> None:
        try:
            while True:
                data = await self._frames.receive(on_bytes=self._mark)
                self._mark()
                frame = decode_frame(data)
                # Waiting for the game to take a frame, or for a flood to ebb, is not the peer's silence.
                self._busy = True
                if isinstance(frame, Bye):
                    reason = close_reason(frame.reason, CloseReason.LEFT)
                    self.end(CloseReason.LEFT if reason is CloseReason.OK else reason, "goodbye")
                    return
                if not self.protected:
                    wait = max(self._throttle_frames.take(), self._throttle_bytes.take(len(data)))
                    if wait > 0.0:
                        await trio.sleep(wait)
                await self._on_frame(self, frame)
                self._busy = False
        except LinkError as error:
            self.end(error.reason, error.detail)
        except DecodeError as error:
            self.end(CloseReason.GARBAGE, str(error))

    def _mark(self) -> None:
        self.last_heard = trio.current_time()

    async def _write(self) -> None:
        try:
            while True:
                batch, size = [], 0
                while self._outbox and size < BATCH:
                    batch.append(self._outbox.popleft())
                    size += len(batch[-1])
                if batch:
                    with trio.fail_after(self._timing.send):
                        await self._frames.send(batch)
                    self._outbox_bytes -= size
                    self.sent += size
                else:
                    self._drained.set()
                    self._wake = trio.Event()
                    await self._wake.wait()
        except LinkError as error:
            self.end(error.reason, error.detail)
        except trio.TooSlowError:
            self.end(CloseReason.SLOW, "a write took too long")

    async def _beats(self) -> None:
        while True:
            self._queue(self._beat())
            await trio.sleep(self._timing.beat)

    async def _nudges(self) -> None:
        """One more beat behind what is not acknowledged in time.

        A segment that got lost is missed at once when another one arrives behind it. The last one of all is
        only sent again after 0.2 s and more, and in a game of turns nearly each one is the last.
        """
        wait = self._timing.nudge
        while True:
            await self._said.wait()
            before = self._frames.in_flight()
            if before is None:
                return
            await trio.sleep(max(wait, 1.5 * before.round_trip))
            now = self._frames.in_flight()
            if now is None:
                return
            if now.segments == 0 and not self._outbox:
                self._said = trio.Event()
            if now.segments == 0 or now.acknowledged > before.acknowledged:
                wait = self._timing.nudge
            elif not self._outbox:
                self._queue(self._beat())
                wait = min(1.5 * wait, self._timing.beat)

    async def _watch(self) -> None:
        timing = self._timing
        tick = timing.beat / 4
        while True:
            expected = trio.current_time() + tick
            await trio.sleep(tick)
            late = trio.current_time() - expected
            if self._busy:
                self._mark()
            elif late > timing.stall:
                self.last_heard = min(self.last_heard + late, trio.current_time())
            quiet = trio.current_time() - self.last_heard
            if quiet > timing.dead:
                self.end(CloseReason.SILENT, f"nothing heard for {quiet:.0f} s")
                return
            if (quiet > timing.silent) != self.silent:
                self.silent = not self.silent
                await self._on_silence(self, self.silent)
