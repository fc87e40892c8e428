"""Networks as they are, with the installed command: a seat for everybody, or the right words for why not."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.lan.lab import Lan, remove_address6
from tests.lan.measure_games import LONG
from tests.lan.players import HAND, Player, play_to_the_end, wait

pytestmark = pytest.mark.lan

CANNOT_REACH = "cannot reach each other"
long = pytest.mark.skipif(not LONG, reason="OTTO_LONG=1 runs the long ones")


def all_have_cards(players: list[Player], seconds: float = 20) -> None:
    wait(lambda: all(player.said_at(HAND) for player in players), seconds, players)


def test_without_multicast_the_hint_and_one_address_are_enough(lan: Lan, tmp_path: Path) -> None:
    # field report 4
    lan.block_multicast()
    a, b, c = lan.hosts(3)
    first = Player(a, tmp_path, "--players", "3")
    wait(lambda: bool(first.said_at("Nobody was found")), 15, [first])
    said = first.said_at("Nobody was found")
    opened = first.said_at("Nobody else sits here")
    assert said is not None
    assert opened is not None
    assert said - opened < 20
    line = f"otto-p2p join --peer {a.address()}:47701"
    (hint,) = [text for _, text in first.lines if "Nobody was found" in text]
    for word in ("firewall", "VPN", "guest Wi-Fi", line, "otto-p2p doctor"):
        assert word in hint
    players = [first, *(Player(host, tmp_path, "--players", "3", "--peer", a.address()) for host in (b, c))]
    all_have_cards(players)


def test_the_line_to_type_follows_the_address(lan: Lan, tmp_path: Path) -> None:
    # field report 47
    host = lan.host("a", ipv6=False)
    player = Player(host, tmp_path, "--players", "2")
    wait(lambda: bool(player.said_at(f"--peer {host.address()}:")), 20, [player])
    host.set_address("10.77.0.99/24")
    wait(lambda: bool(player.said_at("To join from another machine: .*--peer 10.77.0.99:")), 10, [player])


def test_who_cannot_reach_each_other_never_start_silently(lan: Lan, tmp_path: Path) -> None:
    lan.isolate(["relay"])
    players = [Player(lan.host(name), tmp_path, "--players", "3") for name in ("relay", "a", "b")]
    wait(lambda: all(player.count(CANNOT_REACH) for player in players), 20, players)
    time.sleep(1)
    assert not any(player.said_at("The game begins") for player in players)


def test_a_relay_is_enough_for_who_agree_to_it(lan: Lan, tmp_path: Path) -> None:
    lan.isolate(["relay"])
    players = [Player(lan.host(name), tmp_path, "--players", "3", "--relay") for name in ("relay", "a", "b")]
    at_turn(players, 9)


def test_docker_a_vpn_and_two_cards(lan: Lan, tmp_path: Path) -> None:
    # field report 2
    both = lan.host("both", networks=("red", "blue"))
    both.add_dead_end("docker0", "172.17.0.1/16")
    both.add_dead_end("wg0", "10.200.0.2/24")
    hosts = [both, lan.host("red", networks=("red",)), lan.host("blue", networks=("blue",))]
    players = [Player(host, tmp_path, "--players", "3", "--relay") for host in hosts]
    all_have_cards(players)
    assert "172.17.0.1" not in players[0].text
    assert "10.200.0.2" not in players[0].text


def test_ipv6_alone_and_link_local_alone(lan: Lan, tmp_path: Path) -> None:
    six = [lan.host(name, ipv4=False) for name in ("a", "b")]
    all_have_cards([Player(host, tmp_path, "--players", "2") for host in six])
    local = [lan.host(name, networks=("other",), ipv4=False) for name in ("c", "d")]
    for host in local:
        with host.entered():
            remove_address6("lan0", f"{host.address6('other')}/64")
    all_have_cards([Player(host, tmp_path, "--players", "2") for host in local])


def test_a_link_that_breaks_in_mid_game_is_routed_around(lan: Lan, tmp_path: Path) -> None:
    lan.conditions(delay=0.005)  # the game is to last
    players = [Player(host, tmp_path, "--players", "3", "--games", "9") for host in lan.hosts(3)]
    at_turn(players, 2)
    lan.network().cut("h1", "h2")
    wait(lambda: bool(players[0].said_at("What h2 says comes through the others")), 30, players)
    assert players[1].said_at("connection to h1 is lost|Nothing is heard from h1")
    go_on(players)


def test_a_restart_without_discovery(lan: Lan, tmp_path: Path) -> None:
    """The others' addresses were kept: neither multicast nor their own dialling is needed."""
    lan.conditions(delay=0.005)
    players = [Player(host, tmp_path, "--players", "3", "--games", "9") for host in lan.hosts(3)]
    at_turn(players, 2)
    players[0].kill()
    lan.block_multicast()
    players[0].options = (*players[0].options, "--no-mdns", "--port", "50000")
    players[0].start()
    wait(lambda: bool(players[0].said_at("back at your seat")), 20, players)
    go_on(players)


