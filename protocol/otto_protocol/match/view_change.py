"""Removing seats: vote, then enter. The votes of one view, and what follows from them.

Pure: no clock, no sockets. What is concluded depends on the set of messages alone, never on the order in which
they came. docs/protocol.md, "View changes", has the numbered rules (V1 to V8); tests/protocol/test_view_change.py
explores them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Self

from otto_protocol.match import messages as m
from otto_protocol.match.contradictions import opens
from otto_protocol.quorum import is_majority


@dataclass(frozen=True, slots=True)
class Proposal:
    """Where to go on, and without whom: before `step` with `digest`, without `gone`.

    `excluded` are those of `gone` that signed LEAVE or are convicted: they count as no voters at all. `owns` are the
    messages that stand, as (seat, content hash).
    """

    step: int
    digest: bytes
    gone: frozenset[int]
    excluded: frozenset[int]
    owns: tuple[tuple[int, bytes], ...]
    opens: bytes  # the digest at which the next view begins


def proposal_of(vote: m.Message) -> Proposal:
    """What a vote is for."""
    header, body = vote.header, vote.body
    assert isinstance(body, m.Vote)
    owns = tuple((own.seat, own.content) for own in body.owns)
    return Proposal(
        header.step, header.previous, frozenset(body.gone), frozenset(body.excluded), owns, opens(vote)
    )


class Ballots:
    """The votes and entries of one view, as messages.

    Of a seat in a round at most two votes are kept, for two convict it; and besides these what another seat voted for
    in that round, too, and what was entered: others may have gone on by it.
    """

    def __init__(self, live: Iterable[int]) -> None:
        self.live = frozenset(live)
        self.votes: dict[tuple[int, int], list[m.Message]] = {}  # by (seat, round)
        self.entries: dict[int, list[m.Message]] = {}

    def add(self, message: m.Message) -> bool:
        """Keep a vote or an entry of a live seat; False if it is known, or more than is needed to convict."""
        seat, body = message.header.seat, message.body
        if seat not in self.live:
            return False
        if isinstance(body, m.Vote):
            kept = self.votes.setdefault((seat, body.round), [])
        else:
            kept = self.entries.setdefault(seat, [])
        if message.signed.content in [one.signed.content for one in kept]:
            return False
        if len(kept) > 1 and not (isinstance(body, m.Vote) and self._is_shared(message, body.round)):
            return False
        kept.append(message)
        return True

    def _is_shared(self, vote: m.Message, number: int) -> bool:
        wanted = opens(vote)
        entries = [entry.body for kept in self.entries.values() for entry in kept]
        return any(isinstance(body, m.Enter) and body.opens == wanted for body in entries) or any(
            opens(other) == wanted
            for (seat, one), kept in self.votes.items()
            if one == number and seat != vote.header.seat
            for other in kept
        )

    def copy(self) -> Ballots:
        """The same ballots, to be added to in another way."""
        other = Ballots(self.live)
        other.votes = {key: list(kept) for key, kept in self.votes.items()}
        other.entries = {seat: list(kept) for seat, kept in self.entries.items()}
        return other

    def of(self, seat: int) -> list[m.Message]:
        """All that a seat has said about this view."""
        votes = [vote for (one, _), kept in self.votes.items() if one == seat for vote in kept]
        return votes + self.entries.get(seat, [])

    def all(self) -> list[m.Message]:
        """Everything: entries by seat, then the votes that prove them, by round and seat."""
        rounds = sorted(self.votes, key=lambda key: (key[1], key[0]))
        votes = [vote for key in rounds for vote in self.votes[key]]
        return [entry for seat in sorted(self.entries) for entry in self.entries[seat]] + votes

    def names(self, seat: int, content: bytes) -> bool:
        """Whether any vote names this content (a hash) as the message of a seat; its own votes do not count."""
        wanted = (seat, content)
        return any(
            wanted in [(own.seat, own.content) for own in vote.body.owns]
            for (voter, _), kept in self.votes.items()
            for vote in kept
            if voter != seat and isinstance(vote.body, m.Vote)
        )

    def __bool__(self) -> bool:
        return bool(self.votes or self.entries)


@dataclass(slots=True)
class Count:
    """What the ballots of a view mean to a peer that holds this evidence.

    `left` and `convicted` are proven; `suspects` are this peer's own opinion and change from one moment to the next.
    """

    live: frozenset[int]
    convicted: frozenset[int]
    left: frozenset[int]
    votes: dict[int, dict[int, list[Proposal]]] = field(
        default_factory=dict
    )  # by round, by seat: those that count
    cast: dict[int, dict[int, list[Proposal]]] = field(default_factory=dict)  # all of them
    entries: dict[int, list[tuple[int, Proposal]]] = field(default_factory=dict)  # by seat: (round, proposal)
    rounds: dict[int, int] = field(default_factory=dict)  # by seat: the last one it voted in, counted or not
    entered: set[int] = field(default_factory=set)  # seats that signed an entry, counted or not
    highest: int = 0  # the highest round that was reached one by one: a liar can name any

    @classmethod
    def of(
        cls,
        ballots: Ballots,
        convicted: Iterable[int],
        left: Iterable[int],
        is_held: Callable[[m.Message, m.Own], bool],
    ) -> Self:
        """Count these ballots. A vote counts if who it excludes is proven, and what it names is held."""
        live = ballots.live
        count = cls(live, frozenset(convicted), frozenset(left) & live)
        for (seat, number), kept in ballots.votes.items():
            count.rounds[seat] = max(count.rounds.get(seat, 0), number)
            kept = sorted(kept, key=lambda vote: vote.signed.content)
            count.cast.setdefault(number, {})[seat] = [proposal_of(vote) for vote in kept]
            usable = [proposal_of(vote) for vote in kept if count._is_usable(vote, is_held)]
            if usable:
                count.votes.setdefault(number, {})[seat] = usable
        voted = {number for _, number in ballots.votes}
        while count.highest + 1 in voted:
            count.highest += 1
        for seat, entries in ballots.entries.items():
            count.entered.add(seat)
            for entry in entries:
                assert isinstance(entry.body, m.Enter)
                count.entries.setdefault(seat, []).extend(
                    (entry.body.round, proposal)
                    for proposal in count.votes.get(entry.body.round, {}).get(seat, ())
                    if proposal.opens == entry.body.opens
                )
        return count

    def _is_usable(self, vote: m.Message, is_held: Callable[[m.Message, m.Own], bool]) -> bool:
        body = vote.body
        assert isinstance(body, m.Vote)
        return (
            self.live >= {*body.gone, *(own.seat for own in body.owns)}
            and self.proven >= frozenset(body.excluded)
            and all(is_held(vote, own) for own in body.owns)
        )

    @property
    def proven(self) -> frozenset[int]:
        """Who may be excluded."""
        return (self.convicted | self.left) & self.live

    def stay(self, proposal: Proposal) -> frozenset[int]:
        """The seats that a proposal goes on with."""
        return self.live - proposal.gone

    def voted(self, number: int, seat: int, proposal: Proposal) -> bool:
        """Whether a seat voted for a proposal in a round."""
        return proposal in self.votes.get(number, {}).get(seat, ())

    def last_vote(self, seat: int) -> tuple[int, Proposal | None] | None:
        """The last vote of a seat: its round, and what for (None while that vote does not count here)."""
        number = self.rounds.get(seat)
        if number is None:
            return None
        counted = self.votes.get(number, {}).get(seat)
        return number, counted[0] if counted else None

    def is_agreed(self, number: int, proposal: Proposal) -> bool:
        """V2: whether all that stay voted for it in this very round, and are a majority of all but the excluded."""
        stay = self.stay(proposal)
        return is_majority(stay, self.live - proposal.excluded) and all(
            self.voted(number, seat, proposal) for seat in stay
        )

    def was_agreed(self, proposal: Proposal, up_to: int) -> bool:
        """Whether it was agreed in any round up to this one."""
        return any(number <= up_to and self.is_agreed(number, proposal) for number in self.votes)

    def choice(
        self, me: int, suspects: frozenset[int], own: Callable[[frozenset[int]], Proposal]
    ) -> Proposal:
        """V4: what to vote for. `own`: this peer's proposal to go on without these seats."""
        gone = self.without(me, suspects)
        entered = [
            (number, proposal.opens, proposal)
            for seat, entries in self.entries.items()
            if seat != me and seat not in gone
            for number, proposal in entries
            if {seat, me} <= self.stay(proposal) and self.was_agreed(proposal, number)
        ]
        return max(entered)[2] if entered else own(gone)

    def without(self, me: int, suspects: frozenset[int]) -> frozenset[int]:
        """Whom this peer would go on without: its suspects, and whoever has left or is convicted."""
        return ((suspects & self.live) | self.proven) - {me}

    def may_vote(self, me: int, proposal: Proposal, suspects: frozenset[int]) -> bool:
        """V7: never leave a majority behind that may be playing on by what this peer, or a leaver, voted for."""
        stay, gone = self.stay(proposal), self.without(me, suspects)
        if me not in stay or not is_majority(stay, self.live - proposal.excluded):
            return False
        out = proposal.excluded | self.proven
        for number, by_seat in self.cast.items():
            counted = self.votes.get(number, {})
            bound = {seat: counted.get(seat, ()) for seat in proposal.excluded | self.left}
            for seat, proposals in {**bound, me: by_seat.get(me, ())}.items():
                for other in proposals:
                    seats = self.stay(other)
                    if other == proposal or seat not in seats or self._is_dead(me, number, other):
                        continue
                    if is_majority(seats - (stay - gone) - out, seats - out):
                        return False
        return True

    def _is_dead(self, me: int, number: int, proposal: Proposal) -> bool:
        """Whether a proposal cannot have been agreed in a round: another one that it needs did something else."""
        for seat in self.stay(proposal) - {me}:
            if any(other != proposal for other in self.votes.get(number, {}).get(seat, ())):
                return True
            for entered, other in self.entries.get(seat, ()):
                if entered < number or (entered == number and other != proposal):
                    return True
        return False

    def to_vote(
        self, me: int, suspects: frozenset[int], own: Callable[[frozenset[int]], Proposal]
    ) -> tuple[int, Proposal] | None:
        """V1, V5: the vote that is due (its round, and what for), or None."""
        if me in self.entered or not (self.rounds or self.entered or self.without(me, suspects)):
            return None
        last, choice = self.last_vote(me), self.choice(me, suspects, own)
        if last is not None and last[1] == choice and self.highest <= last[0]:
            return None
        if not self.may_vote(me, choice, suspects):
            return None
        return max(last[0] + 1 if last else 1, self.highest), choice

    def to_enter(self, me: int, suspects: frozenset[int]) -> tuple[int, Proposal] | None:
        """V3, V6: the round and the proposal by which this peer enters the next view, or None."""
        number, proposal = self.last_vote(me) or (0, None)
        if proposal is None or me in self.entered:
            return None
        if self.is_agreed(number, proposal):
            return number, proposal
        if not self.was_agreed(proposal, number):
            return None
        stay, gone = self.stay(proposal), self.without(me, suspects)
        entered = {seat for seat in stay if any(other == proposal for _, other in self.entries.get(seat, ()))}
        with_me = {seat for seat in stay if seat in entered or self.voted(number, seat, proposal)}
        if not entered - gone - {me} or not stay - gone - {me} <= with_me:
            return None
        return (number, proposal) if self.may_vote(me, proposal, suspects) else None

    def goes_on_without(self, me: int, suspects: frozenset[int]) -> bool:
        """V8: whether all that stay in some proposal without this seat, of those that it hears, have entered it."""
        for number in self.votes:
            for proposal in {one for kept in self.votes[number].values() for one in kept}:
                stay = self.stay(proposal)
                if me in stay:
                    continue
                entered = {
                    seat for seat in stay if any(other == proposal for _, other in self.entries.get(seat, ()))
                }
                heard = stay - suspects - self.proven
                if entered and heard <= entered and self.was_agreed(proposal, max(self.votes)):
                    return True
        return False

    def opened(self) -> Proposal | None:
        """By which proposal the next view was opened, for whoever only looks on: the first that is seen entered."""
        entered = [
            (number, proposal.opens, proposal)
            for seat, entries in self.entries.items()
            for number, proposal in entries
            if seat in self.stay(proposal) and self.was_agreed(proposal, number)
        ]
        return max(entered)[2] if entered else None
