"""Frames over streams, and sockets to listen on."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
import trio
import trio.testing

from otto_p2p.net.addresses import DEFAULT_PORT, PORTS_TO_TRY, Address
from otto_p2p.net.frames import CloseReason
from otto_p2p.net.streams import FrameStream, LinkError, dial_tcp, listening_port, open_listeners
from otto_protocol.errors import LocalError


async def test_frames_arrive_whole_however_the_bytes_come() -> None:
    near, far = trio.testing.memory_stream_pair()
    await FrameStream(near).send([b"", b"a", b"b" * 100_000])
    received = FrameStream(far)
    assert [await received.receive() for _ in range(3)] == [b"", b"a", b"b" * 100_000]
    for byte in b"\x00\x00\x00\x02ok":
        await near.send_all(bytes([byte]))
    assert await received.receive() == b"ok"


@pytest.mark.parametrize("sent", [b"", b"\x00\x00", b"\x00\x00\x00\x05abc"])
async def test_a_stream_that_ends_early_is_lost(sent: bytes) -> None:
    near, far = trio.testing.memory_stream_pair()
    await near.send_all(sent)
    await near.send_eof()
    with pytest.raises(LinkError) as caught:
        await FrameStream(far).receive()
    assert caught.value.reason == CloseReason.LOST


async def test_a_huge_length_is_refused_and_takes_no_memory() -> None:
    # field report 31: a prefix of 4 GiB
    near, far = trio.testing.memory_stream_pair()
    await near.send_all(b"\xff\xff\xff\xff" + b"x" * 100)
    tracemalloc.start()
    with pytest.raises(LinkError) as caught:
        await FrameStream(far).receive()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.reason == CloseReason.GARBAGE
    assert peak < 1 << 20


async def test_only_what_arrived_takes_memory() -> None:
    near, far = trio.testing.memory_stream_pair()
    await near.send_all((1 << 20).to_bytes(4, "big") + b"x")
    tracemalloc.start()
    with trio.move_on_after(0.01) as scope:
        await FrameStream(far).receive()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert scope.cancelled_caught
    assert peak < 256 << 10


async def test_any_free_port_is_one_port_for_both_families() -> None:
    listeners = open_listeners(0)
    try:
        ports = {listener.socket.getsockname()[1] for listener in listeners}
        assert ports == {listening_port(listeners)}
        assert 0 not in ports
    finally:
        for listener in listeners:
            await listener.aclose()


async def test_three_peers_on_one_machine_need_no_option() -> None:
    # field report 11
    opened = [open_listeners(None) for _ in range(3)]
    try:
        assert len({listening_port(listeners) for listeners in opened}) == 3
    finally:
        for listeners in opened:
            for listener in listeners:
                await listener.aclose()


async def test_more_peers_than_usual_ports_still_find_one() -> None:
    opened = [open_listeners(None) for _ in range(PORTS_TO_TRY + 2)]
    try:
        ports = {listening_port(listeners) for listeners in opened}
        assert len(ports) == PORTS_TO_TRY + 2
        assert ports - set(range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TO_TRY))
    finally:
        for listeners in opened:
            for listener in listeners:
                await listener.aclose()


async def test_a_taken_port_is_one_clear_line() -> None:
    listeners = open_listeners(0)
    try:
        port = listening_port(listeners)
        with pytest.raises(LocalError, match=f"port {port} is taken") as caught:
            open_listeners(port)
        assert "\n" not in str(caught.value)
    finally:
        for listener in listeners:
            await listener.aclose()


async def test_dialling_nobody_says_so() -> None:
    listeners = open_listeners(0)
    port = listening_port(listeners)
    for listener in listeners:
        await listener.aclose()
    for host in ("127.0.0.1", "::1", "localhost"):
        with pytest.raises(LinkError) as caught:
            await dial_tcp(Address(host, port))
        assert caught.value.reason == CloseReason.UNREACHABLE
        assert caught.value.detail


async def test_dialling_reaches_a_listener_by_either_family() -> None:
    listeners = open_listeners(0)
    port = listening_port(listeners)
    try:
        for listener in listeners:
            host = "::1" if ":" in listener.socket.getsockname()[0] else "127.0.0.1"
            stream = await dial_tcp(Address(host, port))
            other = await listener.accept()
            await FrameStream(stream).send([b"hello"])
            assert await FrameStream(other).receive() == b"hello"
            await stream.aclose()
            await other.aclose()
    finally:
        for listener in listeners:
            await listener.aclose()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is not acknowledged")
async def test_what_is_not_acknowledged_is_known() -> None:
    (listener, *others) = open_listeners(0)
    for other in others:
        await other.aclose()
    near = FrameStream(await dial_tcp(Address("127.0.0.1", listening_port([listener]))))
    far = FrameStream(await listener.accept())
    await near.send([b"a" * 96])
    assert await far.receive() == b"a" * 96
    first = near.in_flight()
    assert first is not None
    assert (first.segments, first.acknowledged) in ((0, 101), (1, 1))  # the SYN counts as a byte
    while (now := near.in_flight()) is not None and now.segments:
        await trio.sleep(0.001)
    assert now is not None
    assert now.acknowledged == 101
    assert now.round_trip < 1
    for stream in (near, far):
        await stream.aclose()
    assert near.in_flight() is None
    await listener.aclose()