def test_a_bad_evening(lan: Lan, tmp_path: Path) -> None:
    """An address changes (field report 47), a program stops (13), a cable is pulled: in one game."""
    lan.conditions(delay=0.005)
    hosts = [lan.host(name, ipv6=False) for name in ("a", "b", "c")]
    players = [Player(host, tmp_path, "--players", "3", "--games", "99") for host in hosts]
    wait(lambda: bool(players[0].said_at("^The cards are shuffled")), 30, players)
    cable_out(players[0], 2)
    at_turn(players, 2)
    hosts[0].set_address("10.77.0.99/24")
    go_on(players)
    players[1].signal(signal.SIGSTOP)
    wait(lambda: bool(players[0].said_at("Nothing is heard from b|connection to b is lost")), 10, players)
    players[1].signal(signal.SIGCONT)
    go_on(players)
    cable_out(players[2], 2)
    go_on(players)
    assert "Traceback" not in "".join(player.text for player in players)


@long
@pytest.mark.parametrize("seconds", [2, 10, 60])
@pytest.mark.parametrize(
    "moment", ["sits here", "secret key", "^The cards are shuffled", "are dealt", HAND, "^Turn 9: "]
)
def test_a_cable_is_pulled(lan: Lan, tmp_path: Path, moment: str, seconds: float) -> None:
    lan.conditions(delay=0.01)
    players = [Player(host, tmp_path, "--players", "3") for host in lan.hosts(3)]
    wait(lambda: bool(players[0].said_at(moment)), 120, players)
    cable_out(players[0], seconds)
    all_play_to_the_end(players)


@long
def test_an_address_changes_in_mid_game(lan: Lan, tmp_path: Path) -> None:
    hosts = [lan.host(name, ipv6=False) for name in ("a", "b", "c")]
    players = [Player(host, tmp_path, "--players", "3") for host in hosts]
    at_turn(players, 2)
    hosts[0].set_address("10.77.0.99/24")
    all_play_to_the_end(players)


@long
@pytest.mark.parametrize("seconds", [20, 120])
def test_a_program_is_stopped_for_a_while(lan: Lan, tmp_path: Path, seconds: float) -> None:
    players = [Player(host, tmp_path, "--players", "3") for host in lan.hosts(3)]
    at_turn(players, 5)
    players[0].signal(signal.SIGSTOP)
    time.sleep(seconds)
    players[0].signal(signal.SIGCONT)
    all_play_to_the_end(players)


def cable_out(player: Player, seconds: float) -> None:
    player.host.unplug()
    time.sleep(seconds)
    player.host.plug()


def all_play_to_the_end(players: list[Player]) -> None:
    play_to_the_end(players, 900)
    assert not any(player.said_at("The table goes on without|gone on without you") for player in players)


def at_turn(players: list[Player], number: int) -> None:
    wait(lambda: all(player.said_at(f"^Turn {number}: ") for player in players), 60, players)


def go_on(players: list[Player], turns: int = 5) -> None:
    """All of them see so many more turns."""
    before = [player.count(r"^Turn \d+: ") for player in players]
    wait(
        lambda: all(p.count(r"^Turn \d+: ") >= n + turns for p, n in zip(players, before, strict=True)),
        60,
        players,
    )
