"""Every interleaving of votes at small tables, over the real `Ballots`: no split, and nobody waits for ever.

In every world that can come about, no two honest seats may have opened different views. From every world, and
for every group of seats that may be all that is left, those must get on together as soon as they hear each
other, unless they are too few: then it is said why. OTTO_BIG=1 explores further (hours).
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from tests.protocol.ballot_worlds import (
    Book,
    Case,
    World,
    check_safe,
    everybody,
    excuse,
    leavers,
    moves,
    parts,
    path,
    reachable,
    settle,
    union,
)

BIG = os.environ.get("OTTO_BIG") == "1"


def suspects(seats: range | tuple[int, ...], *of: set[int]) -> tuple[tuple[int, frozenset[int]], ...]:
    """Each of these seats may come to suspect each of these sets (never itself)."""
    return tuple(sorted({(seat, frozenset(one - {seat})) for seat in seats for one in of}, key=str))


SMALL = {
    "two that may suspect each other and leave": Case(
        2, 3, steps=0, suspicions=suspects(range(2), set(), {0, 1}), leavers=frozenset({0, 1})
    ),
    "two, one leaves in a later view": Case(
        2, 3, suspicions=suspects(range(2), set(), {1}), leavers=frozenset({1}), views=2
    ),
    "three, one is silent after it spoke or not": Case(3, 2, suspicions=suspects(range(3), {2}), hears="all"),
    "three that suspect wrongly": Case(3, 2, steps=0, suspicions=suspects(range(3), set(), {0}), hears="all"),
    "three, two may leave": Case(
        3, 2, steps=0, suspicions=suspects(range(3), {2}), leavers=frozenset({1, 2}), hears="all"
    ),
    "three, one lost after the other": Case(
        3, 2, steps=0, suspicions=suspects(range(3), {1, 2}, {2}), views=2, hears="all"
    ),
    "three, one lies to two that do not hear each other": Case(
        3,
        2,
        steps=0,
        suspicions=suspects((0, 1), {0, 1}),
        liar=2,
        lies=2,
        hears="all",
        hearing=frozenset({(0, 2), (1, 2), (2, 0), (2, 1)}),
    ),
    "four, cut in halves": Case(
        4,
        2,
        steps=0,
        suspicions=(*suspects((0, 1), {2, 3}), *suspects((2, 3), {0, 1})),
        hears="all",
        hearing=frozenset({(0, 1), (1, 0), (2, 3), (3, 2)}),
    ),
    "four, cut in halves, one leaves": Case(
        4,
        3,
        steps=0,
        suspicions=(*suspects((0, 1), {2, 3}), *suspects((2, 3), {0})),
        leavers=frozenset({1}),
        hears="own",
        hearing=frozenset({(0, 1), (1, 0), (2, 3), (3, 2), (2, 1)}),
    ),
    "four, one is silent": Case(4, 2, steps=0, suspicions=suspects(range(4), {3}), hears="all"),
}
LARGE = {
    "three, two steps": Case(3, 2, steps=2, suspicions=suspects(range(3), {2})),
    "three that suspect anybody": Case(
        3, 3, steps=0, suspicions=suspects(range(3), set(), {0}, {1}, {2}), hears="all"
    ),
    "three, one leaves while they play": Case(
        3, 3, suspicions=suspects(range(3), {2}), leavers=frozenset({1}), hears="all"
    ),
    "three, one lies much": Case(
        3, 2, steps=0, suspicions=suspects((0, 1), set(), {2}), liar=2, lies=3, hears="all"
    ),
    "four, cut in halves": Case(
        4, 2, steps=0, suspicions=(*suspects((0, 1), {2, 3}), *suspects((2, 3), {0})), hears="all"
    ),
    "four, one leaves": Case(
        4, 2, steps=0, suspicions=suspects(range(4), {0}), leavers=frozenset({3}), hears="all"
    ),
    "four, one is silent, three rounds": Case(4, 3, steps=0, suspicions=suspects(range(4), {3}), hears="all"),
    "five, one is silent": Case(5, 2, steps=0, suspicions=suspects(range(5), {4}), hears="all"),
    "four, one lies to both halves": Case(
        4,
        2,
        steps=0,
        suspicions=(*suspects((0,), {1, 2}), *suspects((1, 2), {0})),
        liar=3,
        lies=3,
        hears="all",
    ),
}


def check_all(case: Case, limit: int) -> None:
    book = Book(case)
    explored = reachable(book, limit)
    forked = set(explored.forked)
    outcomes: Counter[str] = Counter()
    settled: dict[tuple[int, frozenset[int]], tuple[int, str]] = {}
    for world in explored.found:
        if world in forked:
            continue
        for together in parts(case, leavers(book, world)):
            known = union(world, together)
            if (known, together) not in settled:
                settled[known, together] = after, reason = outcome(book, known, together)
                assert reason, (sorted(together), path(explored.found, world))
                outcomes[reason] += 1
            after, reason = settled[known, together]
            later = tuple(after if seat in together else known for seat, known in enumerate(world))
            assert check_safe(book, later) or case.liar is not None
            if reason != GO_ON and case.liar is None and union(world, range(case.seats)) == known:
                missing = everybody(book, world) - together
                assert missing, (f"nobody is missing, and yet: {reason}", path(explored.found, world))
    print(f"{len(explored.found)} worlds ({len(forked)} forked), {dict(outcomes)}")


GO_ON = "go on"


def outcome(book: Book, known: int, together: frozenset[int]) -> tuple[int, str]:
    """What these seats know when they have said all to each other, and what they do then (empty: they are stuck)."""
    after, went_on = settle(book, known, together)
    return after, GO_ON if went_on else excuse(book, after, together) or ""


@pytest.mark.parametrize("case", SMALL.values(), ids=SMALL)
def test_no_split_and_nobody_waits_for_ever(case: Case) -> None:
    check_all(case, limit=100_000)


@pytest.mark.skipif(not BIG, reason="takes long: OTTO_BIG=1")
@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE)
def test_no_split_and_nobody_waits_for_ever_in_larger_worlds(case: Case) -> None:
    check_all(case, limit=20_000_000)


def walk(book: Book, seed: int, length: int) -> World:
    choice = random.Random(seed)
    world: World = (0,) * book.case.seats
    for _ in range(length):
        possible = [following for _, following in moves(book, world)]
        if not possible or not check_safe(book, world):
            break
        world = choice.choice(possible)
    return world


@pytest.mark.parametrize(
    "case",
    [
        Case(4, 3, steps=2, suspicions=suspects(range(4), set(), {0}, {1, 2}, {3}), views=2),
        Case(
            5,
            3,
            suspicions=suspects(range(5), {0, 1}, {2}, {3, 4}),
            leavers=frozenset({1, 4}),
            views=2,
        ),
        Case(4, 3, suspicions=suspects(range(3), {0}, {1, 2}), liar=3, lies=4),
        Case(6, 3, steps=0, suspicions=suspects(range(6), {0, 1, 2}, {3, 4, 5}, {4, 5}), hears="all"),
        Case(5, 3, steps=0, suspicions=suspects(range(1, 5), {1}, {2, 3}), liar=0, lies=4, hears="all"),
    ],
    ids=["four", "five, two may leave", "four, one lies", "six", "five, the lowest lies"],
)
def test_random_votes_at_larger_tables(case: Case) -> None:
    book = Book(case)
    for seed in range(25):
        world = walk(book, seed, 20 * case.seats)
        if not check_safe(book, world):
            continue  # forked by the liar, which is convicted by its ballots
        groups = list(parts(case, leavers(book, world)))
        for together in {groups[-1], *random.Random(seed).sample(groups, min(6, len(groups)))}:
            known, settled = settle(book, union(world, together), together)
            assert settled or excuse(book, known, together) is not None, (seed, sorted(together))
