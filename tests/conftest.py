"""What tests of every area share: the virtual LAN, verdicts that are remembered, the processes, the cheats."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.lan.fixture import lan
from tests.verdicts import Verdicts, remembered

__all__ = ["lan"]

TESTS = Path(__file__).parent
# Programs, sockets and terminals on the real clock: one at a time, or they slow each other down.
REAL = (
    "tests/lan/",
    "tests/e2e/",
    "tests/ui/test_screen_terminal.py",
    "tests/net/test_sockets.py",
    "tests/adversary/test_sockets.py",
)
# These take longest; begun last, they would keep one process waiting for the other.
LONG = (
    "tests/adversary/",
    "tests/protocol/test_ballots_model.py",
    "tests/protocol/test_bots.py",
    "tests/protocol/test_lobby_model.py",
    "tests/protocol/test_losses.py",
    "tests/protocol/test_session.py",
)
VERDICTS: Verdicts = {}  # of all tests of this process
CHEATS: dict[str, int] = {}  # what the games of the adversary suite add up to, over all processes


# -- two processes ----------------------------------------------------------------------------------------


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two for a whole run; none for a part of it, which begins sooner and can show what it prints."""
    whole = all(Path(argument).resolve() in (TESTS, TESTS.parent) for argument in config.args)
    selected = config.option.keyword or config.option.markexpr or config.getoption("lf", False)
    return 2 if whole and not selected else 0


class Files(LoadScopeScheduling):
    """Deals out whole files, whose tests share games. All that is real is one piece: it stays in one process."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "real" if file.startswith(REAL) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Files | None:
    """Unless the command line has its own --dist."""
    config.option.loadscopereorder = False  # in the order of collection
    return Files(config, log) if config.option.dist == "load" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest is dealt out first, so that both processes end at the same time."""
    if hasattr(config, "workerinput"):
        items.sort(
            key=lambda item: 0 if item.nodeid.startswith(REAL) else 1 if item.nodeid.startswith(LONG) else 2
        )


# -- verdicts ---------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test and its fixtures check a proof or a signature that was checked before in this process no more."""
    anew = item.get_closest_marker("anew") is not None
    with contextlib.nullcontext() if anew else remembered(VERDICTS):
        return (yield)


# -- the table of cheats ----------------------------------------------------------------------------------


def _add(cheats: Mapping[str, int]) -> None:
    for name, value in cheats.items():
        CHEATS[name] = CHEATS.get(name, 0) + value


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Count what this process has played; a worker hands it to the process that has the terminal."""
    harness = sys.modules.get("tests.adversary.harness")  # only if anything was played
    if harness is not None:
        _add(dataclasses.asdict(harness.COUNT))
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["cheats"] = CHEATS


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take what a worker has counted (a crashed one has nothing)."""
    _add(getattr(node, "workeroutput", {}).get("cheats", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What became of the cheats."""
    if not CHEATS.get("tried"):
        return
    terminalreporter.section("cheats")
    terminalreporter.line(f"{'tried':<28}{CHEATS['tried']:>6}")
    terminalreporter.line(f"{'refused or harmless':<28}{CHEATS['refused']:>6}")
    terminalreporter.line(f"{'right seat blamed':<28}{CHEATS['blamed']:>6} of {CHEATS['expected']}")
    terminalreporter.line(f"{'honest seats blamed':<28}{CHEATS['honest_blamed']:>6}")
