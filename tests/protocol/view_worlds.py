"""Worlds of voters: what each seat knows, all that can happen next, and what follows by the real `Count`.

A seat here is a set of messages (bits of a number) and a status; all else follows from the set, by the code that
plays. Whoever lies can sign anything about any proposal, in any round, and show it to whom it likes. An honest seat
signs what `Count` says, under any suspicion that is allowed: of those that are silent, or (`cuts`) of any others.

After every act one asks whether two seats are in different next views, or somebody honest is convicted; and
whether the table gets on when all is delivered and clocks run out (`end`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from otto_protocol.match import messages as m
from otto_protocol.match.view_change import Count, Proposal
from otto_protocol.quorum import is_majority
from tests.protocol.view_book import Book, Case, bits

LAST_ROUND = 15  # to which the votes may go when all is delivered

CRASHED, WAS_DOWN, LEFT = 1, 2, 4


@dataclass(frozen=True)
class Act:
    """One thing that happens to a seat."""

    kind: str  # hears, votes, follows, crashes, lies, returns, leaves
    seat: int
    item: int = 0
    suspects: frozenset[int] = frozenset()


Peer = tuple[int, int]
"""What a seat knows, and its status."""
World = tuple[Peer, ...]


class Fault(AssertionError):
    """Something that must never be."""


class Table(Book):
    """All that can happen in a case."""

    def __init__(self, case: Case, rule: type[Count] = Count) -> None:
        super().__init__(case, rule)
        self.notes: dict[str, int] = {}  # what may be, but is worth counting
        self.ended = functools.cache(self._ended)
        self._names = [_names(case, order) for order in itertools.permutations(case.honest)]

    # -- what happens ----------------------------------------------------------------------------------------

    def begin(self) -> World:
        return ((0, 0),) * self.case.seats

    def is_voting(self, seat: int, world: World) -> bool:
        known, status = world[seat]
        return (
            seat not in self.case.liars
            and not status & (CRASHED | LEFT)
            and self.entered(seat, known) is None
        )

    def gone(self, world: World) -> frozenset[int]:
        """Whoever lies (and may be silent), has crashed, or has left."""
        away = {seat for seat, (_, status) in enumerate(world) if status & (CRASHED | LEFT)}
        return self.case.liars | away

    def acts(self, world: World, part: frozenset[int] | None = None) -> list[Act]:
        """All that can happen. `part`: the seats on one side of a cut."""
        case, found = self.case, list[Act]()
        gone = self.gone(world)
        spoken: dict[
            int, set[Proposal]
        ] = {}  # proposals that an honest seat has voted for, or may now, by round
        for seat in case.honest:
            known, status = world[seat]
            if status & CRASHED:
                if case.restarts and not status & WAS_DOWN:
                    found.append(Act("returns", seat))
                continue
            if status & LEFT:
                continue
            if self.is_voting(seat, world):
                hears = 0
                for other in case.honest:
                    if not world[other][1] & CRASHED and (part is None or (seat in part) == (other in part)):
                        hears |= world[other][0]
                found += [
                    Act("hears", seat, item) for item in bits(hears & ~known) if self.keeps(known, item)
                ]
                for suspects in self._suspicions(seat, gone, part, world):
                    vote, entry = self.due(seat, known, suspects)
                    if vote is not None and self.round_of(vote) <= case.rounds:
                        found.append(Act("votes", seat, vote, suspects))
                        spoken.setdefault(self.round_of(vote), set()).add(self.proposal(vote))
                    if entry is not None:
                        found.append(Act("follows", seat, entry, suspects))
                if case.leaves and not any(one[1] & LEFT for one in world):
                    last = self.count(known).last_vote(seat)
                    found.append(Act("leaves", seat, self.number(seat, m.Leave(last[0] if last else 0))))
            if sum(1 for one in world if one[1] & (CRASHED | WAS_DOWN)) < case.crashes:
                found.append(Act("crashes", seat))
        for seat in case.honest if case.liars else ():
            for item in bits(world[seat][0] & self.signed[seat]):
                if self.proposals[item] is not None:
                    spoken.setdefault(self.round_of(item), set()).add(self.proposal(item))
        return found + self._lies(world, spoken)

    def _suspicions(
        self, seat: int, gone: frozenset[int], part: frozenset[int] | None, world: World
    ) -> Iterator[frozenset[int]]:
        if part is not None:
            behind = {one for one in range(self.case.seats) if (one in part) != (seat in part)}
            yield frozenset(behind | {one for one in gone if world[one][1] & CRASHED}) - {seat}
            return
        others = sorted(gone - {seat} if not self.case.cuts else set(range(self.case.seats)) - {seat})
        for size in range(len(others) + 1):
            yield from map(frozenset, itertools.combinations(others, size))

    def _lies(self, world: World, spoken: dict[int, set[Proposal]]) -> list[Act]:
        """What liars can show to a seat that is still voting: votes for what others vote for, and entries."""
        case, found = self.case, list[Act]()
        proposals = sorted(set().union(*spoken.values()), key=lambda one: one.opens) if spoken else []
        for seat in case.honest if case.liars else ():
            if not self.is_voting(seat, world):
                continue
            known = world[seat][0]
            made = [item for item in range(len(self.items)) if self.contents >> item & 1]
            highest = min(case.rounds, self.count(known).highest + 1)
            for number, wasted in itertools.product(range(1, highest + 1), self.junk):
                made.append(self.vote(min(case.liars), number, wasted))
            for liar, proposal in itertools.product(sorted(case.liars), proposals):
                if liar in proposal.gone:
                    continue
                for number in range(1, case.rounds + 1):
                    if number > highest and proposal not in spoken.get(number, ()):
                        continue  # a vote that nobody else gives there can be given by its next votes, too
                    made.append(self.vote(liar, number, proposal))
                    if self.count(known).was_agreed(proposal, number):
                        made.append(self.number(liar, m.Enter(number, proposal.opens)))
            found += [
                Act("lies", seat, item) for item in made if not known >> item & 1 and self.keeps(known, item)
            ]
        return found

    def do(self, world: World, act: Act) -> World:
        """The world after an act; raises Fault."""
        known, status = world[act.seat]
        match act.kind:
            case "crashes":
                return _with(world, act.seat, (known, status | CRASHED))
            case "returns":
                kept = known if self.entered(act.seat, known) is not None else known & self.signed[act.seat]
                return _with(world, act.seat, (kept, WAS_DOWN))
            case "leaves":
                return _with(world, act.seat, (known | 1 << act.item, status | LEFT))
            case "follows":
                return self._enter(world, act.seat, act.item)
            case _:
                return self.take(world, act.seat, act.item)

    def take(self, world: World, seat: int, item: int) -> World:
        """A seat learns something, and enters what is agreed now."""
        known, status = world[seat]
        known |= 1 << item
        world = _with(world, seat, (known, status))
        wrong = self.convicts(known) - self.case.liars
        if wrong:
            raise Fault(f"honest seats are convicted: {sorted(wrong)}")
        if self.is_voting(seat, world):
            # nothing that is agreed waits for a suspicion: whoever suspects all follows nobody
            entry = self.due(seat, known, frozenset(range(self.case.seats)) - {seat})[1]
            if entry is not None:
                return self._enter(world, seat, entry)
        return world

    def _enter(self, world: World, seat: int, item: int) -> World:
        known, status = world[seat]
        last = self.count(known).last_vote(seat)
        assert last is not None
        world = _with(world, seat, (known | 1 << item, status))
        wrong = self.convicts(known | 1 << item) - self.case.liars
        if wrong:
            raise Fault(f"honest seats are convicted: {sorted(wrong)}")
        mine = self.entered(seat, known | 1 << item)
        assert mine is not None
        for other in self.case.honest:
            theirs = self.entered(other, world[other][0])
            if theirs is None or theirs == mine:
                continue
            both = (other not in mine.gone) + (seat not in theirs.gone)
            if self.case.cuts:
                self._look_for_fork(world, mine, theirs)
            elif both == 2:
                raise Fault(f"{seat} and {other} are in two next views, and each stays in both")
            elif both and not (world[other][1] | status) & (CRASHED | WAS_DOWN):
                raise Fault(f"{seat} and {other} are in two next views")
            else:
                self._note("another next view than one that had crashed")
        return world

    def _look_for_fork(self, world: World, one: Proposal, other: Proposal) -> None:
        sides = []
        for proposal in (one, other):
            stay = frozenset(range(self.case.seats)) - proposal.gone
            there = [seat for seat in self.case.honest if self.entered(seat, world[seat][0]) == proposal]
            sides.append(is_majority(there, stay))
        if all(sides):
            raise Fault("two majorities play on in two views")

    def _note(self, text: str) -> None:
        self.notes[text] = self.notes.get(text, 0) + 1

    # -- how it ends -------------------------------------------------------------------------------------------

    def end(self, world: World) -> None:
        """All is delivered, whoever lies or has crashed is silent, clocks run out: does the table go on?"""
        self.ended(self._deliver(world))

    def _deliver(self, world: World) -> World:
        there = [seat for seat in self.case.honest if seat not in self.gone(world)]
        while True:
            before = world
            everything = 0
            for seat in there:
                everything |= world[seat][0]
            for seat in there:
                for item in sorted(bits(everything & ~world[seat][0]), key=self.round_of):
                    if self.keeps(world[seat][0], item):
                        world = self.take(world, seat, item)
            if world == before:
                return world

    def _ended(self, world: World) -> None:
        gone = self.gone(world)
        there = [seat for seat in self.case.honest if seat not in gone]
        for _ in range(12):
            before = world
            for seat in there:
                if not self.is_voting(seat, world):
                    continue
                vote, entry = self.due(seat, world[seat][0], gone - {seat})
                if entry is not None:
                    world = self._enter(world, seat, entry)
                elif vote is not None and self.round_of(vote) <= LAST_ROUND:
                    world = self.take(world, seat, vote)
                world = self._deliver(world)
            if world == before:
                break
        self._judge_end(world, there)

    def _judge_end(self, world: World, there: list[int]) -> None:
        everything = 0
        for seat in there:
            everything |= world[seat][0]
        if not everything & ~self.contents:
            return  # nobody wants anything
        entered = {seat: self.entered(seat, world[seat][0]) for seat in there}
        views = {proposal for proposal in entered.values() if proposal is not None}
        count = self.count(everything)
        enough = is_majority(there, count.live - count.proven)
        if self.case.cuts:
            if not views and enough:
                raise Fault("nobody enters, though a majority is there")
            for view in views if len(views) == 1 else ():
                stay = frozenset(range(self.case.seats)) - view.gone
                late = [seat for seat in there if seat in stay and entered[seat] is None]
                if late and is_majority(there, stay):
                    self._note("a stayer waits for a seat that crashed under a false suspicion")
            return
        waiting = [seat for seat in there if entered[seat] is None]
        if not waiting:
            return
        if not enough:
            self._note("no majority is left")
            return
        if not views or any(seat not in view.gone for view in views for seat in waiting):
            raise Fault(f"{waiting} wait for ever, though a majority is there")
        if not self.case.restarts:
            raise Fault(f"honest seats are out: {waiting}")
        for seat in waiting:
            if not self.count(world[seat][0]).goes_on_without(seat, self.gone(world)):
                raise Fault(f"{seat} is out, and is not told")
        self._note("out after a restart")

    # -- for the search -----------------------------------------------------------------------------------------

    def alike(self, world: World) -> World:
        """One of the worlds that differ from this one by the names of honest seats: one is enough to look at."""
        return min(self._under(world, names) for names in self._names)

    def _under(self, world: World, names: tuple[int, ...]) -> World:
        other = list(world)
        for seat, (known, status) in enumerate(world):
            other[names[seat]] = (self.all_renamed(known, names), status)
        return tuple(other)

    def tell(self, act: Act) -> str:
        """An act in words; `play` reads them again."""
        if act.kind in ("crashes", "returns"):
            return f"{act.seat} {act.kind}"
        message = self.items[act.item]
        match message.body:
            case m.Vote() as vote:
                what = f"vote of {message.header.seat} in {vote.round} without {list(vote.gone)}"
                what += f" excluding {list(vote.excluded)}" if vote.excluded else ""
                what += f" naming {len(vote.owns)}" if vote.owns else ""
            case m.Enter() as enter:
                what = f"entry of {message.header.seat} in {enter.round}"
            case body:
                what = f"{type(body).__name__} of {message.header.seat}"
        doubts = f", suspecting {sorted(act.suspects)}" if act.suspects else ""
        return f"{act.seat} {act.kind}: {what}{doubts}"


def _names(case: Case, order: tuple[int, ...]) -> tuple[int, ...]:
    """By seat: its other name, if the honest seats are called in this order."""
    other = dict(zip(case.honest, order, strict=True))
    return tuple(other.get(seat, seat) for seat in range(case.seats))


def _with(world: World, seat: int, peer: Peer) -> World:
    return (*world[:seat], peer, *world[seat + 1 :])
