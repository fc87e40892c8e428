"""The lobby as it is on the screen: rows in an order that never changes under the cursor. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from otto_p2p.i18n import _
from otto_p2p.texts.safe import safe
from otto_p2p.ui import lobby
from otto_p2p.updates import Controls, LobbyUpdate, News, Notice, OpenTable, Person
from otto_protocol.errors import LocalError
from otto_protocol.lobby.record import Ready
from otto_protocol.roster import PROTOCOL_VERSION, TableRules

HINT_AFTER = 10.0  # seconds alone before it is said what may be the reason
WITHOUT_AFTER = 30.0  # seconds of being ready before it is offered to start without the others
TIMES = (0, 30, 60, 120, 300)  # seconds for a move that the key offers, in a circle
MOST_DECKS, MOST_GAMES = 4, 9
MOST_TYPED = 60  # characters of an address
READY = "ready"


class LobbyModel:
    """The lobby. `cursor` is "ready" or "table:HEX" of another table."""

    def __init__(self, table: Controls, clock: float) -> None:
        self.update: LobbyUpdate | None = None
        self.cursor = READY
        self.rows: list[OpenTable] = []  # other tables, in the order in which they appeared
        self.gone: set[bytes] = set()  # of these rows: no longer there
        self.trouble = ""  # the last thing that did not work
        self.wins: Counter[bytes] = Counter()  # matches won at this table, by identity key
        self.rematch = False
        self.typed: str | None = None  # an address that is being typed
        self.changed = True
        self._table = table
        self._alone_since: float | None = clock
        self._ready_since: float | None = None
        self._clock = clock

    # -- updates ---------------------------------------------------------------------------------------

    def show(self, update: LobbyUpdate, clock: float) -> None:
        """Take in one update."""
        before, self.update, self.changed, self._clock = self.update, update, True, clock
        if before is not None and before.table_id != update.table_id:
            self.cursor = READY
            self.wins.clear()
        self._merge(update)
        alone = len(update.seated) < 2 and not update.others
        self._alone_since = (self._alone_since or clock) if alone else None
        mine = lobby.me(update)
        waits = mine is not None and mine.ready == Ready.YES
        self._ready_since = (self._ready_since or clock) if waits else None

    def _merge(self, update: LobbyUpdate) -> None:
        now = {table.table: table for table in update.others}
        self.rows = [now.pop(row.table, row) for row in self.rows] + list(now.values())
        here = {table.table for table in update.others}
        self.gone = {row.table for row in self.rows if row.table not in here}
        self._forget_gone()

    def _forget_gone(self) -> None:
        """Drop rows that are gone, but none at or above the cursor: nothing moves under it."""
        place = self._place()
        kept = [row for number, row in enumerate(self.rows) if number <= place or row.table not in self.gone]
        self.rows, self.gone = kept, self.gone & {row.table for row in kept}

    def _place(self) -> int:
        places = [n for n, row in enumerate(self.rows) if self.cursor == f"table:{row.table.hex()}"]
        return places[0] if places else -1

    def notify(self, line: str, notice: Notice) -> None:
        """Take in news that concern the lobby."""
        good = notice.news in (News.MOVED, News.LINK_BACK, News.STORED, News.RESUMED)
        self.trouble, self.changed = "" if good else line, True

    def won(self, key: bytes) -> None:
        """Somebody has won a match at this table."""
        self.wins[key] += 1

    # -- what is shown ---------------------------------------------------------------------------------

    @property
    def me(self) -> Person | None:
        """My own place."""
        return None if self.update is None else lobby.me(self.update)

    @property
    def selected(self) -> OpenTable | None:
        """The other table under the cursor."""
        place = self._place()
        return self.rows[place] if place >= 0 else None

    @property
    def lonely(self) -> bool:
        """Nobody was found for so long that there must be a reason."""
        return self._alone_since is not None and self._clock - self._alone_since >= HINT_AFTER

    @property
    def may_go_without(self) -> bool:
        """I have been ready for so long that it is offered to start without the others."""
        return self._ready_since is not None and self._clock - self._ready_since >= WITHOUT_AFTER

    # -- keys ------------------------------------------------------------------------------------------

    def key(self, key: str) -> bool:
        """Do what a key means; whether it meant anything."""
        try:
            return self._key(key)
        except LocalError as error:
            self.trouble = safe(str(error))
            return True

    def _key(self, key: str) -> bool:
        update = self.update
        if update is None:
            return False
        self.changed = True
        if self.typed is not None:
            return self._type(key, self.typed)
        match key:
            case "p":
                self.typed, self.trouble = "", ""
            case "up" | "down":
                self._walk(-1 if key == "up" else 1)
            case "enter" | "space":
                self._enter(update)
            case "n":
                self._table.ready(Ready.NO)
            case "w":
                self._table.ready(Ready.WITHOUT)
            case "o":
                self._table.open_table()
            case "d":
                self._change(replace(update.rules, decks=update.rules.decks % MOST_DECKS + 1))
            case "g":
                self._change(replace(update.rules, games=update.rules.games % MOST_GAMES + 1))
            case "t":
                later = [seconds for seconds in TIMES if seconds > update.rules.turn_seconds]
                self._change(replace(update.rules, turn_seconds=later[0] if later else TIMES[0]))
            case "m":
                self._change(replace(update.rules, memory_aid=not update.rules.memory_aid))
            case _:
                return False
        return True

    def _type(self, key: str, typed: str) -> bool:
        """One key into the address."""
        if key == "escape":
            self.typed = None
        elif key == "backspace":
            self.typed = typed[:-1]
        elif key == "enter":
            if typed.strip():
                self._table.dial(typed.strip())
            self.typed = None
        elif len(key) == 1 and key.isprintable():
            self.typed = (typed + key)[:MOST_TYPED]
        return True

    def paste(self, text: str) -> None:
        """Pasted text goes into the address."""
        for char in text.strip().partition("\n")[0]:
            if self.typed is not None:
                self._type(char, self.typed)
        self.changed = True

    def _change(self, rules: TableRules) -> None:
        self._table.change_rules(rules)

    def _walk(self, step: int) -> None:
        self._forget_gone()
        stops = [READY, *(f"table:{row.table.hex()}" for row in self.rows)]
        place = stops.index(self.cursor) if self.cursor in stops else 0
        self.cursor = stops[(place + step) % len(stops)]

    def _enter(self, update: LobbyUpdate) -> None:
        row = self.selected
        if row is not None:
            self._sit(row)
        elif update.countdown is not None:
            self._table.stop_countdown()
        else:
            self._table.ready(Ready.YES)  # pressed twice by mistake it is still yes: n takes it back

    def _sit(self, row: OpenTable) -> None:
        if row.table in self.gone:
            self.trouble = _("That table is not there any more.")
        elif row.version != PROTOCOL_VERSION:
            self.trouble = _("That table plays another version.")
        else:
            self.trouble = ""
            self._table.sit_at(row.table)
            self.cursor = READY

    def click(self, target: str) -> bool:
        """A click: on a table moves the cursor there, and sits down when it was there."""
        if target.startswith("table:"):
            if self.cursor == target:
                return self.key("enter")
            self.cursor, self.changed = target, True
            return True
        if target == READY:
            self.cursor = READY
            return self.key("n" if self.me is not None and self.me.ready else "enter")
        if target.startswith("key:"):
            return self.key(target.removeprefix("key:"))
        return False

    def tick(self, clock: float) -> None:
        """Some time has passed."""
        before = (self.lonely, self.may_go_without)
        self._clock = clock
        if (self.lonely, self.may_go_without) != before:
            self.changed = True
