"""The verifiable shuffle: re-encryption in a secret order, with the proof of Terelius and Wikstroem.

Sources: Haenni, Locher, Koenig, Dubuis, "Pseudo-Code Algorithms for Verifiable Re-Encryption Mix-Nets" (FC
2017 workshops), whose algorithm names are given below; Terelius, Wikstroem, "Proofs of Restricted Shuffles"
(Africacrypt 2010). Written additively, with the paper's letters (hat_c_i for c with a hat):

    e'_i   = e_(j_i) + r_i (G, X)          the new deck, j the secret order
    c_(j_i) = s_(j_i) G + h_i              commitment to the order, made before u is known
    u_i                                    challenges from a hash of both decks and c;  u'_i = u_(j_i)
    hat_c_i = hat_r_i G + u'_i hat_c_(i-1),  hat_c_0 = h

The proof shows that the same u' opens c (sum u_i c_i), the chain (product of u) and the decks (sum u_i e_i).

One predicate decides, by `check` and by `check_chain` alike. A proof is refused if (1) a size is wrong, (2) a
point does not decode (so no point in it is the identity), (3) a response is 0 or not below Q, (4) bar_c or
hat_c is the identity, (5) one of the equations of `_commitments` does not hold. Whatever else is computed on
the way may be the identity. (sum u_i c_i being it needs no rule: c is fixed before u, so that happens once in
2^128 tries.)
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from otto_protocol.crypto.deck import Deck, encode_deck
from otto_protocol.crypto.group import (
    CHALLENGE_BYTES,
    POINT_BYTES,
    SCALAR_BYTES,
    G,
    Point,
    Q,
    add,
    challenge_scalar,
    challenge_scalars,
    decode_point,
    decode_scalar,
    encode_scalar,
    msm,
    msm_secret,
    mul,
    mul_base_secret,
    random_scalars,
    sub,
)
from otto_protocol.crypto.proofs import hedged, joined
from otto_protocol.crypto.shuffle import (
    Prepared,
    Witness,
    blinding_base,
    generators,
    generators_digest,
    minus_generators_sum,
    prepare,
    shuffle,
)
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.hashing import Drbg, Rng, tagged_hash

__all__ = [
    "Link",
    "ParallelMap",
    "Prepared",
    "Witness",
    "check",
    "check_chain",
    "generators",
    "prepare",
    "proof_bytes",
    "prove",
    "shuffle",
]

TERMS_PER_TASK = 64  # of a batch, in one piece of work for `pmap`: about 1.5 ms

ParallelMap = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Like `map`; an executor's `map` runs in threads (the library's calls release the interpreter lock)."""

Link = tuple[Deck, Deck, bytes, bytes]
"""One shuffle of a chain: old deck, new deck, proof, context."""


def proof_bytes(count: int) -> int:
    """The length of a proof for a deck of `count` cards."""
    return (3 * count + 5) * POINT_BYTES + (2 * count + 4) * SCALAR_BYTES


def prove(deck: Deck, new_deck: Deck, X: Point, witness: Witness, context: bytes, rng: Rng) -> bytes:
    """`proof_bytes(N)` bytes that prove that `new_deck` is a shuffle of `deck` under X, bound to `context`.

    GenShuffleProof and GenCommitmentChain. With R_i = hat_r_i + u'_i R_(i-1) and U_i = u'_i U_(i-1) the chain
    is hat_c_i = R_i G + U_i h; R_i is drawn and hat_r_i follows, and likewise E_i = hat_w_i + w'_i R_(i-1).
    """
    count = len(deck)
    _, hs = generators(count)
    h = blinding_base()
    c = joined(witness.commitment())
    seed = _seed(deck, new_deck, X, c, context)
    u = _weights(seed, count)
    u_permuted = [u[j] for j in witness.order]
    nonces = hedged("shuffle-proof", rng, witness.seed, seed)
    w1, w2, w3, w4 = random_scalars(4, nonces)
    R, E, w = (random_scalars(count, nonces) for _ in range(3))

    R_before = (0, *R[:-1])
    U = list(itertools.accumulate(u_permuted, lambda left, right: left * right % Q, initial=1))
    hat_c = h.pedersen_each(R, U[1:])
    hat_t = h.pedersen_each(E, [w_i * U_i % Q for w_i, U_i in zip(w, U[:-1], strict=True)])
    t = (
        mul_base_secret(w1),
        mul_base_secret(w2),
        msm_secret((w3, *w), (G, *hs)),
        msm_secret((Q - w4, *w), (G, *(a for a, _ in new_deck))),
        msm_secret((Q - w4, *w), (X, *(b for _, b in new_deck))),
    )
    points = _encode([*hat_c, *hat_t, *t])
    challenge = _challenge(seed, points)

    r_bar = sum(witness.s)
    r_tilde = sum(u_i * s_i for u_i, s_i in zip(u, witness.s, strict=True))
    r_prime = sum(u_i * r_i for u_i, r_i in zip(u_permuted, witness.r, strict=True))
    s_prime = [(w_i + challenge * u_i) % Q for w_i, u_i in zip(w, u_permuted, strict=True)]
    responses = [
        w1 + challenge * r_bar,
        w2 + challenge * R[-1],
        w3 + challenge * r_tilde,
        w4 + challenge * r_prime,
        *(
            E_i + challenge * R_i - s_i * R_last
            for E_i, R_i, s_i, R_last in zip(E, R, s_prime, R_before, strict=True)
        ),
        *s_prime,
    ]
    return c + points + b"".join(encode_scalar(value % Q) for value in responses)


