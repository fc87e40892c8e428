"""Who is at the other end: both prove their identity keys, bound to the TLS certificate between them.

After TLS (the dialling side is the client) each side sends `otto-p2p`, its protocol version (2 bytes), and:

    client  ClientHello(key, instance, nonce, port)
    server  ServerHello(key, instance, nonce, signature over everything so far and the fingerprint)
    client  ClientProof(signature over the same, in its own role)
    server  Verdict(reason)

The fingerprint in what is signed is that of the certificate which the server used, or the client saw. A
man in the middle shows another certificate, so neither proof can be passed on. A client that dials several
addresses at once stops all but the winner before its proof: a server never sees two proofs of one attempt.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import trio

from otto_p2p.net.frames import CloseReason, Key, close_reason
from otto_p2p.net.streams import FrameStream, LinkError
from otto_p2p.net.tls import Credentials, peer_fingerprint
from otto_protocol.crypto.identity import verify
from otto_protocol.encoding import Exactly, Max, pack, unpack
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Rng
from otto_protocol.lobby.record import Signer

MAGIC = b"otto-p2p"
MAX_HELLO = 512  # bytes of a frame before the identities are proven

_CLIENT = "link client"
_SERVER = "link server"

Nonce = Annotated[bytes, Exactly(32)]
Instance = Annotated[bytes, Exactly(16)]
Signature = Annotated[bytes, Exactly(64)]


@dataclass(frozen=True, slots=True)
class ClientHello:
    """`instance` is random for each run of the program; `port` is where the client listens, or 0."""

    key: Key
    instance: Instance
    nonce: Nonce
    port: Annotated[int, Max(65535)]


@dataclass(frozen=True, slots=True)
class ServerHello:
    """The server's key and its proof."""

    key: Key
    instance: Instance
    nonce: Nonce
    signature: Signature


@dataclass(frozen=True, slots=True)
class ClientProof:
    """The client's proof."""

    signature: Signature


@dataclass(frozen=True, slots=True)
class Verdict:
    """`CloseReason.OK`, or why the server does not want the link."""

    reason: Annotated[int, Max(15)]


@dataclass(frozen=True, slots=True)
class Self:
    """Our side of every handshake."""

    signer: Signer
    credentials: Credentials
    instance: bytes
    version: int
    rng: Rng
    port: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Peer:
    """The proven other end of a stream: key, run of its program, port that it listens on (0: unknown)."""

    key: bytes
    instance: bytes
    port: int


@dataclass(frozen=True, slots=True)
class Half:
    """A dialled stream whose server has proven itself, while we have not yet."""

    frames: FrameStream
    peer: Peer
    proof: bytes


async def open_half(me: Self, raw: trio.abc.Stream, expected: bytes | None) -> Half:
    """The client's side up to the server's proof; takes over `raw`, and closes it if this fails.

    Raises LinkError: NOT_OTTO, OTHER_VERSION, MYSELF, OTHER_PEER (not the `expected` key), BAD_PROOF, LOST.
    """
    stream = me.credentials.connect(raw)
    frames = FrameStream(stream)
    try:
        await _tls(stream)
        fingerprint = peer_fingerprint(stream)
        hello = ClientHello(me.signer.public, me.instance, me.rng(32), me.port())
        await frames.send_bytes(_preamble(me) + _framed(pack(hello)))
        await _read_preamble(frames, me)
        answer = unpack(ServerHello, await frames.receive(MAX_HELLO))
        if answer.key == me.signer.public:
            raise LinkError(CloseReason.MYSELF)
        parts = _signed(me.version, fingerprint, hello, answer.key, answer.instance, answer.nonce)
        if not verify(answer.key, answer.signature, _SERVER, *parts):
            raise LinkError(CloseReason.BAD_PROOF, "its proof does not fit this connection")
        # Only now is it known that the key is really there: an unproven name moves nothing.
        peer = Peer(answer.key, answer.instance, 0)
        if expected is not None and answer.key != expected:
            raise OtherPeer(peer)
        return Half(frames, peer, pack(ClientProof(me.signer.sign(_CLIENT, *parts))))
    except DecodeError as error:
        await frames.aclose()
        raise LinkError(CloseReason.NOT_OTTO, str(error)) from None
    except BaseException:
        await frames.aclose()
        raise


