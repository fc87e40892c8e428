"""Writes the test vectors beside this file, the same bytes each time; with `--check` it only compares.

Each file has `accepted` and `refused` vectors. A refused one is a whole vector too; `mutates` names the
accepted one that it was made from and `change` says what was done. Bytes are hex, large ints hex without
prefix, `null` is the identity. Where randomness is used, `rng` is the seed of a `Drbg`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from message_vectors import message_vectors
from proof_vectors import heals, key_proofs, share_proofs, shuffles
from vector_parts import File, Vector, file, flipped, point, refused, scalar, seed, text, texts

from otto_protocol.crypto import commitments, identity, proofs, shuffle_proof
from otto_protocol.crypto.deck import card_points
from otto_protocol.crypto.group import (
    LAMBDA,
    G,
    Q,
    challenge_scalar,
    encode_scalar,
    hash_to_group,
    msm,
    mul,
    neg,
)
from otto_protocol.encoding import Value, encode
from otto_protocol.hashing import Drbg, random_below, shuffled, tagged_hash
from otto_protocol.limits import MAX_CARDS

ED25519_P = 2**255 - 19
ED25519_L = 2**252 + 27742317777372353535851937790883648493


def hashing() -> File:
    """Tagged hashes, the seeded stream, and what is drawn from it."""
    parts = [(), (b"",), (b"", b""), (b"ab", b"c"), (b"a", b"bc"), (bytes(200),)]
    hashes = [
        {
            "name": f"tagged_hash {number}",
            "tag": tag,
            "parts": [part.hex() for part in given],
            "digest": tagged_hash(tag, *given).hex(),
        }
        for number, (tag, given) in enumerate(
            [("x", given) for given in parts] + [("xy", ()), ("ā", (b"ab",))]
        )
    ]
    stream = {"name": "drbg", "rng": seed("drbg").hex(), "stream": Drbg(seed("drbg"))(100).hex()}
    rng = Drbg(seed("below"))
    limits = [1, 2, 3, 10, 256, 257, Q]
    below = {
        "name": "random_below, one after the other",
        "rng": seed("below").hex(),
        "limits": [f"{limit:x}" for limit in limits],
        "values": [f"{random_below(limit, rng):x}" for limit in limits],
    }
    order = {
        "name": "shuffled",
        "rng": seed("order").hex(),
        "count": 20,
        "order": shuffled(list(range(20)), Drbg(seed("order"))),
    }
    return {"tagged_hash": hashes, "drbg": [stream], "random_below": [below], "shuffled": [order]}


def encoding() -> File:
    """MessagePack, canonical and not. A value is an int, {"bin": hex}, text or a list."""

    def plain(value: Value) -> Any:
        if isinstance(value, bytes):
            return {"bin": value.hex()}
        return [plain(item) for item in value] if isinstance(value, tuple) else value

    values: list[Value] = [0, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**64 - 1]
    values += ["", "a", "ā" * 16, "x" * 256, b"", b"\0", bytes(255), bytes(256)]
    values += [(), (1,), (1, b"\2", "3", (4, (5,))), tuple(range(15)), tuple(range(16))]
    accepted = [
        {"name": f"encode {number}", "value": plain(value), "bytes": encode(value).hex()}
        for number, value in enumerate(values)
    ]
    by_bytes = {vector["bytes"]: vector for vector in accepted}
    changes = [
        ("00", "cc00", "one byte more than needed for 0"),
        ("00", "cd0000", "16 bits for 0"),
        ("00", "d000", "signed type"),
        ("00", "ff", "-1"),
        ("00", "c0", "nil"),
        ("00", "c2", "false"),
        ("00", "c3", "true"),
        ("00", "cb0000000000000000", "a float"),
        ("00", "80", "a map"),
        ("00", "8100018001", "a map with an entry twice"),
        ("00", "d40100", "an extension type"),
        ("00", "0000", "a byte behind it"),
        ("00", "", "nothing"),
        ("a161", "d90161", "8 bits of length for a short str"),
        ("a161", "a1ff", "not UTF-8"),
        ("a161", "a1", "cut off"),
        ("c400", "c50000", "16 bits of length for a short bin"),
        ("9101", "dc000101", "16 bits of length for a short array"),
        ("9101", "dd0000000101", "32 bits of length for a short array"),
        ("9101", "92 01".replace(" ", ""), "an entry missing"),
        ("9101", "ddffffffff", "an array longer than memory"),
        ("90", "91" * 20 + "90", "nested too deeply"),
    ]
    return {
        "accepted": accepted,
        "refused": [
            {"name": f"refused: {change}", "mutates": by_bytes[old]["name"], "change": change, "bytes": new}
            for old, new, change in changes
        ],
    }


def group() -> File:
    """Points and scalars: arithmetic, encodings, hashing to the group, cards."""
    P, R = point("P"), point("R")
    k = scalar("k")
    arithmetic: list[Vector] = []
    for name, factor, base in [
        ("0 P", 0, P),
        ("1 P", 1, P),
        ("2 P", 2, P),
        ("k P", k, P),
        ("-1 P", Q - 1, P),
        ("lambda P", LAMBDA, P),
        ("k G", k, G),
        ("128 bits", k >> 128, P),
    ]:
        arithmetic.append(
            {
                "name": f"mul {name}",
                "scalars": [f"{factor:x}"],
                "points": texts([base]),
                "result": text(mul(factor, base)),
            }
        )
    for name, scalars, points in [
        ("P + R", [1, 1], [P, R]),
        ("P + P", [1, 1], [P, P]),
        ("P - P", [1, 1], [P, neg(P)]),
        ("k P + lambda R + 0 G + 3 G", [k, LAMBDA, 0, 3], [P, R, G, G]),
        ("k P - k P", [k, Q - k], [P, P]),
    ]:
        arithmetic.append(
            {
                "name": f"sum {name}",
                "scalars": [f"{factor:x}" for factor in scalars],
                "points": texts(points),
                "result": text(msm(scalars, points)),
            }
        )
    encodings = [{"name": name, "bytes": text(value)} for name, value in [("G", G), ("P", P), ("-P", neg(P))]]
    g = encodings[0]
    x = G.encode()[1:]
    y = 0x483ADA77_26A3C465_5DA4FBFC_0E1108A8_FD17B448_A6855419_9C47D08F_FB10D4B8
    long = x.hex() + f"{y:064x}"
    p = 2**256 - 2**32 - 977
    bad_points = [
        refused(g, change, bytes=data)
        for change, data in [
            ("prefix 00", "00" + x.hex()),
            ("prefix 01", "01" + x.hex()),
            ("prefix 04", "04" + x.hex()),
            ("65 bytes", "04" + long),
            ("hybrid, even", "06" + long),
            ("hybrid, odd", "07" + long),
            ("32 bytes", x.hex()),
            ("34 bytes", "02" + x.hex() + "00"),
            ("empty", ""),
            ("the identity of SEC 1", "00"),
            ("33 zeros", "00" * 33),
            ("x is not on the curve", "02" + f"{5:064x}"),
            ("x is the field prime and 1, which is on the curve as 1", "02" + f"{p + 1:064x}"),
            ("x is 2^256 - 1", "02" + "ff" * 32),
        ]
    ]
    good_scalars = [
        {"name": f"scalar {name}", "scalar": f"{value:x}", "bytes": encode_scalar(value).hex()}
        for name, value in [("0", 0), ("1", 1), ("Q - 1", Q - 1), ("k", k)]
    ]
    bad_scalars = [
        refused(good_scalars[2], change, bytes=data)
        for change, data in [
            ("Q", f"{Q:064x}"),
            ("2^256 - 1", "ff" * 32),
            ("31 bytes", "01" * 31),
            ("33 bytes", "00" + "01" * 32),
            ("empty", ""),
        ]
    ]
    challenges = [bytes(16), bytes(15) + b"\1", bytes(7) + b"\1" + bytes(8), b"\xff" * 16]
    challenges.append(seed("challenge")[:16])
    hashed = [("a", ()), ("a", (b"",)), ("a", (b"1",)), ("b", (b"1",)), ("a", (b"1", b"2"))]
    h, hs = shuffle_proof.generators(3)
    return {
        "constants": {"Q": f"{Q:x}", "LAMBDA": f"{LAMBDA:x}", "G": text(G)},
        "arithmetic": arithmetic,
        "accepted": encodings + good_scalars,
        "refused": bad_points + bad_scalars,
        "challenge_scalar": [
            {"name": f"challenge {data.hex()}", "bytes": data.hex(), "scalar": f"{challenge_scalar(data):x}"}
            for data in challenges
        ],
        "hash_to_group": [
            {
                "name": f"hash_to_group {number}",
                "tag": tag,
                "parts": [part.hex() for part in parts],
                "point": text(hash_to_group(tag, *parts)),
            }
            for number, (tag, parts) in enumerate(hashed)
        ],
        "cards": {
            "first": texts(card_points(5)),
            "all": tagged_hash("vectors/cards", proofs.joined(card_points(MAX_CARDS))).hex(),
        },
        "generators": {"h": text(h), "h_i": texts(hs)},
    }


def signatures() -> File:
    """Ed25519: keys, signatures, and keys and signatures that are refused."""
    key = identity.IdentityKey(seed("identity"))
    signature = key.sign("greeting", b"one", b"two")
    good: Vector = {
        "name": "a signature",
        "secret": key.to_bytes().hex(),
        "public": key.public.hex(),
        "fingerprint": identity.fingerprint(key.public),
        "tag": "greeting",
        "parts": [b"one".hex(), b"two".hex()],
        "signature": signature.hex(),
    }
    R, s = signature[:32], int.from_bytes(signature[32:], "little")
    other = identity.IdentityKey(seed("another identity"))
    changes: list[tuple[str, Vector]] = [
        ("another tag", {"tag": "greetings"}),
        ("a part moved", {"parts": [b"onet".hex(), b"wo".hex()]}),
        ("another key", {"public": other.public.hex()}),
        ("a bit of R", {"signature": flipped(signature.hex(), 3)}),
        ("a bit of s", {"signature": flipped(signature.hex(), 40)}),
        ("s + L, the same modulo L", {"signature": (R + (s + ED25519_L).to_bytes(32, "little")).hex()}),
        ("63 bytes", {"signature": signature[:-1].hex()}),
        ("65 bytes", {"signature": signature.hex() + "00"}),
        ("a key of 31 bytes", {"public": key.public[:-1].hex()}),
        ("a key not on the curve", {"public": (2).to_bytes(32, "little").hex()}),
    ]
    # under a key A of small order, R = s G - h A is s G for every h that the order divides; s = 0 makes R the
    # identity, so this one signature verifies for every message under the key 1 (and for some under the
    # others)
    forged = ((1).to_bytes(32, "little") + bytes(32)).hex()
    y8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD83D3D706A17C7
    for order, y in [(1, 1), (2, ED25519_P - 1), (4, 0), (8, y8), (8, ED25519_P - y8)]:
        for sign in (0, 1):
            for shown in (y, y + ED25519_P):
                if shown < 2**255:
                    public = (shown | sign << 255).to_bytes(32, "little").hex()
                    what = f"a key of order {order}, y = {shown:x}, sign {sign}"
                    changes.append((what, {"public": public, "signature": forged}))
    return file([good], [(good, change, new) for change, new in changes])


def hash_commitments() -> File:
    """Hash commitments and openings that do not fit."""
    context, content, nonce = b"game 1, step 2", b"seven", seed("nonce")
    good: Vector = {
        "name": "a commitment",
        "context": context.hex(),
        "content": content.hex(),
        "nonce": nonce.hex(),
        "commitment": commitments.commit(context, content, nonce).hex(),
    }
    changes: list[tuple[str, Vector]] = [
        ("another content", {"content": b"eight".hex()}),
        ("another context", {"context": b"game 2, step 2".hex()}),
        ("another nonce", {"nonce": flipped(nonce.hex(), 0)}),
        ("a nonce of 31 bytes", {"nonce": nonce[:-1].hex()}),
        (
            "a byte moved from context to content",
            {"context": context[:-1].hex(), "content": "32" + content.hex()},
        ),
        ("31 bytes", {"commitment": good["commitment"][:-2]}),
    ]
    return file([good], [(good, change, new) for change, new in changes])


FILES: dict[str, Callable[[], File]] = {
    "hashing": hashing,
    "encoding": encoding,
    "group": group,
    "identity": signatures,
    "commitments": hash_commitments,
    "key_proofs": key_proofs,
    "share_proofs": share_proofs,
    "shuffle": shuffles,
    "heal": heals,
    "messages": message_vectors,
}


def main(arguments: list[str]) -> int:
    """Writes all files; with `--check` compares instead, names what differs, and returns 1 if any does."""
    stale = []
    for name, make in FILES.items():
        path = Path(__file__).with_name(f"{name}.json")
        content = json.dumps(make(), indent=1, ensure_ascii=False) + "\n"
        if "--check" not in arguments:
            path.write_text(content, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            stale.append(path.name)
    if stale:
        print("differ from what the code makes:", *stale)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
