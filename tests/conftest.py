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
# Programs, sockets and terminals on the real clock: they wait more than they compute. Each has ports, folders,
# or a LAN of its own, and no mDNS outside of it. What takes longest comes first here.
REAL = (
    "tests/e2e/test_survival.py",
    "tests/e2e/test_play.py",
    "tests/lan/test_partition.py",
    "tests/lan/test_networks.py",
    "tests/lan/test_games.py",
    "tests/e2e/",
    "tests/lan/",
    "tests/ui/test_screen_terminal.py",
    "tests/net/test_sockets.py",
    "tests/adversary/test_sockets.py",
)
# These compute longest; begun last, they would keep one process busy when the others are done.
LONG = (
    "tests/adversary/",
    "tests/protocol/test_view_change.py",
    "tests/protocol/test_bots.py",
    "tests/protocol/test_lobby_model.py",
    "tests/protocol/test_losses.py",
    "tests/protocol/test_session.py",
)
VERDICTS: Verdicts = {}  # of all tests of this process
CHEATS: dict[str, int] = {}  # what the games of the adversary suite add up to, over all processes


# -- processes --------------------------------------------------------------------------------------------


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Four for a whole run; none for a part of it, which begins sooner and can show what it prints."""
    whole = all(Path(argument).resolve() in (TESTS, TESTS.parent) for argument in config.args)
    selected = config.option.keyword or config.option.markexpr or config.getoption("lf", False)
    return 4 if whole and not selected else 0


class Files(LoadScopeScheduling):
    """Deals out whole files, whose tests share games or ports; each test of the virtual LAN is for itself.

    One half of the processes takes what computes, the other what waits, while there is both: two games on the
    real clock at a time leave each other the seconds that they count on.
    """

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith("tests/lan/") else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: Any) -> None:
        waits = int(node.gateway.id.removeprefix("gw")) % 2 == 0
        fitting = next((scope for scope in self.workqueue if scope.startswith(REAL) == waits), None)
        if fitting is not None:
            self.workqueue.move_to_end(fitting, last=False)
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Files | None:
    """Unless the command line has its own --dist."""
    config.option.loadscopereorder = False  # in the order of collection
    return Files(config, log) if config.option.dist == "load" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest is dealt out first, so that all processes end at the same time."""
    if hasattr(config, "workerinput"):
        first = (*REAL, *LONG)
        items.sort(
            key=lambda item: next(
                (place for place, start in enumerate(first) if item.nodeid.startswith(start)), len(first)
            )
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
