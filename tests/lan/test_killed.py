"""Real processes on the test LAN: killed, stopped and continued, and what the others notice."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
import trio

from otto_p2p.net.events import PeerDown, PeerSilent
from otto_p2p.net.frames import CloseReason
from tests.lan.lab import Host, Lan
from tests.lan.peers import LanPeer, until

pytestmark = pytest.mark.lan


def command(host: Host, data: Path) -> subprocess.Popen[bytes]:
    """The installed command in the lobby, waiting for more people than will come."""
    return host.popen(
        ["otto-p2p", "join", "--plain", "--auto", "--players", "9", "--data-dir", str(data)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


async def test_killed_without_a_word(lan: Lan, tmp_path: Path) -> None:
    # field report 5
    process = command(lan.host("victim"), tmp_path)
    witness = LanPeer(lan.host("witness"))
    async with trio.open_nursery() as nursery:
        await nursery.start(witness.run)
        await until(lambda: len(witness.linked()) == 1, 15)
        (key,) = witness.linked()
        assert key in witness.adverts
        process.kill()
        taken = await until(lambda: not witness.linked(), 5)
        await until(lambda: witness.problem(key) == CloseReason.UNREACHABLE, 5)
        print(f"kill -9: noticed after {taken:.2f} s")
        # Who comes now still sees its advert, and that it cannot be reached.
        late = LanPeer(lan.host("late"))
        await nursery.start(late.run)
        await until(lambda: late.linked() == {witness.key}, 5)
        nursery.cancel_scope.cancel()
    assert process.stderr is not None
    assert process.stderr.read() == b""


async def test_stopped_for_a_while(lan: Lan, tmp_path: Path) -> None:
    # field report 13: no FIN, no error, the kernel answers keepalives; only beats notice
    process = command(lan.host("sleeper"), tmp_path)
    witness = LanPeer(lan.host("witness"))
    async with trio.open_nursery() as nursery:
        await nursery.start(witness.run)
        await until(lambda: len(witness.linked()) == 1, 15)
        process.send_signal(signal.SIGSTOP)
        taken = await until(lambda: any(isinstance(event, PeerSilent) for event in witness.events), 7)
        print(f"SIGSTOP: noticed after {taken:.2f} s")
        await until(lambda: not witness.linked(), 7)
        assert [event.reason for event in witness.events if isinstance(event, PeerDown)] == [
            CloseReason.SILENT
        ]
        process.send_signal(signal.SIGCONT)
        taken = await until(lambda: len(witness.linked()) == 1, 15)
        print(f"SIGCONT: linked again after {taken:.2f} s")
        nursery.cancel_scope.cancel()
