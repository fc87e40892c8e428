"""The verifiable shuffle: what is accepted, what a cheating shuffler tries, and that both checks decide the
same.

`paper_prove` is a second prover, written from the paper without any of the program's shortcuts; it also takes
the choices that a cheat would make.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otto_protocol.crypto import shuffle_proof
from otto_protocol.crypto.deck import Deck, card_of, card_points, open_deck, partial
from otto_protocol.crypto.group import (
    G,
    Point,
    Q,
    add,
    decode_point,
    encode_scalar,
    msm,
    mul,
    mul_base_secret,
    mul_secret,
    neg,
    random_scalar,
    random_scalars,
)
from otto_protocol.crypto.proofs import joined
from otto_protocol.crypto.shuffle import Witness
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Drbg

pytestmark = pytest.mark.anew

x = random_scalar(Drbg(b"joint key"))
X = mul_base_secret(x)
CONTEXT = b"table, game, seat"


def must(point: Point | None) -> Point:
    assert point is not None
    return point


def opened(deck: Deck) -> list[int | None]:
    """The card ids of a deck, with the joint secret key."""
    return [card_of(must(partial(b, [mul_secret(x, a)]))) for a, b in deck]


@dataclasses.dataclass(frozen=True)
class Shuffled:
    """A statement with its proof, and the secrets behind it."""

    deck: Deck
    new: Deck
    proof: bytes
    context: bytes
    witness: Witness

    @property
    def link(self) -> shuffle_proof.Link:
        return (self.deck, self.new, self.proof, self.context)

    def but(self, **changed: object) -> Shuffled:
        return dataclasses.replace(self, **changed)  # type: ignore[arg-type]


def honest(deck: Deck, seed: bytes, context: bytes = CONTEXT) -> Shuffled:
    new, witness = shuffle_proof.shuffle(deck, X, Drbg(seed))
    return Shuffled(
        deck, new, shuffle_proof.prove(deck, new, X, witness, context, Drbg(seed)), context, witness
    )


def dishonest(new: Deck, base: Shuffled) -> Shuffled:
    """A proof made with the program's own prover for a new deck that is no shuffle."""
    return base.but(
        new=new, proof=shuffle_proof.prove(base.deck, new, X, base.witness, CONTEXT, Drbg(b"cheat"))
    )


def verdicts(*made: Shuffled, key: Point = X) -> list[bool]:
    """What `check` says of each, having seen that `check_chain` says the same of all and of each alone."""
    singly = [shuffle_proof.check(one.deck, one.new, key, one.proof, one.context) for one in made]
    assert shuffle_proof.check_chain(key, [one.link for one in made], Drbg(b"verifier")) == singly
    for one, verdict in zip(made, singly, strict=True):
        assert shuffle_proof.check_chain(key, [one.link], Drbg(b"verifier 2")) == [verdict]
    return singly


START = open_deck([3, 1, 4, 15, 9, 26], X)
BASE = honest(START, b"base")
COUNT = len(START)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 20])
def test_a_chain_of_shuffles_is_accepted_and_keeps_the_cards(count: int) -> None:
    deck = open_deck(range(count), X)
    chain = []
    for seed in (b"1", b"2", b"3"):
        chain.append(honest(deck, seed, CONTEXT + seed))
        deck = chain[-1].new
    assert verdicts(*chain) == [True] * 3
    assert Counter(opened(deck)) == Counter(range(count))
    assert all(len(one.proof) == shuffle_proof.proof_bytes(count) for one in chain)
    points = [point for one in chain for entry in one.new for point in entry]
    assert len(set(points)) == len(points)


def test_a_proof_for_two_decks_of_cards_is_small() -> None:
    assert shuffle_proof.proof_bytes(152) == 25_069 <= 25_500


def test_no_proofs_no_verdicts() -> None:
    assert shuffle_proof.check_chain(X, [], Drbg(b"")) == []


def test_the_order_is_that_of_the_witness() -> None:
    assert opened(BASE.new) == [opened(START)[j] for j in BASE.witness.order]
    restored = Witness.restore(BASE.witness.seed, COUNT)
    assert restored == BASE.witness
    assert repr(restored.seed) not in repr(restored)
    assert str(restored.r[0]) not in repr(restored)


