"""Vectors of what is signed and sent: every kind of message, and what is refused in one (P2)."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

from vector_parts import File, Vector, file, flipped, seed

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import AtMost, Exactly, Max, Value, encode, to_value
from otto_protocol.hashing import Drbg, random_below
from otto_protocol.match import messages as m

SEAT = 3


def _sample(hint: Any, rng: Drbg) -> Any:
    """Some value that a field can hold."""
    bounds: tuple[Any, ...] = ()
    while hasattr(hint, "__metadata__"):
        bounds = (*bounds, *hint.__metadata__)
        hint = hint.__origin__
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        return hint(*(_sample(hints[field.name], rng) for field in dataclasses.fields(hint)))  # type: ignore[operator]
    if hint is bool:
        return True
    bound = bounds[0]
    if isinstance(bound, Max):
        return random_below(bound.value + 1, rng)
    assert isinstance(bound, Exactly | AtMost)
    if hint is bytes:
        return rng(bound.length if isinstance(bound, Exactly) else min(bound.length, 66))
    return tuple(_sample(typing.get_args(hint)[0], rng) for _ in range(min(bound.length, 2)))


def _text(value: Value) -> Any:
    """A value as JSON: bytes as hex."""
    if isinstance(value, tuple):
        return [_text(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


def _wire(identity: IdentityKey, match: bytes, content: bytes, seat: int = SEAT) -> Vector:
    """A content as it is signed and sent."""
    signature = identity.sign(m.SIGNATURE_TAG, match, content)
    return {
        "content": content.hex(),
        "signature": signature.hex(),
        "wire": encode((seat, content, signature)).hex(),
    }


def message_vectors() -> File:
    """Messages of every kind from one seat, and contents that convict whoever signs them."""
    identity = IdentityKey.generate(Drbg(seed("message identity")))
    header = m.Header(seed("match"), 1, 300, SEAT, seed("digest"))
    accepted: dict[str, Vector] = {}
    for number, kind in enumerate(m.KINDS):
        body = _sample(kind, Drbg(seed(kind.__name__)))
        message = m.sign(identity, header, body)
        accepted[kind.__name__] = {
            "name": kind.__name__,
            "key": identity.public.hex(),
            "match": header.match.hex(),
            "header": _text(to_value(header)),
            "kind": number,
            "body": _text(to_value(body)),
            **_wire(identity, header.match, message.signed.content),
            "content_hash": message.content_hash().hex(),
        }
    lead = accepted["Lead"]
    top, body = to_value(header), to_value(_sample(m.Lead, Drbg(seed("Lead"))))
    number = m.KINDS.index(m.Lead)
    content = bytes.fromhex(lead["content"])
    contents: list[tuple[str, bytes]] = [
        ("a kind that does not exist", encode((top, 255, body))),
        ("a field is missing", encode((top, number, body[:-1]))),
        ("a field too many", encode((top, number, (*body, 0)))),
        ("a number beyond 9", encode((top, number, (10, *body[1:])))),
        ("a commitment of 31 bytes", encode((top, number, (body[0], bytes(31))))),
        ("a str where a bin belongs", encode((top, number, (body[0], "x" * 32)))),
        ("a header without its digest", encode((top[:-1], number, body))),
        ("no body", encode((top, number))),
        ("an array with a length of two bytes", b"\xdc\x00\x03" + content[1:]),
        ("a byte behind the end", content + b"\0"),
        ("the last byte is missing", content[:-1]),
        ("nothing", b""),
        ("nil", b"\xc0"),
    ]
    changes = [(lead, change, _wire(identity, header.match, data)) for change, data in contents]
    changes.append((lead, "another seat outside", _wire(identity, header.match, content, SEAT + 1)))
    unsigned = flipped(lead["signature"], 0)
    wire = encode((SEAT, content, bytes.fromhex(unsigned))).hex()
    changes.append((lead, "the signature is not over this", {"signature": unsigned, "wire": wire}))
    return file(list(accepted.values()), changes)
