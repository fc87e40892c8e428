"""`otto-p2p bench`: what the cryptography costs on this machine, beside the multiplications that it needs.

Prices are CPU time. t is one variable-base multiplication by a public 256-bit scalar, measured in the same
round as what is compared with it. `ratio` is to the multiplications in docs/protocol.md, section 17, where each
by 256 bits counts as one t, a fixed-base one as 0.58 t, one by 128 bits as 0.83 t. `own` is to the group
operations that are really made, additions and decodings too, each at the price measured here; what is above 1
is hashing and Python. A multiplication by a secret is constant time and costs more than t, which is most of
what a ratio has above its `own`. A proof's commitments to a secret under the fixed generator h are made of a
table: they cost less than the two multiplications that they count as.
"""

from __future__ import annotations

import functools
import json as json_format
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from otto_protocol.crypto import heal, proofs, shuffle_proof
from otto_protocol.crypto.deck import Deck, open_deck
from otto_protocol.crypto.group import (
    CHALLENGE_BYTES,
    G,
    Point,
    add,
    challenge_scalar,
    decode_point,
    mul,
    mul_base_secret,
    mul_each_secret,
    mul_secret,
    random_scalars,
)
from otto_protocol.crypto.shuffle import blinding_base
from otto_protocol.hashing import Rng

CARDS = 152
CHAIN = 4
ROUNDS = 5
HAND = 8  # hidden cards of each survivor of a heal


@dataclass(frozen=True, slots=True)
class Row:
    """One line: CPU seconds (median), and where it is known the ratios, the greatest ratio allowed, bytes."""

    name: str
    seconds: float
    ratio: float | None = None
    own_price: float | None = None
    limit: float | None = None
    bytes: int | None = None


def run(json: bool) -> int:
    """Measures and prints a table, or one JSON object; takes some seconds. Returns the exit status, 0."""
    bench = _Bench()
    rows = [*bench.prices(), *bench.shuffles(), *bench.shares(), *(bench.healing(seats) for seats in (4, 10))]
    if json:
        fields = [
            {key: value for key in Row.__slots__ if (value := getattr(row, key)) is not None} for row in rows
        ]
        print(json_format.dumps({"cards": CARDS, "rounds": ROUNDS, "rows": fields}, indent=1))
    else:
        print(f"{CARDS} cards, CPU time on one core, median of {ROUNDS} rounds")
        print(f"{'':44}{'ms':>10}{'ratio':>8}{'limit':>7}{'own':>7}{'bytes':>9}")
        for row in rows:
            print(_line(row))
    return 0


def _line(row: Row) -> str:
    def number(value: float | None, width: int) -> str:
        return " " * width if value is None else f"{value:{width}.2f}"

    size = "" if row.bytes is None else str(row.bytes)
    return (
        f"{row.name:44}{row.seconds * 1000:10.3f}{number(row.ratio, 8)}{number(row.limit, 7)}"
        f"{number(row.own_price, 7)}{size:>9}"
    ).rstrip()


def _cpu(action: Callable[[], object]) -> float:
    before = time.process_time()
    action()
    return time.process_time() - before


