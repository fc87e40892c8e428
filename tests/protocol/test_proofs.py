"""Key and share proofs: complete, bound to everything around them, and not forged in any known way."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otto_protocol.crypto import proofs
from otto_protocol.crypto.group import (
    G,
    Point,
    Q,
    add,
    challenge_scalar,
    decode_scalar,
    encode_scalar,
    mul,
    mul_base_secret,
    mul_secret,
    neg,
    random_scalar,
)
from otto_protocol.crypto.proofs import check_key, check_shares, prove_key, prove_shares
from otto_protocol.hashing import Drbg

pytestmark = pytest.mark.anew

x = random_scalar(Drbg(b"x"))
X = mul_base_secret(x)
OTHER = mul_base_secret(random_scalar(Drbg(b"other")))
CONTEXT = b"table, game, view, step, seat"

secrets = st.binary(max_size=6).map(lambda seed: random_scalar(Drbg(seed)))
seeds = st.binary(max_size=4)


def must(point: Point | None) -> Point:
    assert point is not None
    return point


@dataclasses.dataclass(frozen=True)
class Shares:
    """A statement with its proof, to be changed field by field."""

    X: Point
    bases: tuple[Point, ...]
    shares: tuple[Point, ...]
    proof: bytes
    context: bytes

    def accepted(self) -> bool:
        return check_shares(self.X, self.bases, self.shares, self.proof, self.context)

    def but(self, **changed: object) -> Shares:
        return dataclasses.replace(self, **changed)  # type: ignore[arg-type]


def honest(count: int, key: int = x, context: bytes = CONTEXT, seed: bytes = b"") -> Shares:
    bases = tuple(mul_base_secret(random_scalar(Drbg(seed + bytes([i])))) for i in range(count))
    shares = tuple(mul_secret(key, base) for base in bases)
    public = mul_base_secret(key)
    return Shares(
        public, bases, shares, prove_shares(key, public, bases, shares, context, Drbg(seed)), context
    )


FIVE = honest(5)


@given(secrets, st.binary(max_size=8), seeds)
def test_a_key_proof_is_accepted_in_its_own_context(key: int, context: bytes, seed: bytes) -> None:
    public = mul_base_secret(key)
    proof = prove_key(key, public, context, Drbg(seed))
    assert len(proof) == proofs.PROOF_BYTES == 48
    assert check_key(public, proof, context)
    assert not check_key(public, proof, context + b"\0")
    assert not check_key(neg(public), proof, context)


def test_a_key_is_not_proven_with_the_proof_of_another_seat() -> None:
    # cheat 8: X_k with somebody else's proof of possession
    proof = prove_key(x, X, b"seat 0", Drbg(b""))
    assert not check_key(X, proof, b"seat 1")
    assert not check_key(OTHER, proof, b"seat 0")


def test_a_rogue_key_has_no_proof() -> None:
    # cheats 9 and 57: T - X makes the joint key T, whose secret the cheater knows, but not that of T - X
    t = random_scalar(Drbg(b"t"))
    rogue = must(add(mul_base_secret(t), neg(X)))
    assert add(X, rogue) == mul_base_secret(t)
    for guess in (t, Q - t, (t - 1) % Q):
        assert not check_key(rogue, prove_key(guess, rogue, CONTEXT, Drbg(b"")), CONTEXT)
    # nor does the honest seat's proof help, moved along by t
    proof = prove_key(x, X, CONTEXT, Drbg(b""))
    moved = (challenge_scalar(proof[:16]) * t - decode_scalar(proof[16:])) % Q
    assert not check_key(rogue, proof[:16] + encode_scalar(moved), CONTEXT)


@given(st.binary(max_size=60))
def test_any_bytes_are_checked_without_an_error(data: bytes) -> None:
    assert not check_key(X, data, CONTEXT)
    assert not FIVE.but(proof=data).accepted()


@pytest.mark.parametrize("kind", ["key", "shares"])
def test_malformed_proofs_are_refused(kind: str) -> None:
    good = prove_key(x, X, CONTEXT, Drbg(b"")) if kind == "key" else FIVE.proof
    s = decode_scalar(good[16:])
    bad = [
        good[:-1],
        good + b"\0",
        b"",
        bytes(48),
        bytes(16) + good[16:],
        good[:16] + bytes(32),
        good[:16] + Q.to_bytes(32, "big"),
        good[:16] + b"\xff" * 32,
        good[:16] + encode_scalar(Q - s),
    ]
    if s + Q < 2**256:
        bad.append(good[:16] + (s + Q).to_bytes(32, "big"))
    for proof in bad:
        assert not (check_key(X, proof, CONTEXT) if kind == "key" else FIVE.but(proof=proof).accepted())


@given(st.integers(0, 48 * 8 - 1))
def test_no_bit_of_a_proof_can_be_changed(bit: int) -> None:
    flipped = int.from_bytes(FIVE.proof, "big") ^ (1 << bit)
    assert not FIVE.but(proof=flipped.to_bytes(48, "big")).accepted()


@pytest.mark.parametrize(("c", "s"), [(bytes(16), 5), (b"c" * 16, 0)])
def test_zeros_are_refused_even_where_the_equation_holds(
    c: bytes, s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with a hash that answers c, anything proves anything: what is left to refuse is the zero
    monkeypatch.setattr(proofs, "_key_challenge", lambda *arguments: c)
    monkeypatch.setattr(proofs, "_shares_challenge", lambda *arguments: c)
    assert check_key(X, b"c" * 16 + encode_scalar(5), CONTEXT) == any(c)
    assert not check_key(X, c + encode_scalar(s), CONTEXT)
    assert not FIVE.but(proof=c + encode_scalar(s)).accepted()


def test_everything_goes_into_the_challenges() -> None:
    # a challenge that leaves out the statement lets the prover choose it afterwards
    made = {proofs._key_challenge(A, B, context) for A in (X, G) for B in (X, G) for context in (b"", b"1")}
    assert len(made) == 8
    choices = ((X, [G], [X]), (G, [G], [X]), (X, [X], [X]), (X, [G], [G]))
    statements = [proofs._statement(*choice) for choice in choices]
    chosen = [(context, statement) for context in (b"", b"1") for statement in statements]
    assert (
        len({proofs._shares_challenge(*choice, A, B) for choice in chosen for A in (X, G) for B in (X, G)})
        == 32
    )
    assert len({proofs._weights(*choice, 1)[0] for choice in chosen}) == 8


def test_nonces_depend_on_tag_rng_secret_and_statement() -> None:
    nonces = {
        proofs.hedged(tag, Drbg(seed), secret, *statement)(32)
        for tag in ("a", "b")
        for seed in (b"", b"1")
        for secret in (b"", b"1")
        for statement in ((), (b"",), (b"1",))
    }
    assert len(nonces) == 24


def test_a_broken_rng_does_not_make_a_nonce_public() -> None:
    broken = lambda size: bytes(size)  # noqa: E731
    for tag, proof, statement in (
        ("key", prove_key(x, X, CONTEXT, broken), (CONTEXT, X.encode())),
        (
            "shares",
            prove_shares(x, X, FIVE.bases, FIVE.shares, CONTEXT, broken),
            (CONTEXT, *proofs._statement(X, FIVE.bases, FIVE.shares)),
        ),
    ):
        assert nonce_of(proof, x) == random_scalar(proofs.hedged(tag, broken, encode_scalar(x), *statement))
        assert nonce_of(proof, x) != random_scalar(proofs.hedged(tag, broken, b"", *statement))


@settings(max_examples=20)
@given(st.integers(1, 12), secrets, seeds)
def test_share_proofs_are_accepted_for_any_number_of_pairs(count: int, key: int, seed: bytes) -> None:
    statement = honest(count, key, CONTEXT, seed)
    assert statement.accepted()
    assert len(statement.proof) == 48


@given(st.integers(0, 4), secrets)
def test_a_single_wrong_share_is_refused(at: int, error: int) -> None:
    # cheats 23 and 60, by somebody who proves honestly for wrong shares, and with an old proof
    wrong = must(add(FIVE.shares[at], mul_base_secret(error)))
    shares = (*FIVE.shares[:at], wrong, *FIVE.shares[at + 1 :])
    assert not FIVE.but(shares=shares).accepted()
    proof = prove_shares(x, X, FIVE.bases, shares, CONTEXT, Drbg(b"cheat"))
    assert not FIVE.but(shares=shares, proof=proof).accepted()


def test_a_share_proof_is_bound_to_its_whole_statement() -> None:
    bases, shares = FIVE.bases, FIVE.shares
    swap = lambda items: (items[1], items[0], *items[2:])  # noqa: E731
    for changed in (
        FIVE.but(shares=swap(shares)),
        FIVE.but(bases=swap(bases)),
        FIVE.but(bases=swap(bases), shares=swap(shares)),  # true, but not what was proven
        FIVE.but(bases=bases[:4], shares=shares[:4]),
        FIVE.but(bases=(*bases, G), shares=(*shares, X)),
        FIVE.but(bases=bases[:4]),
        FIVE.but(shares=shares[:4]),
        FIVE.but(bases=(), shares=()),
        FIVE.but(X=OTHER),
        FIVE.but(X=neg(X)),
        FIVE.but(context=CONTEXT + b"\0"),  # cheats 17 and 62: another seat, epoch, step
        FIVE.but(proof=honest(5, seed=b"another").proof),
        FIVE.but(shares=tuple(neg(share) for share in shares)),
    ):
        assert not changed.accepted()


def test_two_errors_that_cancel_under_known_weights_are_refused() -> None:
    # cheat 24. If the weights did not depend on every share, the errors w_1 E and -w_0 E would cancel out
    weights = proofs._weights(CONTEXT, proofs._statement(X, FIVE.bases, FIVE.shares), 5)
    first, second = must(mul(weights[1], G)), must(mul(-weights[0], G))
    shares = (must(add(FIVE.shares[0], first)), must(add(FIVE.shares[1], second)), *FIVE.shares[2:])
    proof = prove_shares(x, X, FIVE.bases, shares, CONTEXT, Drbg(b"cheat"))
    assert not FIVE.but(shares=shares, proof=proof).accepted()


def test_the_same_forgery_succeeds_when_weights_are_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    # shows that the test above tests something
    weights = [3, 5, 7, 11, 13]
    monkeypatch.setattr(proofs, "_weights", lambda context, statement, count: weights[:count])
    shares = (
        must(add(FIVE.shares[0], must(mul(5, G)))),
        must(add(FIVE.shares[1], must(mul(-3, G)))),
        *FIVE.shares[2:],
    )
    proof = prove_shares(x, X, FIVE.bases, shares, CONTEXT, Drbg(b"cheat"))
    assert FIVE.but(shares=shares, proof=proof).accepted()


def test_every_weight_depends_on_every_pair_and_its_place() -> None:
    # weights from the single pair fall to a generalized birthday attack, whatever their length
    def weights(statement: Shares) -> list[int]:
        parts = proofs._statement(statement.X, statement.bases, statement.shares)
        return proofs._weights(statement.context, parts, len(statement.bases))

    base = weights(FIVE)
    assert len(set(base)) == 5
    for at in range(5):
        for changed in (
            FIVE.but(shares=(*FIVE.shares[:at], OTHER, *FIVE.shares[at + 1 :])),
            FIVE.but(bases=(*FIVE.bases[:at], OTHER, *FIVE.bases[at + 1 :])),
        ):
            assert not set(weights(changed)) & set(base)
    same = FIVE.but(bases=(G,) * 5, shares=(X,) * 5)
    assert len(set(weights(same))) == 5
    assert not set(weights(FIVE.but(context=b""))) & set(base)


def test_pairs_that_are_equal_are_proven_too() -> None:
    bases, shares = (G,) * 3, (X,) * 3
    assert check_shares(X, bases, shares, prove_shares(x, X, bases, shares, CONTEXT, Drbg(b"")), CONTEXT)


def test_no_pairs_or_unequal_ones_are_the_provers_bug() -> None:
    for bases, shares in (((), ()), (FIVE.bases, FIVE.shares[:4])):
        with pytest.raises(ValueError, match="as many"):
            prove_shares(x, X, bases, shares, CONTEXT, Drbg(b""))


def nonce_of(proof: bytes, key: int) -> int:
    return (decode_scalar(proof[16:]) - challenge_scalar(proof[:16]) * key) % Q


def test_a_broken_rng_never_repeats_a_nonce_for_another_statement() -> None:
    broken = lambda size: bytes(size)  # noqa: E731  always the same
    other = random_scalar(Drbg(b"second key"))
    keys = [
        nonce_of(prove_key(x, X, b"a", broken), x),
        nonce_of(prove_key(x, X, b"b", broken), x),
        nonce_of(prove_key(other, mul_base_secret(other), b"a", broken), other),
    ]
    bases, shares = FIVE.bases, FIVE.shares
    keys += [
        nonce_of(prove_shares(x, X, bases[:n], shares[:n], context, broken), x)
        for n in (1, 2, 5)
        for context in (b"a", b"b")
    ]
    assert len(set(keys)) == len(keys)


def test_a_good_rng_makes_fresh_proofs() -> None:
    rng = Drbg(b"rng")
    assert prove_key(x, X, CONTEXT, rng) != prove_key(x, X, CONTEXT, rng)
    assert prove_key(x, X, CONTEXT, Drbg(b"1")) == prove_key(x, X, CONTEXT, Drbg(b"1"))
