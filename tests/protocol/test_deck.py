"""Cards as points and decks as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otto_protocol.crypto.deck import (
    CIPHERTEXT_BYTES,
    card_of,
    card_points,
    decode_deck,
    encode_deck,
    open_deck,
    partial,
)
from otto_protocol.crypto.group import G, add, hash_to_group, mul_base_secret, mul_secret, neg, random_scalar
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg
from otto_protocol.limits import CARDS_PER_DECK, MAX_CARDS

KEYS = [random_scalar(Drbg(bytes([seat]))) for seat in range(3)]
X = add(*(mul_base_secret(key) for key in KEYS))
assert X is not None
DECK = open_deck(range(6), X)


def test_the_cards_of_four_decks_are_distinct_hashed_points() -> None:
    cards = card_points(4 * CARDS_PER_DECK)
    assert len(set(cards)) == MAX_CARDS == 304
    assert cards[:76] == card_points(76)
    assert [card_of(point) for point in cards] == list(range(304))
    assert cards[7] == hash_to_group("card", b"\0\7")
    # no card is a small multiple of G or of another card's negative: M_i = i G would make every card readable
    assert not {mul_base_secret(i) for i in range(1, 305)} & set(cards)
    assert not {neg(point) for point in cards} & set(cards)


def test_what_is_no_card_has_no_number() -> None:
    assert card_of(G) is None
    assert card_of(neg(card_points(1)[0])) is None
    for count in (-1, 305):
        with pytest.raises(ValueError, match="304"):
            card_points(count)
    for card in (-1, 304):
        with pytest.raises(ValueError, match="no card"):
            open_deck([card], G)


def test_a_key_that_hides_a_card_is_refused() -> None:
    with pytest.raises(ValueError, match="identity"):
        open_deck([0, 1], neg(card_points(2)[1]))


@given(st.lists(st.integers(0, 303), min_size=1, max_size=8))
def test_all_shares_open_a_card_and_fewer_do_not(ids: list[int]) -> None:
    assert X is not None
    for (a, b), card in zip(open_deck(ids, X), ids, strict=True):
        shares = [mul_secret(key, a) for key in KEYS]
        opened = partial(b, shares)
        assert opened is not None
        assert card_of(opened) == card
        mine = partial(b, shares[1:])  # an encryption under the first key alone
        assert mine is not None
        assert card_of(mine) is None
        again = partial(mine, shares[:1])
        assert again == opened


def test_partial_decryption_to_the_identity_is_none() -> None:
    assert partial(G, [G]) is None
    assert partial(G, []) == G


def test_a_deck_is_66_bytes_a_card_and_comes_back() -> None:
    data = encode_deck(DECK)
    assert len(data) == 6 * CIPHERTEXT_BYTES == 6 * 66
    assert decode_deck(data) == DECK
    assert decode_deck(b"") == ()


@given(st.data())
def test_bytes_that_are_no_deck_are_refused(data: st.DataObject) -> None:
    good = encode_deck(DECK)
    cut = data.draw(st.integers(0, len(good) - 1))
    if cut % 66:
        with pytest.raises(DecodeError):
            decode_deck(good[:cut])
    at = data.draw(st.integers(0, len(good) - 1))
    changed = good[:at] + bytes([data.draw(st.integers(0, 255))]) + good[at + 1 :]
    try:
        assert encode_deck(decode_deck(changed)) == changed
    except DecodeError:
        assert changed != good


def test_the_identity_and_long_points_do_not_decode() -> None:
    # cheats 10 and field report 26
    good = encode_deck(DECK)
    with pytest.raises(DecodeError, match="whole number"):
        decode_deck(good[:33])
    for point in (bytes(33), b"\x04" + good[1:33], b"\x06" + good[1:33]):
        with pytest.raises(DecodeError):
            decode_deck(point + good[33:])