def check(deck: Deck, new_deck: Deck, X: Point, proof: bytes, context: bytes) -> bool:
    """Whether `proof` (any bytes) proves that `new_deck` is a shuffle of `deck` under X, in this context.

    CheckShuffleProof: every commitment t is computed back from the responses and compared. What it decides is
    the predicate; `check_chain` decides the same, faster.
    """
    argument = _read((deck, new_deck, proof, context), X)
    if argument is None:
        return False
    return all(
        computed is not None and computed.encode() == sent
        for computed, sent in zip(_commitments(argument, X), argument.t, strict=True)
    )


def check_chain(X: Point, links: Sequence[Link], rng: Rng, pmap: ParallelMap = map) -> list[bool]:
    """For each link (old deck, new deck, proof, context) what `check` says, all checked as one batch.

    Every equation is multiplied by 128 random bits of the verifier's own `rng`, and all are added up
    (Bellare, Garay, Rabin, "Fast Batch Verification", Eurocrypt 1998): a wrong one survives once in 2^128
    tries. A deck that is the new one of one link and the old one of the next is multiplied once. If the sum
    is not zero, each is checked singly. `pmap` may run in threads.
    """
    readable = list(pmap(functools.partial(_read_all, X=X), links))
    batch = [argument for argument in readable if argument is not None]
    if not batch or _sum(_batch_terms(batch, X, rng), pmap) is None:
        return [argument is not None for argument in readable]
    return list(pmap(lambda link: check(link[0], link[1], X, link[2], link[3]), links))


@dataclass(frozen=True, slots=True)
class _Argument:
    """A proof that passed the rules (1) to (4), with its statement and challenges."""

    deck: Deck
    new_deck: Deck
    c: list[Point]
    hat_c: list[Point]
    t: list[bytes]  # hat_t_1 .. hat_t_N, t_1, t_2, t_3, t_4 for a, t_4 for b
    s: list[int]  # s_1 .. s_4
    hat_s: list[int]
    s_prime: list[int]
    u: list[int]
    u_product: int
    challenge: int
    c_bar: Point
    hat_c_end: Point  # the paper's c with a hat and no index
    t_points: list[Point] = field(default_factory=list)  # the t decoded, where a batch needs them


def _read(link: Link, X: Point) -> _Argument | None:
    """Rules (1) to (4), except that the t are left as bytes: `check` compares them with what is computed."""
    deck, new_deck, proof, context = link
    count = len(deck)
    if count == 0 or len(new_deck) != count or len(proof) != proof_bytes(count):
        return None
    points_end = (3 * count + 5) * POINT_BYTES
    encoded = [proof[at : at + POINT_BYTES] for at in range(0, points_end, POINT_BYTES)]
    try:
        c = [decode_point(data) for data in encoded[:count]]
        hat_c = [decode_point(data) for data in encoded[count : 2 * count]]
        responses = [
            decode_scalar(proof[at : at + SCALAR_BYTES]) for at in range(points_end, len(proof), SCALAR_BYTES)
        ]
    except DecodeError:
        return None
    if not all(responses):
        return None
    c_bytes = proof[: count * POINT_BYTES]
    seed = _seed(deck, new_deck, X, c_bytes, context)
    u = _weights(seed, count)
    u_product = functools.reduce(lambda left, right: left * right % Q, u)
    c_bar = add(*c, minus_generators_sum(count))
    u_h = mul(u_product, generators(count)[0])
    hat_c_end = hat_c[-1] if u_h is None else sub(hat_c[-1], u_h)
    if c_bar is None or hat_c_end is None:
        return None
    return _Argument(
        deck,
        new_deck,
        c,
        hat_c,
        encoded[2 * count :],
        responses[:4],
        responses[4 : 4 + count],
        responses[4 + count :],
        u,
        u_product,
        _challenge(seed, proof[len(c_bytes) : points_end]),
        c_bar,
        hat_c_end,
    )


def _read_all(link: Link, X: Point) -> _Argument | None:
    """Rules (1) to (4) in full. What does not decode here, no computed commitment can equal in `check`."""
    argument = _read(link, X)
    if argument is None:
        return None
    try:
        return replace(argument, t_points=[decode_point(data) for data in argument.t])
    except DecodeError:
        return None


