"""Tagged hashes are injective in their parts; the seeded stream does not depend on how it is read."""

from __future__ import annotations

import collections
import hashlib
import itertools

from hypothesis import given
from hypothesis import strategies as st

from otto_protocol.hashing import Drbg, random_below, shuffled, tagged_hash

parts = st.lists(st.binary(max_size=8), max_size=4)
tags = st.text(max_size=4)


@given(tags, parts, tags, parts)
def test_different_inputs_hash_differently(
    tag: str, given_parts: list[bytes], other: str, more: list[bytes]
) -> None:
    same = (tag, given_parts) == (other, more)
    assert (tagged_hash(tag, *given_parts) == tagged_hash(other, *more)) == same


@given(st.binary(max_size=20), st.integers(0, 20))
def test_moving_a_border_changes_the_hash(data: bytes, at: int) -> None:
    cut = tagged_hash("x", data[:at], data[at:])
    assert cut != tagged_hash("x", data)
    others = {tagged_hash("x", data[:i], data[i:]) for i in range(len(data) + 1)}
    assert len(others) == len(data) + 1


def test_the_hash_is_plain_sha256_over_length_prefixed_parts() -> None:
    tag = b"otto-p2p/1/x"
    text = len(tag).to_bytes(8, "big") + tag + (2).to_bytes(8, "big") + b"ab" + bytes(8)
    assert tagged_hash("x", b"ab", b"") == hashlib.sha256(text).digest()


@given(st.binary(max_size=40), st.lists(st.integers(0, 100), max_size=12))
def test_the_stream_is_the_same_in_any_pieces(seed: bytes, sizes: list[int]) -> None:
    rng = Drbg(seed)
    pieces = b"".join(rng(size) for size in sizes)
    blocks = (tagged_hash("drbg", seed, i.to_bytes(8, "big")) for i in itertools.count())
    expected = b"".join(itertools.islice(blocks, sum(sizes) // 32 + 1))[: sum(sizes)]
    assert pieces == expected


@given(st.integers(1, 2**70), st.binary(max_size=4))
def test_random_below_stays_below(limit: int, seed: bytes) -> None:
    assert 0 <= random_below(limit, Drbg(seed)) < limit


def test_random_below_rejects_and_does_not_reduce() -> None:
    answers = iter([b"\x07", b"\x05", b"\x06", b"\x04"])
    assert random_below(5, lambda size: next(answers)) == 4


def test_every_order_of_three_is_as_likely_as_any_other() -> None:
    rng = Drbg(b"orders")
    seen = collections.Counter(tuple(shuffled([0, 1, 2], rng)) for _ in range(6000))
    assert len(seen) == 6
    assert all(850 < count < 1150 for count in seen.values())  # 5 standard deviations are 144


@given(st.lists(st.integers(), max_size=30), st.binary(max_size=4))
def test_shuffled_keeps_the_items_and_the_argument(items: list[int], seed: bytes) -> None:
    before = list(items)
    assert sorted(shuffled(items, Drbg(seed))) == sorted(before)
    assert items == before
