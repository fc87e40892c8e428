"""The game as it is on the screen: what is asked, what was chosen, what happened. Pure: no Textual, no clock.

Updates, keys and clicks go in, with the time in seconds; orders go to the table (`Controls`). The painters
read it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from otto_p2p.i18n import _
from otto_p2p.lookalikes import tags
from otto_p2p.screen.choice import Choice
from otto_p2p.screen.moments import Stageplay
from otto_p2p.screen.options import Options
from otto_p2p.texts import news, results
from otto_p2p.texts.events import Narrator, PhaseReporter
from otto_p2p.texts.people import People
from otto_p2p.texts.safe import safe
from otto_p2p.ui import asks, status
from otto_p2p.ui.asking import REPEATED, identity, identity_now, nothing_to_decide, pose
from otto_p2p.ui.hints import hint, suggestion
from otto_p2p.ui.questions import Kind, Option, Question
from otto_p2p.updates import Controls, GameUpdate, News, Notice
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Rng
from otto_protocol.rules import Outcome, moves

LOG = 500  # lines kept
NOTICE_SECONDS = 8.0
SHORT = 30  # seconds of a turn from which on they are counted
PRESSING = (News.CHEAT, News.LINK_LOST, News.SILENT, News.LEFT, News.REMOVED)
"""News that stay on the screen until something else happens to them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the log; `style` is a name in `palette`."""

    text: str
    style: str = ""


@dataclass(slots=True)
class Pending:
    """A choice that has been made and is not sent yet."""

    choice: Choice
    option: Option
    at: float  # when it is sent


@dataclass(frozen=True, slots=True)
class GameResult:
    """The end of a game, to be shown until somebody closes it."""

    outcome: Outcome
    lines: tuple[str, ...]
    totals: tuple[int, ...]
    game: int


class GameModel:
    """One match on the screen."""

    def __init__(
        self, first: GameUpdate, table: Controls, rng: Rng, options: Options, turn_seconds: int = 0
    ) -> None:
        """`turn_seconds`: of the table rules, 0 for no clock."""
        marks = tags([m.name for m in first.members], [m.key for m in first.members])
        self.people = People.of(first.members, marks, first.seat)
        self.update = first
        self.options = options
        self.choice: Choice | None = None
        self.pending: Pending | None = None
        self.log: deque[Entry] = deque(maxlen=LOG)
        self.notice: Entry | None = None
        self.hint = ""
        self.tip = ""  # what the question is about, when it is asked for the first time
        self.explained: set[Kind] = set()
        self.stageplay = Stageplay()
        self.results: deque[GameResult] = deque()
        self.new_slots: frozenset[int] = frozenset()
        self.led: int | None = None  # the leader's card of this turn, once it was opened
        self.called = 0  # how often it has become this seat's turn: the surface rings when it grows
        self.seconds_left: int | None = None  # of this turn, once they are few
        self.changed = True
        self._turn_seconds = turn_seconds
        self._asked_at = 0.0
        self._table = table
        self._rng = rng
        self._narrator = Narrator()
        self._dropped: set[int] = set()  # whom this person does not want to wait for
        self._answered: object = None
        self._kept: tuple[object, Choice] | None = None  # a half-made choice whose question has gone away
        self._notice_until: float | None = None
        self._phases = PhaseReporter()
        self._slots: tuple[int, frozenset[int]] = (0, frozenset())

    # -- updates ---------------------------------------------------------------------------------------

    def show(self, update: GameUpdate, clock: float) -> None:
        """Take in one update."""
        if update.game != self.update.game:
            self.stageplay.clear()
        self.update, self.changed = update, True
        for line in self._phases.tell(update, self.people):
            self.write(line, "dim")
        for sentence in self._narrator.tell(update, self.people):
            self.write(sentence)
        self.stageplay.update(update, clock)
        self._mark_new(update)
        self._remember_lead(update)
        if update.outcome is not None:
            self._game_over(update, update.outcome)
        called = self.called
        self._ask(update)
        if self.called > called:
            self._asked_at = clock

    def _mark_new(self, update: GameUpdate) -> None:
        """Cards that came into the hand since the last look at it."""
        if update.view is None:
            return
        held = frozenset(update.view.state.hands[update.seat])
        game, before = self._slots
        if game == update.game and before and held - before:
            self.new_slots = held - before
        self._slots = (update.game, held)

    def _remember_lead(self, update: GameUpdate) -> None:
        """The leader's card stays in sight when it has been exchanged."""
        for move in update.happened:
            if isinstance(move, moves.OpenLead):
                self.led = move.card
        if update.view is None or update.view.state.said is None or update.view.state.lead is None:
            self.led = None

    def _game_over(self, update: GameUpdate, outcome: Outcome) -> None:
        game = results.game_ended(update)
        lines = tuple(results.game_over(outcome, self.people, game, update.games))
        for line in lines:
            self.write(line, "title")
        self.results.append(GameResult(outcome, lines, update.totals, game))

    def notify(self, notice: Notice, clock: float) -> None:
        """Take in news."""
        style = "alert" if notice.news in (*PRESSING, News.NOT_MADE, News.WARNING) else "good"
        line = news.news(notice)
        self.write(line, style)
        self.notice = Entry(line, style)
        self._notice_until = None if notice.news in PRESSING else clock + NOTICE_SECONDS
        if notice.news is News.NOT_MADE:
            self._reopen()

    def write(self, text: str, style: str = "") -> None:
        """One more line in the log."""
        self.log.append(Entry(text, style))
        self.changed = True

    @property
    def memory(self) -> bool:
        """Whether the memory aid may be shown: the table plays with it, and this person wants it."""
        return self.options.memory and self.update.memory_aid

    def no_memory(self, clock: float) -> None:
        """Say that this table plays without a memory aid: where a hint would be, or as news."""
        line = status.no_memory_aid()
        if self.choice is not None:
            self.hint = line
        elif self.notice is None or self._notice_until is not None:  # pressing news stay
            self.notice, self._notice_until = Entry(line), clock + NOTICE_SECONDS
        self.changed = True

    # -- what is asked ---------------------------------------------------------------------------------

    def _ask(self, update: GameUpdate) -> None:
        current = self.current
        key = identity_now(update)
        if current is not None:
            if key == identity(update, current.question):
                return  # the same question: what is half made stays
            self._put_away()
        if key is None or key == self._answered:
            return
        if self._kept is not None and self._kept[0] == key:
            self.choice = self._kept[1]
            return
        asked = pose(update, self._rng)
        assert asked is not None
        if self.options.auto:
            self._send(suggestion(asked, self._rng), asked)
        elif nothing_to_decide(asked) or (self.options.automatic and asked.kind in REPEATED):
            if asked.kind is not Kind.COLLECT:
                self.write(asks.asked(asked))
            self._send(asked.usual, asked)
        else:
            self.choice, self.hint, self.tip = Choice(asked), "", self._tip(asked.kind)
            self.called += 1

    def _tip(self, kind: Kind) -> str:
        """What a kind of decision is about, once for each."""
        new = self.options.tips and kind not in self.explained
        self.explained.add(kind)
        return asks.explanation(kind) if new else ""

    @property
    def current(self) -> Choice | None:
        """The choice that is being made, or is made and not sent."""
        return self.pending.choice if self.pending is not None else self.choice

    def _put_away(self) -> None:
        """The question is gone for now; should it come back, the half-made choice is still there."""
        if self.choice is not None and self.choice.touched:
            self._kept = (identity(self.update, self.choice.question), self.choice)
        self.choice, self.pending, self.hint, self.tip = None, None, "", ""

    def _reopen(self) -> None:
        """The table did not do it: ask again."""
        self._answered = None
        if self.choice is None and self.pending is None:
            asked = pose(self.update, self._rng)
            self.choice = None if asked is None else Choice(asked)

    @property
    def missing(self) -> int | None:
        """A player who is away and whom this person still waits for; one who holds up the table first."""
        update = self.update
        away = [seat for seat in update.live if seat in update.away and seat not in self._dropped]
        return min(away, key=lambda seat: seat not in update.awaited, default=None)

    def drop(self) -> None:
        """Ask the others to go on without the one who is missing."""
        if (seat := self.missing) is not None:
            self._dropped.add(seat)
            self._table.drop(seat)
            name = self.people.names[seat]
            self.write(_("You do not want to wait for {name} any longer.").format(name=name))

    # -- choosing --------------------------------------------------------------------------------------

    def take(self, option: Option, clock: float) -> None:
        """Choose an option: it is sent when it can no longer be taken back."""
        assert self.choice is not None
        self.pending = Pending(self.choice, option, clock + self.options.grace)
        self.choice, self.hint, self.changed = None, "", True
        if self.options.grace <= 0:
            self.send()

    def undo(self) -> bool:
        """Take a choice back that is not sent yet."""
        if self.pending is None:
            return False
        self.choice, self.pending, self.changed = self.pending.choice, None, True
        return True

    def send(self) -> None:
        """Send the pending choice now."""
        if self.pending is not None:
            pending, self.pending, self.tip = self.pending, None, ""
            self.new_slots = frozenset()
            self._send(pending.option, pending.choice.question)

    def _send(self, option: Option, asked: Question) -> None:
        self._answered, self._kept, self.changed = identity(self.update, asked), None, True
        try:
            self._table.act(option.move)
        except LocalError as error:
            self.write(safe(str(error)), "alert")
            self._reopen()

    def ask_hint(self) -> None:
        """Say what the built-in player would do, and why."""
        if self.choice is not None:
            asked = self.choice.question
            self.hint = hint(asked, suggestion(asked, self._rng), self.people)
            self.changed = True

    def key(self, key: str, clock: float) -> bool:
        """A key about the choice; whether it meant anything."""
        if self.pending is not None:
            if key in ("backspace", "escape", "u"):
                return self.undo()
            if key in ("enter", "space"):
                self.send()
                return True
            return False
        choice = self.choice
        if choice is None:
            return False
        self.changed = True
        match key:
            case "enter":
                self.take(choice.option(), clock)
            case "space":
                if not choice.toggle():
                    self.take(choice.option(), clock)
            case "left":
                choice.move(-1)
            case "right":
                choice.move(1)
            case "home":
                choice.jump(0)
            case "end":
                choice.jump(-1)
            case "up" | "down":
                choice.other_row()
            case _:
                meant = choice.key(key)
                if isinstance(meant, Option):
                    self.take(meant, clock)
                    return True
                return meant
        return True

    def click(self, target: str, clock: float) -> bool:
        """A click on something of the choice; whether it meant anything."""
        if target == "undo":
            return self.undo()
        if target == "take":
            return self.key("enter", clock)
        if self.choice is None:
            return False
        option = self.choice.click(target)
        self.changed = True
        if option is not None:
            self.take(option, clock)
        return True

    # -- time ------------------------------------------------------------------------------------------

    def tick(self, clock: float) -> None:
        """Some time has passed: send what can no longer be taken back, end what has been shown enough."""
        left = self._left(clock)
        if left != self.seconds_left:
            self.seconds_left, self.changed = left, True
        if self.pending is not None:
            self.changed = True
            if clock >= self.pending.at:
                self.send()
        if self._notice_until is not None and clock >= self._notice_until:
            self.notice, self._notice_until, self.changed = None, None, True
        if self.stageplay.tick(clock, animation=self.options.animation):
            self.changed = True

    def _left(self, clock: float) -> int | None:
        if self.choice is None or not self._turn_seconds:
            return None
        left = math.ceil(self._turn_seconds - (clock - self._asked_at))
        return max(0, left) if left <= SHORT else None

    @property
    def my_turn(self) -> bool:
        """Whether something is asked of this seat."""
        return self.choice is not None
