"""Cards as points, and decks as ElGamal ciphertexts of them.

A ciphertext under the joint key X is a pair (a, b) = (r G, M + r X). With every share x_k a, the sum of which
is r X, the card is b minus the shares. A deck that nobody shuffled yet has r = 1, because the identity (r =
0) has no encoding.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from otto_protocol.crypto.group import POINT_BYTES, G, Point, add, decode_point, hash_to_group, neg
from otto_protocol.errors import DecodeError
from otto_protocol.limits import MAX_CARDS

CIPHERTEXT_BYTES = 2 * POINT_BYTES

Ciphertext = tuple[Point, Point]
Deck = tuple[Ciphertext, ...]


@functools.cache
def _all_cards() -> tuple[Point, ...]:
    cards = tuple(hash_to_group("card", i.to_bytes(2, "big")) for i in range(MAX_CARDS))
    assert len(set(cards)) == MAX_CARDS
    return cards


@functools.cache
def _ids() -> dict[Point, int]:
    return {point: card for card, point in enumerate(_all_cards())}


def card_points(count: int) -> tuple[Point, ...]:
    """The points M_0 .. M_(count-1), distinct, the same for every table; ValueError beyond 304.

    Cards with equal faces have different ids and points. Nobody knows a discrete logarithm of one to the base
    of another: a known one would leak every card.
    """
    if not 0 <= count <= MAX_CARDS:
        raise ValueError(f"at most {MAX_CARDS} cards")
    return _all_cards()[:count]


def card_of(point: Point) -> int | None:
    """The id whose point this is, or None."""
    return _ids().get(point)


def open_deck(card_ids: Sequence[int], X: Point) -> Deck:
    """(G, M_i + X) for every id in the given order: what a shuffle starts from.

    Raises ValueError for a number that is no card, and if X is minus the point of a card (2^-248 for a key
    that is bound by proofs of possession).
    """
    points = _all_cards()
    deck = []
    for card in card_ids:
        if not 0 <= card < MAX_CARDS:
            raise ValueError(f"{card} is no card")
        b = add(points[card], X)
        if b is None:
            raise ValueError("the joint key hides a card as the identity")
        deck.append((G, b))
    return tuple(deck)


def partial(b: Point, shares: Sequence[Point]) -> Point | None:
    """b minus the sum of the shares; None is the identity.

    With all shares but x_k a, what is left with `a` is an encryption of the card under X_k alone; with all,
    the card.
    """
    return add(b, *(neg(share) for share in shares))


def encode_deck(deck: Deck) -> bytes:
    """66 bytes for each ciphertext: a, then b."""
    return b"".join([a.encode() + b.encode() for a, b in deck])


def decode_deck(data: bytes) -> Deck:
    """The deck of `encode_deck`, of any length; raises DecodeError for anything else."""
    if len(data) % CIPHERTEXT_BYTES:
        raise DecodeError("not a whole number of ciphertexts")
    points = [decode_point(data[at : at + POINT_BYTES]) for at in range(0, len(data), POINT_BYTES)]
    return tuple(zip(points[::2], points[1::2], strict=True))
