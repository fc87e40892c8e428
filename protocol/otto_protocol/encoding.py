"""Canonical bytes: MessagePack arrays of unsigned ints, bin and str, and the strict inverse.

`decode` accepts exactly what `encode` produces: MessagePack itself allows several encodings of one
value (non-minimal ints, repeated map keys), so after decoding the value is encoded again and compared.
Arrays are counted while they are decoded: a stranger's megabyte of nested arrays costs what is left of it
after the first few items too many.

Frozen dataclasses are encoded as the array of their fields in declaration order; the type hints say
what is accepted (`Annotated[int, Max(9)]`, `Annotated[bytes, Exactly(33)]`, `Annotated[str, AtMost(63)]`,
`Annotated[tuple[X, ...], AtMost(10)]`, nested dataclasses, `bool` as 0 or 1, an IntEnum that counts from 0).
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import msgpack

from otto_protocol.errors import DecodeError

Value = typing.Union[int, bytes, str, tuple["Value", ...]]  # noqa: UP007 (it names itself)
T = TypeVar("T")

MAX_UINT = 2**64 - 1
MAX_BYTES = 1 << 20  # the largest value that `decode` looks at unless told otherwise
MAX_DEPTH = 8
FREE_ITEMS = 1024  # items that any value may have, however short it is
SLACK = 16  # items and bytes of a record beyond what its declaration allows
LONGEST_HEAD = 5  # bytes before the content of an array, a bin or a str
BYTES_PER_ITEM = 16  # of longer ones: whatever has many items here (a transcript) is made of long items


@dataclasses.dataclass(frozen=True, slots=True)
class Max:
    """The largest int that a field may hold."""

    value: int


@dataclasses.dataclass(frozen=True, slots=True)
class Exactly:
    """The length that a field has: bytes of a bin, entries of a tuple."""

    length: int


@dataclasses.dataclass(frozen=True, slots=True)
class AtMost:
    """The greatest length of a field: bytes of a bin, UTF-8 bytes of a str, entries of a tuple."""

    length: int


def encode(value: Value) -> bytes:
    """The one encoding of `value`. Raises TypeError or ValueError for what has none (a caller's bug)."""
    _require_plain(value, MAX_DEPTH)
    return typing.cast(bytes, msgpack.packb(value, use_bin_type=True))


def decode(data: bytes, max_bytes: int = MAX_BYTES) -> Value:
    """The value whose `encode` is `data`; raises DecodeError for anything else.

    Takes time and memory in proportion to `len(data)`, which is at most `max_bytes`; the value has at most
    `FREE_ITEMS` items, and one for each `BYTES_PER_ITEM` bytes.
    """
    items = FREE_ITEMS + min(len(data), max_bytes) // BYTES_PER_ITEM
    return _decode(data, max_bytes, items, items)


def _decode(data: bytes, max_bytes: int, max_items: int, max_array: int) -> Value:
    """`decode` for a value of at most that many items, at most `max_array` of them in one array."""
    if len(data) > max_bytes:
        raise DecodeError(f"{len(data)} bytes where at most {max_bytes} are allowed")
    left = max_items

    def count(array: tuple[object, ...]) -> tuple[object, ...]:
        nonlocal left
        left -= len(array)
        if left < 0:
            raise ValueError("too many items")
        return array

    try:
        value = msgpack.unpackb(
            data,
            use_list=False,
            raw=False,
            strict_map_key=True,
            list_hook=count,
            max_array_len=max_array,
            max_map_len=0,
            max_ext_len=0,
        )
        _require_plain(value, MAX_DEPTH)
        again = msgpack.packb(value, use_bin_type=True)
    except (ValueError, TypeError, OverflowError, msgpack.UnpackException, RecursionError) as error:
        raise DecodeError(f"not canonical MessagePack: {type(error).__name__}") from None
    if again != data:
        raise DecodeError("not the canonical encoding of its value")
    return typing.cast(Value, value)


def _require_plain(value: object, depth: int) -> None:
    kind = type(value)
    if kind is tuple:
        if depth == 0:
            raise ValueError("nested too deeply")
        for item in typing.cast(tuple[object, ...], value):
            _require_plain(item, depth - 1)
    elif kind is int:
        if not 0 <= typing.cast(int, value) <= MAX_UINT:
            raise ValueError("an int out of range")
    elif kind is not bytes and kind is not str:
        raise TypeError(f"{kind.__name__} has no canonical encoding")


def pack(record: Any) -> bytes:
    """The canonical bytes of a dataclass. Raises DecodeError if a field breaks its own declaration."""
    return encode(to_value(record))


def unpack(cls: type[T], data: bytes, max_bytes: int = MAX_BYTES) -> T:
    """The dataclass whose `pack` is `data`; raises DecodeError for anything else.

    No more is decoded than the declarations of `cls` allow, and a little: enough to name the field that is
    too long.
    """
    bound = _bound(cls)
    value = _decode(data, min(max_bytes, bound.octets + SLACK), bound.items + SLACK, bound.array + SLACK)
    return from_value(cls, value)


def to_value(record: Any) -> tuple[Value, ...]:
    """The fields of a dataclass in wire order, checked against their declarations."""
    return tuple(field.write(getattr(record, name)) for name, field in _fields(type(record)))


def from_value(cls: type[T], value: Value) -> T:
    """A dataclass from its fields in wire order; raises DecodeError, naming the field, if they do not fit."""
    fields = _fields(cls)
    if type(value) is not tuple or len(value) != len(fields):
        raise DecodeError(f"{cls.__name__} has {len(fields)} fields")
    arguments = []
    for (name, field), item in zip(fields, value, strict=True):
        try:
            arguments.append(field.read(item))
        except DecodeError as error:
            raise DecodeError(f"{cls.__name__}.{name}: {error}") from None
    return cls(*arguments)


def describe(cls: type[Any]) -> list[tuple[str, str]]:
    """(field name, what it holds) in wire order: the docs are made from this."""
    return [(name, field.text) for name, field in _fields(cls)]


@dataclasses.dataclass(frozen=True, slots=True)
class _Bound:
    """The most that a value can have: entries of all its arrays, entries of one array, encoded bytes."""

    items: int
    array: int
    octets: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    read: Callable[[Value], Any]
    write: Callable[[Any], Value]
    text: str
    bound: _Bound


_known: dict[type[Any], tuple[tuple[str, _Field], ...]] = {}


def _fields(cls: type[Any]) -> tuple[tuple[str, _Field], ...]:
    found = _known.get(cls)
    if found is None:
        hints = typing.get_type_hints(cls, include_extras=True)
        found = tuple((field.name, _field(hints[field.name])) for field in dataclasses.fields(cls))
        _known[cls] = found
    return found


_bounds: dict[type[Any], _Bound] = {}


def _bound(cls: type[Any]) -> _Bound:
    """The bound of a dataclass."""
    found = _bounds.get(cls)
    if found is None:
        parts = [field.bound for _, field in _fields(cls)]
        found = _bounds[cls] = _Bound(
            len(parts) + sum(part.items for part in parts),
            max(len(parts), *(part.array for part in parts)),
            LONGEST_HEAD + sum(part.octets for part in parts),
        )
    return found


def _field(hint: Any) -> _Field:
    limits: tuple[Any, ...] = ()
    while hasattr(hint, "__metadata__"):
        limits = (*limits, *hint.__metadata__)
        hint = hint.__origin__
    if hint is bool:
        return _flag()
    if isinstance(hint, type) and issubclass(hint, enum.IntEnum):
        return _member(hint)
    if hint is int:
        return _number(next((limit.value for limit in limits if isinstance(limit, Max)), MAX_UINT))
    if hint is bytes:
        return _octets(*_lengths(limits))
    if hint is str:
        return _text(*_lengths(limits))
    if typing.get_origin(hint) in (tuple, types.GenericAlias):
        item, ellipsis = typing.get_args(hint)
        assert ellipsis is ...
        return _sequence(_field(item), *_lengths(limits))
    assert isinstance(hint, type) and dataclasses.is_dataclass(hint), hint
    record: type[Any] = hint
    names = ", ".join(name for name, _ in _fields(record))
    return _Field(functools.partial(from_value, record), to_value, f"[{names}]", _bound(record))


def _lengths(limits: tuple[Any, ...]) -> tuple[int, int]:
    for limit in limits:
        if isinstance(limit, Exactly):
            return limit.length, limit.length
        if isinstance(limit, AtMost):
            return 0, limit.length
    raise AssertionError("a field without a bound")


def _flag() -> _Field:
    def read(value: Value) -> bool:
        if type(value) is not int or value > 1:
            raise DecodeError("not 0 or 1")
        return value == 1

    return _Field(read, int, "0 or 1", _Bound(0, 0, 1))


def _number(most: int) -> _Field:
    def read(value: Value) -> int:
        if type(value) is not int or not 0 <= value <= most:
            raise DecodeError(f"not an int up to {most}")
        return value

    return _Field(read, read, f"uint <= {most}", _Bound(0, 0, len(encode(most))))


def _member(kind: type[enum.IntEnum]) -> _Field:
    assert [member.value for member in kind] == list(range(len(kind))), "a field has the bound of its numbers"
    number = _number(len(kind) - 1)
    return _Field(lambda value: kind(number.read(value)), int, number.text, number.bound)


def _octets(least: int, most: int) -> _Field:
    def read(value: Value) -> bytes:
        if type(value) is not bytes or not least <= len(value) <= most:
            raise DecodeError(f"not {_span(least, most)} bytes")
        return value

    return _Field(read, read, f"{_span(least, most)} bytes", _Bound(0, 0, LONGEST_HEAD + most))


def _text(least: int, most: int) -> _Field:
    def read(value: Value) -> str:
        if type(value) is not str or not least <= len(value.encode("utf-8", "surrogatepass")) <= most:
            raise DecodeError(f"not a str of {_span(least, most)} bytes")
        return value

    return _Field(read, read, f"str, {_span(least, most)} bytes", _Bound(0, 0, LONGEST_HEAD + most))


def _sequence(item: _Field, least: int, most: int) -> _Field:
    def check(value: Any) -> tuple[Any, ...]:
        if type(value) is not tuple or not least <= len(value) <= most:
            raise DecodeError(f"not an array of {_span(least, most)}")
        return value

    return _Field(
        lambda value: tuple(item.read(entry) for entry in check(value)),
        lambda value: tuple(item.write(entry) for entry in check(value)),
        f"array of {_span(least, most)}: {item.text}",
        _Bound(
            most * (1 + item.bound.items),
            max(most, item.bound.array),
            LONGEST_HEAD + most * item.bound.octets,
        ),
    )


def _span(least: int, most: int) -> str:
    return str(most) if least == most else f"up to {most}"