async def finish(half: Half) -> FrameStream:
    """The rest of the client's side; closes the stream if it fails. Raises LinkError, the server's reason."""
    try:
        await half.frames.send([half.proof])
        verdict = unpack(Verdict, await half.frames.receive(MAX_HELLO))
        if verdict.reason != CloseReason.OK:
            raise LinkError(close_reason(verdict.reason, CloseReason.UNWANTED), "refused")
        return half.frames
    except DecodeError as error:
        await half.frames.aclose()
        raise LinkError(CloseReason.GARBAGE, str(error)) from None
    except BaseException:
        await half.frames.aclose()
        raise


async def accept(
    me: Self, raw: trio.abc.Stream, judge: Callable[[Peer], CloseReason]
) -> tuple[FrameStream, Peer]:
    """The server's side; takes over `raw`, and closes it if this fails. `judge` says who is wanted.

    Raises LinkError: NOT_OTTO, OTHER_VERSION, BAD_PROOF, LOST, or what `judge` said.
    """
    stream = me.credentials.accept(raw)
    frames = FrameStream(stream)
    try:
        await _tls(stream)
        # Our version goes out first: an older or newer client can say what it met.
        await _read_preamble(frames, me, answer=True)
        hello = unpack(ClientHello, await frames.receive(MAX_HELLO))
        nonce = me.rng(32)
        parts = _signed(me.version, me.credentials.fingerprint, hello, me.signer.public, me.instance, nonce)
        signature = me.signer.sign(_SERVER, *parts)
        await frames.send([pack(ServerHello(me.signer.public, me.instance, nonce, signature))])
        proof = unpack(ClientProof, await frames.receive(MAX_HELLO))
        peer = Peer(hello.key, hello.instance, hello.port)
        if hello.key == me.signer.public or not verify(hello.key, proof.signature, _CLIENT, *parts):
            reason = CloseReason.BAD_PROOF
        else:
            reason = judge(peer)
        await frames.send([pack(Verdict(int(reason)))])
        if reason != CloseReason.OK:
            raise LinkError(reason, "refused by us")
        return frames, peer
    except DecodeError as error:
        await frames.aclose()
        raise LinkError(CloseReason.NOT_OTTO, str(error)) from None
    except BaseException:
        await frames.aclose()
        raise


class OtherPeer(LinkError):
    """Somebody else than expected has proven itself at an address: `peer`."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(CloseReason.OTHER_PEER)
        self.peer = peer


class WrongVersion(LinkError):
    """The other end speaks another `version` of the protocol."""

    def __init__(self, theirs: int, ours: int) -> None:
        super().__init__(CloseReason.OTHER_VERSION, f"plays version {theirs}; this is {ours}")
        self.version = theirs


def _preamble(me: Self) -> bytes:
    return MAGIC + me.version.to_bytes(2, "big")


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


async def _tls(stream: trio.SSLStream[trio.abc.Stream]) -> None:
    try:
        await stream.do_handshake()
    except ssl.SSLError as error:
        raise LinkError(CloseReason.NOT_OTTO, "no TLS 1.3") from error
    except trio.BrokenResourceError as error:
        # trio reports a refused TLS handshake and a lost connection alike; the cause tells which.
        tls = isinstance(error.__cause__, ssl.SSLError) and not isinstance(
            error.__cause__, (ssl.SSLEOFError, ssl.SSLZeroReturnError)
        )
        raise LinkError(
            CloseReason.NOT_OTTO if tls else CloseReason.LOST, "no TLS 1.3" if tls else "closed"
        ) from error
    except (trio.ClosedResourceError, OSError) as error:
        raise LinkError(CloseReason.LOST, "closed") from error


async def _read_preamble(frames: FrameStream, me: Self, *, answer: bool = False) -> None:
    preamble = await frames.receive_bytes(len(MAGIC) + 2)
    if not preamble.startswith(MAGIC):
        raise LinkError(CloseReason.NOT_OTTO, "another program")
    version = int.from_bytes(preamble[len(MAGIC) :], "big")
    if version != me.version:
        if answer:
            with contextlib.suppress(LinkError):
                await frames.send_bytes(_preamble(me))
        raise WrongVersion(version, me.version)
    if answer:
        await frames.send_bytes(_preamble(me))


def _signed(
    version: int, fingerprint: bytes, hello: ClientHello, key: bytes, instance: bytes, nonce: bytes
) -> tuple[bytes, ...]:
    return (version.to_bytes(2, "big"), fingerprint, pack(hello), key, instance, nonce)
