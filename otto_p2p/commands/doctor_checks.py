"""What `otto-p2p doctor` can see on this machine alone: one `Check` each, in plain words, with what to do."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from otto_p2p.i18n import _
from otto_p2p.net.addresses import DEFAULT_PORT, PORTS_TO_TRY, Interface, is_loopback, is_virtual, usable
from otto_p2p.net.responder import Place, families
from otto_p2p.net.streams import describe_os_error
from otto_p2p.texts.safe import safe

MDNS_PORT = 5353
GROUPS = {4: "224.0.0.251", 6: "ff02::fb"}  # RFC 6762 section 3
ECHO_SECONDS = 1.0
LAST_PORT = DEFAULT_PORT + PORTS_TO_TRY - 1
ENOUGH_BYTES = 20 << 20  # a match and its transcript take about 1 MB
WIDTH, HEIGHT = 80, 24
EARLIEST = 1_735_689_600  # 2025-01-01: an earlier clock is wrong


class CheckState(Enum):
    """How bad it is."""

    GOOD = "ok"
    NOTE = "note"  # worth knowing; a game is possible
    BAD = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """`about` is a fixed English word for programs; `text` says what was found, `advice` what to do."""

    about: str
    state: CheckState
    text: str
    advice: str = ""


def check_interfaces(present: Sequence[Interface]) -> Check:
    """Which network interfaces a game would use."""
    good = usable(present)
    left_out = ", ".join(safe(i.name) for i in present if is_virtual(i))
    if all(is_loopback(interface) for interface in good):
        return Check(
            "interfaces",
            CheckState.BAD,
            _("No network interface has an address."),
            _("Switch Wi-Fi on or plug the cable in; a game on this machine alone works."),
        )
    shown = "; ".join(
        f"{safe(i.name)} {', '.join(str(a.ip) for a in i.addresses)}" for i in good if not is_loopback(i)
    )
    text = _("Network: {interfaces}.").format(interfaces=shown)
    if left_out:
        text += " " + _("Left out, as containers and VPNs are no LAN: {names}.").format(names=left_out)
    return Check("interfaces", CheckState.GOOD, text)


def check_port(port: int | None, problem: str = "") -> Check:
    """Whether others can connect to this machine, as far as the machine itself knows."""
    if port is None:
        return Check(
            "port",
            CheckState.BAD,
            safe(problem),
            _("Something on this machine forbids programs to listen: look at its security settings."),
        )
    if not DEFAULT_PORT <= port <= LAST_PORT:
        return Check(
            "port",
            CheckState.NOTE,
            _("TCP ports {first} to {last} are all taken; another free port was used.").format(
                first=DEFAULT_PORT, last=LAST_PORT
            ),
            _("Others need the port in --peer HOST:PORT."),
        )
    return Check("port", CheckState.GOOD, _("TCP port {port} is free to listen on.").format(port=port))


def check_echo(present: Sequence[Interface]) -> list[Check]:
    """Whether multicast can be sent and received on each interface: one that we send comes back to us."""
    found = []
    for version, places in sorted(families(usable(present)).items()):
        for place in places:
            if place.address in ("127.0.0.1", "::1"):
                continue
            problem = echo_problem(place, version)
            text = _("Multicast can be sent and received at {address}.").format(address=place.address)
            if problem is None:
                found.append(Check("multicast", CheckState.GOOD, text))
                continue
            text = _("Multicast does not work at {address}: {problem}.").format(
                address=place.address, problem=problem
            )
            advice = _("Let UDP port 5353 through the firewall. Until then use --peer.")
            found.append(Check("multicast", CheckState.BAD, text, advice))
    return found


def echo_problem(place: Place, version: int) -> str | None:
    """Send a question by mDNS (RFC 6762) at this place, and wait to hear it; what went wrong, or None."""
    question = _question(os.urandom(6).hex())
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    try:
        with (
            socket.socket(family, socket.SOCK_DGRAM) as ear,
            socket.socket(family, socket.SOCK_DGRAM) as mouth,
        ):
            _share(ear)
            if version == 4:
                own = socket.inet_aton(place.address)
                ear.bind(("", MDNS_PORT))
                membership = socket.inet_aton(GROUPS[4]) + own
                ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
                mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
                mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
                mouth.sendto(question, (GROUPS[4], MDNS_PORT))
            else:
                index = struct.pack("@I", place.scope)
                ear.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                ear.bind(("", MDNS_PORT))
                membership = socket.inet_pton(socket.AF_INET6, GROUPS[6]) + index
                ear.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)
                mouth.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
                mouth.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP, 1)
                mouth.sendto(question, (GROUPS[6], MDNS_PORT, 0, place.scope))
            return None if _hears(ear, question) else _("what is sent does not come back")
    except OSError as error:
        return describe_os_error(error)


def _share(ear: socket.socket) -> None:
    """The port is shared with every other mDNS program of the machine."""
    ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)


def _question(nonce: str) -> bytes:
    """A question for a name that nobody has (RFC 1035 section 4.1), different each time."""
    name = b"".join(bytes([len(label)]) + label for label in (f"otto-{nonce}".encode(), b"local"))
    return struct.pack("!6H", 0, 0, 1, 0, 0, 0) + name + b"\0" + struct.pack("!2H", 12, 1)


def _hears(ear: socket.socket, question: bytes) -> bool:
    end = time.monotonic() + ECHO_SECONDS
    while (left := end - time.monotonic()) > 0:
        ear.settimeout(left)
        try:
            if ear.recv(9000) == question:
                return True
        except TimeoutError:
            return False
    return False


def check_firewall(root: Path = Path("/")) -> Check | None:
    """A firewall that is seen to be on, with what to type; None where nothing can be said."""
    ports = f"{DEFAULT_PORT}:{LAST_PORT}"
    with contextlib.suppress(OSError):
        if "ENABLED=yes" in (root / "etc/ufw/ufw.conf").read_text(encoding="utf-8", errors="replace"):
            return Check(
                "firewall",
                CheckState.NOTE,
                _("The firewall ufw is on."),
                _("If others cannot connect: {command}").format(
                    command=f"sudo ufw allow {ports}/tcp && sudo ufw allow 5353/udp"
                ),
            )
    if (root / "run/firewalld").exists():
        return Check(
            "firewall",
            CheckState.NOTE,
            _("The firewall firewalld is on."),
            _("If others cannot connect: {command}").format(
                command=f"sudo firewall-cmd --add-port={ports.replace(':', '-')}/tcp --add-service=mdns"
            ),
        )
    if sys.platform in ("win32", "darwin"):
        return Check(
            "firewall",
            CheckState.NOTE,
            _("This system has a firewall of its own."),
            _("When it asks, let Python accept connections in private networks."),
        )
    return None


def check_clock(now: float) -> Check:
    """Games do not depend on the clock; names of files and the history do."""
    shown = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    if now < EARLIEST:
        return Check(
            "clock",
            CheckState.NOTE,
            _("The clock says {time}, which cannot be.").format(time=shown),
            _("Set it; games work nevertheless, but their transcripts get wrong dates."),
        )
    return Check("clock", CheckState.GOOD, _("The clock says {time}.").format(time=shown))


def check_terminal(tty: bool, size: tuple[int, int], encoding: str, term: str) -> Check:
    """Whether the full screen can be shown: `size` is columns and lines."""
    if not tty or term in ("", "dumb"):
        return Check(
            "terminal",
            CheckState.NOTE,
            _("This is no terminal that can show a full screen."),
            _("`join` uses plain lines by itself."),
        )
    if size[0] < WIDTH or size[1] < HEIGHT:
        return Check(
            "terminal",
            CheckState.NOTE,
            _("The terminal has {columns} columns and {lines} lines.").format(columns=size[0], lines=size[1]),
            _("Make it at least {columns} by {lines}, or use --plain.").format(columns=WIDTH, lines=HEIGHT),
        )
    if not encoding.lower().replace("-", "").startswith("utf"):
        return Check(
            "terminal",
            CheckState.NOTE,
            _("The terminal's characters are {encoding}, not UTF-8.").format(encoding=safe(encoding)),
            _("Set the language, for instance LANG=C.UTF-8; the cards are drawn with ASCII until then."),
        )
    text = _("The terminal can show the full screen ({columns} by {lines}).")
    return Check("terminal", CheckState.GOOD, text.format(columns=size[0], lines=size[1]))


def check_folder(folder: Path) -> Check:
    """Whether keys and matches can be kept: makes the folder, writes a file into it, and looks for room."""
    shown = safe(str(folder))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(folder).free
    except OSError as error:
        text = _("Nothing can be kept in {folder}: {problem}.")
        return Check(
            "folder",
            CheckState.BAD,
            text.format(folder=shown, problem=describe_os_error(error)),
            _("Choose another folder with --data-dir."),
        )
    if free < ENOUGH_BYTES:
        text = _("The disk of {folder} is almost full.").format(folder=shown)
        return Check("folder", CheckState.BAD, text, _("Make room: every move is stored before it is sent."))
    return Check("folder", CheckState.GOOD, _("Keys and matches are kept in {folder}.").format(folder=shown))


def terminal_now() -> Check:
    """`check_terminal` for the terminal that this program runs in."""
    size = shutil.get_terminal_size()
    return check_terminal(
        sys.stdin.isatty() and sys.stdout.isatty(),
        (size.columns, size.lines),
        sys.stdout.encoding or "ascii",
        os.environ.get("TERM", "dumb" if sys.platform != "win32" else "windows"),
    )


def listed(*found: Check | Iterable[Check] | None) -> list[Check]:
    """All checks in one list, without those that say nothing."""
    checks: list[Check] = []
    for one in found:
        if isinstance(one, Check):
            checks.append(one)
        elif one is not None:
            checks += one
    return checks
