"""The lobby of the plain screen: what changes, a line each, and what can be typed there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from otto_p2p.i18n import _, ngettext
from otto_p2p.texts.safe import safe
from otto_p2p.ui import lobby
from otto_p2p.updates import Controls, LobbyUpdate
from otto_protocol.errors import LocalError
from otto_protocol.lobby.record import Ready
from otto_protocol.lobby.seating import Lack
from otto_protocol.roster import TableRules

WITHOUT_AFTER = 30  # seconds of being ready before it is offered to start without the others


class PlainLobby:
    """Shows lobby updates as lines, and takes lines."""

    def __init__(self, table: Controls, say: Callable[[str], None], *, auto: bool) -> None:
        self.leaving = False
        self._table = table
        self._say = say
        self._auto = auto
        self._last: LobbyUpdate | None = None
        self._obstacles: tuple[str, ...] = ()
        self._invited = False  # "press Enter when you are ready" was said for these people
        self._accepted = False  # Enter was pressed since then
        self._ready_seconds = 0
        self._rematch = False

    @property
    def asks(self) -> bool:
        """Whether somebody who only answers when asked would type something now."""
        return self._invited and not self._accepted

    def again(self) -> None:
        """Back to the table: the next update is shown as a whole."""
        self._last, self._obstacles, self._ready_seconds = None, (), 0
        self._invited = self._accepted = False

    def rematch(self) -> None:
        """A match is over: the next invitation is to another one."""
        self._rematch = True

    def update(self, update: LobbyUpdate) -> None:
        """Show what is new."""
        before, self._last = self._last, update
        for line in lobby.changes(before, update):
            self._say(line)
        if (
            (before is None or before.join_line != update.join_line)
            and update.join_line
            and not self._rematch
        ):
            self._say(_("To join from another machine: {line}").format(line=safe(update.join_line)))
        if update.countdown is not None and (before is None or before.countdown is None):
            self._say(
                ngettext(
                    "All are ready. The game starts in {n} second; Enter stops it.",
                    "All are ready. The game starts in {n} seconds; Enter stops it.",
                    update.countdown,
                ).format(n=update.countdown)
            )
        elif update.countdown is None and before is not None and before.countdown is not None:
            self._say(_("The countdown has stopped."))
        self._tell_obstacles(update, complete=before is None or before.table_id != update.table_id)
        self._invite(update)

    def _tell_obstacles(self, update: LobbyUpdate, *, complete: bool) -> None:
        now = tuple(lobby.waiting(update))
        mine = lobby.me(update)
        if now != self._obstacles and mine is not None and mine.ready and not complete:
            for line in now:
                if line not in self._obstacles:
                    self._say(line)
        self._obstacles = now

    def _invite(self, update: LobbyUpdate) -> None:
        mine = lobby.me(update)
        if mine is None or mine.ready or self._auto:
            self._invited = self._accepted = False
        elif len(update.seated) > 1 and not self._invited:
            self._invited = True
            text = (
                _("Another match? Press Enter when you are ready, q to leave.")
                if self._rematch
                else _("Press Enter when you are ready. ? explains, q leaves.")
            )
            self._say(text)

    def second(self) -> None:
        """A second has passed: offer to start without those who do not get ready."""
        update = self._last
        mine = None if update is None else lobby.me(update)
        lazy = update is not None and [o for o in update.obstacles if o.lack is Lack.NOT_READY]
        if update is None or mine is None or mine.ready != Ready.YES or not lazy:
            self._ready_seconds = 0
            return
        self._ready_seconds += 1
        if self._ready_seconds == WITHOUT_AFTER and not self._auto:
            shown = lobby.names(update)
            names = ", ".join(shown.get(o.key, _("somebody")) for o in lazy)
            self._say(_("Type w to start without {names}.").format(names=names))

    def line(self, word: str) -> None:
        """Take one line of input."""
        try:
            self._do(word.lower().split())
        except LocalError as error:
            self._say(safe(str(error)))

    def _do(self, words: list[str]) -> None:
        update = self._last
        match words:
            case []:
                self._enter(update)
            case ["q" | "quit"]:
                self.leaving = True
            case ["?" | "help"]:
                self._help()
            case ["s" | "status"] if update is not None:
                for line in lobby.whole(update):
                    self._say(line)
            case ["n"]:
                self._table.ready(Ready.NO)
            case ["w"]:
                self._table.ready(Ready.WITHOUT)
            case ["o" | "open"]:
                self._table.open_table()
            case [number] if (
                number.isdecimal() and update is not None and 0 < int(number) <= len(update.others)
            ):
                self._table.sit_at(update.others[int(number) - 1].table)
            case ["decks" | "games" | "time" as what, number] if number.isdecimal() and update is not None:
                self._table.change_rules(_changed(update.rules, what, int(number)))
            case ["m" | "memory"] if update is not None:
                self._table.change_rules(replace(update.rules, memory_aid=not update.rules.memory_aid))
            case _:
                self._say(_("That was not understood; ? explains."))

    def _enter(self, update: LobbyUpdate | None) -> None:
        mine = None if update is None else lobby.me(update)
        if update is not None and update.countdown is not None:
            self._table.stop_countdown()
        elif mine is not None and mine.ready:
            self._say(_("You are ready already; n takes it back."))
            for line in self._obstacles:
                self._say(line)
        else:
            self._accepted = True
            self._table.ready(Ready.YES)

    def _help(self) -> None:
        self._say(
            _(
                "Everybody at the table presses Enter when ready; then the game starts. n: not ready "
                "after all. w: start also without those who are not ready. s: who is here. A number: sit "
                "at that other table. o: open a table of your own. decks 2, games 3, time 60: change the "
                "table rules. m: the memory aid on or off, for everybody. q: leave."
            )
        )


def _changed(rules: TableRules, what: str, number: int) -> TableRules:
    """The table rules with one of them changed."""
    number = min(number, 3600)
    match what:
        case "decks":
            return replace(rules, decks=number)
        case "games":
            return replace(rules, games=number)
        case _:
            return replace(rules, turn_seconds=number)
