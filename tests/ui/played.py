"""A person at the screen over a fake table, played by tests: keys, and a clock that only they move."""

from __future__ import annotations

from otto_p2p.screen.desk import Desk, Page
from otto_p2p.screen.game_model import GameModel
from otto_p2p.screen.options import Options
from otto_p2p.screen.paint_pages import paint
from otto_p2p.ui.questions import Kind
from otto_protocol.hashing import Drbg
from tests.ui.fake_table import FakeTable


class Played:
    """A desk at a fake table, with a clock that only `wait` moves."""

    def __init__(
        self,
        players: int = 4,
        seed: bytes = b"played",
        *,
        grace: float = 0.0,
        tips: bool = False,
        **more: object,
    ) -> None:
        self.clock = 0.0
        self.table = FakeTable(players, seed, **more)  # type: ignore[arg-type]
        self.desk = Desk(self.table, Drbg(b"desk"), Options(grace=grace, tips=tips), 0.0)
        self.table.tell = lambda update: self.desk.show(update, self.clock)
        self.table.lobby()

    @property
    def game(self) -> GameModel:
        assert self.desk.game is not None
        return self.desk.game

    @property
    def acts(self) -> list[object]:
        return [what for order, what in self.table.asked if order == "act"]

    def key(self, *keys: str) -> None:
        for key in keys:
            self.desk.key(key, self.clock)
            self.desk.tick(self.clock)

    def wait(self, seconds: float) -> None:
        for _ in range(int(seconds * 10)):
            self.clock += 0.1
            self.desk.tick(self.clock)

    def text(self, width: int = 80, height: int = 24) -> str:
        return paint(self.desk, width, height).text()

    def until(self, kind: Kind) -> None:
        """Play with Enter until a question of this kind is asked."""
        for _ in range(3000):
            if self.desk.page is not Page.NONE:
                self.key("escape")
            elif self.desk.game is None:
                self.key("enter")
            elif self.game.choice is not None and self.game.choice.question.kind is kind:
                return
            else:
                self.key("enter")
        raise AssertionError(kind)
