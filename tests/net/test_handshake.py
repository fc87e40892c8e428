"""Both identities are proven, or there is no link; whoever is at the other end."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing

from otto_p2p.net import handshake
from otto_p2p.net.frames import CloseReason
from otto_p2p.net.handshake import (
    MAGIC,
    ClientHello,
    ClientProof,
    OtherPeer,
    Peer,
    Self,
    ServerHello,
    Verdict,
    WrongVersion,
    accept,
    finish,
    open_half,
)
from otto_p2p.net.streams import FrameStream, LinkError
from otto_p2p.net.tls import Credentials, make_credentials
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import pack, unpack
from otto_protocol.hashing import Drbg
from tests.net.virtual_lan import credentials

Outcome = tuple[FrameStream, Peer] | LinkError


def side(name: str, *, version: int = 1, number: int = 0) -> Self:
    identity = IdentityKey.generate(Drbg(name.encode()))
    return Self(identity, credentials(number), os.urandom(16), version, os.urandom, lambda: 47701)


async def both(
    client: Self,
    server: Self,
    *,
    expected: bytes | None = None,
    judge: Callable[[Peer], CloseReason] = lambda peer: CloseReason.OK,
    streams: tuple[trio.abc.Stream, trio.abc.Stream] | None = None,
) -> tuple[Outcome, Outcome]:
    """What the client and the server make of each other."""
    near, far = streams or trio.testing.memory_stream_pair()
    outcomes: dict[str, Outcome] = {}

    async def dial() -> tuple[FrameStream, Peer]:
        half = await open_half(client, near, expected)
        return await finish(half), half.peer

    async def run(name: str, work: Callable[[], Awaitable[tuple[FrameStream, Peer]]]) -> None:
        try:
            outcomes[name] = await work()
        except LinkError as error:
            outcomes[name] = error

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, "client", dial)
            nursery.start_soon(run, "server", lambda: accept(server, far, judge))
    return outcomes["client"], outcomes["server"]


def reasons(outcomes: tuple[Outcome, Outcome]) -> tuple[CloseReason | None, CloseReason | None]:
    client, server = (o.reason if isinstance(o, LinkError) else None for o in outcomes)
    return client, server


async def test_each_side_learns_the_other_s_key() -> None:
    client, server = side("c"), side("s", number=1)
    of_client, of_server = await both(client, server, expected=server.signer.public)
    assert not isinstance(of_client, LinkError)
    assert not isinstance(of_server, LinkError)
    assert of_client[1].key == server.signer.public
    assert of_server[1] == Peer(client.signer.public, client.instance, 47701)
    await of_client[0].send([b"one"])
    assert await of_server[0].receive() == b"one"
    await of_server[0].send([b"two"])
    assert await of_client[0].receive() == b"two"


async def test_another_peer_than_expected_is_named() -> None:
    client, server = side("c"), side("s", number=1)
    outcome, _ = await both(client, server, expected=bytes(32))
    assert isinstance(outcome, OtherPeer)
    assert outcome.peer.key == server.signer.public


async def test_another_version_is_named_on_both_sides() -> None:
    for ours, theirs in ((1, 2), (2, 1)):
        client, server = await both(side("c", version=ours), side("s", version=theirs, number=1))
        assert isinstance(client, WrongVersion)
        assert isinstance(server, WrongVersion)
        assert (client.version, server.version) == (theirs, ours)
        assert client.detail == f"plays version {theirs}; this is {ours}"


async def test_ourselves_are_recognized() -> None:
    client = side("c")
    assert reasons(await both(client, client))[0] == CloseReason.MYSELF


@pytest.mark.parametrize("reason", [CloseReason.BUSY, CloseReason.DUPLICATE, CloseReason.UNWANTED])
async def test_the_client_hears_why_it_is_refused(reason: CloseReason) -> None:
    outcomes = await both(side("c"), side("s", number=1), judge=lambda peer: reason)
    assert reasons(outcomes) == (reason, reason)


async def test_only_a_proven_client_is_judged() -> None:
    judged: list[Peer] = []

    def judge(peer: Peer) -> CloseReason:
        judged.append(peer)
        return CloseReason.OK

    near, far = trio.testing.memory_stream_pair()
    server, client = side("s"), side("c", number=1)
    victim = IdentityKey.generate(Drbg(b"victim"))

    async def impostor() -> None:
        stream = client.credentials.connect(near)
        frames = FrameStream(stream)
        await stream.do_handshake()
        hello = pack(ClientHello(victim.public, bytes(16), bytes(32), 1))
        await frames.send_bytes(MAGIC + (1).to_bytes(2, "big") + len(hello).to_bytes(4, "big") + hello)
        await frames.receive_bytes(len(MAGIC) + 2)
        await frames.receive()
        await frames.send([pack(ClientProof(client.signer.sign("link client", b"something")))])
        assert unpack(Verdict, await frames.receive()).reason == CloseReason.BAD_PROOF

    async with trio.open_nursery() as nursery:
        nursery.start_soon(impostor)
        with pytest.raises(LinkError) as caught:
            await accept(server, far, judge)
    assert caught.value.reason == CloseReason.BAD_PROOF
    assert judged == []


async def pump(source: trio.abc.Stream, sink: trio.abc.Stream) -> None:
    """Pass on what comes, to the end."""
    try:
        while data := await source.receive_some():
            await sink.send_all(data)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return


async def test_a_man_in_the_middle_is_caught_by_both() -> None:
    # He ends TLS on both sides with a certificate of his own and passes everything on unchanged.
    client, server = side("c"), side("s", number=1)
    his: Credentials = make_credentials()
    client_end, his_near = trio.testing.memory_stream_pair()
    his_far, server_end = trio.testing.memory_stream_pair()

    async with trio.open_nursery() as nursery:

        async def relay() -> None:
            near, far = his.accept(his_near), his.connect(his_far)
            await near.do_handshake()
            await far.do_handshake()
            async with trio.open_nursery() as pumps:
                pumps.start_soon(pump, near, far)
                pumps.start_soon(pump, far, near)

        nursery.start_soon(relay)
        with trio.move_on_after(1) as scope:
            outcomes = await both(client, server, streams=(client_end, server_end))
            assert reasons(outcomes)[0] == CloseReason.BAD_PROOF
        nursery.cancel_scope.cancel()
    # The client said nothing more to him, so the server waits for a proof that never comes.
    assert scope.cancelled_caught


async def test_a_client_s_proof_is_of_no_use_to_a_server() -> None:
    # The server is malicious: it plays the client's words to an honest peer, to be taken for the client.
    client, honest = side("c"), side("s", number=1)
    mallory = side("m", number=2)
    client_end, his_near = trio.testing.memory_stream_pair()
    his_far, honest_end = trio.testing.memory_stream_pair()
    caught: list[CloseReason] = []

    async def attack() -> None:
        near, far = mallory.credentials.accept(his_near), mallory.credentials.connect(his_far)
        await near.do_handshake()
        await far.do_handshake()
        victim, target = FrameStream(near), FrameStream(far)
        preamble = await victim.receive_bytes(len(MAGIC) + 2)
        hello_bytes = await victim.receive()
        await target.send_bytes(preamble + len(hello_bytes).to_bytes(4, "big") + hello_bytes)
        await target.receive_bytes(len(MAGIC) + 2)
        theirs = unpack(ServerHello, await target.receive())
        # He answers with his own key and proof, but with the honest server's nonce.
        hello = unpack(ClientHello, hello_bytes)
        parts = handshake._signed(
            1, mallory.credentials.fingerprint, hello, mallory.signer.public, theirs.instance, theirs.nonce
        )
        signature = mallory.signer.sign("link server", *parts)
        await victim.send_bytes(preamble)
        await victim.send(
            [pack(ServerHello(mallory.signer.public, theirs.instance, theirs.nonce, signature))]
        )
        await target.send([await victim.receive()])

    async def serve() -> None:
        with pytest.raises(LinkError) as error:
            await accept(honest, honest_end, lambda peer: CloseReason.OK)
        caught.append(error.value.reason)

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(attack)
            nursery.start_soon(serve)
            half = await open_half(client, client_end, None)
            assert half.peer.key == mallory.signer.public
            await half.frames.send([half.proof])
            while not caught:
                await trio.sleep(0.001)
            await half.frames.aclose()
    assert caught == [CloseReason.BAD_PROOF]


@pytest.mark.parametrize(
    "garbage",
    [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01", bytes(1000), b"otto-p2p\x00\x01", os.urandom(5000)],
)
async def test_a_server_refuses_what_is_no_tls(garbage: bytes) -> None:
    near, far = trio.testing.memory_stream_pair()
    await near.send_all(garbage)
    await near.send_eof()
    with pytest.raises(LinkError) as caught:
        await accept(side("s"), far, lambda peer: CloseReason.OK)
    assert caught.value.reason in (CloseReason.NOT_OTTO, CloseReason.LOST)


@pytest.mark.parametrize(
    "garbage", [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(99)]
)
async def test_a_client_says_that_something_else_answers(garbage: bytes) -> None:
    near, far = trio.testing.memory_stream_pair()
    await far.send_all(garbage)
    with pytest.raises(LinkError) as caught:
        await open_half(side("c"), near, None)
    assert caught.value.reason == CloseReason.NOT_OTTO


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", CloseReason.NOT_OTTO),
        (b"otto-p2p\x00\x01\x00\x00\x00\x03abc", CloseReason.NOT_OTTO),
        (b"otto-p2p\x00\x01\xff\xff\xff\xff", CloseReason.GARBAGE),
        (b"otto-p2p\x00\x01\x00\x00\x00", CloseReason.LOST),
        (b"otto-p2p\x00\x09", CloseReason.OTHER_VERSION),
        (b"", CloseReason.LOST),
    ],
)
async def test_a_server_refuses_what_is_no_hello_within_tls(inside: bytes, reason: CloseReason) -> None:
    near, far = trio.testing.memory_stream_pair()
    client = side("c")

    async def stranger() -> None:
        stream = client.credentials.connect(near)
        await stream.do_handshake()
        await stream.send_all(inside)
        if inside.startswith(MAGIC):
            assert await stream.receive_some() == MAGIC + b"\x00\x01"
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stranger)
        with pytest.raises(LinkError) as caught:
            await accept(side("s", number=1), far, lambda peer: CloseReason.OK)
        assert caught.value.reason == reason


def test_certificates_say_nothing_and_are_new_each_time() -> None:
    one, other = make_credentials(), make_credentials()
    assert one.fingerprint != other.fingerprint
    assert len(one.fingerprint) == 32
