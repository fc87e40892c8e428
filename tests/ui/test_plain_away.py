"""The plain screen when somebody is away: whom the table waits for, since when, and going on without them."""

from __future__ import annotations

import dataclasses
import time

from otto_p2p import i18n
from otto_p2p.plain.plain import LONG_AWAY, Plain
from otto_protocol.hashing import Drbg
from tests.ui.plain_table import PlainTable


class Dropping(PlainTable):
    """Keeps whom the player does not want to wait for."""

    def __init__(self) -> None:
        super().__init__(3)
        self.dropped: list[int] = []

    def drop(self, seat: int) -> None:
        self.dropped.append(seat)

    def close(self) -> None:
        raise AssertionError("nobody leaves here")

    def dial(self, address: str) -> None:
        raise AssertionError(address)


def test_who_is_away_for_long_can_be_done_without() -> None:
    i18n.use("en")
    table, shown = Dropping(), list[str]()
    screen = Plain(table, shown.append, Drbg(b"away"))
    since = time.mktime((2026, 1, 2, 12, 3, 4, 0, 0, -1))
    here = dataclasses.replace(table.update(), awaited=(1,), decisions=())
    screen.update(here)
    screen.line("x")
    assert shown[-1] == "Nobody has been away for long."
    screen.update(dataclasses.replace(here, away={1: "silent"}, away_since={1: since}))
    screen.line("s")
    screen.line("")
    name = here.members[1].name
    assert shown[-1] == f"Waiting for {name} (nothing is heard) since 12:03:04."
    for _ in range(LONG_AWAY - 1):
        screen.second()
    assert not any(line.startswith("x: ") for line in shown)
    screen.second()
    for _ in range(LONG_AWAY):
        screen.second()
    assert [line for line in shown if line.startswith("x: ")] == [f"x: go on without {name}"]
    assert table.dropped == []
    screen.line("x")
    assert table.dropped == [1]
    assert shown[-1] == f"You want to go on without {name}; it is done when the others agree."
    screen.update(here)  # it is back
    screen.second()
    screen.line("x")
    assert table.dropped == [1]
