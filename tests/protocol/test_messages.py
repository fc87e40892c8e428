"""Messages: every kind there and back, every bound kept, and every other way to write one refused."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import msgpack
import pytest

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import AtMost, Exactly, Max, Value, describe, encode, from_value, to_value
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg
from otto_protocol.match import messages as m

pytestmark = pytest.mark.anew

IDENTITY = IdentityKey.generate(Drbg(b"author"))
HEADER = m.Header(bytes(32), 0, 7, 3, bytes([1]) * 32)

KINDS_ON_THE_WIRE = [
    "KeyCommit", "KeyOpen", "Shuffle", "ShuffleProof", "Shares", "Choose", "Challenge", "LayDuel", "Guess",
    "OpenDuel", "LoseCard", "Lead", "Answer", "SitOut", "OpenLead", "Exchange", "Collect", "OttoCommit",
    "Otto", "GoOn", "Score", "Result", "HealProof", "Raise", "Tags", "Ack", "Vote", "Enter", "Leave",
]  # fmt: skip


def limits(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """The bare type of a hint, and the bounds that it is annotated with."""
    bounds: tuple[Any, ...] = ()
    while hasattr(hint, "__metadata__"):
        bounds = (*bounds, *hint.__metadata__)
        hint = hint.__origin__
    return hint, bounds


def fill(hint: Any, largest: bool) -> Any:
    """The smallest or largest value of a field."""
    kind, bounds = limits(hint)
    bound = bounds[0] if bounds else None
    if dataclasses.is_dataclass(kind):
        return kind(*(fill(field, largest) for field in fields(kind).values()))  # type: ignore[operator]
    if kind is bool:
        return largest
    if kind is int:
        return (bound.value if isinstance(bound, Max) else 2**64 - 1) if largest else 0
    assert isinstance(bound, Exactly | AtMost)
    length = bound.length if largest or isinstance(bound, Exactly) else 0
    if kind is bytes:
        return bytes([255]) * length
    return tuple(fill(typing.get_args(kind)[0], largest) for _ in range(length))


def fields(cls: Any) -> dict[str, Any]:
    return {
        name: hint
        for name, hint in typing.get_type_hints(cls, include_extras=True).items()
        if not name.startswith("_")
    }


def too_much(hint: Any) -> Any:
    """A value just beyond the bound of a field, None where there is none."""
    kind, bounds = limits(hint)
    bound = bounds[0] if bounds else None
    if isinstance(bound, Max):
        return bound.value + 1
    if isinstance(bound, Exactly | AtMost) and kind is bytes:
        return bytes(bound.length + 1)
    if isinstance(bound, Exactly | AtMost):
        one = fill(typing.get_args(kind)[0], False)
        return (to_value(one) if dataclasses.is_dataclass(one) else one,) * (bound.length + 1)
    return 2 if kind is bool else None


def content(header: m.Header, kind: Value, body: Value) -> bytes:
    return encode((to_value(header), kind, body))


def signed(data: bytes, seat: int = 3) -> m.Signed:
    return m.Signed(seat, data, bytes(64))


def refused(data: bytes, seat: int = 3) -> None:
    with pytest.raises(DecodeError):
        m.parse_content(signed(data, seat))


LEAD = m.Lead(4, bytes(32))
LEAD_CONTENT = m.sign(IDENTITY, HEADER, LEAD).signed.content


def test_kind_numbers_never_change() -> None:
    assert [kind.__name__ for kind in m.KINDS] == KINDS_ON_THE_WIRE
    assert set(m.KINDS) == set(typing.get_args(m.Body))


@pytest.mark.parametrize("cls", m.KINDS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("largest", [False, True])
def test_every_kind_comes_back_as_it_was(cls: type[m.Body], largest: bool) -> None:
    body = fill(cls, largest)
    message = m.sign(IDENTITY, HEADER, body)
    if len(message.signed.content) > m.MAX_MESSAGE:  # each field is bounded, and all together, too
        with pytest.raises(DecodeError):
            m.wire(message)
        return
    again = m.parse_content(m.parse_signed(m.wire(message)))
    assert again == message
    assert m.signature_valid(again.signed, IDENTITY.public, HEADER.match)
    assert m.wire(again) == m.wire(message)


@pytest.mark.parametrize("cls", m.KINDS, ids=lambda cls: cls.__name__)
def test_p02_every_bound_of_every_field(cls: type[m.Body]) -> None:
    values = list(to_value(fill(cls, False)))
    kind = m.KINDS.index(cls)
    for place, hint in enumerate(fields(cls).values()):
        beyond = too_much(hint)
        if beyond is not None:
            changed = [*values[:place], beyond, *values[place + 1 :]]
            refused(content(HEADER, kind, tuple(changed)))
        for wrong in (b"", "", (), 0):  # another type than the field has
            if type(wrong) is not type(values[place]):
                refused(content(HEADER, kind, (*values[:place], wrong, *values[place + 1 :])))


@pytest.mark.parametrize("cls", m.KINDS, ids=lambda cls: cls.__name__)
def test_p02_every_kind_has_exactly_its_fields(cls: type[m.Body]) -> None:
    values = to_value(fill(cls, False))
    kind = m.KINDS.index(cls)
    if values:  # Ack has none
        refused(content(HEADER, kind, values[:-1]))
    refused(content(HEADER, kind, (*values, 0)))
    refused(content(HEADER, kind, 0))


def test_p02_a_kind_that_does_not_exist() -> None:
    for kind in (len(m.KINDS), 255, 2**64 - 1, "Lead", b"\x0b", ()):
        refused(content(HEADER, kind, to_value(LEAD)))


def test_p02_a_message_is_a_header_a_kind_and_a_body() -> None:
    header, body = to_value(HEADER), to_value(LEAD)
    for value in ((header, 11), (header, 11, body, 0), (11, header, body), 11, b"", (header[:-1], 11, body)):
        refused(encode(value))


def test_p02_the_header_is_bounded() -> None:
    cases: list[tuple[str, Value]] = [("view", 2**32), ("step", 2**32), ("seat", 10), ("match", bytes(31))]
    for field, beyond in cases:
        values = list(to_value(HEADER))
        values[[name for name, _ in describe(m.Header)].index(field)] = beyond
        refused(encode((tuple(values), 11, to_value(LEAD))))


def test_p02_the_seat_outside_is_the_seat_inside() -> None:
    assert m.parse_content(signed(LEAD_CONTENT)).body == LEAD
    refused(LEAD_CONTENT, seat=4)


def test_p02_another_encoding_of_the_same_value() -> None:
    lengthy = bytes([0xDC, 0, 3]) + LEAD_CONTENT[1:]  # an array with a length of two bytes
    assert msgpack.unpackb(lengthy) == msgpack.unpackb(LEAD_CONTENT)
    refused(lengthy)
    refused(LEAD_CONTENT + b"\0")
    for end in range(len(LEAD_CONTENT)):
        refused(LEAD_CONTENT[:end])


def test_no_byte_of_a_content_can_change_and_still_be_signed() -> None:
    message = m.sign(IDENTITY, HEADER, LEAD)
    for place in range(len(LEAD_CONTENT)):
        data = bytearray(LEAD_CONTENT)
        data[place] ^= 1
        forged = dataclasses.replace(message.signed, content=bytes(data))
        assert not m.signature_valid(forged, IDENTITY.public, HEADER.match)


def test_a_signature_is_for_one_match_and_one_key() -> None:
    message = m.sign(IDENTITY, HEADER, LEAD).signed
    assert m.signature_valid(message, IDENTITY.public, HEADER.match)
    assert not m.signature_valid(message, IDENTITY.public, bytes([9]) * 32)
    assert not m.signature_valid(message, IdentityKey.generate(Drbg(b"other")).public, HEADER.match)


def test_the_outer_layer_refuses_what_is_no_message() -> None:
    wire = m.wire(m.sign(IDENTITY, HEADER, LEAD))
    values = msgpack.unpackb(wire, use_list=False)
    for bad in (values[:2], (10, *values[1:]), (*values[:2], bytes(63)), (*values, 0)):
        with pytest.raises(DecodeError):
            m.parse_signed(msgpack.packb(bad))
    for data in (b"", b"\xc0", b"\x83", wire[:-1], wire + b"\0", bytes(m.MAX_MESSAGE + 1000)):
        with pytest.raises(DecodeError):
            m.parse_signed(data)


def test_the_content_hash_is_of_the_content_alone() -> None:
    message = m.sign(IDENTITY, HEADER, LEAD)
    twin = dataclasses.replace(message, signed=dataclasses.replace(message.signed, signature=bytes(64)))
    other = m.sign(IDENTITY, HEADER, m.Lead(5, bytes(32)))
    assert message.content_hash() == twin.content_hash() != other.content_hash()


def test_everything_that_is_sent_is_described() -> None:
    for cls in (*m.KINDS, m.Header, m.Signed, m.Opening):
        assert cls.__doc__
        assert not cls.__doc__.startswith(f"{cls.__name__}(")
        assert [name for name, _ in describe(cls)] == list(fields(cls))
        assert from_value(cls, to_value(fill(cls, False))) == fill(cls, False)
