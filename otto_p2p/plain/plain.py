"""The plain screen: a line for each event and each answer; for pipes, screen readers and any terminal.

Nothing but text is written, no escapes. Enter is always the usual choice, shown with the question; `?`
explains. What was asked stays asked: an event that comes in between changes nothing about a half-made
choice.
"""

from __future__ import annotations

from collections.abc import Callable

import trio

from otto_p2p.i18n import _
from otto_p2p.lookalikes import tags
from otto_p2p.plain.lobby import PlainLobby
from otto_p2p.texts import news, results
from otto_p2p.texts.events import Narrator, PhaseReporter
from otto_p2p.texts.people import People
from otto_p2p.texts.safe import safe
from otto_p2p.ui import asks, status
from otto_p2p.ui.asking import identity, identity_now, nothing_to_decide, pose
from otto_p2p.ui.hints import hint, suggestion
from otto_p2p.ui.questions import Kind, Option, Question, Understood, understand
from otto_p2p.updates import (
    Closed,
    Controls,
    GameUpdate,
    LobbyUpdate,
    MatchEnded,
    News,
    Notice,
    Update,
)
from otto_p2p.words import table_words
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Rng
from otto_protocol.match.phases import MatchPhase

QUIET = 15  # seconds without a line before it is said whom the table waits for
LONG_AWAY = 20  # seconds after which the others can go on without a player

_COMMANDS = ("?", "help", "c", "cards", "s", "status", "m", "memory", "w", "words", "x", "q", "quit")

Show = Callable[[str], None]


