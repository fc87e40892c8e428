"""The vectors of the proofs: possession, shares, shuffles, heals."""

from __future__ import annotations

from vector_parts import File, Vector, file, flipped, point, scalar, seed, text, texts

from otto_protocol.crypto import heal, proofs, shuffle_proof
from otto_protocol.crypto.deck import Deck, decode_deck, encode_deck, open_deck
from otto_protocol.crypto.group import G, Point, Q, add, mul_base_secret, mul_secret, neg
from otto_protocol.crypto.shuffle import Witness
from otto_protocol.hashing import Drbg


def malformed(proof: str, response_at: int) -> list[tuple[str, str]]:
    """(what was done, the proof): broken bytes. `response_at` is where a scalar starts."""
    head, s, tail = proof[: 2 * response_at], proof[2 * response_at :][:64], proof[2 * response_at + 64 :]
    changes = [
        ("one byte less", proof[:-2]),
        ("one byte more", proof + "00"),
        ("empty", ""),
        ("a bit of a response", head + flipped(s, 31) + tail),
        ("a response of 0", head + "00" * 32 + tail),
        ("a response of Q", head + f"{Q:064x}" + tail),
    ]
    if int(s, 16) + Q < 2**256:
        changes.append(("a response plus Q", head + f"{int(s, 16) + Q:064x}" + tail))
    return changes


def key_proofs() -> File:
    """Possession of a key."""
    x, context = scalar("x"), b"table 1, game 1, seat 0"
    X = mul_base_secret(x)
    good: Vector = {
        "name": "possession",
        "x": f"{x:x}",
        "X": text(X),
        "context": context.hex(),
        "rng": seed("possession").hex(),
        "proof": proofs.prove_key(x, X, context, Drbg(seed("possession"))).hex(),
    }
    changes: list[tuple[str, Vector]] = [
        ("another context", {"context": b"table 1, game 1, seat 1".hex()}),
        ("another key", {"X": text(point("R"))}),
        ("the key T - X of a seat that knows only t (a rogue key)", {"X": text(add(point("t"), neg(X)))}),
        ("a bit of the challenge", {"proof": flipped(good["proof"], 0)}),
        ("a challenge of 0", {"proof": "00" * 16 + good["proof"][32:]}),
        *((change, {"proof": proof}) for change, proof in malformed(good["proof"], 16)),
    ]
    return file([good], [(good, change, changed) for change, changed in changes])


def share_proofs() -> File:
    """Decryption shares, one proof for all."""
    x = scalar("x")
    X = mul_base_secret(x)
    accepted: list[Vector] = []
    for count in (1, 2, 5):
        name = f"{count} shares"
        bases = [point(f"base {i}") for i in range(count)]
        shares = [mul_secret(x, base) for base in bases]
        proof = proofs.prove_shares(x, X, bases, shares, b"deal", Drbg(seed(name)))
        accepted.append(
            {
                "name": name,
                "x": f"{x:x}",
                "X": text(X),
                "bases": texts(bases),
                "shares": texts(shares),
                "context": b"deal".hex(),
                "rng": seed(name).hex(),
                "proof": proof.hex(),
            }
        )
    one, _, five = accepted
    bases, shares = five["bases"], five["shares"]
    wrong = text(point("R"))
    changes: list[tuple[Vector, str, Vector]] = [
        (one, "a wrong share", {"shares": [wrong]}),
        (five, "a wrong share", {"shares": [*shares[:4], wrong]}),
        (five, "two shares swapped", {"shares": [shares[1], shares[0], *shares[2:]]}),
        (
            five,
            "two pairs swapped",
            {"bases": [bases[1], bases[0], *bases[2:]], "shares": [shares[1], shares[0], *shares[2:]]},
        ),
        (five, "a share less", {"shares": shares[:4]}),
        (five, "a pair less", {"bases": bases[:4], "shares": shares[:4]}),
        (five, "a pair more", {"bases": [*bases, text(G)], "shares": [*shares, five["X"]]}),
        (five, "another key", {"X": text(point("R"))}),
        (five, "another context", {"context": b"draw".hex()}),
        (five, "no pairs", {"bases": [], "shares": []}),
        (five, "a challenge of 0", {"proof": "00" * 16 + five["proof"][32:]}),
        *((five, change, {"proof": proof}) for change, proof in malformed(five["proof"], 16)),
    ]
    return file(accepted, changes)