def test_every_order_comes_up() -> None:
    deck = open_deck(range(3), X)
    rng = Drbg(b"orders")
    seen = {tuple(opened(shuffle_proof.shuffle(deck, X, rng)[0])) for _ in range(60)}
    assert len(seen) == 6


def bad_decks() -> dict[str, Deck]:
    (a, b), (c, d), *rest = BASE.new
    foreign = open_deck([200], X)[0]
    delta = mul_base_secret(77)
    return {
        "14 a card twice": ((c, d), (c, d), *rest),
        "14 a card twice, re-encrypted": (
            (must(add(c, delta)), must(add(d, mul_secret(77, X)))),
            (c, d),
            *rest,
        ),
        "15 another card": (foreign, (c, d), *rest),
        "15 a point that is no card": ((a, must(add(b, delta))), (c, d), *rest),
        "16 a planted a + delta G": ((must(add(a, delta)), b), (c, d), *rest),
        "two cards merged into one": ((must(add(a, c)), must(add(b, d))), (c, d), *rest),
        "the sum of all is kept": ((must(add(a, delta)), b), (must(add(c, neg(delta))), d), *rest),
        "halves swapped between cards": ((a, d), (c, b), *rest),
        "a and b swapped": ((b, a), (c, d), *rest),
        "another order than proven": ((c, d), (a, b), *rest),
        "the old deck": BASE.deck,
        "one card is G for nothing": ((G, G), (c, d), *rest),
    }


@pytest.mark.parametrize("name", bad_decks())
def test_a_deck_that_is_no_shuffle_is_refused(name: str) -> None:
    new = bad_decks()[name]
    assert verdicts(BASE, dishonest(new, BASE), BASE.but(new=new)) == [True, False, False]


def test_the_cheat_is_found_in_a_chain_and_alone_blamed() -> None:
    # cheat 21: two bad proofs, two culprits, and the honest ones between them stay clean
    second = honest(BASE.new, b"second")
    (a, b), *rest = second.new
    planted = dishonest(((must(add(a, G)), b), *rest), second)
    third = honest(planted.new, b"third")
    fourth = third.but(context=b"replayed")
    assert verdicts(BASE, planted, third, fourth, second) == [True, False, True, False, True]


def test_another_number_of_cards_is_refused() -> None:
    # cheat 13
    for new in (BASE.new[:-1], (*BASE.new, BASE.new[0])):
        assert verdicts(BASE.but(new=new)) == [False]
    assert verdicts(BASE.but(deck=BASE.deck[:-1], new=BASE.new[:-1])) == [False]
    assert verdicts(BASE.but(deck=(), new=(), proof=b"")) == [False]
    empty = G.encode() * 5 + encode_scalar(1) * 4
    assert len(empty) == shuffle_proof.proof_bytes(0)
    assert verdicts(BASE.but(deck=(), new=(), proof=empty)) == [False]


def test_a_proof_is_bound_to_context_key_and_both_decks() -> None:
    # cheat 17
    other = honest(START, b"other")
    assert verdicts(BASE.but(context=CONTEXT + b"\0"), BASE.but(context=b"")) == [False, False]
    assert verdicts(BASE.but(deck=(*START[1:], START[0]))) == [False]
    assert verdicts(BASE.but(proof=other.proof), BASE.but(new=other.new)) == [False, False]
    assert verdicts(BASE, key=mul_base_secret(5)) == [False]


def changed_bytes() -> list[tuple[str, bytes]]:
    proof = BASE.proof
    scalars = 33 * (3 * COUNT + 5)
    places = {"c": 33, "hat c": 33 * (COUNT + 1), "hat t": 33 * (2 * COUNT + 1)}
    places |= {f"t {i}": 33 * (3 * COUNT + i) for i in range(5)}
    made = [
        ("truncated", proof[:-1]),
        ("longer", proof + b"\0"),
        ("empty", b""),
        ("zeros", bytes(len(proof))),
    ]
    for name, at in places.items():
        made.append((f"{name}: sign", proof[:at] + bytes([proof[at] ^ 1]) + proof[at + 1 :]))
        made.append((f"{name}: prefix", proof[:at] + b"\4" + proof[at + 1 :]))
        made.append((f"{name}: identity", proof[:at] + bytes(33) + proof[at + 33 :]))
        made.append((f"{name}: G", proof[:at] + G.encode() + proof[at + 33 :]))
    for i in (0, 1, 2, 3, 4, 3 + COUNT, 4 + COUNT, 3 + 2 * COUNT):
        at = scalars + 32 * i
        value = int.from_bytes(proof[at : at + 32], "big")
        for name, new in (
            ("0", 0),
            ("Q", Q),
            ("most", 2**256 - 1),
            ("plus 1", value + 1),
            ("negative", Q - value),
        ):
            made.append((f"response {i}: {name}", proof[:at] + new.to_bytes(32, "big") + proof[at + 32 :]))
    return made


