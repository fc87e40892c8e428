"""Points and cards out of what a seat signed: whoever signed something else is at fault."""

from __future__ import annotations

from otto_protocol.crypto import deck as cards
from otto_protocol.crypto.deck import Ciphertext, Deck
from otto_protocol.crypto.group import POINT_BYTES, Point, decode_point, sub
from otto_protocol.errors import DecodeError, PeerFault


def one_point(seat: int, rule: str, data: bytes) -> Point:
    """The point in 33 bytes that `seat` signed; raises PeerFault."""
    try:
        return decode_point(data)
    except DecodeError as error:
        raise PeerFault(seat, rule, str(error)) from None


def many_points(seat: int, rule: str, data: bytes, count: int) -> tuple[Point, ...]:
    """Exactly `count` points that `seat` signed, 33 bytes each; raises PeerFault."""
    if len(data) != count * POINT_BYTES:
        raise PeerFault(seat, rule, f"{len(data)} bytes where {count} points belong")
    return tuple(one_point(seat, rule, data[i : i + POINT_BYTES]) for i in range(0, len(data), POINT_BYTES))


def whole_deck(seat: int, rule: str, data: bytes, count: int) -> Deck:
    """Exactly `count` ciphertexts that `seat` signed, 66 bytes each; raises PeerFault."""
    try:
        deck = cards.decode_deck(data)
    except DecodeError as error:
        raise PeerFault(seat, rule, str(error)) from None
    if len(deck) != count:
        raise PeerFault(seat, rule, f"{len(deck)} cards where {count} belong")
    return deck


def card_under(held: Ciphertext, share: Point) -> int:
    """The card id of a slot (a, b - all other shares), given its owner's share."""
    point = sub(held[1], share)
    card = cards.card_of(point) if point is not None else None
    assert card is not None, "verified shuffles contain cards only"
    return card
