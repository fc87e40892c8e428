"""The group secp256k1, written additively: the only module that knows the library underneath.

The library (libsecp256k1) cannot represent the identity, so `Point` never is it: an operation whose result
may be the identity returns None for it. Nothing that an attacker can force raises here, except `decode_point`
and `decode_scalar`, which raise DecodeError for bytes that are no canonical encoding.

Two kinds of multiplication: those with `secret` in their name are constant time in the scalar and are for
keys, nonces and everything computed from them; the others are faster and for public scalars only. (The Python
ints around them are not constant time: an observer on the same machine is outside the model.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from btclib_secp256k1 import ffi, lib
from btclib_secp256k1.context import ctx

from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Rng, random_below, tagged_hash

Q = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
"""The prime order of the group (SEC 2, section 2.4.1)."""

LAMBDA = 0x5363AD4C_C05C30E0_A5261C02_8812645A_122E22EA_20816678_DF02967C_1B23BD72
"""A primitive cube root of 1 modulo Q: what the map (x, y) -> (beta x, y) of the curve multiplies by."""

POINT_BYTES = 33
SCALAR_BYTES = 32
CHALLENGE_BYTES = 16

_PUBKEY = ffi.typeof("secp256k1_pubkey *")
_OUTPUT = ffi.typeof("unsigned char[33]")
_LENGTH = ffi.typeof("size_t *")
_XY = ffi.typeof("unsigned char[65]")
_COMPRESSED = 258  # SECP256K1_EC_COMPRESSED of the C header
_UNCOMPRESSED_PREFIX = b"\x04"


class Point:
    """A point of the group other than the identity; immutable, hashable, compared by value.

    Made by the functions of this module only. `encode` gives 33 bytes (SEC 1, section 2.3.3, compressed).
    """

    __slots__ = ("_encoding", "_parsed")

    def __init__(self, parsed: Any, encoding: bytes | None = None) -> None:
        self._parsed = parsed
        self._encoding = encoding

    def encode(self) -> bytes:
        """The 33 bytes that `decode_point` accepts."""
        if self._encoding is None:
            output = ffi.new(_OUTPUT)
            length = ffi.new(_LENGTH, POINT_BYTES)
            lib.secp256k1_ec_pubkey_serialize(ctx, output, length, self._parsed, _COMPRESSED)
            self._encoding = bytes(ffi.buffer(output))
        return self._encoding

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Point) and self.encode() == other.encode())

    def __hash__(self) -> int:
        return hash(self.encode())

    def __repr__(self) -> str:
        return f"Point({self.encode().hex()})"

    def __reduce__(self) -> tuple[Callable[[bytes], Point], tuple[bytes]]:
        return decode_point, (self.encode(),)


def decode_point(data: bytes) -> Point:
    """The point with these 33 bytes (prefix 02 or 03, x below the field prime, on the curve).

    Raises DecodeError for anything else, the library's other forms (65 bytes, hybrid) included.
    """
    if len(data) != POINT_BYTES or data[0] not in (2, 3):
        raise DecodeError("not a compressed point")
    parsed = ffi.new(_PUBKEY)
    if not lib.secp256k1_ec_pubkey_parse(ctx, parsed, data, POINT_BYTES):
        raise DecodeError("not a point of the curve")
    return Point(parsed, data)


def decode_scalar(data: bytes) -> int:
    """The int of 32 bytes, big endian; raises DecodeError unless it is below Q."""
    value = int.from_bytes(data, "big")
    if len(data) != SCALAR_BYTES or value >= Q:
        raise DecodeError("not a scalar")
    return value


def encode_scalar(value: int) -> bytes:
    """32 bytes, big endian, of an int in [0, Q)."""
    if not 0 <= value < Q:
        raise ValueError("not a scalar")
    return value.to_bytes(SCALAR_BYTES, "big")


def random_scalar(rng: Rng) -> int:
    """A uniform int in [1, Q)."""
    return 1 + random_below(Q - 1, rng)


def random_scalars(count: int, rng: Rng) -> tuple[int, ...]:
    """`count` ints in [1, Q), each from 32 bytes of one call of `rng`.

    Reduced, not rejected: Q is so close to 2^256 that this is within 2^-127 of uniform.
    """
    data = rng(SCALAR_BYTES * count)
    return tuple(
        1 + int.from_bytes(data[at : at + SCALAR_BYTES], "big") % (Q - 1)
        for at in range(0, len(data), SCALAR_BYTES)
    )


def challenge_scalars(count: int, rng: Rng) -> list[int]:
    """`count` values of `challenge_scalar`, from one call of `rng`."""
    data = rng(CHALLENGE_BYTES * count)
    return [challenge_scalar(data[at : at + CHALLENGE_BYTES]) for at in range(0, len(data), CHALLENGE_BYTES)]


def challenge_scalar(data: bytes) -> int:
    """A scalar from 16 bytes, cheap to multiply by: a + b * LAMBDA mod Q, from 8 bytes for a and 8 for b.

    The map is injective and the difference of two values is never 0 modulo Q (a^2 - ab + b^2 would have to be
    a multiple of Q, and is below 2^130), so these are 2^128 challenges as good as the ints below 2^128. The
    library splits every scalar this way, so a multiplication has half of the doublings. Source: Bowe, Grigg,
    Hopwood, "Recursive Proof Composition without a Trusted Setup" (ePrint 2019/1021), section 6.2.
    """
    if len(data) != CHALLENGE_BYTES:
        raise ValueError("a challenge has 16 bytes")
    return (int.from_bytes(data[:8], "big") + int.from_bytes(data[8:], "big") * LAMBDA) % Q


def _power(k: int, parsed: Any) -> Any:
    """k times a parsed point, as a new parsed point, for k in [1, Q); variable time."""
    result = ffi.new(_PUBKEY, parsed[0])
    if not lib.secp256k1_ec_pubkey_tweak_mul(ctx, result, k.to_bytes(SCALAR_BYTES, "big")):
        raise AssertionError("the library refused a multiplication")
    return result


def _powers_secret(scalars: Iterable[int], points: Iterable[Point]) -> list[Any]:
    """Scalar times point for each pair, as new parsed points; constant time.

    Raises ValueError unless 1 <= k < Q for each scalar. The output of ECDH "hashed" by copying x and y is the
    product itself.
    """
    products = []
    xy = ffi.new(_XY, _UNCOMPRESSED_PREFIX)
    start, multiply, copy = xy + 1, lib.secp256k1_ecdh, lib.btclib_secp256k1_ecdh_hash_function_xy
    for k, point in zip(scalars, points, strict=True):
        if not multiply(ctx, start, point._parsed, k.to_bytes(SCALAR_BYTES, "big"), copy, ffi.NULL):
            raise ValueError("a secret scalar is in [1, Q)")
        product = ffi.new(_PUBKEY)
        if not lib.secp256k1_ec_pubkey_parse(ctx, product, xy, 65):
            raise AssertionError("the library refused its own point")
        products.append(product)
    return products


def _power_base(k: int) -> Any:
    """k times G as a parsed point; constant time. Raises ValueError unless 1 <= k < Q."""
    result = ffi.new(_PUBKEY)
    if not lib.secp256k1_ec_pubkey_create(ctx, result, k.to_bytes(SCALAR_BYTES, "big")):
        raise ValueError("a secret scalar is in [1, Q)")
    return result


def _total(terms: list[Any]) -> Point | None:
    """The sum of parsed points, None for the identity (also the empty sum)."""
    if not terms:
        return None
    result = ffi.new(_PUBKEY)
    return Point(result) if lib.secp256k1_ec_pubkey_combine(ctx, result, terms, len(terms)) else None


G = Point(_power_base(1))
"""The base point (SEC 2, section 2.4.1)."""


def mul(k: int, point: Point) -> Point | None:
    """k times a point, for a public k (any int; reduced modulo Q)."""
    k %= Q
    return Point(_power(k, point._parsed)) if k else None


def mul_secret(k: int, point: Point) -> Point:
    """k times a point in constant time, for a secret k. Raises ValueError unless 1 <= k < Q."""
    return Point(_powers_secret((k,), (point,))[0])


def mul_each_secret(scalars: Iterable[int], points: Iterable[Point]) -> list[Point]:
    """Scalar times point for each pair, in constant time. Raises ValueError unless each is in [1, Q)."""
    return [Point(product) for product in _powers_secret(scalars, points)]


def mul_base_secret(k: int) -> Point:
    """k times G in constant time, for a secret k. Raises ValueError unless 1 <= k < Q."""
    return Point(_power_base(k))


def add(*points: Point) -> Point | None:
    """The sum of any number of points; None is the identity."""
    return _total([point._parsed for point in points])


def neg(point: Point) -> Point:
    """The inverse of a point."""
    result = ffi.new(_PUBKEY, point._parsed[0])
    lib.secp256k1_ec_pubkey_negate(ctx, result)
    return Point(result)


def sub(minuend: Point, subtrahend: Point) -> Point | None:
    """The difference of two points; None is the identity."""
    return add(minuend, neg(subtrahend))


def msm(scalars: Sequence[int], points: Sequence[Point]) -> Point | None:
    """The sum of scalar times point over two sequences of one length; variable time; None is the identity.

    Terms with the object `G` cost one fixed-base multiplication together. Any int is a scalar, 0 too.
    Raises ValueError if the lengths differ (a caller's bug).
    """
    terms = []
    base = 0
    for k, point in zip(scalars, points, strict=True):
        if point is G:
            base += k
            continue
        k %= Q
        if k == 1:
            terms.append(point._parsed)
        elif k:
            terms.append(_power(k, point._parsed))
    base %= Q
    if base:
        terms.append(_power_base(base))
    return _total(terms)


def msm_secret(scalars: Sequence[int], points: Sequence[Point]) -> Point | None:
    """Like `msm`, constant time in the scalars, each in [1, Q) (else ValueError)."""
    terms = list(zip(scalars, points, strict=True))
    others = [(k, point) for k, point in terms if point is not G]
    products = _powers_secret((k for k, _ in others), (point for _, point in others))
    return _total(products + [_power_base(k) for k, point in terms if point is G])


_COMB_BITS = 6
_COMB_ROWS = -(-256 // _COMB_BITS)
_COMB_ONES = sum(1 << _COMB_BITS * j for j in range(_COMB_ROWS))


class FixedBase:
    """Multiples of one point, for many multiplications of it by secrets: each is then 43 additions.

    A comb (Brickell, Gordon, McCurley, Wilson, Eurocrypt 1992) of digits of 6 bits. Row j has 2^(6 j) times
    the point times 1 to 64, without 0: so a scalar k is taken as the digits of k - (1 + 2^6 + 2^12 + ...) mod Q,
    and every scalar costs the same additions, which are constant time in the library. Making one costs about
    400 multiplications.
    """

    __slots__ = ("_rows",)

    def __init__(self, point: Point) -> None:
        self._rows = []
        step = point
        for _ in range(_COMB_ROWS):
            row = [step]
            for _ in range(1, 1 << _COMB_BITS):
                multiple = add(row[-1], step)
                assert multiple is not None  # the order of the point is the prime Q
                row.append(multiple)
            self._rows.append([multiple._parsed for multiple in row])
            step = row[-1]

    def _terms(self, k: int) -> list[Any]:
        """Parsed points whose sum is k times the point, one from each row."""
        digits = (k - _COMB_ONES) % Q
        mask, terms = (1 << _COMB_BITS) - 1, []
        for row in self._rows:
            terms.append(row[digits & mask])
            digits >>= _COMB_BITS
        return terms

    def pedersen_each(self, blinds: Iterable[int], values: Iterable[int]) -> list[Point | None]:
        """blind G + value point for each pair of secrets, in constant time; None is the identity.

        Raises ValueError unless each blind is in [1, Q). A value is reduced modulo Q.
        """
        return [
            _total([*self._terms(value), _power_base(blind)])
            for blind, value in zip(blinds, values, strict=True)
        ]


def hash_to_group(tag: str, *parts: bytes) -> Point:
    """A point of which nobody knows a discrete logarithm: the first candidate x that is on the curve, y even.

    Candidate number i (4 bytes, big endian) is tagged_hash("hash-to-group/" + tag, *parts, i). Variable time,
    for public input only. Try-and-increment as in Boneh, Lynn, Shacham (Asiacrypt 2001), section 3.2.
    """
    counter = 0
    while True:
        x = tagged_hash("hash-to-group/" + tag, *parts, counter.to_bytes(4, "big"))
        parsed = ffi.new(_PUBKEY)
        if lib.secp256k1_ec_pubkey_parse(ctx, parsed, b"\x02" + x, POINT_BYTES):
            return Point(parsed, b"\x02" + x)
        counter += 1
