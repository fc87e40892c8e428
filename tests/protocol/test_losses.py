"""Seats are lost at every kind of step: the others finish, with one deck of cards and one result."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import pytest

from otto_protocol.hashing import random_below
from otto_protocol.lab import Chooser
from otto_protocol.match.events import ViewOpened
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session
from otto_protocol.rules import moves
from otto_protocol.rules.legal import SeatView
from otto_protocol.rules.state import GamePhase
from tests.protocol.lab_games import duellist, eager, patient
from tests.protocol.losing_tables import BIG, Kind, LosingTable, check_order, kind_of

EARLY = (
    *("key commit", "key open", "shuffle", "prove", "deal", "play choose", "play lead", "play answer"),
    *("play open-lead", "play exchange", "draw", "play collect"),
    *("play duel-lay", "play duel-guess", "play duel-open", "play lose-card"),
)
LATE = ("reshuffle", "reprove", "play otto", "otto commit", "play score", "result")
HEALING = ("heal shuffle", "heal prove", "raise", "tags")


@functools.cache
def tables(players: int, seed: str, player: Chooser, turns: int) -> dict[Kind, LosingTable]:
    """One match, and a copy of it from where it first came to each kind of step."""
    table = LosingTable(players, f"{seed} {players}", decks=1 if players <= 5 else 2)
    found: dict[Kind, LosingTable] = {}

    def newest() -> Session:
        return max((table.sessions[seat] for seat in table.here), key=lambda one: one.replica.step)

    def watch() -> None:
        kind = kind_of(newest())
        if kind not in found:
            found[kind] = table.fork(f"{seed} {kind}")

    def until(now: LosingTable) -> bool:
        one = newest()
        return one.over or (one.replica.state is not None and one.replica.play.turn > turns)

    table.watch = watch
    assert table.run(until, player)
    return found


def hoarder(view: SeatView, legal: Sequence[moves.SeatMove]) -> moves.SeatMove:
    """Like `eager`, but says Otto only where somebody else could say it as well."""
    enough = [laid for laid in view.state.collections if len(laid) >= 8]
    if isinstance(legal[0], moves.Say) and len(enough) < 2:
        return legal[-1]
    return eager(view, legal)


def early(players: int, kind: Kind) -> LosingTable:
    return tables(players, "early", duellist, 2 if players > 5 else 14)[kind].fork(f"early {kind}")


@functools.cache
def late_tables() -> dict[Kind, LosingTable]:
    """Of everything that is rare, a match that has it."""
    found: dict[Kind, LosingTable] = {}
    for number in range(40):
        for kind, table in tables(3, f"late {number}", (hoarder, patient)[number % 2], 250).items():
            found.setdefault(kind, table)
        if found.keys() >= set(LATE):
            return found
    raise LookupError(f"no match has {set(LATE) - found.keys()}")


def late(kind: Kind) -> LosingTable:
    return late_tables()[kind].fork(f"late {kind}")


def turn(table: LosingTable) -> int:
    states = [table.sessions[seat].replica.state for seat in table.here]
    return max((state.turn for state in states if state is not None), default=0)


def over(table: LosingTable) -> bool:
    return all(table.sessions[seat].over for seat in table.here)


def finish(table: LosingTable, *, turns: int = 2, player: Chooser = duellist) -> bool:
    """Play some turns more, then leave one after the other; False when nothing moves. Looks at every heal."""
    enough = turn(table) + turns
    lost: list[Replica] = []

    def until(now: LosingTable) -> bool:
        if over(now):
            return True
        one = now.sessions[now.here[0]]
        for event in one.take_events():
            if isinstance(event, ViewOpened) and event.gone and event.before.phase is MatchPhase.PLAY:
                lost[:] = [event.before]
        replica = one.replica
        if replica.phase is not MatchPhase.PLAY or replica.play.phase in (GamePhase.SCORE, GamePhase.END):
            return False  # nobody draws any more: without a heal, the pile needs the lost seat's key
        level = all(
            (s.replica.step, s.replica.digest) == (replica.step, replica.digest)
            for s in (now.sessions[x] for x in now.here)
        )
        if lost and level and not one.spoken():
            check_order(lost.pop(), replica)
            now.check_cards()
        return replica.play.turn >= enough

    if not table.run(until, player):
        return False
    while len(table.here) > 1 and not over(table):
        for _ in range(max(1, len(table.here) - 3)):  # several at once, where there are many
            table.leave(table.here[random_below(len(table.here), table.rng)])
        if not table.run(lambda now: over(now) or _plays(now), player):
            return False
    return table.run(over, player)


def _plays(table: LosingTable) -> bool:
    """Whether everybody who is left is where the others are gone, and the cards are healed."""
    left = tuple(table.here)
    there = [table.sessions[seat].replica for seat in left]
    return all(one.phase is MatchPhase.PLAY and one.live == left for one in there)


def stir(table: LosingTable, most: int) -> None:
    """Let some seats do something."""
    for _ in range(random_below(most + 1, table.rng)):
        table.turn_of(table.here[random_below(len(table.here), table.rng)], duellist)


def victim(table: LosingTable) -> int:
    """Mostly one that is awaited."""
    awaited = [seat for seat in table.sessions[table.here[0]].awaited() if seat in table.here]
    pool = awaited if awaited and random_below(3, table.rng) else table.here
    return pool[random_below(len(pool), table.rng)]


SIZES = {kind: 3 + place % 3 for place, kind in enumerate(EARLY)}
KINDS = [(SIZES[kind], kind, "silent") for kind in EARLY]
KINDS += [(SIZES[kind], kind, "leaves") for kind in EARLY[:: 1 if BIG else 2]]
LARGE = [(6, "play answer", "leaves"), (8, "draw", "silent"), (10, "play exchange", "silent")]
LARGE += [(7, "draw", "silent"), (8, "play lead", "leaves"), (9, "deal", "silent")] if BIG else []


@pytest.mark.parametrize(("players", "kind", "mode"), KINDS + LARGE)
def test_lost_at_every_kind_of_step(players: int, kind: Kind, mode: str) -> None:
    table = early(players, kind)
    stir(table, players)
    gone = victim(table)
    if mode == "leaves":
        table.leave(gone)
    else:
        table.lose(gone)
    assert finish(table), table.standing()
    table.check_end()


@pytest.mark.parametrize("mode", ["silent", "leaves"])
@pytest.mark.parametrize("kind", LATE)
def test_lost_late_in_a_game(kind: Kind, mode: str) -> None:
    table = late(kind)
    stir(table, 3)
    if mode == "leaves":
        table.leave(victim(table))
    else:
        table.lose(victim(table))
    assert finish(table, player=hoarder), table.standing()
    table.check_end(verify=mode == "silent")


@pytest.mark.parametrize("kind", HEALING)
def test_another_one_is_lost_in_the_heal(kind: Kind) -> None:
    table = early(5, "play answer")
    table.lose(victim(table))
    assert table.run(lambda now: any(kind_of(now.sessions[seat]) == kind for seat in now.here))
    stir(table, 4)
    table.lose(victim(table))
    assert finish(table), table.standing()
    table.check_end()


@pytest.mark.parametrize("kind", ["shuffle", "play choose", "draw"])
def test_two_are_lost_at_once(kind: Kind) -> None:
    table = early(5, kind)
    first, second, *_ = sorted(table.here, key=lambda seat: table.rng(8))
    table.lose(first, second)
    assert finish(table), table.standing()
    table.check_end()


FALSE = ("key open", "prove", "deal", "play answer", "draw", "play otto", "result", "reprove")


@pytest.mark.parametrize("kind", FALSE)
def test_a_false_alarm_costs_a_view_and_nobody(kind: Kind) -> None:
    """Everybody votes because one was not heard for a moment, and then is: on with all, in the next view."""
    table = late(kind) if kind in LATE else early(4, kind)
    stir(table, 2)
    shy, *others = sorted(table.here, key=lambda seat: table.rng(8))
    at = {seat: table.sessions[seat].replica for seat in table.here}
    for seat in others[: len(others) - 1]:  # one less than who could go on without it
        table.sessions[seat].suspect({shy})
        assert table.sessions[seat].vote()
        table.flush(seat)
    assert table.run(
        lambda now: over(now) or all(now.sessions[seat].replica.view == 1 for seat in now.here)
    ), table.standing()
    for seat in table.here:
        assert table.sessions[seat].replica.live == at[seat].live
    assert finish(table, player=hoarder if kind in LATE else duellist), table.standing()
    table.check_end()


def test_what_arrives_too_late_changes_nothing() -> None:
    table = early(4, "play answer")
    gone = victim(table)
    stir(table, 4)
    table.lose(gone)
    while len(table.lost) < 1:  # what it says now, nobody hears in time
        table.turn_of(gone, duellist)
        table.lost += [data for data, _ in table.records[gone][-1:]]
    assert table.run(lambda now: all(len(now.sessions[seat].replica.live) == 3 for seat in now.here))
    before = [(one.replica.view, one.replica.step, one.replica.digest) for one in table.sessions]
    for seat in table.here:
        for data in [*table.lost, *(data for data, _ in table.records[gone])]:
            table.sessions[seat].receive(data)
    assert before == [(one.replica.view, one.replica.step, one.replica.digest) for one in table.sessions]
    assert finish(table)
    table.check_end()


def test_who_was_removed_is_told_so_when_it_returns() -> None:
    table = early(4, "play lead")
    gone = victim(table)
    table.lose(gone)
    assert table.run(lambda now: all(len(now.sessions[seat].replica.live) == 3 for seat in now.here))
    table.cut(range(4))
    table.pass_time()  # at once, not when the others have played to the end
    assert table.run(lambda now: now.sessions[gone].out)
    assert gone not in table.sessions[table.here[0]].replica.live
    assert finish(table)
    table.check_end()


@pytest.mark.parametrize("kind", ["key commit", "deal", "play choose", "play answer", "draw"])
@pytest.mark.parametrize("restart", [False, True])
def test_without_a_quorum_all_wait_until_somebody_returns(kind: Kind, restart: bool) -> None:
    table = early(4, kind)
    stir(table, 3)
    lost = [seat for seat in range(4) if seat] if restart else [0, 3]  # half is not enough
    table.lose(*lost)
    assert not table.run(over)
    assert not table.has_quorum()
    assert all(one.replica.view == 0 for one in table.sessions)
    for seat in lost if restart else ():
        table.restart(seat)
    table.cut(range(4))
    assert finish(table), table.standing()
    table.check_end()


@pytest.mark.parametrize("kind", ["shuffle", "deal", "play lead", "play exchange"])
def test_two_players(kind: Kind) -> None:
    """Silence ends nothing, LEAVE does: the other one wins (before the deal there is nothing to win)."""
    table = tables(2, "pair", duellist, 6)[kind].fork(kind)
    stir(table, 2)
    table.lose(1)
    assert not table.run(over)
    table.restart(1)
    table.cut(range(2))
    now = table.sessions[0].replica.step
    assert table.run(lambda table: table.sessions[0].replica.step > now + 3)
    table.leave(0)
    assert table.run(over)
    table.check_end()
    result = table.sessions[1].replica
    assert result.results[0].winner == 1 if result.results else kind == "shuffle"


PARTS = {
    "3|3": ((0, 2, 4), (1, 3, 5)),
    "4|2": ((0, 1, 2, 5), (3, 4)),
    "2|2|2": ((0, 1), (2, 3), (4, 5)),
    "5|1": ((0,), (1, 2, 3, 4, 5)),
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_of_a_cut_table_at_most_one_part_plays_on(parts: tuple[tuple[int, ...], ...]) -> None:
    table = early(6, "play answer")
    stir(table, 6)
    table.cut(*parts)
    goal = turn(table) + 2
    table.run(lambda now: any(one.replica.view and one.replica.play.turn >= goal for one in now.sessions))
    moved = [part for part in parts if table.sessions[part[0]].replica.view > 0]
    assert len(moved) == any(len(part) > 3 for part in parts)
    for seat in range(6):
        stays = bool(moved) and seat in moved[0]
        assert (table.sessions[seat].replica.view > 0) == stays
    table.cut(range(6))
    assert finish(table), table.standing()
    table.check_end()


def test_one_after_the_other_from_six_down_to_one() -> None:
    table = early(6, "play lead")
    for left in range(5, 1, -1):
        stir(table, 12)
        table.lose(victim(table))
        assert table.run(
            lambda now, left=left: all(  # type: ignore[misc]
                len(now.sessions[seat].replica.live) == left
                and now.sessions[seat].replica.phase is MatchPhase.PLAY
                for seat in now.here
            )
        ), table.standing()
        table.check_cards()
    first, second = table.here
    table.lose(second)
    assert not table.run(over)  # silence alone is no win for the last but one
    table.cut({first, second})
    table.leave(second)
    assert table.run(over)
    table.check_end()
    assert table.sessions[first].replica.totals[first] == 10


def wander(players: int, seed: int) -> None:
    """A match in which seats get lost, return, restart, leave, and hear each other late, at random."""
    table = LosingTable(players, f"wander {players} {seed}")
    rng = table.rng
    away: set[int] = set()
    for _ in range(3 + random_below(4, rng)):
        goal = 1 + random_below(60, rng)
        start = sum(one.replica.step for one in table.sessions)
        table.run(
            lambda now, start=start, goal=goal: (
                over(now)
                or sum(  # type: ignore[misc]
                    one.replica.step for one in now.sessions
                )
                > start + goal
            )
        )
        if over(table) or len(table.here) < 2:
            break
        seat = table.here[random_below(len(table.here), rng)]
        match random_below(5, rng):
            case 0 | 1:
                table.lose(seat)
                away.add(seat)
            case 2 if len(table.here) > 2:
                table.leave(seat)
            case 3:
                table.restart(seat)
            case _:
                back = {one for one in away if random_below(2, rng)}
                away -= back
                table.cut({one for one in range(players) if one not in away and not table.sessions[one].out})
                for one in back:
                    if random_below(2, rng):
                        table.restart(one)
    if not finish(table):
        assert not table.has_quorum(), table.standing()
        table.cut({one for one in range(players) if not table.sessions[one].out})
        if not finish(table):
            assert not table.has_quorum(), table.standing()
            return
    table.check_end()


@pytest.mark.parametrize("seed", range(400 if BIG else 3))
@pytest.mark.parametrize("players", [3, 4, 5])
def test_random_losses_and_returns(players: int, seed: int) -> None:
    wander(players, seed)
