"""Opening cards to everybody: which of them are not public yet, and what the owner's shares show."""

from __future__ import annotations

from otto_protocol.crypto import proofs
from otto_protocol.errors import PeerFault
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Purpose
from otto_protocol.match.place import Place
from otto_protocol.match.signed_points import card_under, many_points


def unknown_slots(place: Place, slots: tuple[int, ...]) -> tuple[int, ...]:
    """Those of `slots` whose cards are not public yet, ascending."""
    return tuple(sorted(slot for slot in slots if slot not in place.play.known))


def open_cards(place: Place, seat: int, slots: tuple[int, ...], opening: m.Opening) -> tuple[int, ...]:
    """The card ids of slots that `seat` owns; raises PeerFault (P10) if the opening does not prove them."""
    unknown = unknown_slots(place, slots)
    shares = many_points(seat, "P10", opening.shares, len(unknown))
    cards_of: dict[int, int] = {slot: place.play.known[slot] for slot in slots if slot not in unknown}
    if not unknown:
        if opening.proof:
            raise PeerFault(seat, "P10", "a proof where nothing is opened")
        return tuple(cards_of[slot] for slot in slots)
    bases = [place.held[slot][0] for slot in unknown]
    context = place.context(Purpose.OPEN, seat)
    if not proofs.check_shares(place.keys[seat], bases, shares, opening.proof, context):
        raise PeerFault(seat, "P10", "the proof of the opening does not hold")
    for slot, share in zip(unknown, shares, strict=True):
        cards_of[slot] = card_under(place.held[slot], share)
    return tuple(cards_of[slot] for slot in slots)
