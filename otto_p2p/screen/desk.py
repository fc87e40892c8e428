"""Everything that the screen is: the lobby or a game, and what lies on top of it. Pure: no Textual, no clock.

Updates, keys, clicks and time go in; orders go to the table. `closed` says that the table is closed.
"""

from __future__ import annotations

import enum

from otto_p2p.i18n import _
from otto_p2p.screen.game_model import GameModel
from otto_p2p.screen.lobby_model import LobbyModel
from otto_p2p.screen.options import Options
from otto_p2p.texts import news, results
from otto_p2p.texts.safe import safe
from otto_p2p.ui.lobby import careful
from otto_p2p.ui.questions import Kind
from otto_p2p.updates import Closed, Controls, GameUpdate, LobbyUpdate, MatchEnded, News, Notice, Update
from otto_protocol.hashing import Rng

SWITCHES = ("automatic", "tips", "memory", "animation", "bell", "light")
"""What can be switched while playing, in the order of the settings page."""
BOTTOM = 10**6  # scrolled to the end
FRAMES = 10  # of the growing bars of a result


class Page(enum.Enum):
    """What lies on top of the lobby or the game."""

    NONE = "none"
    HELP = "help"
    LOG = "log"
    SETTINGS = "settings"
    RESULT = "result"  # of a game
    MATCH = "match"  # the end of a match
    LEAVE = "leave"  # leave for good?
    DROP = "drop"  # go on without somebody?


