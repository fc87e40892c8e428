"""The Textual surface: shows what the painters made of the desk, and hands on keys, clicks and updates."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from otto_p2p.i18n import _
from otto_p2p.screen.board import Board, Line
from otto_p2p.screen.desk import Desk
from otto_p2p.screen.options import Options
from otto_p2p.screen.paint_pages import LEAST_HEIGHT, LEAST_WIDTH, paint
from otto_p2p.screen.palette import palette
from otto_p2p.updates import Controls, Update
from otto_protocol.hashing import Rng

TICK = 0.1  # seconds
LEAVING_SECONDS = 5.0  # seconds from leaving to the end, whatever the table does
SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class Surface(Widget):
    """The whole screen as one widget; only lines that changed are drawn again."""

    DEFAULT_CSS = "Surface { width: 100%; height: 100%; }"

    def __init__(self, on_size: Callable[[], None]) -> None:
        """`on_size` is called when the size has changed."""
        super().__init__()
        self._on_size = on_size
        self._lines: tuple[Line, ...] = ()
        self._looks: dict[str, Style] = {}
        self._strips: dict[int, Strip] = {}
        self.board: Board | None = None

    def draw(self, board: Board, looks: dict[str, Style]) -> None:
        """Show this board."""
        before, self._lines = self._lines, board.lines(self.board, self._lines)
        self.board = board
        if looks is not self._looks or len(before) != len(self._lines):
            self._looks, before = looks, ()
            self._strips.clear()
            self.refresh()
        for y, line in enumerate(self._lines):
            if y >= len(before) or line is not before[y]:
                self._strips.pop(y, None)
                if before:
                    self.refresh(Region(0, y, board.width, 1))

    def on_resize(self) -> None:
        """Another size."""
        self._on_size()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        if y >= len(self._lines):
            return Strip.blank(self.size.width, self._looks.get(""))
        strip = self._strips.get(y)
        if strip is None:
            looks = self._looks
            plain = looks.get("", Style())
            strip = Strip([Segment(span.text, looks.get(span.style, plain)) for span in self._lines[y]])
            self._strips[y] = strip
        return strip


class Arrived(Message):
    """The table has told something."""

    def __init__(self, update: Update) -> None:
        super().__init__()
        self.update = update


class OttoApp(App[None]):
    """The full-screen table. `start` begins the network once there is a screen; it calls `sit` and `tell`."""

    CSS = "Screen { layers: base; overflow: hidden; }"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "interrupt", show=False, priority=True),
    ]

    def __init__(
        self,
        options: Options,
        start: Callable[[OttoApp], None],
        rng: Rng = os.urandom,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.options = options
        self.desk: Desk | None = None
        self._start = start
        self._rng = rng
        self._clock = clock
        self._surface = Surface(self.repaint)
        self._painting = False
        self._titled = ""

    # -- the life of the screen ------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """One widget."""
        yield self._surface

    def on_mount(self) -> None:
        """The screen is there: begin."""
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            # Not everywhere, and only in the main thread (tests run elsewhere, too).
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
                loop.add_signal_handler(getattr(signal, name), self._on_signal, name)
        self._write(SAVE_TITLE)
        self._title("Otto")
        self.set_interval(TICK, self._tick)
        self._start(self)
        self.repaint()

    def _fatal_error(self) -> None:
        """End without Textual's own report: it prints local variables, and these are somebody's cards."""
        self._close_messages_no_wait()

    @property
    def crash(self) -> Exception | None:
        """What the screen died of."""
        return self._exception

    @property
    def interrupted(self) -> bool:
        """Whether it was left by Ctrl-C."""
        return self.desk is None or self.desk.interrupted

    def on_unmount(self) -> None:
        """The screen goes: its title too."""
        self._write(RESTORE_TITLE)

    def _on_signal(self, name: str) -> None:
        if name == "SIGINT":
            self.action_interrupt()
        else:
            self.go_away()

    def go_away(self) -> None:
        """Ended from outside: the seat is kept for another `join`; end anyway when that takes too long."""
        if self.desk is None:
            self.exit()
        else:
            self.desk.go_away()
            self.set_timer(LEAVING_SECONDS, self.exit)

    def action_interrupt(self) -> None:
        """Ctrl-C."""
        if self.desk is None:
            self.exit()
            return
        self.desk.interrupt()
        if self.desk.leaving:
            self.set_timer(LEAVING_SECONDS, self.exit)
        self.repaint()

    # -- the table -------------------------------------------------------------------------------------

    def sit(self, table: Controls) -> None:
        """There is a table to control."""
        self.desk = Desk(table, self._rng, self.options, self._clock())
        self.repaint()

    def tell(self, update: Update) -> None:
        """The table has told something; called in this thread, outside of Textual's handlers."""
        self.post_message(Arrived(update))

    def on_arrived(self, message: Arrived) -> None:
        """Take it in; the painting waits until everything that has arrived is taken in."""
        if self.desk is None:
            return
        self.desk.show(message.update, self._clock())
        if self.desk.closed:
            self.exit()
        elif not self._painting:
            self._painting = True
            self.call_later(self.repaint)

    # -- keys and clicks -------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """A key: its character in lower case, or its name."""
        if self.desk is None or self._too_small():
            return
        event.stop()
        character = event.character or ""
        named = not character.isprintable() or character in (" ", "?", "")
        self.desk.key(event.key if named else character.lower(), self._clock())
        self._after_input()

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text: an address, if one is being typed."""
        if self.desk is not None and self.desk.game is None:
            self.desk.lobby.paste(event.text)
            self.repaint()

    def on_click(self, event: events.Click) -> None:
        """A click on whatever is painted there."""
        board = self._surface.board
        if self.desk is None or board is None or self._too_small():
            return
        self.desk.click(board.target(event.screen_x, event.screen_y), self._clock())
        self._after_input()

    def on_mouse_scroll_up(self) -> None:
        """The wheel."""
        self._wheel("up")

    def on_mouse_scroll_down(self) -> None:
        """The wheel."""
        self._wheel("down")

    def _wheel(self, key: str) -> None:
        if self.desk is not None and not self._too_small():
            self.desk.wheel(key)
            self.repaint()

    def _after_input(self) -> None:
        assert self.desk is not None
        if self.desk.leaving:
            self.set_timer(LEAVING_SECONDS, self.exit)
        self.repaint()

    def _too_small(self) -> bool:
        size = self._surface.size
        return size.width < LEAST_WIDTH or size.height < LEAST_HEIGHT

    # -- painting --------------------------------------------------------------------------------------

    def _tick(self) -> None:
        if self.desk is not None and self.desk.tick(self._clock()):
            self.repaint()

    def repaint(self) -> None:
        """Paint the desk as it is now."""
        self._painting = False
        width, height = self._surface.size
        looks = palette(colour=self.options.colour, light=self.options.light)
        if self.desk is None:
            board = Board(width, height, ascii_only=self.options.ascii_only)
            board.put(2, 1, _("Looking for tables..."))
        else:
            board = paint(self.desk, width, height)
            self._call(self.desk)
        self._surface.draw(board, looks)

    def _call(self, desk: Desk) -> None:
        """Ring and change the title when it has become this person's turn."""
        if desk.rings() and self.options.bell:
            self.bell()
        mine = desk.game is not None and desk.game.my_turn
        self._title(_("Your turn - Otto") if mine else "Otto")

    def _title(self, text: str) -> None:
        if text != self._titled:
            self._titled = text
            self._write(f"\x1b]0;{text}\x07")

    def _write(self, sequence: str) -> None:
        # Textual has no public way to set the title of the terminal.
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
