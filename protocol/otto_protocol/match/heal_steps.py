"""The heal as steps: after seats are gone, survivors keep their cards and the rest becomes the new draw pile.

docs/protocol.md, "Healing". The arithmetic is in `heal`; here it is put in the order that keeps it safe: all
shuffle proofs before anybody raises, all raise proofs before anybody gives a tag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from otto_protocol.crypto import heal, proofs
from otto_protocol.crypto.deck import Ciphertext, Deck
from otto_protocol.crypto.group import Point
from otto_protocol.errors import PeerFault
from otto_protocol.match import messages as m
from otto_protocol.match.effects import HealKey, Purpose, Raised, Tagged
from otto_protocol.match.place import Heal, Place
from otto_protocol.match.signed_points import many_points, one_point, whole_deck


def kept_slots(state: Heal) -> tuple[int, ...]:
    """The hidden slots that survivors keep, in order of seat and slot."""
    return tuple(slot for slots in state.hidden.kept for slot in sorted(slots))


def kept_cards(place: Place) -> Deck:
    """What is raised beside F: (a, b less the others' shares), an encryption under the owner's key alone."""
    return tuple(place.held[slot] for slot in kept_slots(place.heal_now))


def check(place: Place, seat: int, body: m.HealProof | m.Raise | m.Tags) -> HealKey | Raised | Tagged:
    """What a message of a heal says; raises PeerFault. (The shuffle proofs are verified when all are there.)"""
    state = place.heal_now
    match body:
        case m.HealProof():
            key = one_point(seat, "P12", body.key)
            if not proofs.check_key(key, body.possession, place.context(Purpose.HEAL_KEY, seat)):
                raise PeerFault(seat, "P12", "no proof of possession of the healing key")
            return HealKey(body.proof, key)
        case m.Raise():
            kept = kept_cards(place)
            pile = whole_deck(seat, "P13", body.pile, len(place.deck))
            hidden = whole_deck(seat, "P13", body.hidden, len(kept))
            context = place.context(Purpose.RAISE, seat)
            entries, raised = (*place.deck, *kept), (*pile, *hidden)
            if not heal.check_raise(state.keys[seat], entries, raised, body.proof, context):
                raise PeerFault(seat, "P13", "the proof of the raised cards does not hold")
            return Raised(pile, hidden)
        case m.Tags():
            tagged = Tagged(
                many_points(seat, "P14", body.pile, len(state.pile)),
                many_points(seat, "P14", body.hidden, len(state.own[seat])),
            )
            bases = tag_bases(state, seat)
            shares = (*tagged.pile, *tagged.own)
            if not proofs.check_shares(
                place.keys[seat], bases, shares, body.proof, place.context(Purpose.TAGS, seat)
            ):
                raise PeerFault(seat, "P14", "the proof of the tags does not hold")
            return tagged


def tag_bases(state: Heal, seat: int) -> list[Point]:
    """What a seat multiplies by its game key: the raised a of F, then of its own hidden cards."""
    return [entry[0] for entry in (*state.pile, *state.own[seat])]


def take_keys(state: Heal, given: Mapping[int, HealKey]) -> Heal:
    """After HEAL_PROVE: everybody's fresh key."""
    return replace(state, keys={seat: one.key for seat, one in given.items()})


def take_raised(state: Heal, given: Mapping[int, Raised]) -> Heal:
    """After RAISE: everything times s, the sum of secrets of which nobody knows more than one."""
    pile = heal.total([one.pile for one in given.values()])
    hidden = heal.total([one.hidden for one in given.values()])
    assert pile is not None and hidden is not None, "the sum of proven keys is not zero"
    own: list[Deck] = []
    start = 0
    for slots in state.hidden.kept:
        own.append(hidden[start : start + len(slots)])
        start += len(slots)
    return replace(state, pile=pile, own=tuple(own))


def new_pile(place: Place, given: Mapping[int, Tagged]) -> tuple[Ciphertext, ...]:
    """After TAGS: the entries of F that nobody holds, in order."""
    state = place.heal_now
    pile_tags = heal.tags(state.pile, [one.pile for one in given.values()])
    own_tags = [tag for seat, one in sorted(given.items()) for tag in heal.tags(state.own[seat], [one.own])]
    found = heal.match(pile_tags, own_tags)
    assert isinstance(found, heal.TagMatch), found  # a bug of ours: stop, and blame nobody
    return tuple(place.deck[number] for number in found.pile)
