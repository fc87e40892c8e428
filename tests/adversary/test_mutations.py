"""Checks that are switched off, one at a time: the cheat behind each must then be noticed by the suite.

The game is the one that `test_cheats` plays; with its check gone it must fail. What two checks refuse
independently of each other is listed with both of them off.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import msgpack
import pytest

from otto_protocol import rules
from otto_protocol.crypto import commitments, heal, proofs, shuffle_proof
from otto_protocol.crypto.deck import decode_deck
from otto_protocol.crypto.group import G, decode_point
from otto_protocol.errors import DecodeError, OttoError, PeerFault
from otto_protocol.match import contradictions, log, messages, openings, otto, replica, signed_points, speaker
from otto_protocol.match.effects import Purpose
from otto_protocol.match.log import Log
from otto_protocol.match.replica import Replica, Spoken
from otto_protocol.rules import apply_moves
from tests.adversary import harness, moments, scene
from tests.adversary.harness import play
from tests.adversary.test_cheats import CHEATS
from tests.verdicts import remembered

Patch = Callable[[pytest.MonkeyPatch], None]


def verified(patch: pytest.MonkeyPatch) -> None:
    """Every shuffle is taken for a shuffle."""
    patch.setattr(shuffle_proof, "check_chain", lambda X, links, rng: [True] * len(links))


def constant(module: object, name: str, value: object) -> Patch:
    """This check says the same, whatever it is asked."""
    return lambda patch: patch.setattr(module, name, lambda *args, **more: value)


def any_bytes(patch: pytest.MonkeyPatch) -> None:
    """Every encoding is taken, not the canonical one alone."""

    def decode(data: bytes, max_bytes: int = 0) -> Any:
        unpacker = msgpack.Unpacker(use_list=False, raw=False, strict_map_key=False)
        unpacker.feed(data)
        try:
            return unpacker.unpack()
        except (ValueError, msgpack.UnpackException) as error:
            raise DecodeError(str(error)) from None

    patch.setattr(messages, "decode", decode)


def hybrid_points(patch: pytest.MonkeyPatch) -> None:
    def lenient(data: bytes) -> Any:
        return decode_point(bytes([data[0] - 4]) + data[1:] if data[:1] in (b"\x06", b"\x07") else data)

    patch.setattr(signed_points, "decode_point", lenient)


def any_deck_size(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(replica, "whole_deck", lambda seat, rule, data, count: decode_deck(data))


def any_number_of_shares(patch: pytest.MonkeyPatch) -> None:
    def lenient(seat: int, rule: str, data: bytes, count: int) -> tuple[Any, ...]:
        padded = (data + G.encode() * count)[: 33 * count]
        return tuple(decode_point(padded[at : at + 33]) for at in range(0, len(padded), 33))

    patch.setattr(replica, "many_points", lenient)
    patch.setattr(openings, "many_points", lenient)


def anybody_speaks(patch: pytest.MonkeyPatch) -> None:
    honest = Replica.check

    def check(self: Replica, seat: int, body: Any) -> Any:
        try:
            return honest(self, seat, body)
        except PeerFault as fault:
            if fault.rule != "P3":
                raise
        return otto.meaning(self, seat, body)

    patch.setattr(Replica, "check", check)


def no_game_rules(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "check", lambda *_: None)
    patch.setattr(apply_moves, "check", lambda *_: None)
    patch.setattr(otto, "_require_own", lambda *_: None)


def one_context(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Replica, "context", lambda self, purpose, seat: bytes(32))


def context_without(name: str) -> Patch:
    """Proofs are not bound to one of the things that they must be bound to."""
    honest = Replica.context

    def context(self: Replica, purpose: Purpose, seat: int) -> bytes:
        other = copy.copy(self)
        match name:
            case "seat":
                seat = 0
            case "step":
                other.step = 0
                other.digest = bytes(32)
            case _:
                setattr(other, name, type(getattr(self, name))())
        return honest(other, purpose, seat)

    return lambda patch: patch.setattr(Replica, "context", context)


def any_log(patch: pytest.MonkeyPatch) -> None:
    """A message counts whatever log it was made on."""
    honest = Log._judge

    def judge(self: Log, here: Replica, message: messages.Message) -> Any:
        header = dataclasses.replace(message.header, previous=here.digest)
        verdict = honest(self, here, dataclasses.replace(message, header=header))
        return dataclasses.replace(verdict, message=message) if isinstance(verdict, Spoken) else verdict

    patch.setattr(Log, "_judge", judge)


def never_convicting(*unused: str) -> Patch:
    """What breaks these rules is dropped, and nobody is convicted for it."""
    honest = Log._convict

    def convict(self: Log, fault: PeerFault, *rest: Any) -> bool:
        return False if fault.rule in unused else honest(self, fault, *rest)

    return lambda patch: patch.setattr(Log, "_convict", convict)


def same_secret(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(speaker, "random_scalar", lambda rng: 12345)


def one_weight(patch: pytest.MonkeyPatch) -> None:
    """The weights of a batch of shares do not depend on the shares."""
    patch.setattr(proofs, "_weights", lambda context, statement, count: [1] * count)


def unbounded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(log, "AHEAD", 10**9)


MUTATIONS: dict[str, tuple[str, Patch]] = {
    "a commitment is not compared: key": ("6", constant(commitments, "check", True)),
    "a commitment is not compared: lead": ("30", constant(commitments, "check", True)),
    "a commitment is not compared: duel": ("43", constant(commitments, "check", True)),
    "a commitment is not compared: number": ("x23", constant(commitments, "check", True)),
    "a commitment is not compared: score": ("x25", constant(commitments, "check", True)),
    "possession is not proven: rogue key": ("9", constant(proofs, "check_key", True)),
    "possession is not proven: another's": ("8", constant(proofs, "check_key", True)),
    "possession is not proven: healing": ("57", constant(proofs, "check_key", True)),
    "hybrid points are taken": ("10", hybrid_points),
    "any encoding is taken": ("12", any_bytes),
    "shuffles are not verified: card twice": ("14", verified),
    "shuffles are not verified: planted": ("16", verified),
    "shuffles are not verified: heal": ("x47", verified),
    "a deck may have any size": ("13", any_deck_size),
    "shares may be any number": ("25", any_number_of_shares),
    "shares are not verified: deal": ("23", constant(proofs, "check_shares", True)),
    "shares are not verified: opening": ("x16", constant(proofs, "check_shares", True)),
    "shares are not verified: tags": ("60", constant(proofs, "check_shares", True)),
    "weights of a batch are known before": ("24", one_weight),
    "raised cards are not verified: victim": ("58", constant(heal, "check_raise", True)),
    "raised cards are not verified: order": ("59", constant(heal, "check_raise", True)),
    "proofs are bound to nothing: shares": ("x10", one_context),
    "proofs are not bound to the seat": ("17", context_without("seat")),
    "proofs are not bound to the step": ("x10", context_without("step")),
    "a healing secret is used twice": ("61", same_secret),
    "anybody may speak": ("36", anybody_speaks),
    "no rules: collecting another's card": ("27", no_game_rules),
    "no rules: a false number": ("29", no_game_rules),
    "no rules: the led number": ("32", no_game_rules),
    "no rules: a collected card": ("33", no_game_rules),
    "no rules: sitting out": ("34", no_game_rules),
    "no rules: a second duel": ("41", no_game_rules),
    "no rules: a card of the hand is lost": ("44", no_game_rules),
    "no rules: a mixed Otto": ("45b", no_game_rules),
    "any log counts": ("50", any_log),
    "the log may be unbounded": ("64", unbounded),
    "signatures are not verified": ("x51", constant(messages, "signature_valid", True)),
    "votes may contradict each other: a round": ("51", constant(log, "contradiction", None)),
    "votes may contradict each other: two views": ("x28", constant(log, "contradiction", None)),
    "votes may contradict each other: own messages": ("x31", constant(log, "contradiction", None)),
    "votes after LEAVE": ("x29", constant(log, "contradiction", None)),
    "votes that cannot be meant": ("x33", constant(contradictions, "_sensible", True)),
}
for _rule, _number in {
    "P1": "22", "P2": "x3", "P3": "38", "P4": "5", "P5": "11", "P6": "x5", "P7": "20", "P8": "26",
    "P9": "x11", "P10": "35", "P11": "48", "P12": "x50", "P13": "x44", "P14": "x45", "P15": "x26",
    "P16": "51", "P17": "x28", "P18": "x30", "P19": "x31", "T3": "x12", "T6": "28", "T7": "x14",
    "T11": "x21", "T13": "44", "R4": "29", "R5": "34", "R9": "x20", "R11": "42", "R14": "46",
}.items():  # fmt: skip
    MUTATIONS[f"nobody is convicted by {_rule}"] = (_number, never_convicting(_rule))


@pytest.fixture(autouse=True)
def _uncounted() -> Iterator[None]:
    """These games do not belong in the table of cheats."""
    before = dataclasses.replace(harness.COUNT)
    yield
    for name, value in vars(before).items():
        setattr(harness.COUNT, name, value)


@pytest.mark.parametrize(("number", "patch"), MUTATIONS.values(), ids=MUTATIONS)
def test_a_check_that_is_off_is_noticed(number: str, patch: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    told = CHEATS[number]
    moments.moments(told.players, told.player, told.start.startswith("loss: "))  # an honest game, checked
    with remembered({}):  # no verdict from when the check was there
        patch(monkeypatch)
        try:
            play(told, finish=False)
        except (AssertionError, OttoError):
            return
    raise AssertionError(f"{told.name} is played as if the check were there")


PATCHES = {id(patch): (name, patch) for name, (_, patch) in MUTATIONS.items() if "nobody" not in name}


class Honest(scene.Cheat):
    done = True


@pytest.mark.parametrize("patch", [pytest.param(patch, id=name) for name, patch in PATCHES.values()])
def test_an_honest_game_does_not_notice(patch: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    with remembered({}):
        patch(monkeypatch)
        play(harness.Told("", "", harness.X, (), Honest, start="shuffle", who=lambda _: 1), finish=False)


def test_every_rule_that_a_cheat_breaks_has_a_mutation() -> None:
    broken = {told.rules[0] for told in CHEATS.values() if told.rules}
    assert broken <= {name.split()[-1] for name in MUTATIONS}
