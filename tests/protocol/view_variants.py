"""Rules for removing seats that are wrong, and what goes wrong: an explorer that cannot fail proves nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from unittest import mock

from otto_protocol.match import view_change
from otto_protocol.match.view_change import Ballots, Count, Proposal
from tests.protocol.view_book import Case
from tests.protocol.view_search import Explored, explore, play


class EntersLate(Count):
    """Enters what is agreed, though it has voted for something else since."""

    def to_enter(self, me: int, suspects: frozenset[int]) -> tuple[int, Proposal] | None:
        last = self.last_vote(me)
        if last is not None and me not in self.entered:
            for number in sorted(self.votes, reverse=True):
                for proposal in self.votes[number].get(me, ()):
                    if self.is_agreed(number, proposal):
                        return last[0], proposal
        return super().to_enter(me, suspects)


class FollowsOne(Count):
    """Follows the entry of one seat, without asking what the others have voted for since."""

    def to_enter(self, me: int, suspects: frozenset[int]) -> tuple[int, Proposal] | None:
        due = super().to_enter(me, suspects)
        number, proposal = self.last_vote(me) or (0, None)
        if due is not None or proposal is None or me in self.entered or not self.was_agreed(proposal, number):
            return due
        with_me = self.stay(proposal) - self.without(me, suspects) - {me}
        entered = any(other == proposal for seat in with_me for _, other in self.entries.get(seat, ()))
        return (number, proposal) if entered else None


class LeavesBehind(Count):
    """Has no V7."""

    def may_vote(self, me: int, proposal: Proposal, suspects: frozenset[int]) -> bool:
        with mock.patch.object(Count, "_is_dead", return_value=True):
            return super().may_vote(me, proposal, suspects)


class LeavesBehindFollowing(Count):
    """Has V7 when it votes, and not when it follows."""

    def to_enter(self, me: int, suspects: frozenset[int]) -> tuple[int, Proposal] | None:
        with mock.patch.object(Count, "_is_dead", return_value=True):
            return super().to_enter(me, suspects)


class AddsUp(Count):
    """Adds up the votes of all rounds."""

    def voted(self, number: int, seat: int, proposal: Proposal) -> bool:
        return any(proposal in by_seat.get(seat, ()) for by_seat in self.votes.values())


class Forgets(Count):
    """Takes a vote of its own for nothing, while what that names is not here."""

    def last_vote(self, seat: int) -> tuple[int, Proposal | None] | None:
        counted = [number for number, by_seat in self.votes.items() if seat in by_seat]
        return (max(counted), self.votes[max(counted)][seat][0]) if counted else None


def _any_half(some: Iterable[int], seats: Iterable[int]) -> bool:
    seats = set(seats)
    return 2 * len(set(some) & seats) >= len(seats)


@dataclass(frozen=True)
class Variant:
    """A wrong rule, in which case it is seen to be wrong, and how (None: by looking at everything)."""

    caption: str
    case: Case
    fault: str
    rule: type[Count] = Count
    half: bool = False  # half of the seats are enough
    two: bool = False  # two votes of a seat in a round are kept, and never a third
    story: tuple[str, ...] = ()

    def seen(self) -> Explored:
        """What comes of it."""
        with contextlib.ExitStack() as changed:
            if self.half:
                changed.enter_context(mock.patch.object(view_change, "is_majority", _any_half))
            if self.two:
                changed.enter_context(mock.patch.object(Ballots, "_is_shared", return_value=False))
            return play(self.case, self.story, self.rule) if self.story else explore(self.case, self.rule)


LIAR = frozenset({3})

# 1 and 2 enter a view without the liar, and 1 crashes; 0 and the liar enter one with all, because 2 has voted for it.
# The liar tells 2 of that alone.
ONE_ENTRY = """
1 votes: vote of 1 in 1 without [3], suspecting [3]
0 votes: vote of 0 in 1 without [3], suspecting [3]
0 votes: vote of 0 in 2 without []
1 votes: vote of 1 in 2 without []
0 votes: vote of 0 in 3 without [3], suspecting [3]
2 hears: vote of 1 in 2 without []
2 votes: vote of 2 in 1 without []
1 votes: vote of 1 in 3 without [3], suspecting [3]
0 lies: vote of 3 in 2 without []
2 lies: vote of 3 in 4 without []
2 votes: vote of 2 in 2 without []
2 hears: vote of 0 in 2 without []
2 votes: vote of 2 in 3 without [3], suspecting [3]
1 hears: vote of 2 in 3 without [3]
2 votes: vote of 2 in 4 without []
1 hears: vote of 0 in 3 without [3]
0 hears: vote of 2 in 2 without []
2 lies: vote of 3 in 2 without []
0 hears: vote of 1 in 2 without []
0 lies: entry of 3 in 4
2 hears: entry of 3 in 4
1 crashes
2 follows: entry of 2 in 4, suspecting [1]
"""

# All are honest, and the network is cut here and there. 3 voted to go on without 2, and then follows 2.
CUT_TABLE = """
0 votes: vote of 0 in 1 without [1], suspecting [1]
3 hears: vote of 0 in 1 without [1]
2 votes: vote of 2 in 1 without [1], suspecting [1]
3 votes: vote of 3 in 1 without [1], suspecting [1]
2 hears: vote of 3 in 1 without [1]
2 hears: vote of 0 in 1 without [1]
3 hears: entry of 2 in 1
0 votes: vote of 0 in 2 without [2], suspecting [2]
3 votes: vote of 3 in 2 without [2], suspecting [2]
1 hears: vote of 0 in 2 without [2]
1 votes: vote of 1 in 1 without [2], suspecting [2]
1 votes: vote of 1 in 2 without [2], suspecting [2]
3 hears: vote of 2 in 1 without [1]
3 votes: vote of 3 in 3 without [1], suspecting [0, 1]
3 follows: entry of 3 in 3, suspecting [0, 1]
"""

# 2 suspects others when it follows than when it voted: 0 and 1 may be playing on by its vote of round 2.
OTHER_SUSPECTS = """
0 votes: vote of 0 in 1 without [1], suspecting [1]
3 votes: vote of 3 in 1 without [1], suspecting [1]
2 votes: vote of 2 in 1 without [1], suspecting [1]
1 hears: vote of 2 in 1 without [1]
2 hears: vote of 0 in 1 without [1]
2 votes: vote of 2 in 2 without [3], suspecting [3]
1 hears: vote of 2 in 2 without [3]
0 votes: vote of 0 in 2 without [3], suspecting [3]
1 votes: vote of 1 in 2 without [3], suspecting [3]
2 votes: vote of 2 in 3 without [1], suspecting [1]
3 hears: vote of 0 in 1 without [1]
3 hears: vote of 2 in 1 without [1]
2 hears: vote of 3 in 1 without [1]
2 hears: entry of 3 in 1
2 follows: entry of 2 in 3, suspecting [0]
"""


def _lines(story: str) -> tuple[str, ...]:
    return tuple(story.strip().splitlines())


THREE, CUT = Case(3, frozenset({2}), rounds=2), Case(4, rounds=4, cuts=True, crashes=1)
VARIANTS = (
    Variant("enters after it has voted on", THREE, "honest seats are convicted", EntersLate),
    Variant(
        "follows a single entry", Case(4, LIAR, rounds=4, crashes=1), "two next views", FollowsOne,
        story=_lines(ONE_ENTRY),
    ),
    Variant("leaves a majority behind", CUT, "two majorities", LeavesBehind, story=_lines(CUT_TABLE)),
    Variant(
        "leaves a majority behind when it follows", CUT, "two majorities", LeavesBehindFollowing,
        story=_lines(OTHER_SUSPECTS),
    ),
    Variant("half of the seats are enough", Case(4, rounds=1, cuts=True), "two majorities", half=True),
    Variant("votes of several rounds add up", THREE, "two next views", AddsUp),
    Variant(
        "a vote of one's own is forgotten while it does not count",
        Case(3, frozenset({2}), rounds=2, crashes=1, restarts=True), "honest seats are convicted", Forgets,
    ),
    Variant(
        "two votes of a round are kept and no more",
        Case(3, frozenset({2}), rounds=1, contents=0, junk=2), "wait for ever", two=True,
    ),
)  # fmt: skip
