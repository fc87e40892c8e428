"""`otto-p2p doctor`: why a game does not come about here; on two machines, what passes between them."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version

import trio

from otto_p2p.commands import doctor_checks
from otto_p2p.commands.doctor_checks import Check, CheckState
from otto_p2p.commands.doctor_meeting import Doctor, Meeting, Met
from otto_p2p.i18n import _
from otto_p2p.net.addresses import Address, Interface, list_interfaces, own_addresses, parse_peer, usable
from otto_p2p.net.streams import listening_port, open_listeners
from otto_p2p.storage.folders import data_folder
from otto_p2p.texts.safe import safe
from otto_protocol.errors import LocalError
from otto_protocol.roster import PROTOCOL_VERSION


def doctor(peers: Sequence[str], data_dir: str | None, seconds: float, *, as_json: bool) -> int:
    """Check everything and print it; 0 unless there is a problem. Raises LocalError for a bad address."""
    if not 1 <= seconds <= 600:
        raise LocalError(_("--seconds is 1 to 600, not {n}").format(n=f"{seconds:g}"))
    targets = [(text, parse_peer(text)) for text in peers]
    found = trio.run(_examine, targets, data_dir, seconds)
    if as_json:
        print(json.dumps([_values(check) for check in found], indent=2, ensure_ascii=False))
    else:
        for line in shown(found):
            print(line)
    return 1 if any(check.state is CheckState.BAD for check in found) else 0


def shown(found: Sequence[Check]) -> list[str]:
    """One line for each check: its state, what was found, what to do."""
    words = {CheckState.GOOD: _("ok"), CheckState.NOTE: _("note"), CheckState.BAD: _("PROBLEM")}
    width = max(len(word) for word in words.values())
    return [
        f"{words[check.state]:<{width}}  {check.text}{' ' if check.advice else ''}{check.advice}"
        for check in found
    ]


def _values(check: Check) -> dict[str, str]:
    return {"check": check.about, "state": check.state.value, "text": check.text, "advice": check.advice}


async def _examine(
    targets: Sequence[tuple[str, tuple[Address, ...]]], data_dir: str | None, seconds: float
) -> list[Check]:
    try:
        present: Sequence[Interface] = list_interfaces()
        interfaces = doctor_checks.check_interfaces(present)
    except OSError as error:
        present = ()
        interfaces = Check(
            "interfaces", CheckState.BAD, f"{_('No network interface has an address.')} {error}"
        )
    echo = await trio.to_thread.run_sync(doctor_checks.check_echo, present)
    problem, port, meeting = "", None, Meeting()
    try:
        listeners = open_listeners(None)
    except LocalError as error:
        problem = str(error)
    else:
        port = listening_port(listeners)
        meeting = await Doctor(listeners, port).meet(targets, seconds)
    return doctor_checks.listed(
        _check_program(),
        interfaces,
        doctor_checks.check_port(port, problem),
        echo,
        [Check("discovery", CheckState.BAD, safe(text)) for text in meeting.troubles],
        doctor_checks.check_firewall(),
        doctor_checks.check_clock(time.time()),
        doctor_checks.terminal_now(),
        doctor_checks.check_folder(data_folder(data_dir)),
        check_typed(meeting),
        check_met(meeting),
        _advise(present, port, meeting),
    )


def _check_program() -> Check:
    text = _("otto-p2p {version}, protocol {protocol}, Python {python} on {system}.")
    return Check(
        "program",
        CheckState.GOOD,
        text.format(
            version=version("otto-p2p"),
            protocol=PROTOCOL_VERSION,
            python=platform.python_version(),
            system=platform.system(),
        ),
    )


def check_typed(meeting: Meeting) -> list[Check]:
    """For each address that was named: whether an otto-p2p peer is there."""
    found = []
    for text, problem in meeting.typed.items():
        if problem is None:
            found.append(Check("peer", CheckState.GOOD, _("{address} answers.").format(address=safe(text))))
            continue
        found.append(
            Check(
                "peer",
                CheckState.BAD,
                _("{address} cannot be reached: {problem}.").format(address=safe(text), problem=problem),
                _("Is otto-p2p running there? Is the address right? Does a firewall there forbid it?"),
            )
        )
    return found


def check_met(meeting: Meeting) -> list[Check]:
    """For each one seen: its version, and what passes in which direction."""
    found = []
    for met in sorted(meeting.met.values(), key=lambda met: (met.name, met.address)):
        name = (
            f"{safe(met.name)} ({met.address})" if met.name and met.address else safe(met.name) or met.address
        )
        if met.version is not None and met.version != PROTOCOL_VERSION:
            text = _("{name} plays version {version}, this is {own}.")
            found.append(
                Check(
                    "version",
                    CheckState.BAD,
                    text.format(name=name, version=met.version, own=PROTOCOL_VERSION),
                    _("Install the same version of otto-p2p on both machines."),
                )
            )
            continue
        found += [_check_multicast(met, name), _check_unicast(met, name)]
    return found


def _check_multicast(met: Met, name: str) -> Check:
    if met.multicast and met.heard_us is not False:
        text = (
            _("Multicast passes between here and {name}.")
            if met.heard_us
            else _("Multicast from {name} is heard.")
        )
        return Check("multicast between", CheckState.GOOD, text.format(name=name))
    if not met.multicast and met.heard_us:
        text = _("Multicast passes to {name}, but not from there.")
    elif met.multicast:
        text = _("Multicast passes from {name}, but not to it.")
    else:
        text = _("Multicast does not pass between here and {name}.")
    return Check(
        "multicast between",
        CheckState.NOTE,
        text.format(name=name),
        _("The network or a firewall (UDP port 5353) blocks it: join with --peer."),
    )


def _check_unicast(met: Met, name: str) -> Check:
    if met.reached and met.reached_us is not False:
        text = _("Connections to {name} work.")
        if met.reached_us:
            text = _("Connections work between here and {name}, both ways.")
        return Check("connections", CheckState.GOOD, text.format(name=name))
    if met.reached or met.reached_us:
        there = _("Connections work to {name}, but not from there.")
        back = _("Connections work from {name}, but not from here to there.")
        return Check(
            "connections",
            CheckState.NOTE,
            (there if met.reached else back).format(name=name),
            _("One direction is enough to play; a firewall on one of the machines blocks the other."),
        )
    return Check(
        "connections",
        CheckState.BAD,
        _("{name} is seen, but no connection to it comes about.").format(name=name),
        _("A firewall there, or a Wi-Fi that keeps its clients apart: use another network or a cable."),
    )


def _advise(present: Sequence[Interface], port: int | None, meeting: Meeting) -> Check | None:
    """When nobody was met: what to do next, with the exact line to type on the other machine."""
    if meeting.met or port is None:
        return None
    own = own_addresses(usable(present), port)
    host = own[0].host if own else "HOST"
    text = _("Nobody else was heard.")
    advice = _(
        "Type `otto-p2p doctor --peer {host}` on another machine, and `otto-p2p doctor --seconds 60` here."
    )
    return Check("others", CheckState.NOTE, text, advice.format(host=f"[{host}]" if ":" in host else host))
