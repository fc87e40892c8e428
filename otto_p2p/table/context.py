"""What the drivers of a lobby and of a match share: journal, mesh, clock, and a way to tell the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, TypeVarTuple

from otto_p2p.net.mesh import Mesh
from otto_p2p.storage.journal import Journal
from otto_p2p.table.settings import Settings
from otto_p2p.table.timing import TableTiming
from otto_p2p.updates import News, Notice, Update

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class RunSync(Protocol):
    """Runs what computes for long, or waits for the disk: `trio.to_thread.run_sync`, or a plain call in tests."""

    async def __call__(self, function: Callable[[*Ts], T], /, *arguments: *Ts) -> T:
        """The result of the function; one that has begun is completed even if the caller is cancelled."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One peer, as both of its drivers see it."""

    settings: Settings
    journal: Journal
    mesh: Mesh
    timing: TableTiming
    run: RunSync
    wall: Callable[[], float]  # Unix seconds, for people; everything that decides uses trio's clock
    tell: Callable[[Update], None]

    def notify(self, news: News, *words: str) -> None:
        """One line for people. It goes behind the update that it speaks of."""
        self.tell(Notice(news, words))
