"""Ways through the worlds of voters: all of them, one at random, or one that is told; and what is wrong on the way."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from otto_protocol.match.view_change import Count
from tests.protocol.view_book import Case
from tests.protocol.view_worlds import Act, Fault, Table, World


@dataclass(frozen=True)
class Explored:
    """How much was seen, and what was wrong: the fault, and how it came about."""

    states: int
    complete: bool
    fault: str | None
    story: tuple[str, ...]
    notes: dict[str, int]


def explore(case: Case, rule: type[Count] = Count, most: int = 10_000_000) -> Explored:
    """Everything that can happen, the shortest way first, up to so many worlds; and the end of each."""
    table = Table(case, rule)
    start = table.begin()
    came: dict[World, tuple[World, Act] | None] = {start: None}
    seen, waiting = {start}, deque([start])
    while waiting and len(seen) < most:
        world = waiting.popleft()
        act = None
        try:
            table.end(world)
            for act in table.acts(world):
                after = table.do(world, act)
                alike = table.alike(after)
                if alike not in seen:
                    seen.add(alike)
                    came[after] = (world, act)
                    waiting.append(after)
        except Fault as fault:
            story = [] if act is None else [table.tell(act)]
            while (step := came[world]) is not None:
                world = step[0]
                story.append(table.tell(step[1]))
            return Explored(len(seen), False, str(fault), tuple(reversed(story)), table.notes)
    return Explored(len(seen), not waiting, None, (), table.notes)


WEIGHTS = {"hears": 40, "votes": 30, "follows": 30, "crashes": 2, "lies": 40, "returns": 5, "leaves": 2}


def wander(case: Case, seed: int, rule: type[Count] = Count, length: int = 70) -> Explored:
    """One way through the worlds of a case, at random, and its end."""
    table, chance = Table(case, rule), random.Random(seed)
    world, story = table.begin(), list[str]()
    everybody = frozenset(range(case.seats))
    part = everybody if case.cuts else None
    try:
        for _ in range(chance.randrange(length // 3, length)):
            if case.cuts and chance.randrange(8) == 0:
                part = frozenset(seat for seat in everybody if chance.randrange(2)) or everybody
            acts = table.acts(world, part)
            if not acts:
                break
            kinds = sorted({act.kind for act in acts})
            (kind,) = chance.choices(kinds, [WEIGHTS[kind] for kind in kinds])
            act = chance.choice([act for act in acts if act.kind == kind])
            story.append(table.tell(act))
            world = table.do(world, act)
        story.append("-- all is delivered")
        table.end(world)
    except Fault as fault:
        return Explored(len(story), True, str(fault), tuple(story), table.notes)
    return Explored(len(story), True, None, (), table.notes)


def play(case: Case, story: Sequence[str], rule: type[Count] = Count) -> Explored:
    """The worlds of a story, and its end; it stops where the rule does not let it go on."""
    table = Table(case, rule)
    world = table.begin()
    try:
        for number, line in enumerate(story):
            act = next((act for act in table.acts(world) if table.tell(act) == line), None)
            if act is None:
                return Explored(number, False, None, tuple(story[:number]), table.notes)
            world = table.do(world, act)
        table.end(world)
    except Fault as fault:
        return Explored(len(story), True, str(fault), tuple(story), table.notes)
    return Explored(len(story), True, None, tuple(story), table.notes)
