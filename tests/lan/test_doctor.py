"""`otto-p2p doctor` on the test LAN: alone, on two machines at once, with multicast blocked, isolated."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.lan.lab import Host, Lan
from tests.lan.players import Player, wait

pytestmark = pytest.mark.lan

Found = dict[str, list[tuple[str, str]]]  # by check: state and text with advice


def start(host: Host, folder: Path, *options: str, seconds: float = 3.5) -> subprocess.Popen[str]:
    """Start a doctor; both of a pair have to be running for a while at the same time."""
    return host.popen(
        [
            "otto-p2p",
            "doctor",
            "--json",
            "--seconds",
            f"{seconds}",
            "--data-dir",
            str(folder / host.name),
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"LANGUAGE": "en", "LANG": "C.UTF-8"},
    )


def result(process: subprocess.Popen[str]) -> tuple[int, Found]:
    """The exit status, and what was found."""
    out, err = process.communicate(timeout=240)
    assert err == ""
    found: Found = {}
    for check in json.loads(out):
        found.setdefault(check["check"], []).append((check["state"], f"{check['text']} {check['advice']}"))
    return process.returncode, found


def test_two_doctors_on_a_good_network(lan: Lan, tmp_path: Path) -> None:
    a, b = lan.hosts(2)
    a.add_dead_end("docker0", "172.17.0.1/16")
    status, found = result(pair(a, b, tmp_path)[0])
    assert status == 0
    assert {state for about in found.values() for state, _ in about} <= {"ok", "note"}
    assert "docker0" in found["interfaces"][0][1]
    assert a.address() in found["interfaces"][0][1]
    assert [state for state, _ in found["multicast"]] == ["ok", "ok"]
    assert "passes between here and" in found["multicast between"][0][1]
    assert "both ways" in found["connections"][0][1]


def pair(a: Host, b: Host, folder: Path, *options: str) -> list[subprocess.Popen[str]]:
    """Two doctors at once; the second one has these options."""
    return [start(a, folder), start(b, folder, *options)]


def test_multicast_is_blocked(lan: Lan, tmp_path: Path) -> None:
    a, b = lan.hosts(2)
    lan.block_multicast()
    for process in pair(a, b, tmp_path, "--peer", a.address()):
        status, found = result(process)
        assert status == 0
        ((state, text),) = found["multicast between"]
        assert state == "note"
        assert "does not pass" in text
        assert "--peer" in text
        assert found["connections"][0][0] == "ok"


def test_clients_are_isolated(lan: Lan, tmp_path: Path) -> None:
    a, b = lan.hosts(2)
    lan.isolate()
    first, second = (result(process) for process in pair(a, b, tmp_path, "--peer", a.address()))
    assert f"doctor --peer {a.address()}" in first[1]["others"][0][1]
    status, found = second
    assert status == 1
    assert found["peer"][0][0] == "problem"
    assert f"{a.address()} cannot be reached" in found["peer"][0][1]


def test_players_and_no_network(lan: Lan, tmp_path: Path) -> None:
    player = Player(lan.host("player"), tmp_path, "--players", "9")
    wait(lambda: bool(player.said_at("To join from another machine")), 20, [player])
    status, found = result(start(lan.host("a"), tmp_path, seconds=2))
    assert status == 0
    assert "player" in found["connections"][0][1]
    assert found["connections"][0][0] == "ok"
    told = [line for _, line in player.lines if "doctor" in line]
    assert all(line.startswith("Nobody was found") for line in told), told  # nobody is troubled by it
    assert player.count(r"^\S+ sits here") == 0
    status, found = result(start(lan.host("alone", networks=()), tmp_path, seconds=1))
    assert status == 1
    assert found["interfaces"][0][0] == "problem"