async def run(
    screen: Plain, updates: trio.MemoryReceiveChannel[Update], lines: trio.MemoryReceiveChannel[str]
) -> None:
    """Show `updates`, take `lines`, until the table is closed."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_listen, screen, lines)
        nursery.start_soon(_wait, screen)
        async for update in updates:
            screen.update(update)
            if screen.closed:
                break
        nursery.cancel_scope.cancel()


async def _listen(screen: Plain, lines: trio.MemoryReceiveChannel[str]) -> None:
    async for line in lines:
        while not screen.takes(line):
            await screen.changed.wait()
        screen.line(line)
    screen.input_ended()


async def _wait(screen: Plain) -> None:
    while True:
        await trio.sleep(1)
        screen.second()


class Plain:
    """The state of the plain screen: updates and lines go in, lines come out, the table gets orders."""

    def __init__(
        self, table: Controls, out: Show, rng: Rng, *, auto: bool = False, interactive: bool = True
    ) -> None:
        """`interactive`: somebody reads what is shown before typing. Otherwise lines wait for questions."""
        self.closed = False
        self.changed = trio.Event()  # set, and replaced, when an update was shown
        self._interactive = interactive
        self.interrupted = False  # by Ctrl-C: the program ends as programs do then
        self._table = table
        self._out = out
        self._rng = rng
        self._auto = auto
        self._leaving = False
        self._leave_asked = False
        self._ended = False  # the input has ended
        self._lobby = PlainLobby(table, self._say, auto=auto)
        self._game: GameUpdate | None = None
        self._lobby_now: LobbyUpdate | None = None  # the lobby, as it has become while a game is on
        self._people = People((), 0)
        self._narrator = Narrator()
        self._phases = PhaseReporter()
        self._words_shown = 0
        self._hand_shown = 0
        self._question: Question | None = None
        self._selected: Option | None = None  # what Enter takes now, when it is not the usual choice
        self._answered: object = None
        self._seconds = 0  # since the last line
        self._missing: dict[int, int] = {}  # seat -> seconds for which it has been away
        self._dropped: set[int] = set()
        self._waiting_shown = ""

    # -- updates ---------------------------------------------------------------------------------------

    def update(self, update: Update) -> None:
        """Show what is new."""
        match update:
            case LobbyUpdate():
                if self._game is None:
                    self._lobby.update(update)
                else:
                    self._lobby_now = update
            case GameUpdate():
                self._play(update)
            case Notice():
                self._say(news.news(update))
                if update.news is News.NOT_STARTED:
                    self._back_to_lobby()
                elif update.news is News.NOT_MADE and self._question is not None:
                    self._answered = None
                    self._ask(self._question)
            case MatchEnded():
                self._match_ended(update)
            case Closed():
                self.closed = True
        self.changed.set()
        self.changed = trio.Event()

    def _play(self, update: GameUpdate) -> None:
        if self._game is None or self._game.members != update.members:
            self._begin_match(update)
        self._game = update
        self._say_all(self._phases.tell(update, self._people))
        self._show_words(update)
        for sentence in self._narrator.tell(update, self._people):
            self._say(sentence)
        if update.view is not None and update.phase is MatchPhase.PLAY and self._hand_shown != update.game:
            self._hand_shown = update.game
            self._say_all(status.own_cards(update.view))
        if update.outcome is not None:
            game = results.game_ended(update)
            self._say_all(results.game_over(update.outcome, self._people, game, update.games))
        self._decide(update)

    def _begin_match(self, update: GameUpdate) -> None:
        marks = tags([m.name for m in update.members], [m.key for m in update.members])
        self._people = People.of(update.members, marks, update.seat)
        self._narrator = Narrator()
        self._missing, self._dropped = {}, set()
        self._phases = PhaseReporter()
        self._words_shown, self._hand_shown, self._answered = 0, 0, None
        self._lobby_now = None
        names = self._people.list(update.live)
        self._say(_("The game begins. Players: {names}.").format(names=names))

    def _show_words(self, update: GameUpdate) -> None:
        if update.table_number != self._words_shown and update.game == 1:
            self._words_shown = update.table_number
            words = " ".join(table_words(update.table_number))
            self._say(_("Table words: {words}. Everybody at this table has the same.").format(words=words))

    def _match_ended(self, update: MatchEnded) -> None:
        self._question = None
        if self._game is not None and update.complete:
            self._say_all(results.match_over(self._game.totals, self._people, self._game.games))
        elif not update.complete:
            self._say(_("The match is over for you; it was not finished."))
        if update.transcript is not None:
            self._say(_("Transcript: {path}").format(path=safe(str(update.transcript))))
            self._say(_("Anybody can check it: otto-p2p verify FILE"))
        if self._auto or self._ended:
            self._game = None
            self._leave()
        else:
            self._lobby.rematch()
            self._back_to_lobby()

    def _back_to_lobby(self) -> None:
        self._game, self._question, self._selected = None, None, None
        self._lobby.again()
        if self._lobby_now is not None:
            self._lobby.update(self._lobby_now)

    # -- decisions -------------------------------------------------------------------------------------

    def _decide(self, update: GameUpdate) -> None:
        key = identity_now(update)
        if key is None:
            self._question = self._selected = None
            return
        if key == self._answered or (self._question is not None and key == identity(update, self._question)):
            return
        asked = pose(update, self._rng)
        assert asked is not None
        self._selected = None
        self._question = asked
        if self._auto:
            self._take(suggestion(asked, self._rng))
        elif nothing_to_decide(asked):
            if asked.kind is not Kind.COLLECT:
                self._say(asks.asked(asked))
            self._take(asked.usual)
        else:
            self._ask(asked)

    def _ask(self, asked: Question) -> None:
        if asked.kind in (Kind.CHOOSE, Kind.GUESS):
            self._say_all(status.own_cards(asked.view)[:1])
        choice = self._selected or asked.usual
        self._say(
            _("{question} {choices}. Enter = {usual}.").format(
                question=asks.asked(asked),
                choices=asks.choices(asked, self._people),
                usual=choice.code,
            )
        )

    def _take(self, option: Option) -> None:
        assert self._question is not None
        assert self._game is not None
        self._answered = identity(self._game, self._question)
        try:
            self._table.act(option.move)
        except LocalError as error:
            self._answered = None
            self._say(safe(str(error)))

    # -- lines -----------------------------------------------------------------------------------------

    def takes(self, typed: str) -> bool:
        """Whether a line can be taken now; an answer out of a pipe waits until something is asked."""
        if self._interactive or typed.strip().lower() in _COMMANDS:
            return True
        if self._game is None:
            return self._lobby.asks
        return self._question is not None and self._answered != identity(self._game, self._question)

    def line(self, typed: str) -> None:
        """Take one line of input."""
        word = typed.strip()
        if self._leave_asked and word.lower() in ("q", "quit"):
            self._leave()
        elif self._game is None:
            self._lobby.line(word)
            if self._lobby.leaving:
                self._leave()
        elif not self._command(word.lower()):
            self._answer(word)
        if word.lower() not in ("q", "quit"):
            self._leave_asked = False

    def _answer(self, word: str) -> None:
        asked = self._question
        if asked is None or self._game is None or self._answered == identity(self._game, asked):
            self._say(self._nothing_asked())
            return
        if not word and self._selected is not None:
            self._take(self._selected)
            return
        meant = understand(asked, word)
        if not isinstance(meant, Understood):
            self._say(meant.text)
        elif asked.kind is Kind.COLLECT and word and meant.option.cards:
            self._selected = meant.option
            self._say(
                _("Selected: {cards}. Enter lays them; or type other cards.").format(cards=meant.option.code)
            )
        else:
            self._take(meant.option)

    def _nothing_asked(self) -> str:
        assert self._game is not None
        waiting = status.waited_for(self._game, self._people)
        return waiting or _("Nothing is asked of you now.")

    def _command(self, word: str) -> bool:
        """Whether `word` was a command, which is then done."""
        assert self._game is not None
        update, asked = self._game, self._question
        match word:
            case "?" | "help":
                self._help()
            case "h" | "hint" if asked is not None:
                self._say(hint(asked, suggestion(asked, self._rng), self._people))
            case "c" | "cards" if update.view is not None:
                self._say_all(status.own_cards(update.view))
            case "s" | "status":
                self._say_all(status.table(update, self._people))
            case "m" | "memory" if not update.memory_aid:
                self._say(status.no_memory_aid())
            case "m" | "memory" if update.view is not None:
                self._say_all(status.unseen(update.view))
            case "w" | "words":
                words = " ".join(table_words(update.table_number))
                self._say(
                    _("Table words: {words}. Everybody at this table has the same.").format(words=words)
                )
            case "x":
                self._drop()
            case "q" | "quit":
                self._leave_asked = True
                self._say(_("Leave the game for good? Type q again to leave, anything else to stay."))
            case _:
                return False
        return True

    def _drop(self) -> None:
        """Go on without those who have been away for long."""
        assert self._game is not None
        gone = [seat for seat, seconds in sorted(self._missing.items()) if seconds >= LONG_AWAY]
        for seat in gone:
            self._dropped.add(seat)
            self._table.drop(seat)
        if gone:
            names = self._people.list(gone)
            self._say(
                _("You want to go on without {name}; it is done when the others agree.").format(name=names)
            )
        else:
            self._say(_("Nobody has been away for long."))

    def _help(self) -> None:
        if self._question is not None:
            self._say(asks.explanation(self._question.kind))
            self._ask(self._question)
        self._say(
            _(
                "Enter: the usual choice. Or type a choice. h: a hint. c: your cards. s: the table. "
                "m: cards not seen yet. w: the table words. q: leave. ?: this help."
            )
        )

    def input_ended(self) -> None:
        """Nobody can type any more."""
        self._ended = True
        if not self._auto:
            self._leave()

    def interrupt(self) -> None:
        """Ctrl-C: leaves the lobby at once, a game only the second time."""
        if self._game is None or self._leave_asked or self._auto:
            self.interrupted = True
            self._leave()
        else:
            self._leave_asked = True
            self._say(_("Leave the game for good? Press Ctrl-C again to leave, anything else to stay."))

    def terminate(self) -> None:
        """Asked from outside to end: leave in good order."""
        self._leave()

    def _leave(self) -> None:
        if not self._leaving:
            self._leaving = True
            self._say(_("Leaving."))
            self._table.leave()

    # -- time and output -------------------------------------------------------------------------------

    def second(self) -> None:
        """A second has passed: tell whom the table waits for, when nothing happens for long."""
        self._seconds += 1
        if self._game is not None:
            self._count_missing(self._game)
        if self._game is None:
            self._lobby.second()
        elif self._seconds == QUIET:
            waiting = status.waited_for(self._game, self._people)
            if waiting is not None and waiting != self._waiting_shown:
                self._waiting_shown = waiting
                self._say(waiting)

    def _count_missing(self, update: GameUpdate) -> None:
        """Offer, once, to go on without somebody who has been away for long."""
        away = [seat for seat in update.live if seat in update.away and not update.over]
        self._missing = {seat: self._missing.get(seat, 0) + 1 for seat in away}
        for seat in away:
            if self._missing[seat] == LONG_AWAY and seat not in self._dropped:
                self._say(_("x: go on without {name}").format(name=self._people.names[seat]))

    def _say(self, line: str) -> None:
        self._seconds = 0
        self._out(line)

    def _say_all(self, lines: list[str]) -> None:
        for line in lines:
            self._say(line)
