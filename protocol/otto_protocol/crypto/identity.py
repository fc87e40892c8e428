"""Identity keys: Ed25519 signatures (RFC 8032) over tagged hashes, and the keys that are refused.

Verification is the equation of RFC 8032, section 5.1.7, without the cofactor, as in OpenSSL. A public key is
refused if its y is not below the field prime, if it is not on the curve, or if its order is at most 8: under
a key of small order one fixed signature verifies for every message, so it would prove nothing.
"""

from __future__ import annotations

import base64
import functools

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Rng, tagged_hash

PUBLIC_BYTES = 32
PRIVATE_BYTES = 32
SIGNATURE_BYTES = 64
KEYS_REMEMBERED = 1024

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_MINUS_1 = pow(2, (_P - 1) // 4, _P)


class IdentityKey:
    """A private signing key; its text form never shows the secret."""

    __slots__ = ("_key", "_secret", "public")

    public: bytes
    """The public key, 32 bytes."""

    def __init__(self, secret: bytes) -> None:
        """The key of 32 secret bytes (RFC 8032, section 5.1.5); raises DecodeError for another length."""
        if len(secret) != PRIVATE_BYTES:
            raise DecodeError("an identity key has 32 bytes")
        self._secret = secret
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public = self._key.public_key().public_bytes_raw()

    @classmethod
    def generate(cls, rng: Rng) -> IdentityKey:
        """A new key from 32 bytes of `rng`."""
        return cls(rng(PRIVATE_BYTES))

    def to_bytes(self) -> bytes:
        """The 32 secret bytes, for the key file."""
        return self._secret

    def sign(self, tag: str, *parts: bytes) -> bytes:
        """64 bytes: the signature of tagged_hash(tag, *parts)."""
        return self._key.sign(tagged_hash(tag, *parts))

    def __repr__(self) -> str:
        return f"IdentityKey({fingerprint(self.public)})"


def verify(public: bytes, signature: bytes, tag: str, *parts: bytes) -> bool:
    """Whether `public` signed tagged_hash(tag, *parts); False also for a key that is refused."""
    key = parsed(public)
    if key is None or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        key.verify(signature, tagged_hash(tag, *parts))
    except InvalidSignature:
        return False
    return True


def fingerprint(public: bytes) -> str:
    """80 bits of a hash of a public key as four groups of four letters, to be compared by eye or voice."""
    text = base64.b32encode(tagged_hash("fingerprint", public)[:10]).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, 16, 4))


def _square_root(value: int) -> int | None:
    """A square root modulo 2^255 - 19, or None (RFC 8032, section 5.1.3)."""
    root = pow(value, (_P + 3) // 8, _P)
    if root * root % _P != value % _P:
        root = root * _SQRT_MINUS_1 % _P
    return root if root * root % _P == value % _P else None


def _small_order_y() -> frozenset[int]:
    """The y of the eight points whose order divides 8.

    Order 1 and 2 have y = 1 and -1, order 4 has y = 0. Twice a point of order 8 has y = 0, so x^2 = -y^2
    there, and the curve equation -x^2 + y^2 = 1 + d x^2 y^2 becomes d y^4 + 2 y^2 - 1 = 0.
    """
    root = _square_root(1 + _D)
    assert root is not None
    ys = {0, 1, _P - 1}
    for numerator in (-1 + root, -1 - root):
        y = _square_root(numerator * pow(_D, -1, _P) % _P)
        if y is not None:
            ys |= {y, _P - y}
    return frozenset(ys)


_SMALL_ORDER_Y = _small_order_y()


@functools.lru_cache(maxsize=KEYS_REMEMBERED)
def parsed(public: bytes) -> Ed25519PublicKey | None:
    """The key of these bytes, or None for one that is refused."""
    if len(public) != PUBLIC_BYTES:
        return None
    y = int.from_bytes(public, "little") & ((1 << 255) - 1)
    if y >= _P or y in _SMALL_ORDER_Y:
        return None
    x_squared = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    if _square_root(x_squared) is None:
        return None
    return Ed25519PublicKey.from_public_bytes(public)
