"""What a seat of the model knows: a set of messages, as bits of a number; and what that means by the real `Count`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from otto_protocol.hashing import tagged_hash
from otto_protocol.match import messages as m
from otto_protocol.match.contradictions import contradiction, fault_alone
from otto_protocol.match.view_change import Ballots, Count, Proposal, proposal_of

START = tagged_hash("start of the model")
MATCH = tagged_hash("match of the model")


@dataclass(frozen=True)
class Case:
    """What may happen."""

    seats: int
    liars: frozenset[int] = frozenset()
    rounds: int = 2
    contents: int = 1  # different messages that the lowest liar may sign for the step
    junk: int = 0  # votes of a round that the lowest liar may waste on what nobody else wants
    crashes: int = 0
    restarts: bool = False  # whoever crashed comes back, with nothing but what it has signed
    leaves: bool = False
    cuts: bool = False  # all are honest, the table is cut in two, and each part suspects the other

    @property
    def honest(self) -> tuple[int, ...]:
        return tuple(seat for seat in range(self.seats) if seat not in self.liars)


class Book:
    """All messages that were signed in any world of one case, numbered; and what sets of them mean."""

    def __init__(self, case: Case, rule: type[Count] = Count) -> None:
        self.case, self.rule = case, rule
        self.items: list[m.Message] = []
        self.proposals: list[Proposal | None] = []  # by item: what it votes for
        self.signed = [0] * case.seats  # by seat: the bits of what it signed
        self._numbers: dict[tuple[int, m.Body], int] = {}
        self._against: list[int] = []  # by item: those that contradict it
        self._places: dict[tuple[int, int], int] = {}  # by seat and round (0: entries): bits of ballots
        self._named = [self._content(number) for number in range(case.contents if case.liars else 0)]
        self.contents = sum(self._named)
        self.junk = [self._wasted(number) for number in range(case.junk if case.liars else 0)]
        self.count = functools.cache(self._count)
        self.convicts = functools.cache(self._convicts)
        self.due = functools.cache(self._due)
        self.vote = functools.cache(self._vote)
        self.keeps = functools.cache(self._keeps)
        self.renamed = functools.cache(self._renamed)
        self.all_renamed = functools.cache(self._all_renamed)

    # -- messages ------------------------------------------------------------------------------------------

    def number(self, seat: int, body: m.Body) -> int:
        """The place of a message, which is signed now if it has not been."""
        known = self._numbers.get((seat, body))
        if known is not None:
            return known
        header = m.Header(MATCH, 0, 0, seat, START)
        message = m.Message(header, body, m.Signed(seat, m.content_of(header, body), bytes(64)))
        assert fault_alone(message.signed, MATCH) is None, body
        new = self._numbers[seat, body] = len(self.items)
        against = 0
        for number, other in enumerate(self.items):
            if contradiction(message, other) is not None:
                against |= 1 << number
                self._against[number] |= 1 << new
        self.items.append(message)
        self.proposals.append(proposal_of(message) if isinstance(body, m.Vote) else None)
        self._against.append(against)
        self.signed[seat] |= 1 << new
        if isinstance(body, m.Vote | m.Enter):
            place = (seat, body.round if isinstance(body, m.Vote) else 0)
            self._places[place] = self._places.get(place, 0) | 1 << new
        return new

    def _content(self, number: int) -> int:
        return 1 << self.number(min(self.case.liars), m.Challenge(number))

    def _wasted(self, number: int) -> Proposal:
        """A proposal that never counts: it names a message that nobody has."""
        liar = min(self.case.liars)
        body = m.Vote(1, (), (), (m.Own(liar, bytes([number + 1]) * 32),))
        return proposal_of(m.Message(m.Header(MATCH, 0, 0, liar, START), body, m.Signed(liar, b"", b"")))

    def _vote(self, seat: int, number: int, proposal: Proposal) -> int:
        owns = tuple(m.Own(one, content) for one, content in proposal.owns)
        body = m.Vote(number, tuple(sorted(proposal.gone)), tuple(sorted(proposal.excluded)), owns)
        return self.number(seat, body)

    def _renamed(self, item: int, names: tuple[int, ...]) -> int:
        """The same message if the honest seats had each other's names."""
        message = self.items[item]
        match message.body:
            case m.Vote(round=number, gone=gone, excluded=excluded, owns=owns):
                gone, excluded = (tuple(sorted(names[one] for one in some)) for some in (gone, excluded))
                return self.number(names[message.header.seat], m.Vote(number, gone, excluded, owns))
            case m.Enter(round=number, opens=opens):
                votes = enumerate(self.proposals)
                vote = next(item for item, one in votes if one is not None and one.opens == opens)
                same = self.proposal(self.renamed(vote, names))
                return self.number(names[message.header.seat], m.Enter(number, same.opens))
            case body:
                return self.number(names[message.header.seat], body)

    def _all_renamed(self, known: int, names: tuple[int, ...]) -> int:
        return sum(1 << self.renamed(item, names) for item in bits(known))

    def proposal(self, vote: int) -> Proposal:
        """What a vote is for."""
        proposal = self.proposals[vote]
        assert proposal is not None
        return proposal

    def of(self, known: int) -> list[m.Message]:
        return [self.items[number] for number in bits(known)]

    # -- what follows from what a seat knows ---------------------------------------------------------------

    def _convicts(self, known: int) -> frozenset[int]:
        found = frozenset(
            self.items[number].header.seat for number in bits(known) if self._against[number] & known
        )
        return found

    def leavers(self, known: int) -> frozenset[int]:
        return frozenset(one.header.seat for one in self.of(known) if isinstance(one.body, m.Leave))

    def ballots(self, known: int) -> Ballots:
        ballots = Ballots(range(self.case.seats))
        for message in self.of(known):  # what is kept was kept when it came: no limit is looked at again
            if isinstance(message.body, m.Vote):
                ballots.votes.setdefault((message.header.seat, message.body.round), []).append(message)
            elif isinstance(message.body, m.Enter):
                ballots.entries.setdefault(message.header.seat, []).append(message)
        return ballots

    def _count(self, known: int) -> Count:
        held = {self.items[number].content_hash() for number in bits(known & self.contents)}
        return self.rule.of(
            self.ballots(known),
            self.convicts(known),
            self.leavers(known),
            lambda vote, own: own.content in held,
        )

    def _keeps(self, known: int, item: int) -> bool:
        """Whether the real code takes an item: it does not keep everything that somebody signs who lies."""
        message = self.items[item]
        if not isinstance(message.body, m.Vote | m.Enter):
            return True
        place = (message.header.seat, message.body.round if isinstance(message.body, m.Vote) else 0)
        return not known & self._places[place] or self.ballots(known).add(message)

    def entered(self, seat: int, known: int) -> Proposal | None:
        """By which proposal a seat has entered the next view."""
        if not known & self._places.get((seat, 0), 0):
            return None
        return next(proposal for _, proposal in self.count(known).entries[seat])

    def own(self, seat: int, known: int, gone: frozenset[int]) -> Proposal:
        """What a seat would propose, as `Log.proposal` does."""
        count, owns = self.count(known), []
        held = known & self.contents
        if held and held & (held - 1) == 0 and min(self.case.liars) not in gone:
            owns = [m.Own(min(self.case.liars), self.of(held)[0].content_hash())]
        body = m.Vote(1, tuple(sorted(gone)), tuple(sorted(gone & count.proven)), tuple(owns))
        header = m.Header(MATCH, 0, 0, seat, START)
        return proposal_of(m.Message(header, body, m.Signed(seat, b"", b"")))

    def _due(self, seat: int, known: int, suspects: frozenset[int]) -> tuple[int | None, int | None]:
        """The vote and the entry that the rule wants (their numbers)."""
        count = self.count(known)
        vote = count.to_vote(seat, suspects, lambda gone: self.own(seat, known, gone))
        entry = count.to_enter(seat, suspects)
        return (
            None if vote is None else self.vote(seat, *vote),
            None if entry is None else self.number(seat, m.Enter(entry[0], entry[1].opens)),
        )

    def round_of(self, item: int) -> int:
        body = self.items[item].body
        return 0 if isinstance(body, m.Leave) or not isinstance(body, m.Vote | m.Enter) else body.round


def bits(known: int) -> Iterator[int]:
    """The numbers in a set."""
    while known:
        lowest = known & -known
        yield lowest.bit_length() - 1
        known ^= lowest
