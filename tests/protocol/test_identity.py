"""Ed25519 identities: signatures bind to tag and parts, and weak public keys are refused."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from otto_protocol.crypto.identity import IdentityKey, fingerprint, parsed, verify
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg, tagged_hash

pytestmark = pytest.mark.anew

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
KEY = IdentityKey.generate(Drbg(b"key"))

Affine = tuple[int, int]


def double(point: Affine) -> Affine:
    """Twice a point of the Edwards curve, by the affine addition law (RFC 8032, section 5.1.4)."""
    x, y = point
    product = D * x * x * y * y
    return (
        2 * x * y * pow(1 + product, -1, P) % P,
        (y * y + x * x) * pow(1 - product, -1, P) % P,
    )


def points_of_order_dividing_8() -> list[Affine]:
    """All eight, found from the definition: three doublings end at (0, 1)."""
    root = pow(2, (P - 1) // 4, P)
    found = [(0, 1), (0, P - 1), (root, 0), (P - root, 0)]
    # 2 (x, y) = (+-root, 0) needs x^2 = -y^2, so y^2 solves d t^2 + 2 t - 1 = 0
    disc = pow(1 + D, (P + 3) // 8, P)
    disc = disc if disc * disc % P == 1 + D else disc * root % P
    assert disc * disc % P == 1 + D
    for t in ((-1 + disc) * pow(D, -1, P) % P, (-1 - disc) * pow(D, -1, P) % P):
        y = pow(t, (P + 3) // 8, P)
        y = y if y * y % P == t else y * root % P
        if y * y % P == t:
            x = root * y % P
            found += [(x, y), (P - x, y), (x, P - y), (P - x, P - y)]
    return found


def encodings(point: Affine) -> list[bytes]:
    """Every 32 bytes that a lenient decoder takes for this point."""
    x, y = point
    signs = (x & 1,) if x else (0, 1)
    return [
        (shown | sign << 255).to_bytes(32, "little")
        for shown in (y, y + P)
        if shown < 2**255
        for sign in signs
    ]


def test_the_eight_points_are_what_they_should_be() -> None:
    points = points_of_order_dividing_8()
    assert len(set(points)) == 8
    for x, y in points:
        assert (-x * x + y * y - 1 - D * x * x * y * y) % P == 0
        assert double(double(double((x, y)))) == (0, 1)


@pytest.mark.parametrize(
    "public", [data for point in points_of_order_dividing_8() for data in encodings(point)]
)
def test_keys_of_small_order_are_refused(public: bytes) -> None:
    assert parsed(public) is None
    for sign in points_of_order_dividing_8():
        for R in encodings(sign):
            assert not any(verify(public, R + bytes(32), "vote", bytes([i])) for i in range(8))


def test_one_signature_would_verify_every_message_under_such_a_key() -> None:
    # what the refusal is for: the plain library accepts it
    public = Ed25519PublicKey.from_public_bytes((1).to_bytes(32, "little"))
    forged = (1).to_bytes(32, "little") + bytes(32)
    for message in (b"yes", b"no", tagged_hash("vote", b"anything")):
        public.verify(forged, message)
    assert not verify((1).to_bytes(32, "little"), forged, "vote", b"anything")


@given(st.text(max_size=4), st.lists(st.binary(max_size=6), max_size=3), st.text(max_size=4))
def test_a_signature_is_for_one_tag_and_its_parts(tag: str, parts: list[bytes], other: str) -> None:
    signature = KEY.sign(tag, *parts)
    assert verify(KEY.public, signature, tag, *parts)
    assert verify(KEY.public, signature, other, *parts) == (other == tag)
    assert not verify(KEY.public, signature, tag, *parts, b"")
    assert not verify(IdentityKey.generate(Drbg(b"other")).public, signature, tag, *parts)


@given(st.binary(max_size=70), st.binary(max_size=40))
def test_any_bytes_verify_to_false(signature: bytes, public: bytes) -> None:
    assert not verify(KEY.public, signature, "tag", b"part")
    assert not verify(public, KEY.sign("tag"), "tag")


def test_a_response_that_is_not_reduced_is_refused() -> None:
    signature = KEY.sign("tag")
    s = int.from_bytes(signature[32:], "little") + L
    assert not verify(KEY.public, signature[:32] + s.to_bytes(32, "little"), "tag")


@pytest.mark.parametrize(
    "public",
    [
        b"",
        KEY.public[:31],
        KEY.public + b"\0",
        (2).to_bytes(32, "little"),
        b"\xff" * 32,
        (P + 3).to_bytes(32, "little"),
    ],
)
def test_keys_that_do_not_decode_are_refused(public: bytes) -> None:
    assert not verify(public, KEY.sign("tag"), "tag")
    assert parsed(public) is None


def test_good_keys_are_accepted() -> None:
    for i in range(50):
        assert parsed(IdentityKey.generate(Drbg(bytes([i]))).public) is not None


def test_a_key_comes_back_from_its_bytes_and_stays_secret() -> None:
    again = IdentityKey(KEY.to_bytes())
    assert again.public == KEY.public
    assert again.sign("tag", b"1") == KEY.sign("tag", b"1")
    for shown in (repr(KEY), str(KEY), f"{KEY}"):
        assert fingerprint(KEY.public) in shown
        assert KEY.to_bytes().hex() not in shown
        assert repr(KEY.to_bytes()) not in shown
    for size in (31, 33):
        with pytest.raises(DecodeError):
            IdentityKey(bytes(size))


def test_the_first_vector_of_the_rfc() -> None:
    # RFC 8032, section 7.1, TEST 1: the key pair
    secret = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    key = IdentityKey(secret)
    assert key.public == public
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(key.sign("a", b"b"), tagged_hash("a", b"b"))
    except InvalidSignature:
        pytest.fail("a signature is over the tagged hash")


def test_fingerprints_are_short_and_differ() -> None:
    shown = {fingerprint(IdentityKey.generate(Drbg(bytes([i]))).public) for i in range(100)}
    assert len(shown) == 100
    assert all(len(text) == 19 and [len(part) for part in text.split("-")] == [4] * 4 for text in shown)
    assert set("".join(shown)) <= set("abcdefghijklmnopqrstuvwxyz234567-")
