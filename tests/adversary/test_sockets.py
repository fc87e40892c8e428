"""A sample of the cheats over real sockets: see `sockets` for the peers, and for what must come of each."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.adversary.harness import Told, Verdict
from tests.adversary.scene import Cheat, Sent, Table
from tests.adversary.sockets import OneSeat, check, play
from tests.adversary.test_cheats import CHEATS

LONG = bool(os.environ.get("OTTO_LONG"))


def told(number: str, **changes: object) -> Told:
    return dataclasses.replace(CHEATS[number], **{"ends": "leave", **changes})  # type: ignore[arg-type]


class Replay(Cheat):
    """Sends everything again that it has signed or heard, to everybody."""

    def begin(self, table: Table) -> Iterable[Sent]:
        self.done = True
        for data in table.me.messages_since(0, 0):
            yield Sent(data)


class Garbage(Cheat):
    """Sends bytes that are no frame, and others that are no message of the match, once."""

    def begin(self, table: Table) -> Iterable[Sent]:
        assert isinstance(table, OneSeat)
        self.done = True
        yield Sent(b"\xc1" * 40)
        yield Sent(bytes(200_000))
        table.raw(b"\xff" + bytes(100))
        yield Sent(b"")


def harmless(title: str, make: type[Cheat]) -> Told:
    return Told("-", title, Verdict.HARMLESS, (), make, start="2: lead")


SHORT = [
    told("6"),
    told("12", players=2),
    told("23", players=2, start="lead"),
    told("27", players=2),
    told("49"),
    told("51", players=2),
]

LONGER = [
    told("12"),
    told("22"),
    told("30"),
    told("31"),
    told("48", start="result", ends="play"),
    told("49", ends="play"),
    told("49b"),
    told("x8"),
    told("x10"),
    told("x16"),
    told("x26"),
    told("x27"),
    told("x40"),
    told("x51"),
    harmless("everything once more", Replay),
    harmless("bytes that are no frame", Garbage),
]
"""Those that are played out take minutes; in the others everybody goes home two turns after the cheat."""


@pytest.mark.parametrize("cheat", [pytest.param(one, id=one.name) for one in SHORT])
async def test_over_real_sockets(cheat: Told, tmp_path: Path) -> None:
    check(cheat, await play(cheat, tmp_path))


@pytest.mark.skipif(not LONG, reason="OTTO_LONG=1 plays these")
@pytest.mark.parametrize("cheat", [pytest.param(one, id=f"{one.name}, {one.ends}") for one in LONGER])
async def test_over_real_sockets_long(cheat: Told, tmp_path: Path) -> None:
    silent = cheat.verdict is Verdict.ABSENT
    check(cheat, await play(cheat, tmp_path, *((3, 7.0) if silent else ())))