@pytest.mark.parametrize(("name", "proof"), changed_bytes(), ids=[name for name, _ in changed_bytes()])
def test_changed_proofs_are_refused_on_both_paths(name: str, proof: bytes) -> None:
    # cheats 11, 19, 20
    assert verdicts(BASE, BASE.but(proof=proof)) == [True, False]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(BASE.proof) * 8 - 1))
def test_no_bit_of_a_proof_can_be_changed(bit: int) -> None:
    changed = (int.from_bytes(BASE.proof, "big") ^ (1 << bit)).to_bytes(len(BASE.proof), "big")
    assert verdicts(BASE.but(proof=changed)) == [False]


@settings(max_examples=15, deadline=None)
@given(st.binary(max_size=shuffle_proof.proof_bytes(2)))
def test_any_bytes_are_checked_without_an_error(data: bytes) -> None:
    deck = START[:2]
    padded = data + bytes(shuffle_proof.proof_bytes(2) - len(data))
    assert verdicts(BASE.but(proof=data)) == [False]
    assert verdicts(BASE.but(deck=deck, new=BASE.new[:2], proof=padded)) == [False]


def paper_prove(
    made: Shuffled,
    hat_r: Callable[[list[int]], list[int]] = lambda values: values,
    s: Callable[[list[int]], list[int]] = lambda values: values,
    u_prime: Callable[[list[int]], list[int]] = lambda values: values,
    zero_response: bool = False,
) -> bytes:
    """GenShuffleProof as in the paper, for public scalars; the arguments change its choices."""
    count = len(made.deck)
    h, hs = shuffle_proof.generators(count)
    rng = Drbg(b"paper")
    order, r = made.witness.order, made.witness.r
    blinds = s(list(random_scalars(count, rng)))
    c: list[Point] = [G] * count
    for i, j in enumerate(order):
        c[j] = must(msm((blinds[j], 1), (G, hs[i])))
    seed = shuffle_proof._seed(made.deck, made.new, X, joined(c), made.context)
    u = shuffle_proof._weights(seed, count)
    permuted = u_prime([u[j] for j in order])
    hat_blinds = hat_r(list(random_scalars(count, rng)))
    hat_c, last = [], h
    for blind, weight in zip(hat_blinds, permuted, strict=True):
        last = must(msm((blind, weight), (G, last)))
        hat_c.append(last)
    w = [random_scalar(rng) for _ in range(4)]
    if zero_response:  # only where the challenge is known before
        w[0] = -shuffle_proof._challenge(b"", b"") * sum(blinds) % Q
    hat_w, w_prime = random_scalars(count, rng), random_scalars(count, rng)
    hat_t = [must(msm((hat_w[i], w_prime[i]), (G, before))) for i, before in enumerate((h, *hat_c[:-1]))]
    t = [
        must(mul(w[0], G)),
        must(mul(w[1], G)),
        must(msm((w[2], *w_prime), (G, *hs))),
        must(msm((-w[3], *w_prime), (G, *(a for a, _ in made.new)))),
        must(msm((-w[3], *w_prime), (X, *(b for _, b in made.new)))),
    ]
    points = joined([*hat_c, *hat_t, *t])
    challenge = shuffle_proof._challenge(seed, points)
    # hat r of the whole chain: sum of hat_r_i times the weights after it
    products = [1]
    for weight in reversed(permuted[1:]):
        products.insert(0, products[0] * weight)
    secrets = [
        sum(blinds),
        sum(blind * product for blind, product in zip(hat_blinds, products, strict=True)),
        sum(weight * blind for weight, blind in zip(u, blinds, strict=True)),
        sum(weight * r_i for weight, r_i in zip(permuted, r, strict=True)),
        *hat_blinds,
        *permuted,
    ]
    responses = [
        encode_scalar((nonce + challenge * secret) % Q)
        for nonce, secret in zip((*w, *hat_w, *w_prime), secrets, strict=True)
    ]
    return joined(c) + points + b"".join(responses)


