"""A cut table with one seat in touch with both sides: it can make two games of one, and is convicted for it."""

from __future__ import annotations

import functools

import pytest

from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg
from otto_protocol.match.audit import Proven, judge
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import dump, load
from tests.adversary.harness import COUNT
from tests.adversary.moments import moments
from tests.adversary.scene import Table

BRIDGE = 2


@functools.cache
def half(gone: frozenset[int], silent: bool) -> Table:
    """One side of the cut; the seat in between votes with it, and plays on with it or says nothing more."""
    table = moments(5, "eager")["lead"].fork()
    table.gone = set(gone)
    table.run(lambda session: session.replica.view == 1)
    if silent:
        table.gone.add(BRIDGE)
    table.run(lambda session: session.replica.phase is MatchPhase.PLAY or silent)
    return table


def meet(one: Session, other: Session) -> None:
    """`other` hears all that `one` has."""
    for data in one.messages_since(0, 0):
        try:
            other.receive(data)
        except DecodeError:
            continue


@pytest.mark.parametrize("silent", [False, True], ids=["it plays in both", "it only votes in both"])
def test_who_votes_for_two_tables_is_convicted_when_they_meet(silent: bool) -> None:
    left, right = half(frozenset({3, 4}), silent), half(frozenset({0, 1}), silent)
    tables = [table.fork() for table in (left, right)]
    COUNT.tried += 1
    one, other = tables[0].sessions[0], tables[1].sessions[3]
    assert one.replica.live == (0, 1, 2)
    assert other.replica.live == (2, 3, 4)
    assert one.replica.digest != other.replica.digest
    meet(one, other)
    meet(other, one)
    for session in (one, other):
        assert set(session.convicted) == {BRIDGE}
        conviction = session.convicted[BRIDGE]
        assert conviction.rule in ("P1", "P16", "P17", "P19")
        verdict = judge(load(dump(session.evidence(conviction))), Drbg(b"judge"))
        assert isinstance(verdict, Proven)
        assert (verdict.seat, verdict.rule) == (BRIDGE, conviction.rule)
        COUNT.expected += 1
        COUNT.blamed += 1
    COUNT.refused += 1
