"""Healing: the arithmetic that makes a new draw pile when a player is gone, and tells nobody anything.

docs/protocol.md, "Healing", in its order. `F` is the deck of all hidden cards under the survivors' key, shuffled
by all of them; `own` are the survivors' hidden cards, each as the encryption under its owner's key alone.

    raise_entries  every survivor: s_k times every entry of F and of own, with one proof to S_k = s_k G
    total          everybody: the sums, which are the entries times s = sum s_k; nobody knows s
    tag_shares     every survivor: x_k times the raised a of F, and of its own cards
    tags           everybody: s times the card's point, for F and for own
    match          equal tags are equal cards: those entries of F are dead, the rest is the new pile

The keys S_k are proven with `proofs.prove_key` before anything is raised, and s_k is never used twice: two
tags of one card under s and s' with a known difference would give the card away.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otto_protocol.crypto.deck import Ciphertext, Deck, partial
from otto_protocol.crypto.group import Point, add, mul_each_secret
from otto_protocol.crypto.proofs import check_shares, prove_shares
from otto_protocol.hashing import Rng


def raise_entries(s: int, entries: Sequence[Ciphertext]) -> Deck:
    """(s a, s b) of every entry, in order; s is secret, in [1, Q). Two multiplications an entry."""
    raised = mul_each_secret(itertools.repeat(s, 2 * len(entries)), _points(entries))
    return tuple(zip(raised[::2], raised[1::2], strict=True))


def prove_raise(
    s: int, S: Point, entries: Sequence[Ciphertext], raised: Deck, context: bytes, rng: Rng
) -> bytes:
    """48 bytes: one proof that every point of `raised` is s times that of `entries`, where S = s G."""
    return prove_shares(s, S, _points(entries), _points(raised), context, rng)


def check_raise(S: Point, entries: Sequence[Ciphertext], raised: Deck, proof: bytes, context: bytes) -> bool:
    """Whether `proof` (any bytes) shows that all entries are raised, in order, to the secret key of S."""
    return check_shares(S, _points(entries), _points(raised), proof, context)


def total(raised_by_all: Sequence[Deck]) -> Deck | None:
    """The sum of the survivors' raised entries, entry by entry: the entries times s = sum s_k.

    None if one is the identity. Then s is 0, which no survivors can bring about while one of them is honest:
    the keys S_k are fixed and proven before. Raises ValueError for unequal lengths (`check_raise` refuses
    them).
    """
    sums = []
    for column in zip(*raised_by_all, strict=True):
        a, b = add(*(entry[0] for entry in column)), add(*(entry[1] for entry in column))
        if a is None or b is None:
            return None
        sums.append((a, b))
    return tuple(sums)


def tag_shares(x: int, raised: Sequence[Ciphertext]) -> tuple[Point, ...]:
    """x times the a of every entry, in order; proven with `proofs.prove_shares` for these a as bases."""
    return tuple(mul_each_secret(itertools.repeat(x, len(raised)), [a for a, _ in raised]))


def tags(raised: Sequence[Ciphertext], shares_of_all: Sequence[Sequence[Point]]) -> tuple[Point | None, ...]:
    """For every raised entry b minus its shares, which is s times the point of its card.

    `shares_of_all` has one sequence for each seat that can decrypt: all survivors for F, the owner alone for
    its own cards. Raises ValueError for unequal lengths.
    """
    columns = zip(raised, *shares_of_all, strict=True)
    return tuple(partial(entry[1], shares) for entry, *shares in columns)


@dataclass(frozen=True, slots=True)
class TagMatch:
    """What a heal found: the place in F of each own card's dead entry, and the places of the new pile."""

    dead: tuple[int, ...]
    pile: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Tags that cannot be: a bug or a broken assumption, so stop and blame nobody.

    `own` is the number of an own card whose tag is at `places` in F: none, or one that an earlier own card
    took. It is None if F has the same tag, or the identity, at all of `places`.
    """

    own: int | None
    places: tuple[int, ...]


def match(pile_tags: Sequence[Point | None], own_tags: Sequence[Point | None]) -> TagMatch | Mismatch:
    """Which entries of F are cards that survivors hold: each own tag equals exactly one tag of F."""
    place_of: dict[Point, int] = {}
    for place, tag in enumerate(pile_tags):
        if tag is None:
            return Mismatch(None, (place,))
        if tag in place_of:
            return Mismatch(None, (place_of[tag], place))
        place_of[tag] = place
    dead: dict[int, None] = {}  # in the order of `own`
    for number, tag in enumerate(own_tags):
        found = None if tag is None else place_of.get(tag)
        if found is None:
            return Mismatch(number, ())
        if found in dead:
            return Mismatch(number, (found,))
        dead[found] = None
    return TagMatch(tuple(dead), tuple(place for place in range(len(pile_tags)) if place not in dead))


def _points(entries: Iterable[Ciphertext]) -> list[Point]:
    return [point for entry in entries for point in entry]