def shuffles() -> File:
    """Shuffles with their proofs; `seed` is that of the witness."""
    X = point("joint key")
    accepted: list[Vector] = []
    deck = open_deck(range(5), X)
    for count in (1, 2, 5):
        name = f"shuffle of {count}"
        old = deck[:count]
        prepared = shuffle_proof.prepare(count, Drbg(seed(name)))
        new, witness = shuffle_proof.shuffle(old, X, Drbg(b""), prepared)
        proof = shuffle_proof.prove(old, new, X, witness, b"shuffle", Drbg(seed(name + " proof")))
        accepted.append(
            {
                "name": name,
                "X": text(X),
                "deck": encode_deck(old).hex(),
                "new_deck": encode_deck(new).hex(),
                "context": b"shuffle".hex(),
                "seed": witness.seed.hex(),
                "order": list(witness.order),
                "rng": seed(name + " proof").hex(),
                "proof": proof.hex(),
            }
        )
    five = accepted[-1]
    new = decode_deck(bytes.fromhex(five["new_deck"]))
    witness = Witness.restore(bytes.fromhex(five["seed"]), 5)

    def dishonest(cheat: Deck, secrets: Witness = witness) -> Vector:
        proof = shuffle_proof.prove(deck, cheat, X, secrets, b"shuffle", Drbg(seed("cheat")))
        return {"new_deck": encode_deck(cheat).hex(), "proof": proof.hex()}

    (a, b), rest = new[0], new[1:]
    delta = point("delta")
    foreign = open_deck([9], X)[0]
    points_end = 33 * (3 * 5 + 5)
    changes: list[tuple[str, Vector]] = [
        ("a card replaced", dishonest((foreign, *rest))),
        ("a card twice", dishonest((rest[0], *rest))),
        ("a planted a + delta G", dishonest(((_sum(a, delta), b), *rest))),
        ("two cards swapped", dishonest((rest[0], (a, b), *rest[1:]))),
        ("sum of s is 0, so bar c is the identity", dishonest(new, _cancelled(witness))),
        ("the old deck in another order", {"deck": encode_deck((*deck[1:], deck[0])).hex()}),
        ("another context", {"context": b"shuffle again".hex()}),
        ("another key", {"X": text(point("R"))}),
        ("a card less", {"deck": five["deck"][:-132], "new_deck": five["new_deck"][:-132]}),
        ("a point of another prefix", {"proof": "04" + five["proof"][2:]}),
        ("a bit of c", {"proof": flipped(five["proof"], 33 * 2 + 5)}),
        ("a bit of hat c", {"proof": flipped(five["proof"], 33 * 7 + 5)}),
        ("the sign of a hat t", {"proof": flipped(five["proof"], 33 * 12)}),
        ("the sign of t 4", {"proof": flipped(five["proof"], 33 * 19)}),
        *((change, {"proof": proof}) for change, proof in malformed(five["proof"], points_end + 32 * 7)),
    ]
    return file(accepted, [(five, change, changed) for change, changed in changes])


def _cancelled(witness: Witness) -> Witness:
    """The same shuffle with an s that makes the sum 0."""
    s = (*witness.s[:-1], (Q - sum(witness.s[:-1])) % Q)
    return Witness(witness.seed, witness.order, witness.r, s)


def _sum(*points: Point) -> Point:
    total = add(*points)
    assert total is not None
    return total


def heals() -> File:
    """Seat 2 of three is gone: four hidden cards, of which seat 0 holds card 7 and seat 1 holds card 3."""
    x = [scalar(f"heal x {seat}") for seat in (0, 1)]
    s = [scalar(f"heal s {seat}") for seat in (0, 1)]
    X = _sum(*(mul_base_secret(secret) for secret in x))
    deck = open_deck([3, 5, 7, 8], X)
    for seat in (0, 1):
        deck, _ = shuffle_proof.shuffle(
            deck, X, Drbg(b""), shuffle_proof.prepare(4, Drbg(seed(f"heal shuffle {seat}")))
        )
    own = tuple(
        (mul_base_secret(r), _sum(open_deck([card], mul_base_secret(r * secret % Q))[0][1]))
        for card, secret, r in ((7, x[0], scalar("heal r 0")), (3, x[1], scalar("heal r 1")))
    )
    entries = (*deck, *own)
    raised, proven = [], []
    for secret, name in zip(s, ("heal raise 0", "heal raise 1"), strict=True):
        raised.append(heal.raise_entries(secret, entries))
        key = mul_base_secret(secret)
        proven.append(heal.prove_raise(secret, key, entries, raised[-1], b"heal", Drbg(seed(name))))
    summed = heal.total(raised)
    assert summed is not None
    pile_shares = [heal.tag_shares(secret, summed[:4]) for secret in x]
    own_shares = [heal.tag_shares(secret, summed[4 + seat : 5 + seat]) for seat, secret in enumerate(x)]
    pile_tags = heal.tags(summed[:4], pile_shares)
    own_tags = [heal.tags(summed[4 + seat : 5 + seat], [own_shares[seat]])[0] for seat in (0, 1)]
    result = heal.match(pile_tags, own_tags)
    assert isinstance(result, heal.TagMatch)
    good: Vector = {
        "name": "two survivors",
        "x": [f"{secret:x}" for secret in x],
        "s": [f"{secret:x}" for secret in s],
        "S": [text(mul_base_secret(secret)) for secret in s],
        "deck": encode_deck(deck).hex(),
        "own": encode_deck(own).hex(),
        "context": b"heal".hex(),
        "raised": [encode_deck(entry).hex() for entry in raised],
        "proofs": [proof.hex() for proof in proven],
        "total": encode_deck(summed).hex(),
        "pile_shares": [texts(shares) for shares in pile_shares],
        "own_shares": [texts(shares) for shares in own_shares],
        "pile_tags": [text(tag) for tag in pile_tags],
        "own_tags": [text(tag) for tag in own_tags],
        "dead": list(result.dead),
        "pile": list(result.pile),
    }
    other, first = good["raised"][1], good["raised"][0]
    width = 2 * 66
    swapped = first[width : 2 * width] + first[:width] + first[2 * width :]
    changes: list[tuple[str, Vector]] = [
        ("two raised entries swapped", {"raised": [swapped, other]}),
        ("raised to the secret of another", {"raised": [other, other]}),
        ("a raised a that is the a of a slot", {"raised": [good["deck"][:66] + first[66:], other]}),
        ("a raised entry less", {"raised": [first[:-width], other]}),
        ("the raise of another epoch", {"context": b"heal, epoch 2".hex()}),
    ]
    return file([good], [(good, change, changed) for change, changed in changes])
