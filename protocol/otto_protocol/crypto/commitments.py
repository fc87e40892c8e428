"""Hash commitments: SHA-256 over where it is made, a random nonce, and what is committed to."""

from __future__ import annotations

from otto_protocol.hashing import tagged_hash

NONCE_BYTES = 32


def commit(context: bytes, content: bytes, nonce: bytes) -> bytes:
    """32 bytes that bind to `content` and, while the nonce (32 random bytes, used once) is secret, hide it.

    `context` is a canonical encoding of where the commitment belongs: game, view, step, seat, purpose. Raises
    ValueError for a nonce of another length (a caller's bug).
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError("a commitment nonce has 32 bytes")
    return tagged_hash("commitment", context, nonce, content)


def check(commitment: bytes, context: bytes, content: bytes, nonce: bytes) -> bool:
    """Whether `commitment` is opened by this content and nonce in this context."""
    return len(nonce) == NONCE_BYTES and commitment == commit(context, content, nonce)
