"""SHA-256 with a tag for each use and a length before each part, and a seeded byte stream."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

Rng = Callable[[int], bytes]
"""Randomness as an argument: n -> n bytes (`os.urandom` is one, `Drbg` another)."""


def tagged_hash(tag: str, *parts: bytes) -> bytes:
    """32 bytes: SHA-256 over the tag and the parts, each behind its length (8 bytes, big endian).

    No two different (tag, parts) are hashed as the same string, so a hash made for one use means
    nothing in another.
    """
    return _absorb(hashlib.sha256(), b"otto-p2p/1/" + tag.encode(), *parts).digest()


def _absorb(state: hashlib._Hash, *parts: bytes) -> hashlib._Hash:
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state


class Drbg:
    """A stream of bytes from a secret seed, by SHA-256 in counter mode; an `Rng`.

    Not reseeded: one instance is made for one purpose, its seed from `tagged_hash` over the secret
    and everything that the purpose depends on (the idea of RFC 6979: same input, same nonce; other
    input, other nonce).
    """

    def __init__(self, seed: bytes) -> None:
        # block number i is tagged_hash("drbg", seed, i as 8 bytes); what is before i is hashed once
        self._start = _absorb(hashlib.sha256(), b"otto-p2p/1/drbg", seed)
        self._start.update((8).to_bytes(8, "big"))
        self._counter = 0
        self._rest = b""

    def __call__(self, size: int) -> bytes:
        blocks = [self._rest]
        for _ in range((size - len(self._rest) + 31) // 32):
            state = self._start.copy()
            state.update(self._counter.to_bytes(8, "big"))
            blocks.append(state.digest())
            self._counter += 1
        stream = b"".join(blocks)
        self._rest = stream[size:]
        return stream[:size]


def random_below(limit: int, rng: Rng) -> int:
    """A uniform int in [0, limit), by rejection; `limit` is at least 1."""
    size = (limit.bit_length() + 7) // 8
    mask = (1 << limit.bit_length()) - 1
    while True:
        value = int.from_bytes(rng(size), "big") & mask
        if value < limit:
            return value


def shuffled(items: list[int], rng: Rng) -> list[int]:
    """A uniformly random permutation of `items` (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = random_below(last + 1, rng)
        result[last], result[other] = result[other], result[last]
    return result
