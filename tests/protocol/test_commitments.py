"""Hash commitments bind to context, content and nonce."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otto_protocol.crypto.commitments import check, commit

pytestmark = pytest.mark.anew

nonces = st.binary(min_size=32, max_size=32)
openings = st.tuples(st.binary(max_size=6), st.binary(max_size=6), nonces)


@given(openings, openings)
def test_only_the_same_opening_fits(one: tuple[bytes, bytes, bytes], two: tuple[bytes, bytes, bytes]) -> None:
    assert check(commit(*one), *one)
    assert check(commit(*one), *two) == (one == two)


@given(st.binary(max_size=40), openings)
def test_any_bytes_are_checked_without_an_error(data: bytes, opening: tuple[bytes, bytes, bytes]) -> None:
    assert not check(data, *opening)
    context, content, nonce = opening
    assert not check(commit(*opening), context, content, nonce[:31])
    assert not check(commit(*opening), context, content, nonce + b"\0")


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_nonce_of_another_length_is_the_callers_bug(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        commit(b"context", b"content", bytes(size))
