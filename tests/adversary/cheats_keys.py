"""Cheats with keys, shuffles, proofs and deals: 5 to 26 of the catalogue."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable

from otto_protocol.crypto import proofs, shuffle_proof
from otto_protocol.crypto.commitments import commit
from otto_protocol.crypto.deck import decode_deck, encode_deck
from otto_protocol.crypto.group import G, Point, Q, add, decode_point, encode_scalar, mul, neg
from otto_protocol.encoding import encode, pack
from otto_protocol.hashing import Drbg
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Purpose
from tests.adversary.harness import A, E, Instead, Silent, cheat, instead
from tests.adversary.scene import Cheat, Sent, Table, replica_at, standing

RNG = Drbg(b"a cheat's own randomness")


def flipped(data: bytes, place: int = -1) -> bytes:
    """The bytes with one bit turned over."""
    changed = bytearray(data)
    changed[place] ^= 1
    return bytes(changed)


# -- keys ------------------------------------------------------------------------------------------------


class WrongKey(Cheat):
    """Commits to a key that is not its own, properly, and opens it."""

    def __init__(self, make: Callable[[Table, m.KeyOpen], m.KeyOpen]) -> None:
        self.make = make
        self.made: m.KeyOpen | None = None

    def body(self, table: Table, body: m.Body) -> m.Body:
        replica, honest = table.me.replica, table.me.speaker.key_open
        if isinstance(body, m.KeyCommit):
            assert honest is not None
            self.made = self.make(table, honest)
            content = self.made.committed()
            return m.KeyCommit(commit(replica.context(Purpose.KEY, table.me.seat), content, self.made.nonce))
        if isinstance(body, m.KeyOpen) and self.made is not None:
            self.done = True
            return self.made
        return body


def others(table: Table) -> list[m.KeyOpen]:
    """What the others will open: more than a cheat can know when it commits."""
    return [s.speaker.key_open for s in table.honest() if s.speaker.key_open is not None]


def fresh(_table: Table) -> int:
    return 2


@cheat("5", "copy another's commitment", E, "P4", start="key commit", who=fresh)
class CopiedCommitment(Cheat):
    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.KeyCommit):
            copied = next(one.message.body for one in table.me.spoken().values())
            assert isinstance(copied, m.KeyCommit)
            return copied
        if isinstance(body, m.KeyOpen):
            self.done = True
            return others(table)[0]
        return body


@instead("6", "open another key than the committed one", E, "P4", start="key open", kind=m.KeyOpen)
def wrong_opening(table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.KeyOpen)
    return dataclasses.replace(message.body, nonce=flipped(message.body.nonce))


cheat("7", "withhold the key", A, start="key open", kind=m.KeyOpen)(Silent)


def stolen(table: Table, honest: m.KeyOpen) -> m.KeyOpen:
    return dataclasses.replace(others(table)[0], nonce=honest.nonce)


def rogue(table: Table, honest: m.KeyOpen) -> m.KeyOpen:
    known = [decode_point(one.key) for one in others(table)]
    key = add(mul_base(7), *(neg(point) for point in known))
    assert key is not None
    return dataclasses.replace(honest, key=key.encode())


def hybrid(_table: Table, honest: m.KeyOpen) -> m.KeyOpen:
    return dataclasses.replace(honest, key=bytes([honest.key[0] + 4]) + honest.key[1:])


def big_scalar(_table: Table, honest: m.KeyOpen) -> m.KeyOpen:
    return dataclasses.replace(honest, possession=honest.possession[:16] + Q.to_bytes(32, "big"))


def another_tables(table: Table, honest: m.KeyOpen) -> m.KeyOpen:
    elsewhere = copy.copy(table.me.replica)
    elsewhere.match = bytes(32)
    possession = proofs.prove_key(5, mul_base(5), elsewhere.context(Purpose.KEY, table.me.seat), RNG)
    return dataclasses.replace(honest, key=mul_base(5).encode(), possession=possession)


def mul_base(scalar: int) -> Point:
    return times(scalar, G)


def times(scalar: int, base: Point) -> Point:
    point = mul(scalar, base)
    assert point is not None
    return point


for _number, _title, _make in (
    ("8", "a key with another's proof of possession", stolen),
    ("9", "a key that cancels the others'", rogue),
    ("10", "a point in hybrid form", hybrid),
    ("11", "a scalar that is not below the order", big_scalar),
    ("x1", "a proof of possession from another table", another_tables),
):
    cheat(_number, _title, E, "P5", start="key commit", who=fresh)(functools.partial(WrongKey, _make))


# -- bytes -----------------------------------------------------------------------------------------------


def signed_content(table: Table, content: bytes) -> bytes:
    """Wire bytes of any content, signed by the cheating seat."""
    identity, match = table.identities[table.cheater or 0], table.me.replica.match
    signature = identity.sign(m.SIGNATURE_TAG, match, content)
    return pack(m.Signed(table.cheater or 0, content, signature))


class Bytes(Cheat):
    """Signs bytes that are no message, once."""

    def __init__(self, change: Callable[[bytes], bytes]) -> None:
        self.change = change

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if self.done:
            return super().outgoing(table, message)
        self.done = True
        return [Sent(signed_content(table, self.change(message.signed.content)))]


assert encode((1,) * 3)[:1] == b"\x93"
for _number, _title, _change in (
    ("12", "not canonical: a long array header", lambda c: b"\xdc\x00\x03" + c[1:]),
    ("x2", "not canonical: bytes behind the end", lambda c: c + b"\x00"),
    ("x3", "a kind of message that does not exist", lambda c: c.replace(c[-40:], b"\xff" * 40)),
    ("x4", "an empty content", lambda c: b""),
):
    cheat(_number, _title, E, "P2", start="lead", kind=m.Lead)(functools.partial(Bytes, _change))


# -- shuffles --------------------------------------------------------------------------------------------


class Deck(Cheat):
    """Shuffles as it likes; the proof is the one of the honest shuffle."""

    def __init__(self, change: Callable[[list[tuple[Point, Point]], Point], None]) -> None:
        self.change = change

    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.Shuffle) and not self.done:
            self.done = True
            deck = list(decode_deck(body.deck))
            self.change(deck, table.me.replica.joint_key)
            return m.Shuffle(encode_deck(tuple(deck)))
        return body


def shifted(entry: tuple[Point, Point], r: int, x: Point) -> tuple[Point, Point]:
    """The same card, encrypted anew."""
    a, b = add(entry[0], mul_base(r)), add(entry[1], times(r, x))
    assert a is not None
    assert b is not None
    return a, b


def duplicate(deck: list[tuple[Point, Point]], x: Point) -> None:
    deck[1] = shifted(deck[0], 12345, x)


def replaced(deck: list[tuple[Point, Point]], x: Point) -> None:
    a, b = mul_base(99), add(mul_base(31337), times(99, x))
    assert b is not None
    deck[0] = a, b


def planted(deck: list[tuple[Point, Point]], x: Point) -> None:
    a = add(deck[1][0], mul_base(4711))
    assert a is not None
    deck[0] = a, deck[0][1]


def dropped(deck: list[tuple[Point, Point]], x: Point) -> None:
    deck.pop()


def added(deck: list[tuple[Point, Point]], x: Point) -> None:
    deck.append(shifted(deck[0], 3, x))


for _number, _title, _rule, _spoil in (
    ("13", "a card too few", "P6", dropped),
    ("x5", "a card too many", "P6", added),
    ("14", "a card twice", "P7", duplicate),
    ("15", "a point that is no card", "P7", replaced),
    ("16", "a planted ciphertext, to learn a share", "P7", planted),
):
    cheat(_number, _title, E, _rule, start="shuffle", who=fresh)(functools.partial(Deck, _spoil))


class Proof(Cheat):
    """An honest shuffle, and a proof that is changed."""

    def __init__(self, change: Callable[[Table, bytes], bytes]) -> None:
        self.change = change

    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.ShuffleProof) and not self.done:
            self.done = True
            return m.ShuffleProof(self.change(table, body.proof))
        return body


def elsewhere(table: Table, _proof: bytes) -> bytes:
    """A proof that would hold for this very shuffle, made by another seat."""
    speaker = table.me.speaker
    assert speaker.witness is not None
    _, before, after, witness = speaker.witness
    context = table.me.replica.context(Purpose.SHUFFLE, (table.me.seat + 1) % 3)
    return shuffle_proof.prove(before, after, table.me.replica.joint_key, witness, context, RNG)


def size(table: Table) -> int:
    return len(table.me.replica.shuffles[0].after)


def cancelled(table: Table, proof: bytes) -> bytes:
    """c_bar is the identity: the first commitment is what is missing in the sum of the generators."""
    count = size(table)
    c = [decode_point(proof[at : at + 33]) for at in range(0, 33 * count, 33)]
    _, hs = shuffle_proof.generators(count)
    first = add(*hs, *(neg(point) for point in c[1:]))
    assert first is not None
    return first.encode() + proof[33:]


def zero_response(table: Table, proof: bytes) -> bytes:
    at = (3 * size(table) + 5) * 33 + 32  # the second of the four single responses
    return proof[:at] + bytes(32) + proof[at + 32 :]


for _number, _title, _change_proof in (
    ("17", "a shuffle proof of another seat", elsewhere),
    ("18", "commitments that add up to nothing", cancelled),
    ("19", "a response of zero", zero_response),
    ("20", "a proof that is cut short", lambda _t, p: p[:-32]),
    ("x6", "no proof at all", lambda _t, _p: b""),
    ("x7", "a response that is not below the order", lambda _t, p: p[:-32] + Q.to_bytes(32, "big")),
    ("x8", "one bit of the proof", lambda _t, p: flipped(p, 40)),
):
    cheat(_number, _title, E, "P7", start="shuffle", who=fresh)(functools.partial(Proof, _change_proof))


@cheat(
    "21", "two bad proofs of two seats", E, "P7", start="shuffle", who=lambda _: 2, players=4, accomplices=1
)
class TwoProofs(Cheat):
    def __init__(self) -> None:
        self.bad = 0

    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.ShuffleProof):
            self.bad += 1
            self.done = self.bad == 2
            return m.ShuffleProof(flipped(body.proof))
        return body


class Forked(Instead):
    """Says one thing to the lowest honest seat, and the honest thing to everybody else."""

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        first, *rest = [s.seat for s in table.honest()]
        if self.done or (table.kind is not None and not isinstance(message.body, table.kind)):
            yield Sent(m.wire(message))
            return
        self.to = (first,)
        yield from self.say(table, message)
        yield Sent(m.wire(message), tuple(rest))


def rotated(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Shuffle)
    return m.Shuffle(message.body.deck[66:] + message.body.deck[:66])


cheat("22", "two shuffles to two peers", E, "P1", start="shuffle", kind=m.Shuffle)(lambda: Forked(rotated))


# -- shares ----------------------------------------------------------------------------------------------


def shares_with(change: Callable[[list[Point]], object]) -> Callable[[Table, m.Message], m.Body]:
    """Other shares, with the best proof that the cheater can make for them."""

    def changed(table: Table, message: m.Message) -> m.Body:
        session, body = table.me, message.body
        assert isinstance(body, m.Shares)
        shares = [decode_point(body.shares[at : at + 33]) for at in range(0, len(body.shares), 33)]
        change(shares)
        past = replica_at(session, message.header.step)
        bases = [past.pile[slot][0] for slot in past.slots_to_share(session.seat)]
        context = past.context(Purpose.SHARES, session.seat)
        if len(bases) != len(shares):
            return m.Shares(proofs.joined(shares), body.proof)
        key = past.keys[session.seat]
        proof = proofs.prove_shares(session.speaker.key, key, bases, shares, context, RNG)
        return m.Shares(proofs.joined(shares), proof)

    return changed


def wrong_share(shares: list[Point]) -> None:
    shares[0] = mul_base(17)


def birthday(shares: list[Point]) -> None:
    """Two wrong shares whose errors cancel if the weights do not depend on all of them."""
    first, second = add(shares[0], mul_base(5)), add(shares[1], neg(mul_base(5)))
    assert first is not None
    assert second is not None
    shares[:2] = first, second


instead("23", "a wrong share", E, "P9", start="deal", kind=m.Shares)(shares_with(wrong_share))
instead("24", "wrong shares that add up", E, "P9", start="deal", kind=m.Shares)(shares_with(birthday))
instead("25", "a slot without its share", E, "P8", start="deal", kind=m.Shares)(
    shares_with(lambda s: s.pop())
)
instead("26", "a share of a slot of one's own", E, "P8", start="deal", kind=m.Shares)(
    shares_with(lambda s: s.append(mul_base(3)))
)


@instead("x9", "two shares in the wrong order", E, "P9", start="deal", kind=m.Shares)
def swapped(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Shares)
    shares = message.body.shares
    return m.Shares(shares[33:66] + shares[:33] + shares[66:], message.body.proof)


@instead("x10", "a proof of shares of another step", E, "P9", start="draw", kind=m.Shares)
def old_proof(table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Shares)
    dealt = next(
        one.body
        for one in standing(table.me)
        if one.header.seat == table.me.seat and isinstance(one.body, m.Shares)
    )
    assert isinstance(dealt, m.Shares)
    return m.Shares(message.body.shares, dealt.proof)


@instead("x11", "a proof of shares with a zero response", E, "P9", start="deal", kind=m.Shares)
def zero_proof(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Shares)
    return m.Shares(message.body.shares, message.body.proof[:16] + encode_scalar(0))
