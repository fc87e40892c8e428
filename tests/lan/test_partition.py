"""A table of six on a network that falls apart: at most one part plays on, and there is one result."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.lan.lab import Lan
from tests.lan.measure_games import LONG
from tests.lan.players import Player, verified, wait

pytestmark = pytest.mark.lan

GOES_ON = r"^The table goes on without "
RESULT = r"^Game 1 of 1 is over\."
LOST = r"^The connection to |^Nothing is heard "
PUT_OUT = r"^The others have gone on without you"
TOO_FEW = r"^The game waits: too few of its players are here"


def turn(player: Player) -> int:
    return player.count(r"^Turn \d+: ")


def playing(players: Sequence[Player]) -> list[Player]:
    return [one for one in players if one.process.poll() is None and not one.count(PUT_OUT)]


def six(lan: Lan, folder: Path, *options: str) -> list[Player]:
    players = [Player(host, folder, "--players", "6", *options) for host in lan.hosts(6)]
    wait(lambda: all(turn(one) >= 1 for one in players), 60, players)
    return players


def cut(
    lan: Lan, players: Sequence[Player], sizes: Sequence[int], seconds: float, goes_on: bool = False
) -> list[list[Player]]:
    """Cut the table in parts for a while, or until the first part goes on; the parts that have gone on."""
    parts, rest = [], list(players)
    for size in sizes:
        parts.append(rest[:size])
        rest = rest[size:]
    before = {one.name: one.count(GOES_ON) for one in players}
    lost = {one.name: one.count(LOST) for one in players}
    lan.partition([[one.host.name for one in part] for part in parts])
    wait(lambda: all(one.count(LOST) > lost[one.name] for one in players), 30, players)
    if goes_on:
        wait(lambda: all(one.count(GOES_ON) > before[one.name] for one in parts[0]), seconds, players)
    else:
        time.sleep(seconds)
    went_on = [part for part in parts if any(one.count(GOES_ON) > before[one.name] for one in part)]
    lan.heal()
    assert len(went_on) <= 1
    return went_on


def check_one_result(players: Sequence[Player], went_on: Sequence[Player]) -> None:
    """Who finished has the same result; who was put out, or waits for those who have finished, has none."""
    wait(lambda: all(one.process.poll() is not None for one in went_on), 1500, players)
    for one in playing(players):
        one.signal(signal.SIGTERM)
    wait(lambda: all(one.process.poll() is not None for one in players), 30, players)
    assert not [line for one in players for _, line in one.lines if "Traceback" in line]
    finished = [one for one in went_on if not one.count(PUT_OUT)]
    verdicts = [verified(one) for one in finished]
    assert {verdict.status for verdict in verdicts} == {0}
    assert len({verdict.digest for verdict in verdicts}) == 1
    assert not [one.name for one in players if one not in finished and one.count(RESULT)]


def test_a_table_that_falls_apart_twice(lan: Lan, tmp_path: Path) -> None:
    """2|2|2: nobody goes on, and all do when the network is back. Then 4|2: the four play on."""
    players = six(lan, tmp_path, "--grace", "5", "--games", "9")  # the four must not be done before we look
    assert cut(lan, players, (2, 2, 2), 4.0) == []
    turns = [turn(one) for one in players]
    wait(lambda: all(turn(one) > before for one, before in zip(players, turns, strict=True)), 40, players)
    assert not any(one.count(GOES_ON) for one in players)
    assert cut(lan, players, (4, 2), 12.0, goes_on=True) == [players[:4]]
    wait(lambda: all(one.count(PUT_OUT) for one in players[4:]), 40, players)
    turns = [turn(one) for one in players[:4]]
    wait(lambda: all(turn(one) > before for one, before in zip(players[:4], turns, strict=True)), 40, players)
    assert playing(players) == players[:4]


@pytest.mark.skipif(not LONG, reason="OTTO_LONG=1 runs the long games")
@pytest.mark.parametrize("sizes", [(3, 3), (4, 2), (2, 2, 2)], ids=str)
def test_a_minute_apart_and_one_result(lan: Lan, tmp_path: Path, sizes: Sequence[int]) -> None:
    players = six(lan, tmp_path, "--grace", "10")
    went_on = cut(lan, players, sizes, 60.0)
    assert len(went_on) == (len(sizes) < 3)
    waited = [one for one in players if not went_on or one not in went_on[0]]
    assert [one for one in players if one.count(TOO_FEW)] == waited
    check_one_result(players, went_on[0] if went_on else players)
