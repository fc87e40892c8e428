"""The moments that people cheer at: a duel, Otto, the points. What is shown, and for how long. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from otto_p2p.updates import GameUpdate
from otto_protocol.rules import moves
from otto_protocol.rules.cards import colour

HOLD = {"duel": 3.0, "otto": 5.0, "collect": 1.5}  # seconds that a moment stays after its last event


class MomentStage(enum.Enum):
    """How far a duel is."""

    CALLED = "called"
    LAID = "laid"
    GUESSED = "guessed"
    OPENED = "opened"


@dataclass(frozen=True, slots=True)
class DuelMoment:
    """A duel: seats of challenger and challenged, the guess (colour), the card once it is open."""

    challenger: int
    target: int
    stage: MomentStage = MomentStage.CALLED
    guess: int | None = None
    card: int | None = None

    @property
    def right(self) -> bool | None:
        """Whether the guess was right; None while nobody knows."""
        return None if self.card is None or self.guess is None else colour(self.card) == self.guess


@dataclass(frozen=True, slots=True)
class OttoMoment:
    """Somebody has said Otto: seat, number, opened cards."""

    seat: int
    number: int | None
    cards: tuple[int, ...]


Moment = DuelMoment | OttoMoment


def after_move(moment: Moment | None, move: moves.Move) -> Moment | None:
    """The moment after one more public move; None when there is nothing to cheer at."""
    duel = moment if isinstance(moment, DuelMoment) else None
    match move:
        case moves.Challenge(seat=seat, target=target):
            return DuelMoment(seat, target)
        case moves.LayDuel() if duel is not None:
            return DuelMoment(duel.challenger, duel.target, MomentStage.LAID)
        case moves.Guess(colour=guess) if duel is not None:
            return DuelMoment(duel.challenger, duel.target, MomentStage.GUESSED, guess)
        case moves.OpenDuel(card=card) if duel is not None:
            return DuelMoment(duel.challenger, duel.target, MomentStage.OPENED, duel.guess, card)
        case moves.Say(otto=True, seat=seat, number=number, cards=cards):
            return OttoMoment(seat, number, tuple(card for _, card in cards))
        case _:
            return moment


class Stageplay:
    """The moment that is on now, until its time is over."""

    def __init__(self) -> None:
        self.now: Moment | None = None
        self._until = 0.0
        self.frame = 0  # of the animation, counted by `tick`

    def update(self, update: GameUpdate, clock: float) -> None:
        """Take in what happened; `clock` in seconds."""
        before = self.now
        for move in update.happened:
            self.now = after_move(self.now, move)
        if self.now is not before and self.now is not None:
            self.frame = 0
            hold = HOLD["otto"] if isinstance(self.now, OttoMoment) else HOLD["duel"]
            self._until = clock + hold

    def tick(self, clock: float, *, animation: bool) -> bool:
        """Whether something looks different now."""
        if self.now is None:
            return False
        lasting = isinstance(self.now, DuelMoment) and self.now.stage is not MomentStage.OPENED
        if clock >= self._until and not lasting:
            self.now = None
            return True
        if animation:
            self.frame += 1
        return animation

    def clear(self) -> None:
        """A new game or another screen: nothing is on."""
        self.now = None