def _commitments(argument: _Argument, X: Point) -> Iterator[Point | None]:
    """All t in the order in which they are sent, computed back: rule (5) for one proof."""
    h, hs = generators(len(argument.deck))
    minus_c = -argument.challenge
    s_1, s_2, s_3, s_4 = argument.s
    u, s_prime = argument.u, argument.s_prime
    for hat_s_i, s_i, before, hat_c_i in zip(
        argument.hat_s, s_prime, (h, *argument.hat_c), argument.hat_c, strict=False
    ):
        yield msm((hat_s_i, s_i, minus_c), (G, before, hat_c_i))
    yield msm((s_1, minus_c), (G, argument.c_bar))
    yield msm((s_2, minus_c), (G, argument.hat_c_end))
    yield _combined((s_3, *s_prime), (G, *hs), minus_c, u, argument.c)
    for part, key in ((0, G), (1, X)):
        new = [entry[part] for entry in argument.new_deck]
        old = [entry[part] for entry in argument.deck]
        yield _combined((-s_4, *s_prime), (key, *new), minus_c, u, old)


def _combined(
    responses: Sequence[int],
    bases: Sequence[Point],
    minus_c: int,
    u: Sequence[int],
    statement: Sequence[Point],
) -> Point | None:
    """sum responses_i bases_i - c sum u_i statement_i; the inner sum on its own, as its u_i are short."""
    inner = msm(u, statement)
    if inner is None:
        return msm(responses, bases)
    return msm((*responses, minus_c), (*bases, inner))


def _batch_terms(batch: Sequence[_Argument], X: Point, rng: Rng) -> dict[Point, int]:
    """The random combination of all equations of all proofs, as the coefficient of each point that occurs."""
    terms = {G: 0}

    def accumulate(point: Point, coefficient: int) -> None:
        terms[point] = terms.get(point, 0) + coefficient

    for argument in batch:
        count = len(argument.deck)
        h, hs = generators(count)
        challenge, u, s_prime = argument.challenge, argument.u, argument.s_prime
        weights = challenge_scalars(count + 5, rng)
        *hat_v, v_1, v_2, v_3, v_4a, v_4b = weights
        s_1, s_2, s_3, s_4 = argument.s

        terms[G] += v_1 * s_1 + v_2 * s_2 + v_3 * s_3 - v_4a * s_4
        terms[G] += sum(v * s for v, s in zip(hat_v, argument.hat_s, strict=True))
        accumulate(X, -v_4b * s_4)
        for t_i, v in zip(argument.t_points, weights, strict=True):
            accumulate(t_i, -v)
        # the chain: before[i] occurs with s'_i in its own equation and with the challenge in the one before
        before = (h, *argument.hat_c)
        coefficients = [v * s for v, s in zip(hat_v, s_prime, strict=True)] + [-challenge * v_2]
        coefficients[0] += challenge * v_2 * argument.u_product
        for i, v in enumerate(hat_v, 1):
            coefficients[i] -= challenge * v
        for point, coefficient in zip(before, coefficients, strict=True):
            accumulate(point, coefficient % Q)
        from_c_bar, from_c_tilde = challenge * v_1 % Q, challenge * v_3 % Q
        for c_i, h_i, u_i, s_i in zip(argument.c, hs, u, s_prime, strict=True):
            accumulate(c_i, -from_c_bar - from_c_tilde * u_i)
            accumulate(h_i, from_c_bar + v_3 * s_i)
        for part, v in ((0, v_4a), (1, v_4b)):
            from_old = challenge * v % Q
            for old, new, u_i, s_i in zip(argument.deck, argument.new_deck, u, s_prime, strict=True):
                accumulate(old[part], -from_old * u_i)
                accumulate(new[part], v * s_i)
    return terms


def _sum(terms: dict[Point, int], pmap: ParallelMap) -> Point | None:
    """The sum of coefficient times point, in pieces; None is the identity."""
    items = list(terms.items())
    tasks = [items[at : at + TERMS_PER_TASK] for at in range(0, len(items), TERMS_PER_TASK)]
    sums = pmap(lambda task: msm([k for _, k in task], [point for point, _ in task]), tasks)
    return add(*(point for point in sums if point is not None))


def _seed(deck: Deck, new_deck: Deck, X: Point, c: bytes, context: bytes) -> bytes:
    """32 bytes that bind the whole statement: the context, the base points, X, both decks, c."""
    return tagged_hash(
        "shuffle/statement",
        context,
        len(deck).to_bytes(4, "big"),
        G.encode(),
        generators_digest(len(deck)),
        X.encode(),
        encode_deck(deck),
        encode_deck(new_deck),
        c,
    )


def _weights(seed: bytes, count: int) -> list[int]:
    """u_1 .. u_N (GetChallenges)."""
    return challenge_scalars(count, Drbg(tagged_hash("shuffle/u", seed)))


def _challenge(seed: bytes, points: bytes) -> int:
    """The challenge for the chain and the commitments: 33 bytes each of hat_c, hat_t, t."""
    return challenge_scalar(tagged_hash("shuffle/challenge", seed, points)[:CHALLENGE_BYTES])


def _encode(points: Sequence[Point | None]) -> bytes:
    """33 bytes each. Raises LocalError for the identity: a prover hits it once in 2^256 tries."""
    if None in points:
        raise LocalError("a commitment hit the identity: prove again")
    return joined([point for point in points if point is not None])
