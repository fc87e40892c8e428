"""Every cheat, played against honest peers: see `harness` for what must come of it."""

from __future__ import annotations

import dataclasses

import pytest

from tests.adversary import cheats_heal, cheats_keys, cheats_play, cheats_votes  # noqa: F401  # they enter

# their cheats in the list
from tests.adversary.harness import ALL, Told, play

CHEATS = ALL
"""All cheats, now that the modules above are there."""


@pytest.mark.parametrize("told", [pytest.param(told, id=told.name) for told in CHEATS.values()])
def test_cheat(told: Told) -> None:
    play(told)


SMALL = ("6", "12", "23", "27", "32", "46", "48", "x10", "x14", "x26")
LARGE = ("23", "32", "x26")


@pytest.mark.parametrize("number", SMALL)
def test_of_two_players_the_honest_one_wins(number: str) -> None:
    table = play(dataclasses.replace(CHEATS[number], players=2, resumes=False)).table
    (honest,) = table.honest()
    assert honest.over
    assert all(result.winner == honest.seat for result in honest.replica.results)
    assert bool(honest.replica.results) == (number != "6"), "nothing to win before the deal"


@pytest.mark.parametrize("number", LARGE)
def test_six_players(number: str) -> None:
    play(dataclasses.replace(CHEATS[number], players=6))
