"""Three of four put together all that they have: the fourth's hidden cards are in no byte of it.

What they have: every byte on the network, their own notes and seeds, everything in the memory of their
sessions, the transcript, and an evidence file.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import pytest

from otto_protocol.crypto.deck import card_of, card_points
from otto_protocol.crypto.group import POINT_BYTES, Point, add, decode_point, encode_scalar, mul, sub
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Purpose
from otto_protocol.match.events import Record
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import dump
from otto_protocol.roster import TableRules
from tests.protocol.lab_games import eager

VICTIM = 1


class Tapped(Lab):
    """A table with everything that was sent, and all notes of the colluders."""

    def __init__(self, lost: bool) -> None:
        super().__init__(5 if lost else 4, Drbg(b"colluders 3"), TableRules(decks=1))
        self.wire: list[bytes] = []
        self.notes: list[bytes] = []

    def send(self, seat: int, record: Record) -> None:
        self.wire.append(record.data)
        if seat != VICTIM:
            self.notes.append(record.note)
        super().send(seat, record)


@functools.cache
def table(lost: bool) -> Tapped:
    """A game in its fifth turn; with `lost`, one more player was there and has left, so there was a heal."""
    lab = Tapped(lost)
    there = lab.sessions
    for _ in range(20_000):
        busy = [lab.turn_of(session.seat, eager) for session in there]
        replica = there[0].replica
        if lost and replica.phase is MatchPhase.PLAY and replica.play.turn == 2 and len(there) == 5:
            lab.sessions[4].leave()
            lab.flush(4)
            there = lab.sessions[:4]
        if not any(busy):
            for session in there:
                session.vote()
                lab.flush(session.seat)
        if replica.phase is MatchPhase.PLAY and replica.play.turn == 5 and not replica.play.needs_pile:
            return lab
    raise AssertionError("the fifth turn does not come")


def reachable(thing: object, seen: set[int]) -> Iterator[bytes]:
    """Everything in the memory of an object, as bytes: points, scalars, contents, keys."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    match thing:
        case bytes():
            yield thing
        case Point():
            yield thing.encode()
        case int():
            if thing.bit_length() > 64:
                yield thing.to_bytes((thing.bit_length() + 7) // 8, "big").rjust(32, b"\0")
        case str() | None:
            return
        case IdentityKey():
            yield thing.to_bytes()
        case dict():
            for key, value in thing.items():
                yield from reachable(key, seen)
                yield from reachable(value, seen)
        case tuple() | list() | set() | frozenset():
            for item in thing:
                yield from reachable(item, seen)
        case _:
            for name in {*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())}:
                yield from reachable(getattr(thing, name, None), seen)


@functools.cache
def known(lost: bool) -> tuple[bytes, ...]:
    """All that the three have."""
    lab = table(lost)
    seen: set[int] = set()
    found = [*lab.wire, *lab.notes, dump(lab.sessions[0].transcript())]
    for session in lab.sessions:
        if session.seat != VICTIM:
            found += reachable(session, seen)
            found.append(lab.seeds[session.seat])
    return tuple(dict.fromkeys(found))


def hidden(session: Session) -> tuple[int, ...]:
    """The victim's slots that are not public."""
    state = session.replica.play
    own = (*state.hands[session.seat], *state.collections[session.seat])
    return tuple(slot for slot in own if slot not in state.known)


@functools.cache
def points(lost: bool) -> frozenset[Point]:
    """Every point in any of it: on the wire points stand at fixed places, in memory they are points."""
    found = set()
    for data in known(lost):
        if len(data) == POINT_BYTES:
            found.add(data)
    for data in table(lost).wire:
        body = m.parse_content(m.parse_signed(data)).body
        fields = [getattr(body, field.name) for field in dataclasses.fields(body)]
        fields += [part for one in fields if isinstance(one, m.Opening) for part in (one.shares,)]
        for value in fields:
            if isinstance(value, bytes):
                found |= {value[at : at + POINT_BYTES] for at in range(0, len(value), POINT_BYTES)}
    decoded = set()
    for data in found:
        try:
            decoded.add(decode_point(data))
        except DecodeError:
            continue
    return frozenset(decoded)


@pytest.mark.parametrize("lost", [False, True], ids=["a whole table", "after a heal"])
def test_the_victims_secrets_are_in_no_byte(lost: bool) -> None:
    victim = table(lost).sessions[VICTIM]
    slots = hidden(victim)
    assert len(slots) >= 8
    key = victim.speaker.key
    secrets = {"game key": encode_scalar(key), "seed": table(lost).seeds[VICTIM]}
    cards = card_points(76)
    for slot in slots:
        share = mul(key, victim.replica.held[slot][0])
        assert share is not None
        card = victim.secret.cards[slot]
        assert card_of(sub(victim.replica.held[slot][1], share) or share) == card  # the share would tell
        secrets[f"share of {slot}"] = share.encode()
        secrets[f"x of the share of {slot}"] = share.encode()[1:]
        secrets[f"card of {slot}"] = cards[card].encode()[1:]
        secrets[f"text of {slot}"] = f"({slot}, {card})".encode()
        secrets[f"face of {slot}"] = f"{slot}: {card}".encode()
    secrets["nonce of the number"] = victim.speaker.promised[Purpose.NUMBER].nonce
    everything = b"\0\0\0".join(known(lost))
    for name, secret in secrets.items():
        assert secret not in everything, name


@pytest.mark.parametrize("lost", [False, True], ids=["a whole table", "after a heal"])
def test_no_point_that_they_have_opens_a_card(lost: bool) -> None:
    victim = table(lost).sessions[VICTIM]
    assert len(points(lost)) > 1000
    for slot in hidden(victim)[:4]:
        rest = victim.replica.held[slot][1]
        for point in points(lost):
            for result in (sub(rest, point), add(rest, point)):
                assert result is None or card_of(result) is None, slot


@pytest.mark.parametrize("lost", [False, True], ids=["a whole table", "after a heal"])
def test_the_colluders_programs_know_nothing_either(lost: bool) -> None:
    lab = table(lost)
    slots = set(hidden(lab.sessions[VICTIM]))
    for session in lab.sessions:
        if session.seat != VICTIM:
            assert not slots & session.secret.cards.keys()
            assert not slots & session.replica.play.known.keys()


def test_what_is_opened_would_be_found() -> None:
    """The tests above see: a card that the victim has opened is found by them."""
    lab = table(False)
    for data in lab.wire:
        message = m.parse_content(m.parse_signed(data))
        body = message.body
        if message.header.seat == VICTIM and isinstance(body, m.Answer) and body.opening.shares:
            share = decode_point(body.opening.shares)
            assert share in points(False)
            assert any(share.encode() in one for one in known(False))
            return
    raise AssertionError("the victim has answered nothing")
