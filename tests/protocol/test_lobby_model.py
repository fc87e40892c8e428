"""Every interleaving of small lobbies, over the real code: one table, one roster, nobody waits for ever.

No circle exists among the worlds, so every run ends, and where it ends everybody must be in the same game or
have a good reason not to be. Two peers are explored with all that can happen to them; with three, a newer
record replaces an older one that is still under way, and premature starts are followed for one round.
Larger tables are walked through at random. OTTO_BIG=1 explores further (hours).
"""

from __future__ import annotations

import os
from dataclasses import fields, replace

import pytest

from otto_protocol.lobby.record import Stage, Terms
from otto_protocol.roster import TableRules
from tests.protocol.lobby_worlds import (
    Case,
    alive,
    all_in_one_game,
    explore,
    nobody_is_stuck,
    opened,
    walk,
)

BIG = os.environ.get("OTTO_BIG") == "1"

EVERYBODY_PLAYS = {
    "two": Case(2),
    "two, one table chosen": Case(2, pinned=(1,)),
    "two with other rules": Case(2, seats=5, rules=(TableRules(decks=1), TableRules(decks=3))),
    "two, one without memory aid": Case(2, rules=(TableRules(memory_aid=False), TableRules())),
    "two that count down": Case(2, holds=True),
    "two, one changes its mind": Case(2, withdrawals=1),
    "two, both change their minds": Case(2, withdrawals=2, queue=False),
    "two, one restarts": Case(2, crashes=1, returns=True),
    "two, restarts and changed minds": Case(2, crashes=1, withdrawals=1, returns=True, queue=False),
    "two, two restarts": Case(2, crashes=2, returns=True, queue=False),
    "three": Case(3, automatic=3, queue=False),
    "three, two only through the third": Case(3, automatic=3, cut=((0, 1),), indirect=True, queue=False),
}
NOBODY_IS_STUCK = {
    "two, one dies": Case(2, crashes=1),
    "three at tables for two": Case(3, seats=2, automatic=2, queue=False, linked=True, last=Stage.SEALED),
    "three at tables for two, one chosen": Case(
        3, seats=2, automatic=2, queue=False, linked=True, last=Stage.SEALED, pinned=(2,)
    ),
    "three, and two may start": Case(3, automatic=2, queue=False, linked=True, last=Stage.SEALED, rounds=0),
}
LARGE = {
    "two, three restarts": Case(2, crashes=3, returns=True),
    "three, every record arrives": Case(3, automatic=3, linked=True),
    "three, one dies": Case(3, automatic=3, crashes=1, queue=False, linked=True),
    "three, one dies, and two may start": Case(
        3, automatic=2, crashes=1, queue=False, linked=True, last=Stage.SEALED, rounds=0
    ),
    "three, one changes its mind": Case(3, waits_for=3, withdrawals=1, queue=False, linked=True),
    "three, two may start, once more": Case(
        3, automatic=2, queue=False, linked=True, last=Stage.SEALED, rounds=1
    ),
}


@pytest.mark.parametrize("case", EVERYBODY_PLAYS.values(), ids=EVERYBODY_PLAYS)
def test_everybody_ends_in_one_game(case: Case) -> None:
    worlds, ends = explore(opened(case), all_in_one_game, limit=100_000)
    print(f"{worlds} worlds, {ends} ends")


@pytest.mark.parametrize("case", NOBODY_IS_STUCK.values(), ids=NOBODY_IS_STUCK)
def test_nobody_waits_for_ever(case: Case) -> None:
    worlds, ends = explore(opened(case), nobody_is_stuck, limit=100_000)
    print(f"{worlds} worlds, {ends} ends")


@pytest.mark.skipif(not BIG, reason="takes long: OTTO_BIG=1")
@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE)
def test_nobody_waits_for_ever_in_larger_worlds(case: Case) -> None:
    worlds, ends = explore(opened(case), nobody_is_stuck, limit=5_000_000)
    print(f"{worlds} worlds, {ends} ends")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "case",
    [
        Case(3, withdrawals=2),
        Case(3, crashes=2, returns=True),
        Case(3, seats=2),
        Case(4, automatic=2, crashes=1),
        Case(4, seats=3, automatic=2, crashes=1, returns=True),
        Case(5, waits_for=5, withdrawals=3, crashes=2, returns=True),
        Case(4, cut=((0, 1), (2, 3)), automatic=4, indirect=True),
    ],
    ids=str,
)
def test_random_runs_leave_nobody_waiting(case: Case, seed: int) -> None:
    assert nobody_is_stuck(walk(opened(case), seed, limit=20_000)) is None


@pytest.mark.parametrize("seed", range(3))
def test_ten_at_once_end_in_equal_rosters(seed: int) -> None:
    world = walk(opened(Case(10, waits_for=10)), seed, limit=20_000)
    assert all_in_one_game(world) is None
    assert {lobby.me.round for lobby in alive(world)} == {0}


def test_one_of_two_different_terms_wins() -> None:
    """Broken by: a table rule that is not in the rank; then two who change it at once never agree."""
    rules = TableRules()
    for rule in fields(TableRules):
        other = replace(rules, **{rule.name: not getattr(rules, rule.name)})
        assert Terms(2, 4, rules).rank() != Terms(2, 4, other).rank(), rule.name