class _Bench:
    """The points to measure with, and the prices of each round."""

    def __init__(self) -> None:
        self.scalars = random_scalars(CARDS, os.urandom)
        self.points = [mul_base_secret(k) for k in random_scalars(CARDS, os.urandom)]
        self.x = random_scalars(1, os.urandom)[0]
        self.X = mul_base_secret(self.x)
        shuffle_proof.generators(CARDS)
        blinding_base()
        start = open_deck(range(CARDS), self.X)
        # not the first deck, where every a is G: that one is cheaper
        self.deck, _ = shuffle_proof.shuffle(start, self.X, os.urandom)

    def _price(self, kind: str) -> float:
        """CPU seconds of one operation, now."""
        scalars, points = self.scalars, self.points
        if kind == "mul":
            return _cpu(lambda: [mul(k, P) for k, P in zip(scalars, points, strict=True)]) / CARDS
        if kind == "secret":
            return _cpu(lambda: [mul_secret(k, P) for k, P in zip(scalars, points, strict=True)]) / CARDS
        if kind == "base":
            return _cpu(lambda: [mul_base_secret(k) for k in scalars]) / CARDS
        if kind == "commit":
            return _cpu(lambda: blinding_base().pedersen_each(scalars, scalars)) / CARDS
        if kind == "short":
            short = [challenge_scalar(k.to_bytes(32, "big")[-CHALLENGE_BYTES:]) for k in scalars]
            return _cpu(lambda: [mul(k, P) for k, P in zip(short, points, strict=True)]) / CARDS
        if kind == "add":
            return _cpu(lambda: [add(P, G) for P in points]) / CARDS
        encoded = [P.encode() for P in points]
        return _cpu(lambda: [decode_point(data) for data in encoded]) / CARDS

    def prices(self) -> list[Row]:
        """The operations of the group; the ratio is to t."""
        names = {
            "mul": "t: multiplication",
            "secret": "by a secret scalar (constant time)",
            "base": "of the base point (constant time)",
            "commit": "a commitment of a proof (constant time)",
            "short": "by a 128-bit challenge",
            "add": "addition",
            "decode": "decoding 33 bytes",
        }
        rounds = [{kind: self._price(kind) for kind in names} for _ in range(ROUNDS)]
        return [
            Row(
                name,
                statistics.median(prices[kind] for prices in rounds),
                statistics.median(prices[kind] / prices["mul"] for prices in rounds),
            )
            for kind, name in names.items()
        ]

    def _row(
        self,
        name: str,
        action: Callable[[], object],
        nominal: float,
        kinds: Mapping[str, float],
        limit: float | None = None,
        size: int | None = None,
        rounds: int = ROUNDS,
    ) -> Row:
        """One row; `nominal` is in t, `kinds` counts the operations of each kind that are really made."""
        seconds, ratios, own = [], [], []
        for _ in range(rounds):
            prices = {kind: self._price(kind) for kind in ("mul", *kinds)}
            seconds.append(_cpu(action))
            ratios.append(seconds[-1] / nominal / prices["mul"])
            own.append(seconds[-1] / sum(prices[kind] * count for kind, count in kinds.items()))
        median = statistics.median
        return Row(name, median(seconds), median(ratios), median(own), limit, size)

    def shuffles(self) -> list[Row]:
        """Shuffle, proof, and both verifications."""
        deck, X, N = self.deck, self.X, CARDS
        links: list[shuffle_proof.Link] = []
        last = deck
        for number in range(CHAIN):
            links.append(_link(last, X, bytes([number])))
            last = links[-1][1]
        new, witness = shuffle_proof.shuffle(deck, X, os.urandom)
        proof = shuffle_proof.prove(deck, new, X, witness, b"", os.urandom)
        prepared = [shuffle_proof.prepare(N, os.urandom) for _ in range(ROUNDS)]
        for one in prepared:
            one.set_key(X)
        online = [
            _cpu(functools.partial(shuffle_proof.shuffle, deck, X, os.urandom, one)) for one in prepared
        ]
        return [
            self._row(
                "shuffle",
                lambda: shuffle_proof.shuffle(deck, X, os.urandom),
                1.58 * N,
                {"secret": N, "base": N, "add": 2 * N},
                None,
                66 * N,
            ),
            Row("shuffle, prepared ahead", statistics.median(online)),
            self._row(
                "prove",
                lambda: shuffle_proof.prove(deck, new, X, witness, b"", os.urandom),
                6.57 * N,
                {"secret": 3 * N, "commit": 2 * N, "base": N, "add": N},
                1.3,
                len(proof),
            ),
            self._row(
                "verify, one",
                lambda: _expect(shuffle_proof.check(deck, new, X, proof, b"")),
                7.9 * N,
                {"mul": 4 * N, "short": 4 * N, "base": N, "add": N, "decode": 2 * N},
                1.25,
            ),
            self._row(
                f"verify, chain of {CHAIN}",
                lambda: _expect(all(shuffle_proof.check_chain(X, links, os.urandom))),
                (5 * CHAIN + 3) * N,
                {"mul": (4 * CHAIN + 3) * N, "short": CHAIN * N, "decode": 3 * CHAIN * N},
                1.25,
            ),
        ]

    def shares(self) -> list[Row]:
        """One decryption share for each card, and one proof for all."""
        x, X, N = self.x, self.X, CARDS
        bases = [a for a, _ in self.deck]
        shares = mul_each_secret([x] * N, bases)
        proof = proofs.prove_shares(x, X, bases, shares, b"", os.urandom)
        return [
            self._row("shares", lambda: mul_each_secret([x] * N, bases), N, {"secret": N}, None, 33 * N),
            self._row(
                "prove shares",
                lambda: proofs.prove_shares(x, X, bases, shares, b"", os.urandom),
                0.83 * N + 1.58,
                {"short": N, "secret": 1, "base": 1},
                None,
                len(proof),
            ),
            self._row(
                "verify shares",
                lambda: _expect(proofs.check_shares(X, bases, shares, proof, b"")),
                2 * 0.83 * N + 0.58 + 1 + 2 * 0.83,
                {"short": 2 * N + 2, "mul": 1, "base": 1},
            ),
        ]

    def healing(self, seats: int) -> Row:
        """One seat's critical path from `seats` players to one less, no card being public."""
        heal_of = _Heal(seats - 1, os.urandom)
        k, F, own = seats - 1, CARDS, HAND
        H = k * own
        nominal = (
            k * 1.58 * F  # one after the other
            + 6.57 * F
            + (5 * k + 3) * F
            + (2 + 2 * 0.83) * (F + H)  # its own raise
            + (k - 1) * 4 * 0.83 * (F + H)
            + (1 + 0.83) * (F + own)  # its own tags
            + (k - 1) * 2 * 0.83 * (F + own)
        )
        kinds = {
            "secret": k * F + 3 * F + 2 * (F + H) + F + own,
            "commit": 2 * F,
            "base": k * F + F,
            "mul": (4 * k + 3) * F,
            "add": 2 * k * F + F + 2 * (F + H) + F + H,
            "decode": 3 * k * F,
            "short": k * F + (2 + 4 * (k - 1)) * (F + H) + (1 + 2 * (k - 1)) * (F + own),
        }
        size = (
            66 * F
            + shuffle_proof.proof_bytes(F)
            + 66 * (F + H)
            + 33 * (F + own)
            + 33
            + 3 * proofs.PROOF_BYTES
        )
        return self._row(f"heal, {seats} to {seats - 1} players", heal_of.path, nominal, kinds, None, size, 1)


