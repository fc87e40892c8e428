"""The published vectors: the code makes these bytes, accepts what is accepted and refuses what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import coincurve
import pytest

from otto_protocol import encoding, hashing
from otto_protocol.crypto import commitments, deck, group, heal, identity, proofs, shuffle_proof
from otto_protocol.crypto.group import Point, decode_point
from otto_protocol.crypto.shuffle import Witness
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg, tagged_hash
from otto_protocol.match import messages

pytestmark = pytest.mark.anew

FOLDER = Path(__file__).parents[2] / "protocol" / "vectors"
FILES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
Vector = dict[str, Any]


def vectors(file: str, kind: str) -> list[Any]:
    return [pytest.param(vector, id=vector["name"]) for vector in FILES[file][kind]]


def raw(text: str) -> bytes:
    return bytes.fromhex(text)


def point(text: str) -> Point:
    return decode_point(raw(text))


def points(texts: list[str]) -> list[Point]:
    return [point(text) for text in texts]


def raws(texts: list[str]) -> list[bytes]:
    return [raw(text) for text in texts]


def test_the_files_are_what_the_script_makes() -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "make_vectors.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_refused_vector_names_the_accepted_one_it_mutates() -> None:
    for name, file in FILES.items():
        accepted = {vector["name"]: vector for vector in file.get("accepted", [])}
        for vector in file.get("refused", []):
            source = accepted[vector["mutates"]]
            differs = {key for key in source if key != "name" and source[key] != vector.get(key)}
            assert differs, (name, vector["name"])
            assert vector["change"]
    names = [vector["name"] for file in FILES.values() for vector in file.get("refused", [])]
    assert len(names) == len(set(names)) >= 100


@pytest.mark.parametrize("vector", vectors("hashing", "tagged_hash"))
def test_tagged_hash(vector: Vector) -> None:
    assert tagged_hash(vector["tag"], *raws(vector["parts"])).hex() == vector["digest"]


def test_draws() -> None:
    file = FILES["hashing"]
    assert Drbg(raw(file["drbg"][0]["rng"]))(100).hex() == file["drbg"][0]["stream"]
    below, rng = file["random_below"][0], Drbg(raw(file["random_below"][0]["rng"]))
    assert [f"{hashing.random_below(int(limit, 16), rng):x}" for limit in below["limits"]] == below["values"]
    order = file["shuffled"][0]
    assert hashing.shuffled(list(range(order["count"])), Drbg(raw(order["rng"]))) == order["order"]


def to_value(plain: Any) -> encoding.Value:
    if isinstance(plain, dict):
        return raw(plain["bin"])
    return tuple(to_value(item) for item in plain) if isinstance(plain, list) else plain


@pytest.mark.parametrize("vector", vectors("encoding", "accepted"))
def test_encoding(vector: Vector) -> None:
    value = to_value(vector["value"])
    assert encoding.encode(value).hex() == vector["bytes"]
    assert encoding.decode(raw(vector["bytes"])) == value


@pytest.mark.parametrize("vector", vectors("encoding", "refused"))
def test_encoding_refused(vector: Vector) -> None:
    with pytest.raises(DecodeError):
        encoding.decode(raw(vector["bytes"]))


@pytest.mark.parametrize("vector", vectors("group", "arithmetic"))
def test_group_arithmetic(vector: Vector) -> None:
    scalars = [int(k, 16) for k in vector["scalars"]]
    result = group.msm(scalars, points(vector["points"]))
    assert (result.encode().hex() if result else None) == vector["result"]


@pytest.mark.parametrize("vector", vectors("group", "arithmetic"))
def test_group_arithmetic_with_another_binding(vector: Vector) -> None:
    terms = [
        coincurve.PublicKey(raw(text)).multiply(int(k, 16).to_bytes(32, "big"))
        for k, text in zip(vector["scalars"], vector["points"], strict=True)
        if int(k, 16)
    ]
    if not terms:  # coincurve aborts the process on an empty sum
        assert vector["result"] is None
    elif vector["result"] is None:
        with pytest.raises(ValueError):  # noqa: PT011  the identity, in its words
            coincurve.PublicKey.combine_keys(terms)
    else:
        assert coincurve.PublicKey.combine_keys(terms).format().hex() == vector["result"]


@pytest.mark.parametrize("vector", vectors("group", "accepted"))
def test_group_encodings(vector: Vector) -> None:
    data = raw(vector["bytes"])
    if "scalar" in vector:
        assert group.decode_scalar(data) == int(vector["scalar"], 16)
        assert group.encode_scalar(int(vector["scalar"], 16)) == data
    else:
        assert decode_point(data).encode() == data == coincurve.PublicKey(data).format()


@pytest.mark.parametrize("vector", vectors("group", "refused"))
def test_group_encodings_refused(vector: Vector) -> None:
    decode = group.decode_scalar if "scalar" in vector else decode_point
    with pytest.raises(DecodeError):
        decode(raw(vector["bytes"]))


@pytest.mark.parametrize("vector", vectors("group", "challenge_scalar"))
def test_challenge_scalar(vector: Vector) -> None:
    assert group.challenge_scalar(raw(vector["bytes"])) == int(vector["scalar"], 16)


@pytest.mark.parametrize("vector", vectors("group", "hash_to_group"))
def test_hash_to_group(vector: Vector) -> None:
    assert group.hash_to_group(vector["tag"], *raws(vector["parts"])).encode().hex() == vector["point"]


def test_group_constants_cards_and_generators() -> None:
    file = FILES["group"]
    assert (f"{group.Q:x}", f"{group.LAMBDA:x}", group.G.encode().hex()) == tuple(file["constants"].values())
    assert list(deck.card_points(5)) == points(file["cards"]["first"])
    h, hs = shuffle_proof.generators(3)
    assert (h, list(hs)) == (point(file["generators"]["h"]), points(file["generators"]["h_i"]))


def signed(vector: Vector) -> bool:
    return identity.verify(
        raw(vector["public"]), raw(vector["signature"]), vector["tag"], *raws(vector["parts"])
    )


@pytest.mark.parametrize("vector", vectors("identity", "accepted"))
def test_identity(vector: Vector) -> None:
    key = identity.IdentityKey(raw(vector["secret"]))
    assert key.public.hex() == vector["public"]
    assert key.sign(vector["tag"], *raws(vector["parts"])).hex() == vector["signature"]
    assert identity.fingerprint(key.public) == vector["fingerprint"]
    assert signed(vector)


@pytest.mark.parametrize("vector", vectors("identity", "refused"))
def test_identity_refused(vector: Vector) -> None:
    assert not signed(vector)


def committed(vector: Vector) -> bool:
    return commitments.check(*(raw(vector[key]) for key in ("commitment", "context", "content", "nonce")))


@pytest.mark.parametrize("vector", vectors("commitments", "accepted"))
def test_commitments(vector: Vector) -> None:
    made = commitments.commit(*(raw(vector[key]) for key in ("context", "content", "nonce")))
    assert made.hex() == vector["commitment"]
    assert committed(vector)


@pytest.mark.parametrize("vector", vectors("commitments", "refused"))
def test_commitments_refused(vector: Vector) -> None:
    assert not committed(vector)


def possessed(vector: Vector) -> bool:
    return proofs.check_key(point(vector["X"]), raw(vector["proof"]), raw(vector["context"]))


@pytest.mark.parametrize("vector", vectors("key_proofs", "accepted"))
def test_key_proofs(vector: Vector) -> None:
    made = proofs.prove_key(
        int(vector["x"], 16), point(vector["X"]), raw(vector["context"]), Drbg(raw(vector["rng"]))
    )
    assert made.hex() == vector["proof"]
    assert possessed(vector)


@pytest.mark.parametrize("vector", vectors("key_proofs", "refused"))
def test_key_proofs_refused(vector: Vector) -> None:
    assert not possessed(vector)


def shared(vector: Vector) -> bool:
    bases, shares = points(vector["bases"]), points(vector["shares"])
    return proofs.check_shares(
        point(vector["X"]), bases, shares, raw(vector["proof"]), raw(vector["context"])
    )


@pytest.mark.parametrize("vector", vectors("share_proofs", "accepted"))
def test_share_proofs(vector: Vector) -> None:
    bases, shares, x = points(vector["bases"]), points(vector["shares"]), int(vector["x"], 16)
    assert [group.mul_secret(x, base) for base in bases] == shares
    rng = Drbg(raw(vector["rng"]))
    made = proofs.prove_shares(x, point(vector["X"]), bases, shares, raw(vector["context"]), rng)
    assert made.hex() == vector["proof"]
    assert shared(vector)


@pytest.mark.parametrize("vector", vectors("share_proofs", "refused"))
def test_share_proofs_refused(vector: Vector) -> None:
    assert not shared(vector)


def shuffled(vector: Vector) -> bool:
    """What `check` says, having seen that `check_chain` says the same."""
    old, new = deck.decode_deck(raw(vector["deck"])), deck.decode_deck(raw(vector["new_deck"]))
    X, proof, context = point(vector["X"]), raw(vector["proof"]), raw(vector["context"])
    verdict = shuffle_proof.check(old, new, X, proof, context)
    assert shuffle_proof.check_chain(X, [(old, new, proof, context)], Drbg(b"verifier")) == [verdict]
    return verdict


@pytest.mark.parametrize("vector", vectors("shuffle", "accepted"))
def test_shuffle(vector: Vector) -> None:
    old, X = deck.decode_deck(raw(vector["deck"])), point(vector["X"])
    witness = Witness.restore(raw(vector["seed"]), len(old))
    assert list(witness.order) == vector["order"]
    new = tuple(
        (group.add(old[j][0], group.mul(r, group.G)), group.add(old[j][1], group.mul(r, X)))  # type: ignore[arg-type]
        for j, r in zip(witness.order, witness.r, strict=True)
    )
    assert deck.encode_deck(new).hex() == vector["new_deck"]  # type: ignore[arg-type]
    rng = Drbg(raw(vector["rng"]))
    made = shuffle_proof.prove(old, new, X, witness, raw(vector["context"]), rng)  # type: ignore[arg-type]
    assert made.hex() == vector["proof"]
    assert shuffled(vector)


@pytest.mark.parametrize("vector", vectors("shuffle", "refused"))
def test_shuffle_refused(vector: Vector) -> None:
    assert not shuffled(vector)


def raised(vector: Vector) -> list[bool]:
    entries = deck.decode_deck(raw(vector["deck"]) + raw(vector["own"]))
    return [
        heal.check_raise(point(S), entries, deck.decode_deck(raw(made)), raw(proof), raw(vector["context"]))
        for S, made, proof in zip(vector["S"], vector["raised"], vector["proofs"], strict=True)
    ]


@pytest.mark.parametrize("vector", vectors("heal", "accepted"))
def test_heal(vector: Vector) -> None:
    entries = deck.decode_deck(raw(vector["deck"]) + raw(vector["own"]))
    made = [heal.raise_entries(int(s, 16), entries) for s in vector["s"]]
    assert [deck.encode_deck(one).hex() for one in made] == vector["raised"]
    assert raised(vector) == [True, True]
    total = heal.total(made)
    assert total is not None
    assert deck.encode_deck(total).hex() == vector["total"]
    keys = [int(x, 16) for x in vector["x"]]
    count = len(vector["pile_tags"])
    pile, own = total[:count], total[count:]
    shares = [heal.tag_shares(x, pile) for x in keys]
    assert [[share.encode().hex() for share in by] for by in shares] == vector["pile_shares"]
    pile_tags = heal.tags(pile, shares)
    own_tags = [
        heal.tags([entry], [heal.tag_shares(x, [entry])])[0] for entry, x in zip(own, keys, strict=True)
    ]
    assert pile_tags == tuple(points(vector["pile_tags"]))
    assert own_tags == points(vector["own_tags"])
    assert heal.match(pile_tags, own_tags) == heal.TagMatch(tuple(vector["dead"]), tuple(vector["pile"]))


@pytest.mark.parametrize("vector", vectors("heal", "refused"))
def test_heal_refused(vector: Vector) -> None:
    assert not all(raised(vector))


# -- messages ------------------------------------------------------------------------------------------


def as_value(value: Any) -> Any:
    """A value from JSON, bytes as hex."""
    if isinstance(value, list):
        return tuple(as_value(item) for item in value)
    return raw(value) if isinstance(value, str) else value


@pytest.mark.parametrize("vector", vectors("messages", "accepted"))
def test_messages_are_accepted(vector: Vector) -> None:
    signed = messages.parse_signed(raw(vector["wire"]))
    assert messages.signature_valid(signed, raw(vector["key"]), raw(vector["match"]))
    message = messages.parse_content(signed)
    kind = messages.KINDS[vector["kind"]]
    assert message.header == encoding.from_value(messages.Header, as_value(vector["header"]))
    assert message.body == encoding.from_value(kind, as_value(vector["body"]))
    assert (signed.content, signed.signature) == (raw(vector["content"]), raw(vector["signature"]))
    assert message.content_hash() == raw(vector["content_hash"])


@pytest.mark.parametrize("vector", vectors("messages", "refused"))
def test_messages_are_refused(vector: Vector) -> None:
    signed = messages.parse_signed(raw(vector["wire"]))
    if not messages.signature_valid(signed, raw(vector["key"]), raw(vector["match"])):
        return  # dropped, and nobody is blamed
    with pytest.raises(DecodeError):  # P2
        messages.parse_content(signed)