def test_a_prover_written_from_the_paper_is_accepted() -> None:
    assert verdicts(BASE.but(proof=paper_prove(BASE))) == [True]
    one = honest(open_deck([5], X), b"one")
    assert verdicts(one.but(proof=paper_prove(one))) == [True]


def test_a_commitment_whose_sum_is_the_identity_is_refused_on_both_paths() -> None:
    # cheat 18: all equations hold with sum s = 0, but then bar c is the identity
    proof = paper_prove(BASE, s=lambda values: [*values[:-1], -sum(values[:-1]) % Q])
    c = [decode_point(proof[at : at + 33]) for at in range(0, 33 * COUNT, 33)]
    hs = shuffle_proof.generators(COUNT)[1]
    assert add(*c) == add(*hs)
    assert verdicts(BASE, BASE.but(proof=proof)) == [True, False]


def test_a_chain_without_blinding_is_refused_on_both_paths() -> None:
    # cheat 19: all hat r are 0, so hat c_N is U h and hat c the identity
    proof = paper_prove(BASE, hat_r=lambda values: [0] * COUNT)
    assert verdicts(BASE, BASE.but(proof=proof)) == [True, False]


def test_a_zero_response_is_refused_on_both_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    # cheat 19 again: with a challenge known before, all equations can hold with a response of 0
    monkeypatch.setattr(shuffle_proof, "_challenge", lambda seed, points: 5)
    assert verdicts(BASE.but(proof=paper_prove(BASE))) == [True]
    proof = paper_prove(BASE, zero_response=True)
    assert proof[33 * (3 * COUNT + 5) :][:32] == bytes(32)
    assert verdicts(BASE.but(proof=proof)) == [False]


def test_everything_goes_into_the_challenges() -> None:
    decks = (START[:2], BASE.new[:2])
    statements = [
        (old, new, key, c, context)
        for old in decks
        for new in decks
        for key in (X, G)
        for c in (b"", b"1")
        for context in (b"", b"1")
    ]
    seeds = {shuffle_proof._seed(*statement) for statement in statements}
    assert len(seeds) == len(statements)
    assert shuffle_proof._seed(START[:1], START[:1], X, b"", b"") not in seeds
    assert len({tuple(shuffle_proof._weights(seed, 2)) for seed in seeds}) == len(seeds)
    assert len(
        {shuffle_proof._challenge(seed, points) for seed in seeds for points in (b"", b"1")}
    ) == 2 * len(seeds)


def test_other_choices_of_blinding_change_nothing() -> None:
    proof = paper_prove(BASE, hat_r=lambda values: [0, *values[1:]], s=lambda values: [7] * COUNT)
    assert verdicts(BASE.but(proof=proof)) == [True]


def test_weights_that_are_no_reordering_of_the_challenges_are_refused() -> None:
    for change in (
        lambda u: [u[1], *u[1:]],  # one twice
        lambda u: [u[0] + 1, *u[1:]],
        lambda u: [u[1], u[0], *u[2:]],  # another order than committed to
        lambda u: [u[0] * 2 % Q, u[1] * pow(2, -1, Q) % Q, *u[2:]],  # the product is right
        lambda u: [u[0] + 1, u[1] - 1, *u[2:]],  # the sum is right
    ):
        assert verdicts(BASE.but(proof=paper_prove(BASE, u_prime=change))) == [False]


def test_the_same_card_twice_in_a_deck_is_shuffled_like_any() -> None:
    # nothing in the proof needs distinct entries; that a deck has each card once follows from where it starts
    deck = (START[0], START[0], START[1])
    assert verdicts(honest(deck, b"twice")) == [True]