def _expect(verdict: bool) -> None:
    if not verdict:
        raise AssertionError("an honest proof was refused")


def _link(deck: Deck, X: Point, context: bytes) -> shuffle_proof.Link:
    new, witness = shuffle_proof.shuffle(deck, X, os.urandom)
    return deck, new, shuffle_proof.prove(deck, new, X, witness, context, os.urandom), context


class _Heal:
    """What the others publish in a heal, made beforehand, and the path of the first survivor."""

    def __init__(self, survivors: int, rng: Rng) -> None:
        self.rng = rng
        self.keys = random_scalars(survivors, rng)
        self.public = [mul_base_secret(x) for x in self.keys]
        joint = add(*self.public)
        assert joint is not None
        self.X = joint
        self.links: list[shuffle_proof.Link] = []
        deck = open_deck(range(CARDS), joint)
        for _ in range(survivors):
            self.links.append(_link(deck, joint, b""))
            deck = self.links[-1][1]
        self.F = deck
        self.own = [open_deck(range(seat * HAND, (seat + 1) * HAND), X) for seat, X in enumerate(self.public)]
        self.entries = (*deck, *(entry for hand in self.own for entry in hand))
        self.secrets = random_scalars(survivors, rng)
        self.raised = [heal.raise_entries(s, self.entries) for s in self.secrets]
        self.proven = [
            heal.prove_raise(s, mul_base_secret(s), self.entries, raised, b"", rng)
            for s, raised in zip(self.secrets, self.raised, strict=True)
        ]
        total = heal.total(self.raised)
        assert total is not None
        self.total = total
        self.tags = [self._tags(seat) for seat in range(survivors)]

    def _mine(self, seat: int) -> Deck:
        """The raised entries that a seat gives shares for: F and its own cards."""
        at = len(self.F) + seat * HAND
        return (*self.total[: len(self.F)], *self.total[at : at + HAND])

    def _tags(self, seat: int) -> tuple[tuple[Point, ...], bytes]:
        entries, x = self._mine(seat), self.keys[seat]
        shares = heal.tag_shares(x, entries)
        bases = [a for a, _ in entries]
        return shares, proofs.prove_shares(x, self.public[seat], bases, shares, b"", self.rng)

    def path(self) -> None:
        """What the first survivor computes and what it waits for: the shuffles of all, one after another."""
        for deck, _, _, _ in self.links[1:]:
            shuffle_proof.shuffle(deck, self.X, self.rng)
        _link(self.links[0][0], self.X, b"")
        _expect(all(shuffle_proof.check_chain(self.X, self.links, self.rng)))
        s = self.secrets[0]
        raised = heal.raise_entries(s, self.entries)
        heal.prove_raise(s, mul_base_secret(s), self.entries, raised, b"", self.rng)
        others = zip(self.secrets[1:], self.raised[1:], self.proven[1:], strict=True)
        for secret, made, proof in others:
            _expect(heal.check_raise(mul_base_secret(secret), self.entries, made, proof, b""))
        _expect(heal.total([raised, *self.raised[1:]]) == self.total)
        self._tags(0)
        for seat in range(1, len(self.keys)):
            shares, proof = self.tags[seat]
            bases = [a for a, _ in self._mine(seat)]
            _expect(proofs.check_shares(self.public[seat], bases, shares, proof, b""))
        size = len(self.F)
        pile = heal.tags(self.total[:size], [shares[:size] for shares, _ in self.tags])
        own = [
            tag
            for seat, (shares, _) in enumerate(self.tags)
            for tag in heal.tags(self._mine(seat)[size:], [shares[size:]])
        ]
        _expect(isinstance(heal.match(pile, own), heal.TagMatch))
