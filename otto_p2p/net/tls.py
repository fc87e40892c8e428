"""TLS 1.3 with throw-away certificates: secrecy from onlookers, and a fingerprint for proofs to bind to."""

from __future__ import annotations

import datetime
import hashlib
import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

import trio
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

# Nobody checks these dates (peers pin the certificate itself), so clocks may be as wrong as they like.
_NOT_BEFORE = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_NOT_AFTER = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Credentials:
    """One process's TLS side: a context to accept with, one to dial with, and our certificate's fingerprint.

    `fingerprint` is the SHA-256 (32 bytes) of the certificate in DER. The certificate's key is made for this
    run and is not the identity key: what proves an identity is a signature over the fingerprint.
    """

    server: ssl.SSLContext
    client: ssl.SSLContext
    fingerprint: bytes

    def accept(self, stream: trio.abc.Stream) -> trio.SSLStream[trio.abc.Stream]:
        """`stream` as the server's end of TLS; the handshake is still to be done."""
        return trio.SSLStream(stream, self.server, server_side=True)

    def connect(self, stream: trio.abc.Stream) -> trio.SSLStream[trio.abc.Stream]:
        """`stream` as the client's end of TLS; the handshake is still to be done."""
        return trio.SSLStream(stream, self.client, server_side=False)


def make_credentials() -> Credentials:
    """A fresh Ed25519 certificate, signed by itself, and the two TLS 1.3 contexts (RFC 8446)."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "otto-p2p")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_NOT_BEFORE)
        .not_valid_after(_NOT_AFTER)
        .sign(key, None)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.minimum_version = ssl.TLSVersion.TLSv1_3
    server.num_tickets = 0  # links are long, and a ticket would be written to a peer that may not read
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    _load(server, certificate.public_bytes(Encoding.PEM) + pem)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.minimum_version = ssl.TLSVersion.TLSv1_3
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE  # peers have no names: the handshake above TLS pins the fingerprint
    fingerprint = hashlib.sha256(certificate.public_bytes(Encoding.DER)).digest()
    return Credentials(server, client, fingerprint)


def peer_fingerprint(stream: trio.SSLStream[trio.abc.Stream]) -> bytes:
    """The SHA-256 (32 bytes) of the certificate that the server showed, after the handshake."""
    certificate = stream.getpeercert(binary_form=True)
    return hashlib.sha256(certificate).digest()


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    # `load_cert_chain` takes files only: in a directory of our own (0700), for a moment.
    with tempfile.TemporaryDirectory(prefix="otto-p2p-") as directory:
        path = Path(directory) / "tls.pem"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        context.load_cert_chain(path)