def test_the_weights_of_a_batch_are_the_verifiers_own() -> None:
    # two wrong proofs whose errors cancel out if all weights are equal: only randomness finds them
    def shifted(made: Shuffled, by: int) -> Shuffled:
        at = 33 * (3 * COUNT + 5)
        value = int.from_bytes(made.proof[at : at + 32], "big")
        return made.but(proof=made.proof[:at] + encode_scalar((value + by) % Q) + made.proof[at + 32 :])

    pair = [shifted(BASE, 1), shifted(honest(BASE.new, b"next"), -1)]
    equal = lambda size: (bytes(15) + b"\1") * (size // 16)  # noqa: E731
    assert shuffle_proof.check_chain(X, [one.link for one in pair], equal) == [True, True]
    assert verdicts(*pair) == [False, False]


def test_threads_decide_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle_proof, "TERMS_PER_TASK", 5)
    second = honest(BASE.new, b"second")
    links = [BASE.link, second.link, second.but(context=b"").link]
    with ThreadPoolExecutor(3) as pool:
        assert shuffle_proof.check_chain(X, links[:2], Drbg(b""), pool.map) == [True, True]
        assert shuffle_proof.check_chain(X, links, Drbg(b""), pool.map) == [True, True, False]


def test_a_good_batch_is_not_checked_singly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle_proof, "check", lambda *arguments: pytest.fail("checked singly"))
    second = honest(BASE.new, b"second")
    assert shuffle_proof.check_chain(X, [BASE.link, second.link], Drbg(b"")) == [True, True]


def test_a_deck_in_the_middle_is_multiplied_once() -> None:
    chain = [BASE, honest(BASE.new, b"second")]
    arguments = [shuffle_proof._read_all(one.link, X) for one in chain]
    terms = shuffle_proof._batch_terms([one for one in arguments if one is not None], X, Drbg(b""))
    # c, hat c, hat t of both; h and h_i; 5 t of both; X; the new decks; and of the first deck only b, as all
    # a are G
    assert len(terms) == 2 * 3 * COUNT + 1 + COUNT + 10 + 1 + 2 * 2 * COUNT + COUNT + 1


def test_prepared_secrets_serve_once() -> None:
    prepared = shuffle_proof.prepare(COUNT, Drbg(b"ahead"))
    prepared.set_key(mul_base_secret(3))
    prepared.set_key(X)  # another joint key: computed again
    new, witness = shuffle_proof.shuffle(START, X, Drbg(b""), prepared)
    proof = shuffle_proof.prove(START, new, X, witness, CONTEXT, Drbg(b""))
    assert verdicts(Shuffled(START, new, proof, CONTEXT, witness)) == [True]
    assert witness.c is not None
    assert witness.c == Witness.restore(witness.seed, COUNT).commitment()
    for again in (
        lambda: shuffle_proof.shuffle(START, X, Drbg(b""), prepared),
        lambda: prepared.set_key(X),
        prepared.commit,
    ):
        with pytest.raises(LocalError, match="used already"):
            again()


def test_prepared_secrets_are_for_one_size() -> None:
    prepared = shuffle_proof.prepare(COUNT - 1, Drbg(b"ahead"))
    with pytest.raises(LocalError, match="another number"):
        shuffle_proof.shuffle(START, X, Drbg(b""), prepared)
    assert len(shuffle_proof.shuffle(START[1:], X, Drbg(b""), prepared)[0]) == COUNT - 1


def test_a_broken_rng_repeats_no_secret_for_another_deck_or_proof() -> None:
    broken = lambda size: bytes(size)  # noqa: E731
    made = [
        shuffle_proof.shuffle(deck, key, broken)[1]
        for deck in (START, BASE.new)
        for key in (X, mul_base_secret(9))
    ]
    assert len({witness.seed for witness in made}) == 4
    assert len({r for witness in made for r in witness.r}) == 4 * COUNT
    # hat t is made of fresh nonces only: equal ones in two proofs would give away the order
    first = shuffle_proof.prove(START, BASE.new, X, BASE.witness, b"a", broken)
    second = shuffle_proof.prove(START, BASE.new, X, BASE.witness, b"b", broken)
    points = [
        {proof[at : at + 33] for at in range(33 * COUNT, 33 * (3 * COUNT + 5), 33)}
        for proof in (first, second)
    ]
    assert not points[0] & points[1]
    assert first[: 33 * COUNT] == second[: 33 * COUNT]  # c belongs to the shuffle


def test_the_generators_are_distinct_and_no_cards() -> None:
    h, hs = shuffle_proof.generators(304)
    everything = {h, *hs, G, *card_points(304)}
    assert len(everything) == 1 + 304 + 1 + 304
    assert shuffle_proof.generators(5) == (h, hs[:5])
    assert not {neg(point) for point in everything} & everything
