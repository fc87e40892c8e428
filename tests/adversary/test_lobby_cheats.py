"""Cheats before the first card: 1 to 4 of the catalogue, against real records and a real lobby."""

from __future__ import annotations

import dataclasses

import pytest

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import pack
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg
from otto_protocol.lobby.actions import Action, Started
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.record import (
    HERE_TAG,
    Here,
    OtherVersion,
    Ready,
    SignedHere,
    Stage,
    open_here,
    seating_rank,
    sign_here,
    sign_ready,
)
from otto_protocol.match.audit import Failed, audit
from otto_protocol.roster import Member, TableRules
from tests.adversary.harness import COUNT
from tests.adversary.moments import moments

LOBBY = {
    "1": "join with a key of small order",
    "2": "join beyond what the table holds",
    "3": "ready for two rosters in one round",
    "4": "replay a ready from another table",
}
"""These cheats of the catalogue happen before there is a game; each has its test below."""

RNG = Drbg(b"lobby cheats")
TABLE = bytes(range(16))
RULES = TableRules(decks=1)
SMALL_ORDER = bytes([1]) + bytes(31)  # the identity: one signature holds for every message under it


def lobby(seed: int, seats: int = 3) -> tuple[IdentityKey, Lobby]:
    identity = IdentityKey.generate(Drbg(bytes([seed])))
    return identity, Lobby(identity, f"peer {seed}", TABLE, rules=RULES, seats=seats, pinned=True)


def heard(record: Here, identity: IdentityKey) -> Here | OtherVersion:
    """The record as it comes out of the network."""
    return open_here(sign_here(identity, record))


def meet(*peers: tuple[IdentityKey, Lobby]) -> None:
    """Everybody is linked, and hears everybody until nothing is new."""
    for _, one in peers:
        one.announce()
        for identity, _ in peers:
            if identity.public != one.me.key:
                one.on_link(identity.public)
    for _ in range(6):
        for identity, one in peers:
            for _, other in peers:
                if other is not one:
                    other.on_here(heard(one.me, identity))


@pytest.fixture(autouse=True)
def _counted() -> None:
    COUNT.tried += 1
    COUNT.refused += 1


def test_cheat_1_join_with_a_key_of_small_order() -> None:
    _, honest = lobby(1)
    record = dataclasses.replace(honest.me, key=SMALL_ORDER, seated=(SMALL_ORDER,))
    content = pack(record)
    for signature in (SMALL_ORDER + bytes(32), bytes(64)):
        with pytest.raises(DecodeError):
            open_here(pack(SignedHere(content, signature)))


def test_cheat_2_join_beyond_what_the_table_holds() -> None:
    peers = [lobby(seed, seats=2) for seed in (1, 2, 3)]
    meet(*peers)
    seated = {peer.me.seated for _, peer in peers if peer.me.table == TABLE and peer.me.key in peer.me.seated}
    assert len(seated) == 1, "two lists at one table"
    assert all(len(listed) == 2 for listed in seated)
    cheat, liar = next(peer for peer in peers if peer[1].me.key not in next(iter(seated)))
    here = dataclasses.replace(liar.me, counter=liar.me.counter + 1, table=TABLE)
    keys = sorted((*next(iter(seated)), cheat.public), key=lambda key: seating_rank(TABLE, key))
    crowd = dataclasses.replace(here, seated=tuple(keys), reached=7)
    for _, peer in peers:
        if peer.me.key != cheat.public:
            peer.on_here(heard(crowd, cheat))
            assert cheat.public not in peer.me.seated


def sealed(record: Here, identity: IdentityKey, members: tuple[Member, ...]) -> Here:
    """The record of somebody who has signed READY for these members."""
    here = dataclasses.replace(
        record, counter=record.counter + 1, ready=Ready.YES, stage=Stage.SEALED, members=members
    )
    roster = here.roster()
    assert roster is not None
    return dataclasses.replace(here, ready_signature=sign_ready(identity, roster))


def test_cheat_3_ready_for_two_rosters_in_one_round() -> None:
    """It starts nothing: a certificate needs everybody, and who sees two lists does not sign.

    The catalogue would convict for this. But nothing is at stake yet, an honest peer that changes its mind
    between two attempts signs for two rosters too, and a START certificate of either binds its members.
    """
    first, second, cheat = lobby(1), lobby(2), lobby(3)
    meet(first, second, cheat)
    identity, liar = cheat
    started: list[Action] = []
    for peer in (first, second):
        both = sorted((peer[0].public, identity.public), key=lambda key: seating_rank(TABLE, key))
        names = {peer[0].public: peer[1].me.name, identity.public: liar.me.name}
        roster = tuple(Member(key, names[key]) for key in both)
        record = sealed(
            dataclasses.replace(liar.me, seated=tuple(both), reached=3, counter=liar.me.counter + 1),
            identity,
            roster,
        )
        started += peer[1].on_here(heard(record, identity))
        started += peer[1].set_ready(Ready.YES)
    for one, other in ((first, second), (second, first)):
        started += one[1].on_here(heard(other[1].me, other[0]))
    assert not [action for action in started if isinstance(action, Started)]
    assert {first[1].stage, second[1].stage} == {Stage.LOBBY}


def test_cheat_4_replay_a_ready_from_another_table() -> None:
    identity, peer = lobby(1)
    other = IdentityKey.generate(Drbg(bytes([2])))
    keys = sorted((identity.public, other.public), key=lambda key: seating_rank(TABLE, key))
    names = {identity.public: peer.me.name, other.public: "other"}
    record = sealed(
        dataclasses.replace(peer.me, seated=tuple(keys), reached=3),
        identity,
        tuple(Member(key, names[key]) for key in keys),
    )
    assert isinstance(heard(record, identity), Here)
    replayed = dataclasses.replace(record, round=record.round + 1)
    with pytest.raises(DecodeError):
        open_here(pack(SignedHere(pack(replayed), identity.sign(HERE_TAG, pack(replayed)))))


def test_cheat_4_a_certificate_with_a_signature_from_another_table() -> None:
    transcript = moments(3, "eager")["over"].sessions[0].transcript()
    elsewhere = moments(4, "eager")["lead"].start.signatures
    forged = dataclasses.replace(
        transcript,
        start=dataclasses.replace(
            transcript.start, signatures=(elsewhere[0], *transcript.start.signatures[1:])
        ),
    )
    verdict = audit(forged, RNG)
    assert isinstance(verdict, Failed)
    assert (verdict.rule, verdict.seat) == ("F1", None)
