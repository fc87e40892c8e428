"""Strangers' connections during a game, 1,000 a minute: the game does not care."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lan.lab import Lan
from tests.lan.strangers import measured

pytestmark = pytest.mark.lan


def test_a_turn_is_not_slower_than_twice_the_undisturbed_one(lan: Lan, tmp_path: Path) -> None:
    cost = measured(lan, tmp_path, 3, 4)
    print(cost)
    assert cost.turns >= 3
    assert cost.a_minute > 900
    assert cost.flooded <= 2 * cost.quiet
