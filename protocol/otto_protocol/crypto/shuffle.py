"""The mix: a deck re-encrypted in a secret order, its secrets, and what of it can be computed ahead.

Written additively: e'_i = e_(j_i) + r_i (G, X) for the new deck e', the old deck e and the secret order j;
the commitment to the order is c_(j_i) = s_(j_i) G + h_i. Sources and the proof: `shuffle_proof`.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field, replace

from otto_protocol.crypto.deck import Deck, encode_deck
from otto_protocol.crypto.group import (
    FixedBase,
    Point,
    add,
    hash_to_group,
    mul_base_secret,
    mul_each_secret,
    neg,
    random_scalars,
)
from otto_protocol.crypto.proofs import hedged, joined
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Drbg, Rng, shuffled, tagged_hash

SEED_BYTES = 32


@functools.cache
def generators(count: int) -> tuple[Point, tuple[Point, ...]]:
    """(h, (h_1 .. h_count)): points of which nobody knows any discrete logarithm (GetGenerators)."""
    return hash_to_group("shuffle/h"), tuple(
        hash_to_group("shuffle/h_i", i.to_bytes(4, "big")) for i in range(count)
    )


@functools.cache
def blinding_base() -> FixedBase:
    """h with its table, for the two commitments of a proof for each card; the same for decks of all sizes."""
    return FixedBase(generators(0)[0])


@functools.cache
def generators_digest(count: int) -> bytes:
    """32 bytes that name `generators(count)` in a hash."""
    h, hs = generators(count)
    return tagged_hash("shuffle/generators", joined((h, *hs)))


@functools.cache
def minus_generators_sum(count: int) -> Point:
    """Minus the sum of h_1 .. h_count."""
    total = add(*generators(count)[1])
    assert total is not None
    return neg(total)


@dataclass(frozen=True, slots=True)
class Witness:
    """The secrets of one shuffle, all from one seed: what has to be kept until its proof is made.

    order[i] is the old place of the card at the new place i; r and s are the scalars. `c` commits to the
    order, where it was computed ahead.
    """

    seed: bytes = field(repr=False)
    order: tuple[int, ...] = field(repr=False)
    r: tuple[int, ...] = field(repr=False)
    s: tuple[int, ...] = field(repr=False)
    c: tuple[Point, ...] | None = field(default=None, repr=False)

    @classmethod
    def restore(cls, seed: bytes, count: int) -> Witness:
        """The witness for a deck of `count` cards whose `seed` (32 bytes) was stored (GenPermutation)."""
        rng = Drbg(tagged_hash("shuffle/witness", seed, count.to_bytes(4, "big")))
        order = tuple(shuffled(list(range(count)), rng))
        return cls(seed, order, random_scalars(count, rng), random_scalars(count, rng))

    def commitment(self) -> tuple[Point, ...]:
        """c, as computed ahead or with one fixed-base multiplication a card (GenPermutationCommitment)."""
        if self.c is not None:
            return self.c
        c: list[Point | None] = [None] * len(self.order)
        for h_i, j in zip(generators(len(self.order))[1], self.order, strict=True):
            c[j] = add(mul_base_secret(self.s[j]), h_i)
        # None would mean that s_j is minus the discrete logarithm of h_i, which nobody can hit
        return tuple(point for point in c if point is not None)


class Prepared:
    """What can be computed of one shuffle before its deck is known; to be used once, and never stored.

    One set used on two decks reveals the order, so `shuffle` burns it.
    """

    def __init__(self, count: int, rng: Rng) -> None:
        """What needs neither the deck nor the key: the secrets and all r G (fixed-base multiplications)."""
        self.count = count
        self._witness: Witness | None = Witness.restore(rng(SEED_BYTES), count)
        self._rG = [mul_base_secret(r) for r in self._witness.r]
        self._rX: list[Point] = []
        self._X: Point | None = None

    def set_key(self, X: Point) -> None:
        """Also the part that needs the joint key: `count` multiplications. Raises LocalError if burnt."""
        if self._witness is None:
            raise LocalError("these shuffle secrets were used already")
        if self._X != X:
            self._rX = mul_each_secret(self._witness.r, itertools.repeat(X, self.count))
            self._X = X

    def commit(self) -> None:
        """Also the commitment to the order, which `prove` needs. Raises LocalError if burnt."""
        if self._witness is None:
            raise LocalError("these shuffle secrets were used already")
        self._witness = replace(self._witness, c=self._witness.commitment())

    def burn(self, X: Point) -> tuple[Witness, list[Point], list[Point]]:
        """(witness, all r G, all r X), handed out once. Raises LocalError the second time."""
        self.set_key(X)
        assert self._witness is not None
        taken = self._witness, self._rG, self._rX
        self._witness, self._rG, self._rX, self._X = None, [], [], None
        return taken


def prepare(count: int, rng: Rng) -> Prepared:
    """The part of a shuffle of `count` cards that can be computed before the deck and the key are known."""
    prepared = Prepared(count, rng)
    prepared.commit()
    return prepared


def shuffle(deck: Deck, X: Point, rng: Rng, prepared: Prepared | None = None) -> tuple[Deck, Witness]:
    """(new deck, witness for `prove`): every card re-encrypted under X, in a secret uniform order
    (GenShuffle).

    Without `prepared` the secrets also depend on the deck and X: a repeated `rng` does not repeat them. With
    it, it is burnt here. Raises LocalError if it was burnt before or is for another number of cards.
    """
    if prepared is None:
        seed = hedged("shuffle", rng, b"", X.encode(), encode_deck(deck))
        prepared = Prepared(len(deck), seed)
    if prepared.count != len(deck):
        raise LocalError("the prepared shuffle is for another number of cards")
    witness, rG, rX = prepared.burn(X)
    new = []
    for j, r_G, r_X in zip(witness.order, rG, rX, strict=True):
        a, b = add(deck[j][0], r_G), add(deck[j][1], r_X)
        if a is None or b is None:  # nobody can choose a deck that hits the r of an honest shuffler
            raise LocalError("the shuffle hit the identity: shuffle again")
        new.append((a, b))
    return tuple(new), witness
