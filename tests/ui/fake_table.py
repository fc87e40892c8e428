"""A whole table in memory for tests of screens: the real rules, the built-in player at every other seat.

No cryptography and no network: what `otto_p2p.table.table` would tell its screen is told at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from otto_p2p.players import bots
from otto_p2p.updates import (
    Acquaintance,
    Closed,
    Controls,
    Face,
    GameUpdate,
    LobbyUpdate,
    MatchEnded,
    Notice,
    OpenTable,
    Person,
    Update,
)
from otto_protocol.crypto.identity import fingerprint
from otto_protocol.hashing import Drbg
from otto_protocol.lobby.seating import Lack, Obstacle
from otto_protocol.match.phases import MatchPhase
from otto_protocol.roster import PROTOCOL_VERSION, Member, TableRules
from otto_protocol.rules import GamePhase as Step
from otto_protocol.rules import Outcome, moves
from otto_protocol.rules.game import Game

NAMES = ("Anna", "Berta", "Centis", "Dace", "Emīls", "Fricis", "Guna", "Harijs", "Ieva", "Jānis")
NEW = Acquaintance(Face.NEW)

FORCED = (moves.OpenDuel, moves.OpenLead, moves.Score)
"""Moves that are no decision: the session makes them itself."""


class FakeTable(Controls):
    """`tell` hears the updates. Seat `me` is the screen's; `asked` keeps what it asked for."""

    def __init__(
        self,
        players: int = 4,
        seed: bytes = b"fake",
        *,
        names: Sequence[str] = NAMES,
        me: int = 0,
        games: int = 1,
        decks: int = 2,
        memory_aid: bool = True,
    ) -> None:
        self.rng = Drbg(seed)
        self.me = me
        self.rules = TableRules(decks, games, 120, memory_aid)
        self.members = tuple(
            Member(bytes([seat + 1]) * 32, names[seat % len(names)]) for seat in range(players)
        )
        self.tags = tuple(fingerprint(member.key) for member in self.members)
        self.asked: list[tuple[str, object]] = []
        self.others: tuple[OpenTable, ...] = ()
        self.acquaintances = {b"\3" * 32: Acquaintance(Face.KNOWN, "Centis", 0.0)}
        self.tell: Callable[[Update], None] = lambda update: None
        self.game: Game | None = None
        self.number = 0
        self.totals = [0] * players
        self.away: dict[int, str] = {}
        self.ready_now = 0
        self.hold = False  # the others do not move

    # -- Controls --------------------------------------------------------------------------------------

    def ready(self, value: int) -> None:
        self.asked.append(("ready", value))
        self.ready_now = value
        self.lobby()
        if value:
            self.begin()

    def act(self, move: moves.Move) -> None:
        self.asked.append(("act", move))
        assert self.game is not None
        assert not isinstance(move, (moves.Reshuffled, moves.Drawn))
        self._play(move)
        self.run()

    def sit_at(self, table: bytes) -> None:
        self.asked.append(("sit_at", table))

    def open_table(self) -> None:
        self.asked.append(("open_table", None))

    def change_rules(self, rules: TableRules) -> None:
        self.asked.append(("change_rules", rules))
        self.rules = rules
        self.lobby()

    def stop_countdown(self) -> None:
        self.asked.append(("stop_countdown", None))

    def dial(self, address: str) -> None:
        self.asked.append(("dial", address))

    def drop(self, seat: int) -> None:
        self.asked.append(("drop", seat))

    def close(self) -> None:
        self.asked.append(("close", None))
        self.tell(Closed())

    def leave(self) -> None:
        self.asked.append(("leave", None))
        self.tell(Closed())

    # -- the lobby -------------------------------------------------------------------------------------

    def lobby_update(self, *, seated: int | None = None, countdown: int | None = None) -> LobbyUpdate:
        """The lobby with so many people at the table."""
        people = tuple(
            Person(
                member.key,
                member.name,
                self.tags[seat],
                self.ready_now if seat == self.me else 1,
                seat % 2 == 1,
                seat == self.me,
                True,
                None if seat % 2 == 1 or seat == self.me else self.acquaintances.get(member.key, NEW),
            )
            for seat, member in enumerate(self.members[:seated])
        )
        lacks = [] if self.ready_now else [Obstacle(Lack.NOT_READY, self.members[self.me].key)]
        if len(people) < 2:
            lacks = [Obstacle(Lack.ALONE)]
        return LobbyUpdate(
            "maple-river",
            b"T" * 16,
            people,
            self.rules,
            tuple(lacks),
            self.others,
            "otto-p2p join --peer 192.168.1.5:47000",
            countdown,
        )

    def lobby(self) -> None:
        """Tell the lobby."""
        self.tell(self.lobby_update())

    def other_table(self, number: int, **changes: object) -> OpenTable:
        """Some other table."""
        table = OpenTable(
            bytes([number]) * 16,
            f"table-{number}",
            ("Kārlis", "Līga"),
            TableRules(),
            8,
            False,
            PROTOCOL_VERSION,
        )
        return replace(table, **changes)  # type: ignore[arg-type]

    # -- the game --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A game, from the keys to the first question."""
        self.number += 1
        players = len(self.members)
        self.game = None
        for phase, count in (
            (MatchPhase.KEY_COMMIT, 0),
            (MatchPhase.KEY_OPEN, 0),
            (MatchPhase.SHUFFLE, players),
        ):
            for done in range(count + 1):
                self.tell(self.update(phase=phase, progress=(done, count)))
        for done in range(players + 1):
            self.tell(self.update(phase=MatchPhase.PROVE, progress=(done, players)))
        self.game = Game.deal(range(players), self.rules.decks, self.rng)
        self.tell(self.update(phase=MatchPhase.DEAL))
        self.run()

    def update(
        self,
        happened: tuple[moves.Move, ...] = (),
        outcome: Outcome | None = None,
        *,
        phase: MatchPhase = MatchPhase.PLAY,
        progress: tuple[int, int] = (0, 0),
        over: bool = False,
    ) -> GameUpdate:
        """What the screen is told now."""
        game = self.game
        legal = [] if game is None or phase is not MatchPhase.PLAY else game.legal(self.me)
        decisions = tuple(move for move in legal if not isinstance(move, FORCED))
        return GameUpdate(
            seat=self.me,
            members=self.members,
            tags=self.tags,
            game=self.number,
            games=self.rules.games,
            phase=phase,
            progress=progress,
            table_number=0 if phase is MatchPhase.KEY_COMMIT else 0x123456789,
            view=None if game is None else game.seat_view(self.me),
            decisions=decisions,
            awaited=() if game is None else game.awaited,
            away=dict(self.away),
            live=tuple(range(len(self.members))) if game is None else tuple(sorted(game.state.live)),
            happened=happened,
            outcome=outcome,
            totals=tuple(self.totals),
            over=over,
            memory_aid=self.rules.memory_aid,
        )

    def run(self) -> None:
        """Let everybody move who need not be asked, until the screen's seat must decide or all is over."""
        while self.game is not None:
            if self.game.outcome is not None:
                self._over(self.game.outcome)
                return
            movers = [seat for seat in self.game.awaited if seat != self.me and not self.hold]
            forced = [move for move in self.game.legal(self.me) if isinstance(move, FORCED)]
            if forced:
                self._play(forced[0])
            elif movers:
                self.one(movers[0])
            else:
                return

    def one(self, seat: int) -> None:
        """One move of a built-in player."""
        assert self.game is not None
        self._play(bots.choose(self.game.seat_view(seat), self.game.legal(seat), self.rng))

    def _play(self, move: moves.SeatMove) -> None:
        assert self.game is not None
        before = self.game.state.phase
        pile = len(self.game.state.pile)
        self.game.play(move)
        happened: list[moves.Move] = [moves.public(move)]
        if before is Step.EXCHANGE and len(self.game.state.pile) > pile:
            happened.append(moves.Reshuffled())
        if self.game.outcome is None:
            self.tell(self.update(tuple(happened)))
        else:
            self.last = tuple(happened)

    def _over(self, outcome: Outcome) -> None:
        for seat, points in enumerate(outcome.points):
            self.totals[seat] += points
        over = self.number >= self.rules.games
        self.tell(self.update(self.last, outcome, phase=MatchPhase.RESULT, over=over))
        if over:
            self.ready_now = 0
            self.tell(MatchEnded(Path("/home/anna/otto/match.otto"), True))
            self.number = 0
            self.game = None
            self.totals = [0] * len(self.members)
            self.lobby()
        else:
            self.begin()

    def lose(self, seat: int, why: str) -> None:
        """A seat is away from now on."""
        self.away[seat] = why
        self.tell(self.update())

    def note(self, notice: Notice) -> None:
        """Tell news."""
        self.tell(notice)
