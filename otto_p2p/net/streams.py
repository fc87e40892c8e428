"""Byte streams as frames: a 4-byte length and at most 1 MiB, sockets to listen on and to dial with."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import ssl
import struct
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import trio

from otto_p2p.i18n import _
from otto_p2p.net.addresses import DEFAULT_PORT, PORTS_TO_TRY, Address
from otto_p2p.net.frames import MAX_FRAME, CloseReason
from otto_protocol.errors import LocalError, OttoError

CONNECT_SECONDS = 4.0  # short: a lost SYN is repeated sooner by a new attempt than by the system
RECEIVE_SIZE = 65536
BACKLOG = 64
_THIN_LINEAR_TIMEOUTS = 16  # Linux's TCP_THIN_LINEAR_TIMEOUTS, which Python has no name for

Dial = Callable[[Address], Awaitable[trio.abc.Stream]]


class LinkError(OttoError):
    """No link to a peer, or no longer: `reason` says why, `detail` adds a few words for people."""

    def __init__(self, reason: CloseReason, detail: str = "") -> None:
        super().__init__(f"{reason.name}{': ' if detail else ''}{detail}")
        self.reason = reason
        self.detail = detail


class Flight(NamedTuple):
    """Segments on their way, seconds of a round trip, bytes acknowledged since the beginning."""

    segments: int
    round_trip: float
    acknowledged: int


class FrameStream:
    """Frames over any stream of bytes. One task may send while another receives.

    Memory taken is in proportion to the bytes that arrived, never to a length that was only announced.
    """

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._buffer = bytearray()
        self._socket = _tcp_socket(stream)
        if self._socket is not None and sys.platform == "linux":
            # Of a few small segments that got lost, each is sent again soon, not later and later.
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, _THIN_LINEAR_TIMEOUTS, 1)

    async def send(self, frames: Sequence[bytes]) -> None:
        """All frames in one write. Raises LinkError(LOST); a cancelled send leaves a dead stream."""
        await self.send_bytes(b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames))

    async def receive(self, limit: int = MAX_FRAME, on_bytes: Callable[[], None] | None = None) -> bytes:
        """The next frame. Raises LinkError: LOST when the stream ended, GARBAGE when longer than `limit`.

        `on_bytes` is called whenever something arrives: a long frame on a slow network is no silence.
        """
        size = int.from_bytes(await self.receive_bytes(4, on_bytes), "big")
        if size > limit:
            raise LinkError(CloseReason.GARBAGE, f"a frame of {size} bytes")
        return await self.receive_bytes(size, on_bytes)

    def in_flight(self) -> Flight | None:
        """What was sent and is not acknowledged, where the system tells (Linux does)."""
        if self._socket is None or sys.platform != "linux":
            return None
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)
            (segments,), (microseconds,) = (struct.unpack_from("I", info, place) for place in (24, 68))
            (acknowledged,) = struct.unpack_from("Q", info, 120)
        except (OSError, struct.error):
            return None
        return Flight(segments, microseconds / 1e6, acknowledged)

    async def send_bytes(self, data: bytes) -> None:
        """Raw bytes, for what precedes the first frame. Raises LinkError(LOST)."""
        try:
            await self.stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError, OSError) as error:
            raise LinkError(CloseReason.LOST, type(error).__name__) from error

    async def receive_bytes(self, size: int, on_bytes: Callable[[], None] | None = None) -> bytes:
        """Exactly `size` bytes. Raises LinkError(LOST) when the stream ends before."""
        while len(self._buffer) < size:
            try:
                chunk = await self.stream.receive_some(RECEIVE_SIZE)
            except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError, OSError) as error:
                raise LinkError(CloseReason.LOST, type(error).__name__) from error
            if not chunk:
                raise LinkError(CloseReason.LOST, "closed")
            self._buffer += chunk
            if on_bytes is not None:
                on_bytes()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    async def aclose(self) -> None:
        """Close at once, without waiting for anybody."""
        await trio.aclose_forcefully(self.stream)


def _tcp_socket(stream: trio.abc.Stream) -> trio.socket.SocketType | None:
    while isinstance(stream, trio.SSLStream):
        stream = stream.transport_stream
    return stream.socket if isinstance(stream, trio.SocketStream) else None


async def dial_tcp(address: Address) -> trio.abc.Stream:
    """A TCP connection to `address`. Raises LinkError: UNREACHABLE or TIMEOUT."""
    try:
        with trio.fail_after(CONNECT_SECONDS):
            return await trio.open_tcp_stream(address.host, address.port)
    except trio.TooSlowError:
        raise LinkError(CloseReason.TIMEOUT, str(address)) from None
    except (OSError, UnicodeError, ValueError) as error:
        raise LinkError(CloseReason.UNREACHABLE, describe_os_error(error)) from None


def describe_os_error(error: BaseException) -> str:
    """A few plain words for why a connection or a socket did not come about."""
    cause = error.__cause__
    if isinstance(cause, BaseExceptionGroup):
        error = cause.exceptions[0]
    elif isinstance(cause, OSError):
        error = cause
    if isinstance(error, socket.gaierror):
        return "unknown name"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()  # trio's own text names the address, too
    return type(error).__name__


def open_listeners(port: int | None) -> list[trio.SocketListener]:
    """Listening sockets for IPv4 and IPv6 on one and the same TCP port.

    `port` None takes the first free one of the usual ports, or any; 0 takes any. Raises LocalError, in one
    line, when the given port is taken or there is no network to listen on.
    """
    wanted = [port] if port is not None else [*range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TO_TRY), 0]
    error: OSError | None = None
    for candidate in wanted:
        # A free IPv4 port may be taken for IPv6: then another free one is tried.
        for _attempt in range(8 if candidate == 0 else 1):
            try:
                return _open_pair(candidate)
            except OSError as problem:
                error = problem
                if problem.errno != errno.EADDRINUSE:
                    break
    assert error is not None
    if port and error.errno == errno.EADDRINUSE:
        raise LocalError(
            _("port {port} is taken: choose another with --port, or leave --port out").format(port=port)
        )
    if port and error.errno == errno.EACCES:
        raise LocalError(_("port {port} needs more rights: choose one above 1023").format(port=port))
    raise LocalError(_("cannot listen for connections: {why}").format(why=describe_os_error(error)))


def listening_port(listeners: Sequence[trio.SocketListener]) -> int:
    """The TCP port of the listeners that `open_listeners` made."""
    port = listeners[0].socket.getsockname()[1]
    assert isinstance(port, int)
    return port


def _open_pair(port: int) -> list[trio.SocketListener]:
    sockets = []
    try:
        try:
            sockets.append(_bound(socket.AF_INET, "0.0.0.0", port))
            port = sockets[0].getsockname()[1]
        except OSError as error:
            if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                raise
        try:
            sockets.append(_bound(socket.AF_INET6, "::", port))
        except OSError as error:
            no_ipv6 = error.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT)
            if not (sockets and no_ipv6):
                raise
        return [trio.SocketListener(trio.socket.from_stdlib_socket(one)) for one in sockets]
    except BaseException:
        for one in sockets:
            one.close()
        raise


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind((host, port))
        one.listen(BACKLOG)
    except BaseException:
        one.close()
        raise
    return one
