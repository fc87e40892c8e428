"""What the vector scripts share: secrets from names, bytes as text, and how a vector is changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otto_protocol.crypto.group import Point, mul_base_secret, random_scalar
from otto_protocol.hashing import Drbg, tagged_hash

Vector = dict[str, Any]
File = dict[str, Any]


def seed(name: str) -> bytes:
    """The seed of the vector of this name."""
    return tagged_hash("vectors", name.encode())


def scalar(name: str) -> int:
    """A scalar in [1, Q) for this name."""
    return random_scalar(Drbg(seed(name)))


def point(name: str) -> Point:
    """A point for this name, with a known logarithm."""
    return mul_base_secret(scalar(name))


def text(value: Point | None) -> str | None:
    """Hex of a point, None for the identity."""
    return None if value is None else value.encode().hex()


def texts(points: Sequence[Point]) -> list[str | None]:
    """Hex of points."""
    return [text(value) for value in points]


def refused(source: Vector, change: str, **changed: Any) -> Vector:
    """The vector made from `source` by this change."""
    rest = {key: value for key, value in source.items() if key != "name"}
    return {
        "name": f"{source['name']}: {change}",
        "mutates": source["name"],
        "change": change,
        **rest,
        **changed,
    }


def flipped(data: str, at: int) -> str:
    """Hex bytes with the lowest bit of byte `at` flipped."""
    raw = bytearray.fromhex(data)
    raw[at] ^= 1
    return raw.hex()


def file(accepted: list[Vector], changes: Sequence[tuple[Vector, str, Vector]]) -> File:
    """The accepted vectors, and refused ones from (accepted one, what was done, fields that differ)."""
    return {
        "accepted": accepted,
        "refused": [refused(source, change, **new) for source, change, new in changes],
    }
