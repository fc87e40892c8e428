"""Every field of every message, and everything that a proof is bound to: whatever is changed is refused."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from otto_protocol.crypto.group import G
from otto_protocol.errors import DecodeError, PeerFault
from otto_protocol.hashing import Drbg
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Purpose
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica, StepFaults
from otto_protocol.match.views import Completed
from tests.adversary.moments import moments
from tests.adversary.scene import Table, newest
from tests.protocol.lab_games import changes as happened

RNG = Drbg(b"weights")

# Other values of these fields are other decisions, as legal as the first one. A commitment binds: what is
# opened later must fit it (cheats 5, 6, 28 to 30, 43 and x23).
FREE = {
    "Choose.commitment", "Lead.commitment", "LayDuel.commitment", "KeyCommit.commitment",
    "OttoCommit.commitment", "Lead.number", "Guess.colour", "Exchange.take", "Collect.slots", "Choose.slots",
    "Challenge.target",
}  # fmt: skip
BALLOTS = {"Ack", "Vote", "Enter", "Leave"}


@functools.cache
def said() -> dict[str, tuple[Replica, int, m.Body]]:
    """One message of each kind in honest games: the replica before it, who said it, and the body."""
    found: dict[str, tuple[Replica, int, m.Body]] = {}
    tables: list[Table] = []
    for player in ("eager", "duellist"):
        tables.append(moments(3, player)["over"])
    healing = moments(3, "eager", True)["tags"].fork()
    healing.run(lambda session: session.replica.phase is MatchPhase.PLAY)
    tables.append(healing)
    for table in tables:
        for step in happened(newest(table.honest()).transcript()):
            if isinstance(step, Completed):
                for seat, one in step.spoken.items():
                    found.setdefault(type(one.message.body).__name__, (step.before, seat, one.message.body))
    return found


def changes(value: object) -> Iterator[Any]:
    """Other values for a field."""
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
            yield max(0, value - 1) if value else 2
        case bytes():
            for place in sorted({0, len(value) // 2, len(value) - 1} if value else set()):
                changed = bytearray(value)
                changed[place] ^= 1
                yield bytes(changed)
            yield value[:-1]
            yield value + b"\0"
            yield b"" if value else b"\1"
            yield bytes(len(value)) or b"\2"
            if len(value) >= 66:
                yield value[33:66] + value[:33] + value[66:]
        case tuple():
            yield (*value, 3)
            yield value[:-1] if value else (4,)
            yield (*value, *value[:1])
        case m.Opening():
            for name in ("shares", "proof"):
                for other in changes(getattr(value, name)):
                    yield dataclasses.replace(value, **{name: other})
            yield m.Opening(G.encode(), value.proof)


def refused(replica: Replica, seat: int, body: m.Body) -> str:
    """The rule by which a message is refused, alone or at the end of its step; "" if it is taken."""
    header = m.Header(replica.match, replica.view, replica.step, seat, replica.digest)
    try:
        content = m.content_of(header, body)
        m.parse_content(m.Signed(seat, content, bytes(64)))
    except DecodeError:
        return "P2"
    try:
        replica.check(seat, body)
        if isinstance(body, m.ShuffleProof):
            made = next(one for one in replica.shuffles if one.seat == seat)
            alone = copy.copy(replica)
            alone.shuffles = (made,)
            alone._verify_shuffles({seat: body.proof}, RNG, None)
        if isinstance(body, m.HealProof):
            made = next(one for one in replica.shuffles if one.seat == seat)
            alone = copy.copy(replica)
            alone.shuffles = (made,)
            alone._verify_shuffles({seat: body.proof}, RNG, None)
    except PeerFault as fault:
        return fault.rule if fault.culprit == seat else "another seat"
    except StepFaults as found:
        return found.faults[0].rule if found.faults[0].culprit == seat else "another seat"
    return ""


KINDS = [kind.__name__ for kind in m.KINDS if kind.__name__ not in BALLOTS]


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_field_is_refused(kind: str) -> None:
    if kind not in said():
        pytest.skip("not said in the sample games")
    replica, seat, body = said()[kind]
    assert refused(replica, seat, body) == ""
    for field in dataclasses.fields(body):
        if f"{kind}.{field.name}" in FREE:
            continue
        original = getattr(body, field.name)
        for other in changes(original):
            if other == original:
                continue
            changed = dataclasses.replace(body, **{field.name: other})
            if isinstance(body, m.Shuffle) and len(other) == len(original):
                continue  # any points are a deck: its proof is what tells (P7)
            assert refused(replica, seat, changed) not in ("", "another seat"), (field.name, other)


def test_hardly_a_kind_is_missing() -> None:
    assert {kind for kind in KINDS if kind not in said()} <= {"OttoCommit", "SitOut", "GoOn"}


BOUND: dict[str, Callable[[Replica], None]] = {
    "match": lambda r: setattr(r, "match", bytes(32)),
    "game": lambda r: setattr(r, "game", r.game + 1),
    "view": lambda r: setattr(r, "view", r.view + 1),
    "step": lambda r: setattr(r, "step", r.step + 1),
    "log": lambda r: setattr(r, "digest", bytes(32)),
    "joint key": lambda r: setattr(r, "joint", G),
    "keys": lambda r: setattr(r, "keys", dict.fromkeys(r.keys, G)),
    "seat": lambda r: None,
}
PROVEN = ("KeyOpen", "Shares", "Answer", "OpenLead", "HealProof", "Raise", "Tags", "ShuffleProof", "Otto")


@pytest.mark.parametrize("kind", PROVEN)
@pytest.mark.parametrize("bound", BOUND)
def test_a_proof_holds_at_one_place_only(kind: str, bound: str) -> None:
    replica, seat, body = said()[kind]
    other = copy.copy(replica)
    BOUND[bound](other)
    if bound == "seat":
        seat = next(one for one in replica.live if one != seat)
        members = replica.roster.members
        assert replica.context(Purpose.OPEN, seat) != replica.context(Purpose.OPEN, (seat + 1) % len(members))
    if kind == "KeyOpen":  # the commitment and the possession were made one step before
        promise = replica.promises[seat, Purpose.KEY]
        other.promises = {
            **replica.promises,
            (seat, Purpose.KEY): dataclasses.replace(promise, context=bytes(32)),
        }
    if kind == "ShuffleProof":
        made = tuple(dataclasses.replace(one, context=bytes(32)) for one in replica.shuffles)
        other.shuffles = made
    assert refused(other, seat, body) not in ("", "another seat")
