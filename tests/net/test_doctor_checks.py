"""What `otto-p2p doctor` says of one machine, and of who was met."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest

from otto_p2p import i18n
from otto_p2p.commands import doctor_checks
from otto_p2p.commands.doctor import check_met, check_typed, shown
from otto_p2p.commands.doctor_checks import CheckState
from otto_p2p.commands.doctor_meeting import Meeting, Met
from otto_p2p.net.addresses import Interface
from otto_protocol.roster import PROTOCOL_VERSION


@pytest.fixture(autouse=True)
def english() -> None:
    i18n.use("en")


def interface(name: str, *addresses: str) -> Interface:
    return Interface(name, 1, tuple(ipaddress.ip_interface(address) for address in addresses))


LOOPBACK = interface("lo", "127.0.0.1/8")


def test_interfaces() -> None:
    found = doctor_checks.check_interfaces(
        [LOOPBACK, interface("eth0", "10.0.0.5/24"), interface("wg0", "10.9.0.1/24")]
    )
    assert found.state is CheckState.GOOD
    assert "eth0 10.0.0.5" in found.text
    assert found.text.endswith("Left out, as containers and VPNs are no LAN: wg0.")
    assert doctor_checks.check_interfaces([LOOPBACK]).state is CheckState.BAD
    assert doctor_checks.check_interfaces([]).state is CheckState.BAD


def test_port() -> None:
    assert doctor_checks.check_port(47703).state is CheckState.GOOD
    assert doctor_checks.check_port(50000).state is CheckState.NOTE
    assert doctor_checks.check_port(None, "cannot listen").state is CheckState.BAD


def test_firewall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert doctor_checks.check_firewall(tmp_path) is None
    (tmp_path / "etc/ufw").mkdir(parents=True)
    (tmp_path / "etc/ufw/ufw.conf").write_text("ENABLED=no\n")
    assert doctor_checks.check_firewall(tmp_path) is None
    (tmp_path / "etc/ufw/ufw.conf").write_text("# ufw\nENABLED=yes\n")
    found = doctor_checks.check_firewall(tmp_path)
    assert found is not None
    assert "sudo ufw allow 47701:47710/tcp" in found.advice
    (tmp_path / "etc/ufw/ufw.conf").unlink()
    (tmp_path / "run/firewalld").mkdir(parents=True)
    found = doctor_checks.check_firewall(tmp_path)
    assert found is not None
    assert "47701-47710/tcp" in found.advice


def test_clock() -> None:
    assert doctor_checks.check_clock(0.0).state is CheckState.NOTE
    assert doctor_checks.check_clock(doctor_checks.EARLIEST + 1.0).state is CheckState.GOOD


@pytest.mark.parametrize(
    ("tty", "size", "encoding", "term", "state"),
    [
        (True, (80, 24), "utf-8", "xterm", CheckState.GOOD),
        (True, (79, 24), "utf-8", "xterm", CheckState.NOTE),
        (True, (80, 23), "UTF8", "xterm", CheckState.NOTE),
        (True, (80, 24), "iso8859-13", "xterm", CheckState.NOTE),
        (True, (80, 24), "utf-8", "dumb", CheckState.NOTE),
        (False, (80, 24), "utf-8", "xterm", CheckState.NOTE),
    ],
)
def test_terminal(tty: bool, size: tuple[int, int], encoding: str, term: str, state: CheckState) -> None:
    assert doctor_checks.check_terminal(tty, size, encoding, term).state is state


def test_folder(tmp_path: Path) -> None:
    good = doctor_checks.check_folder(tmp_path / "new")
    assert good.state is CheckState.GOOD
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "file").write_text("")
    bad = doctor_checks.check_folder(tmp_path / "file")
    assert bad.state is CheckState.BAD
    assert "--data-dir" in bad.advice


def test_who_was_met() -> None:
    meeting = Meeting()
    meeting.met[b"a" * 32] = Met("old", PROTOCOL_VERSION + 1, multicast=True)
    meeting.met[b"b" * 32] = Met(
        "wall", PROTOCOL_VERSION, multicast=True, reached=False, address="10.0.0.7:47701"
    )
    meeting.met[b"c" * 32] = Met(
        "\x1b[31mx", PROTOCOL_VERSION, multicast=False, heard_us=True, reached_us=True
    )
    found = check_met(meeting)
    text = "\n".join(shown(found))
    assert f"old plays version {PROTOCOL_VERSION + 1}" in text
    assert "wall (10.0.0.7:47701) is seen, but no connection to it comes about." in text
    assert "Multicast passes to \\x1b[31mx, but not from there." in text
    assert "\x1b" not in text
    assert [check.state for check in found].count(CheckState.BAD) == 2
    meeting.typed = {"pc:5": None, "pc:6": "connection refused"}
    assert [check.state for check in check_typed(meeting)] == [CheckState.GOOD, CheckState.BAD]
