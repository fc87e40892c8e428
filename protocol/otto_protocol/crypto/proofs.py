"""Proofs of knowledge: possession of a key (Schnorr) and many decryption shares at once (Chaum-Pedersen).

Both are Sigma protocols made non-interactive by Fiat-Shamir; a proof is the challenge and the response, 48
bytes: 16 of c, 32 of s. The verifier computes the commitments back, T = s B - c Y, and hashes again.
`context` is the caller's canonical encoding of everything that the proof is bound to: protocol version,
table, game, view, step, previous digest, epoch, seat, identity key, slots. A proof for another context is no
proof.

Malformed proof bytes, a zero challenge or response, and the identity anywhere mean False, never an exception.
"""

from __future__ import annotations

from collections.abc import Sequence

from otto_protocol.crypto.group import (
    CHALLENGE_BYTES,
    SCALAR_BYTES,
    G,
    Point,
    Q,
    challenge_scalar,
    challenge_scalars,
    decode_scalar,
    encode_scalar,
    msm,
    mul_base_secret,
    mul_secret,
    random_scalar,
)
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg, Rng, tagged_hash

PROOF_BYTES = CHALLENGE_BYTES + SCALAR_BYTES


def joined(points: Sequence[Point]) -> bytes:
    """33 bytes for each point, one after the other: one part of a hash."""
    return b"".join([point.encode() for point in points])


def hedged(tag: str, rng: Rng, secret: bytes, *statement: bytes) -> Drbg:
    """The nonces of one proof, from fresh randomness *and* the secret *and* the statement.

    If `rng` repeats itself, another statement still has other nonces; if it is weak, the secret hides them.
    """
    return Drbg(tagged_hash("nonce/" + tag, rng(32), secret, *statement))


def prove_key(x: int, X: Point, context: bytes, rng: Rng) -> bytes:
    """48 bytes that prove knowledge of the x in [1, Q) with X = x G, bound to `context`.

    Schnorr, "Efficient Identification and Signatures for Smart Cards" (Crypto 1989), by Fiat-Shamir.
    """
    nonce = random_scalar(hedged("key", rng, encode_scalar(x), context, X.encode()))
    c = _key_challenge(X, mul_base_secret(nonce), context)
    return c + encode_scalar((nonce + challenge_scalar(c) * x) % Q)


def check_key(X: Point, proof: bytes, context: bytes) -> bool:
    """Whether `proof` (any bytes) proves possession of the secret key of X in this context."""
    parts = _split(proof)
    if parts is None:
        return False
    c, s = parts
    T = msm((s, -challenge_scalar(c)), (G, X))
    return T is not None and _key_challenge(X, T, context) == c


def _key_challenge(X: Point, T: Point, context: bytes) -> bytes:
    return tagged_hash("proof/key", context, joined((G, X, T)))[:CHALLENGE_BYTES]


def prove_shares(
    x: int, X: Point, bases: Sequence[Point], shares: Sequence[Point], context: bytes, rng: Rng
) -> bytes:
    """48 bytes that prove shares[i] = x bases[i] for every i, with X = x G, bound to `context`.

    Chaum, Pedersen, "Wallet Databases with Observers" (Crypto 1992), for the composites sum w_i bases[i] and
    sum w_i shares[i]. The weights come from a hash of *all* pairs: weights that depend on their own pair
    alone let a prover pick shares that add up (Wagner's generalized birthday attack). Raises ValueError for
    no pairs or unequal lengths.
    """
    if not bases or len(bases) != len(shares):
        raise ValueError("as many shares as bases, at least one")
    statement = _statement(X, bases, shares)
    composite = msm(_weights(context, statement, len(bases)), bases)
    if composite is None:  # 2^-128 for any bases: the weights are drawn after them
        raise ValueError("the bases cancel out")
    nonce = random_scalar(hedged("shares", rng, encode_scalar(x), context, *statement))
    c = _shares_challenge(context, statement, mul_base_secret(nonce), mul_secret(nonce, composite))
    return c + encode_scalar((nonce + challenge_scalar(c) * x) % Q)


def check_shares(
    X: Point, bases: Sequence[Point], shares: Sequence[Point], proof: bytes, context: bytes
) -> bool:
    """Whether `proof` (any bytes) proves that every share is the secret key of X times its base.

    One 128-bit multiplication for each base and share, and four more.
    """
    parts = _split(proof)
    if parts is None or not bases or len(bases) != len(shares):
        return False
    c, s = parts
    minus_c = -challenge_scalar(c)
    statement = _statement(X, bases, shares)
    weights = _weights(context, statement, len(bases))
    base, share = msm(weights, bases), msm(weights, shares)
    if base is None or share is None:
        return False
    T1, T2 = msm((s, minus_c), (G, X)), msm((s, minus_c), (base, share))
    if T1 is None or T2 is None:
        return False
    return _shares_challenge(context, statement, T1, T2) == c


def _statement(X: Point, bases: Sequence[Point], shares: Sequence[Point]) -> tuple[bytes, bytes, bytes]:
    return joined((G, X)), joined(bases), joined(shares)


def _weights(context: bytes, statement: tuple[bytes, bytes, bytes], count: int) -> list[int]:
    return challenge_scalars(count, Drbg(tagged_hash("proof/shares/weights", context, *statement)))


def _shares_challenge(context: bytes, statement: tuple[bytes, bytes, bytes], T1: Point, T2: Point) -> bytes:
    return tagged_hash("proof/shares", context, *statement, joined((T1, T2)))[:CHALLENGE_BYTES]


def _split(proof: bytes) -> tuple[bytes, int] | None:
    """(challenge, response) of a proof that is well formed, else None."""
    if len(proof) != PROOF_BYTES:
        return None
    c = proof[:CHALLENGE_BYTES]
    try:
        s = decode_scalar(proof[CHALLENGE_BYTES:])
    except DecodeError:
        return None
    return None if s == 0 or not any(c) else (c, s)
