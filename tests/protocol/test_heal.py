"""Healing: hands stay, lost cards return to a new pile, tags tell no card, and every cheat is refused."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otto_protocol.crypto import heal, shuffle_proof
from otto_protocol.crypto.deck import Ciphertext, Deck, card_of, card_points, open_deck, partial
from otto_protocol.crypto.group import G, Point, Q, add, mul, mul_base_secret, mul_secret, neg, random_scalar
from otto_protocol.crypto.proofs import check_key, check_shares, prove_key, prove_shares
from otto_protocol.hashing import Drbg

pytestmark = pytest.mark.anew

CONTEXT = b"game, view, epoch"


def must(point: Point | None) -> Point:
    assert point is not None
    return point


@dataclasses.dataclass
class Table:
    """A dealt table in the clear: the keys of all seats, the slots of a shuffled deck, who holds which."""

    keys: list[int]
    deck: Deck
    hands: list[list[int]]

    @classmethod
    def deal(cls, seats: int, cards: int, each: int, seed: bytes) -> Table:
        rng = Drbg(seed)
        keys = [random_scalar(rng) for _ in range(seats)]
        joint = must(add(*(mul_base_secret(key) for key in keys)))
        deck, _ = shuffle_proof.shuffle(open_deck(range(cards), joint), joint, rng)
        return cls(keys, deck, [list(range(seat * each, (seat + 1) * each)) for seat in range(seats)])

    def card(self, slot: int) -> int | None:
        """The card in a slot of the old deck, as all keys together see it."""
        a, b = self.deck[slot]
        return card_of(must(partial(b, [mul_secret(key, a) for key in self.keys])))

    def own(self, seat: int) -> list[Ciphertext]:
        """The seat's slots as encryptions under its key alone, from the others' public shares."""
        entries = []
        for slot in self.hands[seat]:
            a, b = self.deck[slot]
            shares = [mul_secret(key, a) for other, key in enumerate(self.keys) if other != seat]
            entries.append((a, must(partial(b, shares))))
        return entries


@dataclasses.dataclass
class Healed:
    """One heal in which everybody is honest, and all that was published in it."""

    table: Table
    alive: list[int]
    X: Point
    F: Deck
    own: list[Ciphertext]
    owners: list[int]
    secrets: list[int]
    raised: list[Deck]
    total: Deck
    pile_tags: tuple[Point | None, ...]
    own_tags: tuple[Point | None, ...]
    result: heal.TagMatch | heal.Mismatch


def run(table: Table, gone: int, seed: bytes) -> Healed:
    rng = Drbg(seed)
    alive = [seat for seat in range(len(table.keys)) if seat != gone]
    X = must(add(*(mul_base_secret(table.keys[seat]) for seat in alive)))
    F: Deck = open_deck(
        sorted(card for slot in range(len(table.deck)) if (card := table.card(slot)) is not None), X
    )
    for _ in alive:
        F, _ = shuffle_proof.shuffle(F, X, rng)
    own = [entry for seat in alive for entry in table.own(seat)]
    owners = [seat for seat in alive for _ in table.hands[seat]]
    secrets = [random_scalar(rng) for _ in alive]
    raised = []
    for secret in secrets:
        S = mul_base_secret(secret)
        assert check_key(S, prove_key(secret, S, CONTEXT, rng), CONTEXT)
        entries = (*F, *own)
        raised.append(heal.raise_entries(secret, entries))
        proof = heal.prove_raise(secret, S, entries, raised[-1], CONTEXT, rng)
        assert heal.check_raise(S, entries, raised[-1], proof, CONTEXT)
    total = heal.total(raised)
    assert total is not None
    pile, mine = total[: len(F)], total[len(F) :]
    pile_shares = []
    own_tags: list[Point | None] = []
    for seat in alive:
        key, public = table.keys[seat], mul_base_secret(table.keys[seat])
        hidden = [entry for entry, owner in zip(mine, owners, strict=True) if owner == seat]
        shares = heal.tag_shares(key, (*pile, *hidden))
        bases = [a for a, _ in (*pile, *hidden)]
        assert check_shares(
            public, bases, shares, prove_shares(key, public, bases, shares, CONTEXT, rng), CONTEXT
        )
        pile_shares.append(shares[: len(pile)])
        own_tags += heal.tags(hidden, [shares[len(pile) :]])
    pile_tags = heal.tags(pile, pile_shares)
    return Healed(
        table,
        alive,
        X,
        F,
        own,
        owners,
        secrets,
        raised,
        total,
        pile_tags,
        tuple(own_tags),
        heal.match(pile_tags, own_tags),
    )


TABLE = Table.deal(4, 12, 2, b"table")
HEALED = run(TABLE, 1, b"heal")
ENTRIES = (*HEALED.F, *HEALED.own)


@pytest.mark.parametrize(
    ("seats", "cards", "each", "gone"), [(2, 6, 2, 0), (3, 9, 2, 2), (5, 12, 1, 0), (3, 6, 2, 1)]
)
def test_the_new_pile_is_the_old_one_and_the_gone_hand(seats: int, cards: int, each: int, gone: int) -> None:
    table = Table.deal(seats, cards, each, b"deal")
    healed = run(table, gone, b"heal")
    assert isinstance(healed.result, heal.TagMatch)
    old_pile = [table.card(slot) for slot in range(seats * each, cards)]
    lost = [table.card(slot) for slot in table.hands[gone]]
    keys = [table.keys[seat] for seat in healed.alive]

    def new_card(place: int) -> int | None:
        a, b = healed.F[place]
        return card_of(must(partial(b, [mul_secret(key, a) for key in keys])))

    pile = [new_card(place) for place in healed.result.pile]
    assert sorted(pile, key=str) == sorted(old_pile + lost, key=str)
    kept = [table.card(slot) for seat in healed.alive for slot in table.hands[seat]]
    assert [new_card(place) for place in healed.result.dead] == kept
    assert sorted((*healed.result.dead, *healed.result.pile)) == list(range(cards))


def test_a_tag_is_the_card_times_the_sum_of_all_secrets() -> None:
    s = sum(HEALED.secrets) % Q
    cards = [must(mul(s, point)) for point in card_points(12)]
    assert sorted(cards.index(must(tag)) for tag in HEALED.pile_tags) == list(range(12))
    # nobody who lacks one of the secrets can name a card: the tag is no card, nor any card under fewer
    # secrets
    for missing in range(len(HEALED.secrets)):
        partly = (s - HEALED.secrets[missing]) % Q
        assert not {mul(partly, point) for point in card_points(12)} & set(HEALED.pile_tags)
    assert not set(card_points(12)) & set(HEALED.pile_tags)


def test_a_second_heal_has_other_tags() -> None:
    # cheat 61: with fresh secrets nothing of the first heal can be compared with the second
    again = run(TABLE, 1, b"heal again")
    assert not set(again.pile_tags) & set(HEALED.pile_tags)
    assert not set(again.own_tags) & set(HEALED.own_tags)


def test_a_repeated_secret_would_give_a_card_away() -> None:
    # why s_k is used once: seats 0 and 2 repeat theirs and seat 3 knows its own two
    first = sum(HEALED.secrets)
    second = sum(HEALED.secrets[:2]) + 12345
    card = card_points(12)[5]
    difference = must(add(must(mul(first, card)), neg(must(mul(second, card)))))
    assert difference == mul(HEALED.secrets[2] - 12345, card)


def test_a_key_that_cancels_the_others_has_no_proof() -> None:
    # cheat 57: S_k = t G - sum of the others would make s = t
    t = random_scalar(Drbg(b"t"))
    others = must(add(*(mul_base_secret(secret) for secret in HEALED.secrets[:2])))
    S = must(add(mul_base_secret(t), neg(others)))
    assert not check_key(S, prove_key(t, S, CONTEXT, Drbg(b"")), CONTEXT)


def raise_with(change: dict[int, Ciphertext], context: bytes = CONTEXT) -> bool:
    """Whether a raise of the first survivor with some entries changed is accepted with its best proof."""
    secret = HEALED.secrets[0]
    S = mul_base_secret(secret)
    raised = tuple(change.get(place, entry) for place, entry in enumerate(HEALED.raised[0]))
    proof = heal.prove_raise(secret, S, ENTRIES, raised, context, Drbg(b"cheat"))
    return heal.check_raise(S, ENTRIES, raised, proof, CONTEXT)


def test_raised_entries_are_proven_one_by_one() -> None:
    honest = HEALED.raised[0]
    assert raise_with({})
    victim = HEALED.own[3]
    # cheat 58: the raised a would be what a victim's share opens: their own slot's a, so that x_k A is that
    # share
    others = must(add(*(raised[0][0] for raised in HEALED.raised[1:])))
    assert not raise_with({0: (must(add(victim[0], neg(others))), honest[0][1])})
    assert not raise_with({0: (victim[0], honest[0][1])})
    # cheat 59
    assert not raise_with({0: honest[1], 1: honest[0]})
    last = len(honest) - 1
    assert not raise_with({0: honest[last], last: honest[0]})
    assert not raise_with({0: (honest[0][1], honest[0][0])})
    assert not raise_with({0: HEALED.raised[1][0]})
    assert not raise_with({0: ENTRIES[0]})
    assert not raise_with({last: (honest[last][0], must(add(honest[last][1], G)))})
    # cheat 62
    assert not raise_with({}, b"game, view, epoch before")


def test_a_raise_of_another_length_is_refused() -> None:
    secret, raised = HEALED.secrets[0], HEALED.raised[0]
    S = mul_base_secret(secret)
    proof = heal.prove_raise(secret, S, ENTRIES, raised, CONTEXT, Drbg(b""))
    assert heal.check_raise(S, ENTRIES, raised, proof, CONTEXT)
    assert not heal.check_raise(S, ENTRIES, raised[:-1], proof, CONTEXT)
    assert not heal.check_raise(S, ENTRIES[:-1], raised[:-1], proof, CONTEXT)
    assert not heal.check_raise(S, (), (), proof, CONTEXT)
    with pytest.raises(ValueError, match="zip"):
        heal.total([raised, raised[:-1]])


def test_sums_that_are_the_identity_are_told() -> None:
    entry = (G, mul_base_secret(2))
    assert heal.total([(entry,), ((neg(G), entry[1]),)]) is None
    assert heal.total([(entry,), ((G, neg(entry[1])),)]) is None
    assert heal.total([(entry,)]) == (entry,)


def test_a_wrong_tag_share_is_refused() -> None:
    # cheat 60
    key, public = TABLE.keys[0], mul_base_secret(TABLE.keys[0])
    pile = HEALED.total[: len(HEALED.F)]
    bases = [a for a, _ in pile]
    shares = [must(add(heal.tag_shares(key, pile)[0], G)), *heal.tag_shares(key, pile)[1:]]
    proof = prove_shares(key, public, bases, shares, CONTEXT, Drbg(b""))
    assert not check_shares(public, bases, shares, proof, CONTEXT)


def test_tags_need_a_share_for_each_entry() -> None:
    with pytest.raises(ValueError, match="zip"):
        heal.tags(HEALED.total[:2], [[G, G], [G]])


points = [mul_base_secret(i) for i in range(1, 9)]


@given(st.permutations(points), st.integers(0, 8))
def test_own_cards_are_found_wherever_they_are(pile: list[Point], count: int) -> None:
    own = points[:count]
    result = heal.match(pile, own)
    assert isinstance(result, heal.TagMatch)
    assert [pile[place] for place in result.dead] == own
    assert [pile[place] for place in result.pile] == [point for point in pile if point not in own]


def test_none_or_two_are_a_mismatch() -> None:
    a, b, c, *_ = points
    assert heal.match([a, b], [c]) == heal.Mismatch(0, ())
    assert heal.match([a, b], [a, c]) == heal.Mismatch(1, ())
    assert heal.match([a, b], [None]) == heal.Mismatch(0, ())
    assert heal.match([a, b], [b, b]) == heal.Mismatch(1, (1,))
    assert heal.match([a, b, a], [a]) == heal.Mismatch(None, (0, 2))
    assert heal.match([a, b, a], [b]) == heal.Mismatch(None, (0, 2))
    assert heal.match([a, None], [a]) == heal.Mismatch(None, (1,))
    assert heal.match([], []) == heal.TagMatch((), ())
    assert heal.match([a], []) == heal.TagMatch((), (0,))
