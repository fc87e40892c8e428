"""The group: its laws, its one encoding, and that nothing an attacker sends makes it raise."""

from __future__ import annotations

import copy
import pickle

import coincurve
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otto_protocol.crypto import group
from otto_protocol.crypto.group import (
    LAMBDA,
    FixedBase,
    G,
    Point,
    Q,
    add,
    challenge_scalar,
    decode_point,
    decode_scalar,
    encode_scalar,
    hash_to_group,
    msm,
    msm_secret,
    mul,
    mul_base_secret,
    mul_each_secret,
    mul_secret,
    neg,
    random_scalar,
    random_scalars,
    sub,
)
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg

edges = st.sampled_from([0, 1, 2, 3, Q - 1, Q - 2, Q, Q + 1, LAMBDA, Q - LAMBDA, 1 << 128, (1 << 128) - 1])
scalars = st.one_of(edges, st.integers(0, 2**256), st.integers(0, 50))
secrets = scalars.map(lambda k: k % Q or 1)
points = secrets.map(mul_base_secret)
maybe_points = st.one_of(st.none(), points)


def total(*terms: Point | None) -> Point | None:
    return add(*(term for term in terms if term is not None))


@given(maybe_points, maybe_points, maybe_points)
def test_addition_is_an_abelian_group(a: Point | None, b: Point | None, c: Point | None) -> None:
    assert total(a, b) == total(b, a)
    assert total(total(a, b), c) == total(a, total(b, c)) == total(a, b, c)
    assert total(a) == a
    if a is not None:
        assert add(a, neg(a)) is None
        assert sub(a, a) is None
        assert neg(neg(a)) == a


@given(scalars, scalars, points)
def test_multiplication_is_linear(j: int, k: int, point: Point) -> None:
    assert mul(j + k, point) == total(mul(j, point), mul(k, point))
    once = mul(k, point)
    assert mul(j * k, point) == (None if once is None else mul(j, once))
    assert mul(k, point) == mul(k % Q, point)


@given(secrets, points)
def test_the_constant_time_calls_give_the_same(k: int, point: Point) -> None:
    assert mul_secret(k, point) == mul(k, point)
    assert mul_base_secret(k) == mul(k, G)
    assert mul_each_secret((k, 1), (G, point)) == [mul(k, G), point]
    assert msm_secret((k, 1, k), (point, point, G)) == msm((k, 1, k), (point, point, G))


SEVEN = mul_base_secret(7)
SEVENS = FixedBase(SEVEN)
digits = st.lists(st.sampled_from([0, 1, 62, 63]), min_size=43, max_size=43).map(
    lambda row: sum(d << 6 * j for j, d in enumerate(row))
)


@given(secrets, scalars | digits)
def test_a_table_of_one_base_gives_the_same(blind: int, k: int) -> None:
    expected = [msm((blind, k), (G, SEVEN)), msm((1, k + 1), (G, SEVEN))]
    assert SEVENS.pedersen_each((blind, 1), (k, k + 1)) == expected
    assert SEVENS.pedersen_each([7], [Q - 1]) == [None]


def test_every_scalar_costs_a_table_the_same_additions() -> None:
    assert {len(SEVENS._terms(k)) for k in (0, 1, Q - 1, group._COMB_ONES, 1 << 255)} == {43}


def test_a_blind_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="secret scalar"):
        SEVENS.pedersen_each([0], [1])


@settings(max_examples=30)
@given(scalars, points, st.lists(st.tuples(scalars, points), max_size=4))
def test_multi_scalar_multiplication_is_the_sum(k: int, point: Point, more: list[tuple[int, Point]]) -> None:
    terms = [(k, point), (k, G), *more]
    assert msm([k for k, _ in terms], [p for _, p in terms]) == total(*(mul(k, p) for k, p in terms))


@given(scalars, points)
def test_another_binding_of_the_curve_agrees(k: int, point: Point) -> None:
    theirs = coincurve.PublicKey(point.encode())
    ours = mul(k, point)
    if ours is not None:
        assert ours.encode() == theirs.multiply((k % Q).to_bytes(32, "big")).format()
    twice = add(point, point)
    assert twice is not None
    assert twice.encode() == coincurve.PublicKey.combine_keys([theirs, theirs]).format()


def test_zero_and_the_identity_are_none_and_never_raise() -> None:
    P = mul_base_secret(7)
    assert mul(0, P) is mul(Q, P) is None
    assert add() is msm((), ()) is msm((0, 0), (P, G)) is msm((1, Q - 1), (P, P)) is None
    assert msm((7, Q - 1), (G, P)) is None
    assert msm((-1,), (P,)) == neg(P)
    assert msm((Q - 1, 5), (G, G)) == mul_base_secret(4)


