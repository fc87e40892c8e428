"""Whole games of the installed command on the test LAN: found by mDNS alone, played to the end, verified."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.lan.lab import Lan
from tests.lan.measure_games import LONG, measured
from tests.lan.players import HAND, Player, play_to_the_end, wait

pytestmark = pytest.mark.lan
long = pytest.mark.skipif(not LONG, reason="OTTO_LONG=1 runs the long games")


@pytest.mark.parametrize("count", [2, pytest.param(3, marks=long)])
def test_found_by_mdns_alone_and_played_to_the_end(lan: Lan, tmp_path: Path, count: int) -> None:
    players = [Player(host, tmp_path, "--players", str(count)) for host in lan.hosts(count)]
    play_to_the_end(players, 60)


def test_ten_at_once_get_their_cards(lan: Lan, tmp_path: Path) -> None:
    options = ("--players", "10", "--decks", "2")
    players = [Player(host, tmp_path, *options) for host in lan.hosts(10)]
    wait(lambda: all(player.said_at(HAND) for player in players), 150, players)
    assert len({words(player) for player in players}) == 1


def words(player: Player) -> str:
    """The line with the table words."""
    return next(line for _, line in player.lines if line.startswith("Table words: "))


def test_the_others_see_a_hand_on_a_bad_network(lan: Lan, tmp_path: Path) -> None:
    lan.conditions(delay=0.05, jitter=0.02, loss=0.05)
    players = [Player(host, tmp_path, "--players", "3") for host in lan.hosts(3)]
    wait(lambda: all(player.said_at("^Turn 3: ") for player in players), 60, players)


@long
@pytest.mark.parametrize("count", [4, 10])
@pytest.mark.parametrize(("delay", "loss"), [(0.0, 0.0), (0.1, 0.0), (0.1, 0.05), (0.1, 0.2)])
def test_the_game_finishes(lan: Lan, tmp_path: Path, count: int, delay: float, loss: float) -> None:
    lan.conditions(delay=delay, jitter=delay / 2, loss=loss)
    print(measured(lan, tmp_path, count, 3600))


def test_two_friends_with_a_built_in_player_each(lan: Lan, tmp_path: Path) -> None:
    """Built-in players go where their owners go; they do not tie them to their own tables."""
    players = [Player(host, tmp_path, "--players", "4", "--bots", "1") for host in lan.hosts(2)]
    wait(lambda: all(player.said_at(HAND) for player in players), 30, players)
    assert len({words(player) for player in players}) == 1
    (line,) = [text for _, text in players[0].lines if text.startswith("The game begins")]
    assert line.count(",") == 3


def test_an_owner_who_leaves_takes_the_built_in_players_along(lan: Lan, tmp_path: Path) -> None:
    hosts = lan.hosts(3)
    options = ("--decks", "2", "--games", "9")
    owner = Player(hosts[0], tmp_path, "--players", "4", "--bots", "1", *options)
    others = [Player(host, tmp_path, "--players", "4", *options) for host in hosts[1:]]
    wait(lambda: all(player.said_at("^Turn 2: ") for player in others), 30, others)
    owner.signal(signal.SIGTERM)
    wait(lambda: owner.process.poll() is not None, 15, [owner])
    wait(lambda: all(player.count("The table goes on without") == 2 for player in others), 20, others)
    turns = others[0].count(r"^Turn \d+: ")
    wait(lambda: others[0].count(r"^Turn \d+: ") > turns + 2, 20, others)
