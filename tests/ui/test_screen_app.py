"""The Textual surface without a terminal, and trio as its guest: what is drawn again, and how it ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest
import trio
from textual.pilot import Pilot

from otto_p2p import i18n
from otto_p2p.screen.app import OttoApp, Surface
from otto_p2p.screen.desk import Page
from otto_p2p.screen.guest import Guest, Peer, Screen
from otto_p2p.screen.options import Options
from otto_p2p.updates import Update
from otto_protocol.errors import LocalError
from otto_protocol.rules import moves
from tests.ui.fake_program import peer as fake_peer
from tests.ui.fake_table import FakeTable

Test = Callable[[OttoApp, FakeTable, Pilot[None]], Awaitable[None]]


def on_screen(test: Test, size: tuple[int, int] = (80, 24), **options: object) -> None:
    """Run a test on an app that sits at a fake table, without a guest."""
    i18n.use("en")
    table = FakeTable(4)

    def start(app: OttoApp) -> None:
        table.tell = app.tell
        app.sit(table)
        table.lobby()

    async def run() -> None:
        app = OttoApp(Options(grace=0, **options), start)  # type: ignore[arg-type]
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await test(app, table, pilot)

    asyncio.run(run())


def shown(app: OttoApp) -> str:
    board = app.query_one(Surface).board
    assert board is not None
    return board.text()


def test_keys_reach_the_table() -> None:
    async def test(app: OttoApp, table: FakeTable, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("4", "enter")
        await pilot.pause()
        (chosen,) = [what for order, what in table.asked if order == "act"][:1]
        assert isinstance(chosen, moves.Choose)
        assert chosen.number == 4

    on_screen(test)


def test_a_click_reaches_what_is_painted_there() -> None:
    async def test(app: OttoApp, table: FakeTable, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        rows = shown(app).splitlines()
        y = next(y for y, row in enumerate(rows) if row.startswith("  0 "))
        await pilot.click(Surface, offset=(rows[y].index(" 9×") + 1, y))
        await pilot.pause()
        (chosen,) = [what for order, what in table.asked if order == "act"][:1]
        assert isinstance(chosen, moves.Choose)
        assert chosen.number == 9

    on_screen(test)


def test_only_what_changed_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken by: refreshing the whole widget for every update (ten players would feel it)."""

    async def test(app: OttoApp, table: FakeTable, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        surface = app.query_one(Surface)
        before = [surface.render_line(y) for y in range(24)]
        await pilot.press("right")
        await pilot.pause()
        changed = [y for y in range(24) if surface.render_line(y) is not before[y]]
        assert changed
        assert all(y >= 16 for y in changed), "the cursor moved: only the question and the hand"
        before = [surface.render_line(y) for y in range(24)]
        app.repaint()
        await pilot.pause()
        assert all(surface.render_line(y) is before[y] for y in range(24))

    on_screen(test)


def test_an_idle_screen_is_not_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(app: OttoApp, table: FakeTable, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause(0.5)
        painted = []
        monkeypatch.setattr(app, "repaint", lambda: painted.append(1))
        await pilot.pause(0.5)
        assert painted == []

    on_screen(test)


def test_another_size_and_too_small() -> None:
    async def test(app: OttoApp, table: FakeTable, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        before = shown(app)
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert "Too small" in shown(app)
        await pilot.press("enter")
        assert not any(order == "act" for order, _ in table.asked)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert shown(app) == before

    on_screen(test)


def test_the_wheel_scrolls_a_page() -> None:
    async def test(app: OttoApp, table: FakeTable, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        assert app.desk is not None
        assert app.desk.page is Page.HELP
        first = shown(app)
        app._wheel("down")
        await pilot.pause()
        assert shown(app) != first

    on_screen(test)


# -- trio as a guest -----------------------------------------------------------------------------------


def with_guest(peer: Peer, test: Callable[[OttoApp, Pilot[None]], Awaitable[None]]) -> None:
    """Run a test on an app whose peer runs in trio, and end both as `run_screen` does."""
    i18n.use("en")

    async def run() -> None:
        guests: list[Guest] = []

        def start(app: OttoApp) -> None:
            guests.append(Guest(peer, app.sit, app.tell, app.exit))
            guests[0].start()

        app = OttoApp(Options(grace=0), start)
        try:
            async with app.run_test(size=(80, 24)) as pilot:
                await pilot.pause(0.1)
                await test(app, pilot)
        finally:
            await guests[0].stop()

    asyncio.run(run())


def test_a_whole_round_trip_through_trio() -> None:
    table = FakeTable(3)

    async def test(app: OttoApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause(0.1)
        await pilot.press("5", "enter")
        await pilot.pause(0.2)
        assert any(isinstance(what, moves.Choose) for _, what in table.asked)

    with_guest(fake_peer(table, None, ""), test)


def test_the_guest_says_goodbye_before_it_is_gone() -> None:
    said = []

    async def peer(screen: Screen) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.05)
                said.append("goodbye")

    async def test(app: OttoApp, pilot: Pilot[None]) -> None:
        assert said == []

    with_guest(peer, test)
    assert said == ["goodbye"]


def test_what_the_peer_dies_of_is_raised() -> None:
    async def peer(screen: Screen) -> None:
        raise LocalError("port 1 is taken")

    async def test(app: OttoApp, pilot: Pilot[None]) -> None:
        pass

    with pytest.raises(LocalError, match="port 1 is taken"):
        with_guest(peer, test)


def test_a_guest_that_never_began_can_be_stopped() -> None:
    async def run() -> None:
        guest = Guest(
            fake_peer(FakeTable(2), None, ""), lambda table: None, lambda update: None, lambda: None
        )
        await guest.stop()
        guest.start()
        await guest.stop()

    asyncio.run(run())


def test_calls_after_the_end_do_nothing() -> None:
    table = FakeTable(2)
    told: list[Update] = []

    async def run() -> None:
        hands: list[object] = []
        guest = Guest(fake_peer(table, None, ""), hands.append, told.append, lambda: None)
        guest.start()
        while not hands:
            await asyncio.sleep(0.01)
        await guest.stop()
        hands[0].ready(1)  # type: ignore[attr-defined]
        hands[0].leave()  # type: ignore[attr-defined]

    asyncio.run(run())
    assert told
    assert table.asked == []


# -- starting ------------------------------------------------------------------------------------------


def loaded(code: str) -> set[str]:
    """The top-level modules that are loaded after some code in a fresh interpreter."""
    program = f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """Issue D, 5."""
    assert loaded("import otto_p2p.cli") & {"textual", "rich", "trio", "zeroconf", "cryptography"} == set()
    assert loaded("import otto_p2p.commands.join") & {"textual", "rich"} == set()
