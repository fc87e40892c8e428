"""Every cheat, played against honest peers: see `harness` for what must come of it."""

from __future__ import annotations

import pytest

from tests.adversary import cheats_heal, cheats_keys, cheats_play, cheats_votes  # noqa: F401  # they enter

# their cheats in the list
from tests.adversary.harness import ALL, Told, play

CHEATS = ALL
"""All cheats, now that the modules above are there."""


@pytest.mark.parametrize("told", [pytest.param(told, id=told.name) for told in CHEATS.values()])
def test_cheat(told: Told) -> None:
    play(told)
