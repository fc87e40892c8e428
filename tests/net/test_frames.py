"""Frames: exact bytes, and nothing else is read."""

from __future__ import annotations

import contextlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otto_p2p.net.frames import (
    KINDS,
    MAX_FRAME,
    MAX_GAME,
    Beat,
    Bye,
    Frame,
    Hears,
    LobbyRecord,
    MatchMessage,
    PeerHint,
    Peers,
    Sync,
    Synced,
    decode_frame,
    encode_frame,
)
from otto_protocol.errors import DecodeError

KEY = bytes(range(32))
EXAMPLES: list[Frame] = [
    Beat((Hears(KEY, 1500),)),
    LobbyRecord(b"record"),
    MatchMessage(b"message"),
    Sync(KEY, 3, 77),
    Peers((PeerHint(KEY, ("10.0.0.1:47701", "[fe80::1]:5")),)),
    Bye(0),
    Synced(KEY),
]


@pytest.mark.parametrize("frame", EXAMPLES)
def test_what_is_written_is_read(frame: Frame) -> None:
    assert decode_frame(encode_frame(frame)) == frame


def test_every_kind_has_an_example() -> None:
    assert {type(frame) for frame in EXAMPLES} == set(KINDS.values())


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_a_decode_error(data: bytes) -> None:
    try:
        frame = decode_frame(data)
    except DecodeError:
        return
    assert encode_frame(frame) == data


@given(st.sampled_from(EXAMPLES), st.data())
def test_one_changed_byte_is_another_frame_or_none(frame: Frame, data: st.DataObject) -> None:
    good = encode_frame(frame)
    place = data.draw(st.integers(0, len(good) - 1))
    bad = bytearray(good)
    bad[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(DecodeError):
        assert decode_frame(bytes(bad)) != frame


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("9ffd74f7dd74fffdbd"),
        bytes.fromhex("ddffffffff"),
        b"\x91" * 200_000,
        b"\x02\x91\xc6\xff\xff\xff\xff",
        b"",
        b"\x07",
        b"\xff" * 50,
    ],
)
def test_bombs_are_refused(data: bytes) -> None:
    # field report 31
    for prefix in (b"", b"\x00", b"\x02"):
        with pytest.raises(DecodeError):
            decode_frame(prefix + data)


def test_limits_are_kept_when_writing_too() -> None:
    assert len(encode_frame(MatchMessage(bytes(MAX_GAME)))) <= MAX_FRAME
    with pytest.raises(DecodeError):
        encode_frame(MatchMessage(bytes(MAX_GAME + 1)))
    with pytest.raises(DecodeError):
        encode_frame(Peers((PeerHint(KEY, ("x" * 65,)),)))


def peak(data: bytes) -> int:
    """The most bytes that are held at one moment while the frame is read; whether it is one does not count."""
    tracemalloc.start()
    try:
        with contextlib.suppress(DecodeError):
            decode_frame(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


BOMBS = {"pairs": b"\x91\x00", "ints": b"\x00", "empty": b"\x90", "rows": b"\xdc\x00\x40" + bytes(64)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("items", BOMBS)
def test_a_frame_of_many_arrays_costs_no_more_than_its_bytes(kind: int, items: str) -> None:
    """An honest frame of that size is copied twice; the arrays would take 8 to 30 times their bytes."""
    honest = encode_frame(MatchMessage(bytes(MAX_GAME)))
    decode_frame(bytes([kind]) + encode_frame(EXAMPLES[kind])[1:])  # worked out once for each kind
    item = BOMBS[items]
    count = (MAX_FRAME - 5) // len(item)
    bomb = bytes([kind]) + b"\xdd" + count.to_bytes(4, "big") + item * count
    assert peak(bomb) <= peak(honest)
