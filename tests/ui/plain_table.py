"""A table without network and cryptography: the real rules, the built-in player for everybody else."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from otto_p2p.players import bots
from otto_p2p.updates import Closed, GameUpdate, LobbyUpdate, MatchEnded, Person, Update
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Drbg
from otto_protocol.match.phases import MatchPhase
from otto_protocol.roster import Member, TableRules
from otto_protocol.rules import moves, standings
from otto_protocol.rules.end import Outcome
from otto_protocol.rules.game import Game
from tests.ui.fake_table import FORCED

NAMES = ("Me", "Anna", "Bob", "Cēzars", "Dora", "Eva", "Filip", "Gita", "Hugo", "Ivo")


class PlainTable:
    """`Controls` over a `Game`: what happens is put into `updates`, what was asked for into `calls`."""

    def __init__(
        self,
        players: int = 3,
        *,
        seed: bytes = b"fake",
        games: int = 1,
        decks: int = 2,
        memory_aid: bool = True,
    ) -> None:
        self.duels = False  # whether the others challenge seat 0 whenever they can
        self.rng = Drbg(seed)
        self.members = tuple(Member(bytes([seat + 1]) * 32, NAMES[seat]) for seat in range(players))
        self.table_rules = TableRules(decks=decks, games=games, memory_aid=memory_aid)
        self.updates: deque[Update] = deque()
        self.calls: list[str] = []
        self.game = self._deal()
        self.number = 1
        self.outcomes: list[Outcome] = []
        self.ready_value = 0

    def _deal(self) -> Game:
        return Game.deal(range(len(self.members)), self.table_rules.decks, self.rng)

    # What a test makes happen

    def lobby(self, *, countdown: int | None = None) -> LobbyUpdate:
        """The lobby as it is now."""
        people = tuple(
            Person(
                member.key, member.name, "", self.ready_value if seat == 0 else 1, seat > 0, seat == 0, True
            )
            for seat, member in enumerate(self.members)
        )
        return LobbyUpdate(
            "old-oak",
            bytes(16),
            people,
            self.table_rules,
            (),
            (),
            "otto-p2p join --peer 192.0.2.1:1",
            countdown,
        )

    def update(self, *happened: moves.Move, outcome: Outcome | None = None) -> GameUpdate:
        """The game as seat 0 knows it."""
        state = self.game.state
        ended = outcome is not None
        return GameUpdate(
            seat=0,
            members=self.members,
            tags=("",) * len(self.members),
            game=self.number,
            games=self.table_rules.games,
            phase=MatchPhase.RESULT if ended else MatchPhase.PLAY,
            progress=(0, 0),
            table_number=123456789,
            view=self.game.seat_view(0),
            decisions=() if ended or self._forced() else tuple(self.game.legal(0)),
            awaited=state.waiting,
            away={},
            live=tuple(sorted(state.live)),
            happened=happened,
            outcome=outcome,
            totals=standings(self.outcomes) if self.outcomes else (0,) * len(self.members),
            over=ended and self.number == self.table_rules.games,
            memory_aid=self.table_rules.memory_aid,
        )

    def run_others(self) -> None:
        """Everybody else decides, until seat 0 must decide something or the match is over."""
        while True:
            outcome = self.game.outcome
            if outcome is not None:
                self.outcomes.append(outcome)
                self.updates.append(self.update(outcome=outcome))
                if self.number == self.table_rules.games:
                    self.updates.append(MatchEnded(Path("/data/match.otto"), True))
                    return
                self.game, self.number = self._deal(), self.number + 1
                self.updates.append(self.update())
                continue
            seat = next((seat for seat in self.game.awaited if seat != 0), None)
            forced = self._forced() if seat is None else None
            if seat is None and forced is None:
                return
            if forced is not None:
                self._play(forced)
            elif seat is not None:
                self._play(self._decided(seat))

    def _decided(self, seat: int) -> moves.SeatMove:
        legal = self.game.legal(seat)
        challenge = moves.Challenge(seat, 0)
        if self.duels and challenge in legal:
            return challenge
        return bots.choose(self.game.seat_view(seat), legal, self.rng)

    def _forced(self) -> moves.SeatMove | None:
        """What the session of seat 0 does by itself."""
        legal = self.game.legal(0)
        return legal[0] if legal and isinstance(legal[0], FORCED) else None

    def _play(self, move: moves.SeatMove) -> None:
        self.game.play(move)
        self.updates.append(self.update(moves.public(move)))

    # Controls

    def ready(self, value: int) -> None:
        self.calls.append(f"ready {int(value)}")
        self.ready_value = int(value)

    def act(self, move: moves.Move) -> None:
        if move not in self.game.legal(0):
            raise LocalError("this is not possible now")
        assert not isinstance(move, (moves.Drawn, moves.Reshuffled))
        self.calls.append(f"act {type(move).__name__}")
        self._play(move)
        self.run_others()

    def sit_at(self, table: bytes) -> None:
        self.calls.append(f"sit {table.hex()}")

    def open_table(self) -> None:
        self.calls.append("open")

    def change_rules(self, rules: TableRules) -> None:
        memory = "" if rules.memory_aid else " no memory"
        self.calls.append(f"rules {rules.decks} {rules.games} {rules.turn_seconds}{memory}")

    def stop_countdown(self) -> None:
        self.calls.append("stop")

    def leave(self) -> None:
        self.calls.append("leave")
        self.updates.append(Closed())
