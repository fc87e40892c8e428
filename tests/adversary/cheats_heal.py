"""Cheats while a table heals after a loss: 57 to 62 of the catalogue."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable

from otto_protocol.crypto import heal, proofs
from otto_protocol.crypto.deck import Ciphertext, decode_deck, encode_deck
from otto_protocol.crypto.group import G, add, decode_point, neg
from otto_protocol.match import heal_steps
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Purpose
from tests.adversary.cheats_keys import RNG, dropped, duplicate, flipped, mul_base, replaced
from tests.adversary.harness import A, E, Silent, cheat, instead
from tests.adversary.scene import Cheat, Sent, Table, replica_at, standing

HEAL = {"players": 3}


@cheat(
    "57",
    "a healing key that cancels the others'",
    E,
    "P12",
    start="loss: heal prove",
    who=lambda _: 1,
    **HEAL,
)
class CancellingKey(Cheat):
    """Waits for the other's key, and takes the difference to one whose secret it knows."""

    held: m.Message | None = None

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if isinstance(message.body, m.HealProof) and not self.done:
            self.held = message
            return []
        return super().outgoing(table, message)

    def tick(self, table: Table) -> Iterable[Sent]:
        if self.held is None or self.done:
            return
        body = self.held.body
        assert isinstance(body, m.HealProof)
        said = [
            one.message.body for s in table.honest() for seat, one in s.spoken().items() if seat == s.seat
        ]
        keys = [decode_point(one.key) for one in said if isinstance(one, m.HealProof)]
        if len(keys) < len(table.honest()):
            return
        key = add(mul_base(99), *(neg(known) for known in keys))
        assert key is not None
        self.done = True
        yield Sent(m.wire(table.sign(self.held.header, dataclasses.replace(body, key=key.encode()))))


def raised_with(change: Callable[[Table, list[Ciphertext]], None]) -> Callable[[Table, m.Message], m.Body]:
    """Other raised entries, with the best proof that the cheater can make for them."""

    def changed(table: Table, message: m.Message) -> m.Body:
        session, body = table.me, message.body
        assert isinstance(body, m.Raise)
        replica = replica_at(session, message.header.step)
        raised = [*decode_deck(body.pile), *decode_deck(body.hidden)]
        change(table, raised)
        size = len(replica.deck)
        entries = (*replica.deck, *heal_steps.kept_cards(replica))
        key, context = replica.heal_now.keys[session.seat], replica.context(Purpose.RAISE, session.seat)
        proof = heal.prove_raise(5, key, entries, tuple(raised), context, RNG)
        return m.Raise(encode_deck(tuple(raised[:size])), encode_deck(tuple(raised[size:])), proof)

    return changed


def like_the_victims(table: Table, raised: list[Ciphertext]) -> None:
    """The raised a of an entry of F becomes the a of a victim's card: its tag share would open that card."""
    victim = table.honest()[0]
    slot = victim.replica.play.hands[victim.seat][0]
    raised[0] = (victim.replica.held[slot][0], raised[0][1])


def swapped(_table: Table, raised: list[Ciphertext]) -> None:
    raised[0], raised[1] = raised[1], raised[0]


def own_card(_table: Table, raised: list[Ciphertext]) -> None:
    a, b = add(raised[-1][0], G), raised[-1][1]
    assert a is not None
    raised[-1] = (a, b)


for _id, _title, _change in (
    ("58", "raise so that a tag would open a victim's card", like_the_victims),
    ("59", "raise two entries in the wrong order", swapped),
    ("x44", "raise a hidden card wrongly", own_card),
):
    instead(_id, _title, E, "P13", start="loss: raise", kind=m.Raise, **HEAL)(raised_with(_change))


@instead("60", "a wrong tag share", E, "P14", start="loss: tags", kind=m.Tags, **HEAL)
def wrong_tag(table: Table, message: m.Message) -> m.Body:
    session, body = table.me, message.body
    assert isinstance(body, m.Tags)
    replica = replica_at(session, message.header.step)
    bases = heal_steps.tag_bases(replica.heal_now, session.seat)
    data = mul_base(3).encode() + body.pile[33:]
    shares = [decode_point((data + body.hidden)[at : at + 33]) for at in range(0, 33 * len(bases), 33)]
    key, context = replica.keys[session.seat], replica.context(Purpose.TAGS, session.seat)
    proof = proofs.prove_shares(session.speaker.key, key, bases, shares, context, RNG)
    return m.Tags(data, body.hidden, proof)


@instead("x45", "a tag for one card too few", E, "P14", start="loss: tags", kind=m.Tags, **HEAL)
def missing_tag(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Tags)
    return dataclasses.replace(message.body, hidden=message.body.hidden[33:])


class SecretsWatched(Silent):
    """After the second heal nobody has used a healing key of the first one."""

    def after(self, table: Table) -> None:
        keys: list[bytes] = []
        for message in standing(table.honest()[0]):
            if isinstance(message.body, m.HealProof):
                keys.append(message.body.key)
        assert len(keys) == 3 + 2, "two heals"
        assert len(set(keys)) == len(keys)


cheat("61", "quit after the tags are seen", A, start="loss: tags", kind=m.Tags, **HEAL)(SecretsWatched)
cheat("x46", "quit in the middle of a heal shuffle", A, start="loss: heal shuffle", kind=m.Shuffle, **HEAL)(
    Silent
)


@cheat("62", "a raise of an earlier heal again", E, "P13", start="loss: raise", who=lambda _: 1, players=4)
class OldRaise(Cheat):
    """Keeps its raise; another seat is lost, and in the next heal it says the old one again."""

    old: m.Raise | None = None

    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.Raise):
            if self.old is None:
                self.old = body
            else:
                self.done = True
                return self.old
        return body

    def tick(self, table: Table) -> Iterable[Sent]:
        if self.old is not None and 3 not in table.gone:
            table.leave(3)
        return []


class HealDeck(Cheat):
    def __init__(self, change: Callable[..., None]) -> None:
        self.change = change

    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.Shuffle) and not self.done:
            self.done = True
            deck = list(decode_deck(body.deck))
            self.change(deck, table.me.replica.joint_key)
            return m.Shuffle(encode_deck(tuple(deck)))
        return body


for _id, _title, _rule, _spoil in (
    ("x47", "a card twice in a heal", "P7", duplicate),
    ("x48", "a point that is no card in a heal", "P7", replaced),
    ("x49", "a card too few in a heal", "P6", dropped),
):
    cheat(_id, _title, E, _rule, start="loss: heal shuffle", who=lambda _: 1, **HEAL)(
        functools.partial(HealDeck, _spoil)
    )


@instead(
    "x50", "a healing key without its proof", E, "P12", start="loss: heal prove", kind=m.HealProof, **HEAL
)
def unproven_key(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.HealProof)
    return dataclasses.replace(message.body, possession=flipped(message.body.possession))
