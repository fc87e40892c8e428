"""The end of a game of Otto: bonuses (T17, R15), points (T16, R16), and games that nobody can win."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from otto_protocol.errors import LocalError
from otto_protocol.rules.cards import number
from otto_protocol.rules.phases import GamePhase
from otto_protocol.rules.state import ENOUGH, STALL_ROUNDS, Bonus, Cheat, Draft, EndReason, State

OTTO_POINTS = 10  # T16


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended. `points` is by seat of the roster; `numbers` too, None where never opened."""

    winner: int | None
    points: tuple[int, ...]
    bonus: tuple[Bonus, ...]
    reason: EndReason
    cheats: tuple[Cheat, ...]
    numbers: tuple[int | None, ...]


def outcome(state: State) -> Outcome | None:
    """The result, once the phase is END; None before."""
    if state.phase is not GamePhase.END:
        return None
    assert state.reason is not None
    return Outcome(state.winner, state.points, state.bonus, state.reason, state.cheats, state.numbers)


def standings(outcomes: Iterable[Outcome]) -> tuple[int, ...]:
    """R17: the points of a match, by seat: those of its games added up. Raises LocalError without a game."""
    rows = [result.points for result in outcomes]
    if not rows:
        raise LocalError("no game has ended yet")
    return tuple(sum(column) for column in zip(*rows, strict=True))


def bonuses(own: int, cards: Iterable[int]) -> tuple[Bonus, ...]:
    """T17, R15: what these cards (collection and opened hand) give to the winner whose number is `own`."""
    count = Counter(number(card) for card in cards)
    more = count[own] - ENOUGH
    won = []
    if more >= 4:
        won.append(Bonus.FOUR_MORE)
    elif more == 3:
        won.append(Bonus.THREE_MORE)
    if count[own - 1] >= 2 and count[own + 1] >= 2:  # no card is a -1 or a 10: numbers do not wrap
        won.append(Bonus.NEIGHBOURS)
    if own == 0 and more >= 0:
        won.append(Bonus.ZEROS)
    return tuple(won)


def count_points(new: Draft) -> None:
    """T16, R16: points and cheats, when all collections lie open."""
    points, cheats = [0] * new.seats, []
    for seat in sorted(new.live):
        own, collection = new.numbers[seat], new.collections[seat]
        assert own is not None
        if any(number(new.known[slot]) != own for slot in collection) or new.lost[seat] & ~(1 << own):
            cheats.append(Cheat(seat, "R16"))
        elif new.shown[seat] >> own & 1:
            cheats.append(Cheat(seat, "T3"))
        else:
            points[seat] = len(collection)
    if new.winner is not None:
        points[new.winner] = OTTO_POINTS + sum(bonus.points for bonus in new.bonus)
    new.points, new.cheats = tuple(points), tuple(cheats)


def no_winner(new: Draft) -> EndReason | None:
    """R18, R19: why this game ends here without a winner; None when it goes on."""
    if new.quiet >= STALL_ROUNDS * len(new.live):
        return EndReason.STALLED
    hands, collections = new.hands, new.collections
    if all(len(hands[seat]) + len(collections[seat]) < ENOUGH for seat in new.live):
        return EndReason.DEAD_END
    return None
