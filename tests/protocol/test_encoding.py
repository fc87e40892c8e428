"""The canonical encoding: what is decoded encodes to the same bytes, and nothing else is decoded."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otto_protocol.encoding import (
    MAX_DEPTH,
    AtMost,
    Exactly,
    Max,
    Value,
    decode,
    describe,
    encode,
    pack,
    unpack,
)
from otto_protocol.errors import DecodeError

plain = st.one_of(st.integers(0, 2**64 - 1), st.binary(max_size=40), st.text(max_size=20))
values: st.SearchStrategy[Value] = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=12
)


@dataclass(frozen=True, slots=True)
class Inner:
    number: Annotated[int, Max(9)]


@dataclass(frozen=True, slots=True)
class Record:
    flag: bool
    key: Annotated[bytes, Exactly(4)]
    name: Annotated[str, AtMost(5)]
    inner: Inner
    many: Annotated[tuple[Inner, ...], AtMost(2)]


GOOD = Record(True, b"1234", "ābc", Inner(3), (Inner(0), Inner(9)))


@given(values)
def test_decode_inverts_encode(value: Value) -> None:
    assert decode(encode(value)) == value


@given(values, values)
def test_different_values_have_different_bytes(one: Value, two: Value) -> None:
    assert (encode(one) == encode(two)) == (one == two)


@given(st.binary(max_size=60))
def test_any_bytes_are_canonical_or_a_decode_error(data: bytes) -> None:
    try:
        value = decode(data)
    except DecodeError:
        return
    assert encode(value) == data


@given(values, st.data())
def test_a_changed_byte_is_another_value_or_a_decode_error(value: Value, data: st.DataObject) -> None:
    good = encode(value)
    at = data.draw(st.integers(0, len(good) - 1))
    changed = good[:at] + bytes([data.draw(st.integers(0, 255))]) + good[at + 1 :]
    with contextlib.suppress(DecodeError):
        assert (decode(changed) == value) == (changed == good)


@given(st.recursive(st.one_of(plain, st.none(), st.booleans(), st.floats(), st.integers(-99, -1)), st.lists))
def test_whatever_msgpack_packs_otherwise_is_refused(value: Any) -> None:
    data = msgpack.packb(value, use_bin_type=True)
    with contextlib.suppress(DecodeError):
        assert encode(decode(data)) == data


@pytest.mark.parametrize("value", [-1, 2**64, 1.0, None, True, [1], {1: 2}, bytearray(b"a"), (1, (None,))])
def test_what_has_no_encoding_is_the_callers_bug(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(value)


@pytest.mark.parametrize(
    "data",
    ["cc00", "cd00ff", "d000", "d90161", "c4", "c50000", "dc000101", "80", "c0", "c2", "ca00000000", "0000"],
)
def test_what_is_not_canonical_is_refused(data: str) -> None:
    with pytest.raises(DecodeError):
        decode(bytes.fromhex(data))


def test_depth_and_length_are_bounded() -> None:
    value: Value = 1
    for _ in range(MAX_DEPTH):
        value = (value,)
    assert decode(encode(value)) == value
    with pytest.raises(ValueError, match="deep"):
        encode((value,))
    with pytest.raises(DecodeError):
        decode(b"\x91" + encode(value))
    assert decode(encode(b"12345"), max_bytes=7) == b"12345"
    with pytest.raises(DecodeError, match="at most 6"):
        decode(encode(b"12345"), max_bytes=6)


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("9ffd74f7dd74fffdbd"),
        bytes.fromhex("ddffffffff"),
        b"\x91" * 200_000,
        b"\xc6\xff\xff\xff\xff",
    ],
)
def test_small_bytes_that_promise_much_cost_nothing(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(data)


FAT = 1 << 18
BOMBS = {
    "pairs": b"\xdd" + (FAT // 2 - 8).to_bytes(4, "big") + b"\x91\x00" * (FAT // 2 - 8),
    "ints": b"\xdd" + (FAT - 8).to_bytes(4, "big") + bytes(FAT - 8),
    "small arrays": (b"\xdc\x04\x00" + b"\x00" * 1024) * (FAT // 1027),
    "rows": b"\xdc\x04\x00" + (b"\xdc\x00\xfc" + b"\x00" * 252) * 1024,
    "empty arrays": b"\x93" + (b"\xdd" + (FAT // 3 - 8).to_bytes(4, "big") + b"\x90" * (FAT // 3 - 8)) * 3,
    "deep": b"\x91" * (FAT - 1) + b"\x00",
}


def peak(work: Callable[[], object]) -> int:
    """The most bytes that `work` holds at one moment; it has to end with DecodeError."""
    unpack(Record, pack(GOOD))  # what is worked out once for a class is no part of it
    unpack(Wide, pack(Wide(b"")))
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("bomb", BOMBS)
def test_arrays_are_counted_while_they_are_decoded(bomb: str) -> None:
    """Without a limit each item takes 8 bytes in its array and an array 48 more: 8 to 30 times the data."""
    data = BOMBS[bomb]
    assert peak(lambda: unpack(Record, data)) < len(data) / 8
    assert peak(lambda: decode(data)) < 4 * len(data)
    assert peak(lambda: unpack(Wide, data)) < len(data) / 8


@dataclass(frozen=True, slots=True)
class Wide:
    """A megabyte is allowed, in one item."""

    content: Annotated[bytes, AtMost(1 << 20)]


def test_a_record_as_large_as_its_declaration_allows_is_decoded() -> None:
    widest = Record(True, b"1234", "abcde", Inner(9), (Inner(9), Inner(9)))
    assert unpack(Record, pack(widest)) == widest
    assert unpack(Wide, pack(Wide(bytes(1 << 20))), 1 << 21) == Wide(bytes(1 << 20))


def test_a_value_may_have_many_items_if_they_are_long() -> None:
    rows: Value = tuple((7, bytes(40), bytes(64)) for _ in range(5000))
    assert decode(encode(rows)) == rows
    with pytest.raises(DecodeError):
        decode(encode((0,) * 5000))


def test_a_record_is_the_array_of_its_fields() -> None:
    assert decode(pack(GOOD)) == (1, b"1234", "ābc", (3,), ((0,), (9,)))
    assert unpack(Record, pack(GOOD)) == GOOD
    assert [name for name, _ in describe(Record)] == ["flag", "key", "name", "inner", "many"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (0, 2),
        (0, b"\1"),
        (1, b"123"),
        (1, b"12345"),
        (1, "1234"),
        (2, "ābcdd"),
        (2, b"abc"),
        (3, 3),
        (3, (10,)),
        (3, (1, 1)),
        (3, ()),
        (4, ((0,), (0,), (0,))),
        (4, (0,)),
        (4, 0),
    ],
)
def test_a_field_that_breaks_its_declaration_is_named(field: int, value: Value) -> None:
    fields = list(decode(pack(GOOD)))  # type: ignore[arg-type]
    fields[field] = value
    with pytest.raises(DecodeError, match=f"Record.{('flag', 'key', 'name', 'inner', 'many')[field]}"):
        unpack(Record, encode(tuple(fields)))


@pytest.mark.parametrize(
    "value", [(), (1, b"1234", "a", (3,)), (1, b"1234", "a", (3,), (), 1), 7, b"", "Record"]
)
def test_another_number_of_fields_is_refused(value: Value) -> None:
    with pytest.raises(DecodeError):
        unpack(Record, encode(value))


def test_packing_checks_the_declaration_too() -> None:
    with pytest.raises(DecodeError):
        pack(Inner(10))
    with pytest.raises(DecodeError):
        pack(Record(True, b"123", "", Inner(1), ()))