class Desk:
    """The whole screen of one person."""

    def __init__(self, table: Controls, rng: Rng, options: Options, clock: float) -> None:
        self.options = options
        self.lobby = LobbyModel(table, clock)
        self.game: GameModel | None = None
        self.page = Page.NONE
        self.scroll = 0  # of the page
        self.frame = 0  # of its animation
        self.memory_shown = False
        self.setting = 0  # the cursor of the settings page
        self.ended: MatchEnded | None = None
        self.closed = False
        self.leaving = False
        self.interrupted = False  # left by Ctrl-C
        self.summary: list[str] = []  # of the last match, for the terminal that the screen leaves behind
        self.paint_again = True
        self._table = table
        self._rng = rng
        self._called = 0
        self._explained: set[Kind] = set()  # kinds of decisions that this person has seen explained

    # -- updates ---------------------------------------------------------------------------------------

    def show(self, update: Update, clock: float) -> None:
        """Take in one update."""
        self.paint_again = True
        match update:
            case LobbyUpdate():
                self.lobby.show(update, clock)
            case GameUpdate():
                self._show_game(update, clock)
            case Notice():
                self._notify(update, clock)
            case MatchEnded():
                self._match_ended(update)
            case Closed():
                self.closed = True

    def _show_game(self, update: GameUpdate, clock: float) -> None:
        if self.ended is not None and update.over:
            return  # the last word of a match that is over already
        if self.game is None or self.game.update.members != update.members or self.ended is not None:
            lobby = self.lobby.update
            seconds = 0 if lobby is None else lobby.rules.turn_seconds
            self.game = GameModel(update, self._table, self._rng, self.options, seconds)
            self.page, self.ended, self._called = Page.NONE, None, 0
            self.game.explained = self._explained
            names = self.game.people.list(update.live)
            self.game.write(_("The game begins. Players: {names}.").format(names=names), "title")
            for warning in [] if self.lobby.update is None else careful(self.lobby.update):
                self.game.write(warning, "alert")
        self.game.show(update, clock)

    def _notify(self, notice: Notice, clock: float) -> None:
        if self.game is not None:
            self.game.notify(notice, clock)
        if self.game is None or notice.news in (News.NOT_STARTED, News.MOVED, News.TABLE_FULL):
            self.lobby.notify(news.news(notice), notice)
        if notice.news is News.NOT_STARTED:
            self.game, self.page = None, Page.NONE

    def _match_ended(self, update: MatchEnded) -> None:
        self.ended = update
        game = self.game
        if game is not None:
            game.choice = game.pending = None
            if update.complete and game.update.totals:
                best = max(game.update.totals)
                for seat, member in enumerate(game.update.members):
                    if game.update.totals[seat] == best:
                        self.lobby.won(member.key)
        self.lobby.rematch = True
        self.summary = self.match_lines()
        if self.options.auto:
            self.leave()

    @property
    def playing(self) -> bool:
        """Whether a match is on that leaving would leave."""
        return self.game is not None and self.ended is None and not self.game.update.over

    def match_lines(self) -> list[str]:
        """The end of the match: its points, and where its transcript is."""
        lines: list[str] = []
        if self.ended is None or self.game is None:
            return lines
        game = self.game
        if not self.ended.complete:
            lines.append(_("The match is over for you; it was not finished."))
        else:
            if game.results:
                lines += game.results[-1].lines
            lines += results.match_over(game.update.totals, game.people, game.update.games)
        if self.ended.transcript is not None:
            lines.append("")
            lines.append(_("Transcript: {path}").format(path=safe(str(self.ended.transcript))))
            lines.append(_("Anybody can check it: otto-p2p verify FILE"))
        return lines

    # -- keys and clicks -------------------------------------------------------------------------------

    def open(self, page: Page) -> None:
        """Lay a page on top."""
        self.page, self.frame, self.paint_again = page, 0, True
        self.scroll = BOTTOM if page is Page.LOG else 0

    def close(self) -> None:
        """Take the page away; what is under it is as it was."""
        self.paint_again = True
        if self.page is Page.RESULT and self.game is not None:
            self.game.results.popleft()
        if self.page is Page.MATCH:
            self.game, self.ended = None, None
        self.page = Page.NONE

    def key(self, key: str, clock: float) -> None:
        """Do what a key means."""
        self.paint_again = True
        if self.page is not Page.NONE:
            self._page_key(key)
        elif not self._common_key(key, clock):
            if self.game is not None and self.ended is not None:
                self.game.stageplay.clear()  # any key: seen enough, on to the results
            elif self.game is not None:
                self.game.key(key, clock)
            else:
                self.lobby.key(key)

    def _common_key(self, key: str, clock: float) -> bool:
        game = self.game
        if game is None and self.lobby.typed is not None:
            return False
        pages = {"question_mark": Page.HELP, "f1": Page.HELP, "f2": Page.SETTINGS, "q": Page.LEAVE}
        if key in pages:
            self.open(pages[key])
        elif game is None:
            return False
        elif key == "h":
            game.ask_hint()
        elif key == "m":
            self.memory_shown = game.memory and not self.memory_shown
            if not game.update.memory_aid:
                game.no_memory(clock)
        elif key == "a":
            self.options.automatic = not self.options.automatic
        elif key == "l":
            self.open(Page.LOG)
        elif key == "x" and game.missing is not None:
            self.open(Page.DROP)
        else:
            return False
        return True

    def _page_key(self, key: str) -> None:
        page = self.page
        if page is Page.LEAVE:
            if key in ("q", "enter"):
                self.leave()
            elif key == "k" and self.playing:
                self.go_away()
            else:
                self.close()
        elif page is Page.DROP:
            if key in ("x", "enter") and self.game is not None:
                self.game.drop()
            self.close()
        elif page is Page.SETTINGS and key in ("up", "down", "enter", "space"):
            if key in ("enter", "space"):
                name = SWITCHES[self.setting]
                setattr(self.options, name, not getattr(self.options, name))
            else:
                self.setting = (self.setting + (1 if key == "down" else -1)) % len(SWITCHES)
        elif key in ("up", "down", "pageup", "pagedown", "home"):
            step = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "home": -self.scroll}[key]
            self.scroll = max(0, self.scroll + step)
        elif key in ("enter", "escape", "space", "question_mark", "f1", "f2", "l", "q"):
            self.close()

    def click(self, target: str, clock: float) -> None:
        """Do what a click on `target` means ("" is a click on nothing)."""
        self.paint_again = True
        if target.startswith("key:") and (self.game is not None or self.page is not Page.NONE):
            self.key(target.removeprefix("key:"), clock)
        elif target.startswith("switch:") and self.page is Page.SETTINGS:
            self.setting = SWITCHES.index(target.removeprefix("switch:"))
            self._page_key("enter")
        elif self.page is not Page.NONE:
            if target == "close":
                self.close()
        elif self.game is not None:
            self.game.click(target, clock)
        elif target == "key:q":
            self.open(Page.LEAVE)
        elif not self.lobby.click(target) and target.startswith("key:"):
            self.key(target.removeprefix("key:"), clock)

    def _open_results(self) -> None:
        """Show how a game or the match ended, once the moment that ended it has been seen."""
        game = self.game
        if game is None or self.page is not Page.NONE or game.stageplay.now is not None:
            return
        if self.ended is not None:
            self.open(Page.MATCH)
        elif game.results and not game.update.over:
            self.open(Page.RESULT)

    def wheel(self, key: str) -> None:
        """The wheel of the mouse: scrolls a page, nothing else."""
        if self.page in (Page.HELP, Page.LOG, Page.MATCH):
            self._page_key(key)
            self.paint_again = True

    def interrupt(self) -> None:
        """Ctrl-C: leaves the lobby at once, a game only the second time."""
        if self.page is Page.LEAVE or (self.game is None and self.page is Page.NONE):
            self.interrupted = True
            self.leave()
        else:
            self.open(Page.LEAVE)

    def leave(self) -> None:
        """Leave in good order: the table answers with Closed."""
        if not self.leaving:
            self.leaving = True
            self._table.leave()

    def go_away(self) -> None:
        """Go, but keep the seat of a game that is on: the table answers with Closed."""
        if not self.leaving:
            self.leaving = True
            self._table.close()

    # -- time ------------------------------------------------------------------------------------------

    def tick(self, clock: float) -> bool:
        """Some time has passed; whether the screen is to be painted again."""
        if self.game is not None:
            self.game.tick(clock)
            self._open_results()
            if self.page in (Page.RESULT, Page.MATCH) and self.options.animation and self.frame < FRAMES:
                self.frame += 1
                self.paint_again = True
            self.paint_again |= self.game.changed
            self.game.changed = False
        else:
            self.lobby.tick(clock)
        self.paint_again |= self.lobby.changed and self.game is None
        self.lobby.changed = False
        painted, self.paint_again = self.paint_again, False
        return painted

    def rings(self) -> bool:
        """Whether it has become this person's turn since the last call."""
        called = 0 if self.game is None else self.game.called
        new, self._called = called > self._called, called
        return new