@pytest.mark.parametrize("k", [0, Q, Q + 1])
def test_a_secret_scalar_out_of_range_is_the_callers_bug(k: int) -> None:
    for call in (lambda: mul_secret(k, G), lambda: mul_base_secret(k), lambda: msm_secret((k,), (G,))):
        with pytest.raises(ValueError, match="secret scalar"):
            call()


def test_msm_wants_one_scalar_for_each_point() -> None:
    with pytest.raises(ValueError, match="zip"):
        msm((1, 2), (G,))


@given(points)
def test_a_point_has_one_encoding(point: Point) -> None:
    data = point.encode()
    assert len(data) == 33
    again = decode_point(data)
    assert again == point
    assert hash(again) == hash(point)
    assert again.encode() == data
    assert decode_point(bytes([data[0] ^ 1]) + data[1:]) == neg(point)


@given(st.binary(max_size=70))
def test_any_bytes_are_a_point_or_a_decode_error(data: bytes) -> None:
    try:
        point = decode_point(data)
    except DecodeError:
        return
    assert point.encode() == data


@settings(max_examples=200)
@given(st.binary(min_size=32, max_size=32), st.integers(0, 7))
def test_33_bytes_decode_to_themselves_or_not_at_all(x: bytes, prefix: int) -> None:
    data = bytes([prefix]) + x
    try:
        assert decode_point(data).encode() == data
        assert prefix in (2, 3)
    except DecodeError:
        if prefix in (2, 3):
            with pytest.raises(ValueError):  # noqa: PT011  its text is coincurve's
                coincurve.PublicKey(data)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_scalar_or_a_decode_error(data: bytes) -> None:
    try:
        value = decode_scalar(data)
    except DecodeError:
        assert len(data) != 32 or int.from_bytes(data, "big") >= Q
        return
    assert encode_scalar(value) == data


@pytest.mark.parametrize("data", [Q.to_bytes(32, "big"), b"\xff" * 32, bytes(31), bytes(33), b""])
def test_scalars_out_of_range_are_refused(data: bytes) -> None:
    # cheat 11
    with pytest.raises(DecodeError):
        decode_scalar(data)


@pytest.mark.parametrize("value", [-1, Q])
def test_what_is_no_scalar_is_not_encoded(value: int) -> None:
    with pytest.raises(ValueError, match="scalar"):
        encode_scalar(value)


def test_lambda_is_a_primitive_cube_root_of_one() -> None:
    assert LAMBDA != 1
    assert (LAMBDA * LAMBDA + LAMBDA + 1) % Q == 0


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_challenges_are_injective(one: bytes, two: bytes) -> None:
    assert (challenge_scalar(one) == challenge_scalar(two)) == (one == two)
    assert 0 <= challenge_scalar(one) < Q


@given(st.integers(-(2**64), 2**64), st.integers(-(2**64), 2**64))
def test_a_difference_of_challenges_is_invertible(a: int, b: int) -> None:
    # a + b lambda = 0 mod Q needs the norm a^2 - ab + b^2 to be a multiple of Q; it is below 2^130
    assert ((a + b * LAMBDA) % Q == 0) == (a == b == 0)
    assert a * a - a * b + b * b < 2**130 < Q


def test_a_challenge_has_16_bytes() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        challenge_scalar(bytes(15))


def test_random_scalars_are_in_range_at_both_ends() -> None:
    assert random_scalars(2, lambda size: bytes(size)) == (1, 1)
    assert all(1 <= k < Q for k in random_scalars(3, lambda size: b"\xff" * size))
    assert random_scalars(1, lambda size: (Q - 2).to_bytes(32, "big")) == (Q - 1,)
    assert random_scalar(lambda size: bytes(size)) == 1
    assert len(set(random_scalars(100, Drbg(b"x")))) == 100


def test_hashed_points_are_even_separated_and_repeatable() -> None:
    made = [
        hash_to_group(tag, *parts)
        for tag in ("a", "b")
        for parts in ((), (b"",), (b"1",), (b"1", b"2"), (b"12",))
    ]
    assert len(set(made)) == len(made)
    assert all(point.encode()[0] == 2 for point in made)
    assert hash_to_group("a", b"1") == hash_to_group("a", b"1")


def test_points_are_values() -> None:
    P = mul_base_secret(5)
    assert pickle.loads(pickle.dumps(P)) == copy.deepcopy(P) == P
    assert P.encode().hex() in repr(P)
    assert P.encode() != P
    assert len({P, mul_base_secret(5), G}) == 2
    assert not hasattr(P, "__dict__")
    assert group.POINT_BYTES == 33
