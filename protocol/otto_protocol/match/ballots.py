"""Removing seats by ballots in two phases: what is agreed must be confirmed, and who knows an agreement votes for it.

Pure: no clock, no sockets. One `Ballots` holds all that one peer has seen of one view; what it concludes
depends on the set of messages alone, not on their order. docs/protocol.md, "Removing seats", has the rules;
tests/protocol/test_ballots_model.py explores them.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from otto_protocol.errors import PeerFault
from otto_protocol.match import messages as m
from otto_protocol.match.proposals import (
    Contradiction,
    Final,
    Proposal,
    Vote,
    body_of,
    check_leave,
    check_pair,
    proposal_of,
)
from otto_protocol.quorum import is_quorum

MAX_ROUNDS_AHEAD = 1000  # a ballot for a later round than that is not kept
MAX_TWINS = 16  # contradicting ballots of one seat and round that are kept
MAX_READINGS = 64  # ways to read the own messages of seats that contradicted themselves


@dataclass(slots=True)
class _Tally:
    """What the ballots mean together, as far as they are counted."""

    excludable: frozenset[int]
    agreed: dict[int, list[Proposal]] = field(default_factory=dict)  # by round, the one to vote for first
    usable: set[tuple[int, bytes]] = field(default_factory=set)  # (seat, content) of ballots that count
    final: Final | None = None


class Ballots:
    """The ballots of view `view` as one peer knows them.

    `live` are the seats of the view, `me` is this peer's seat (None: it only looks on), `left` the LEAVEs of live
    seats from earlier views.
    """

    def __init__(
        self,
        live: Iterable[int],
        me: int | None = None,
        *,
        view: int = 0,
        left: Mapping[int, m.Message] | None = None,
    ) -> None:
        self.live = frozenset(live)
        self.me = me
        self.view = view
        self.leaves: dict[int, m.Message] = {}
        self._convicted: set[int] = set()
        self._ballots: dict[tuple[int, int], list[m.Message]] = {}  # (seat, round): more than one convicts
        self._tally: _Tally | None = None  # as long as nothing new arrives
        for message in (left or {}).values():
            self.add(message)

    def copy(self) -> Ballots:
        """Independent ballots in the same state."""
        other = copy.copy(self)
        other.leaves, other._convicted = dict(self.leaves), set(self._convicted)
        other._ballots = {place: list(slot) for place, slot in self._ballots.items()}
        return other

    # -- what arrives --------------------------------------------------------------------------------

    def add(self, message: m.Message) -> bool:
        """Keep a ballot of this view, or a LEAVE of this or an earlier one, of a live seat; False if not new.

        Raises Contradiction when it and another one of the same seat cannot both be honest. It is kept all the
        same: others may have counted it, and all must come to count the same.
        """
        seat, body = message.header.seat, message.body
        if seat not in self.live:
            return False
        if isinstance(body, m.Leave):
            return self._add_leave(seat, message)
        assert isinstance(body, m.Ballot)
        slot = self._ballots.get((seat, body.round), [])
        if message.signed.content in [known.signed.content for known in slot]:
            return False
        if body.round > self.highest_round() + MAX_ROUNDS_AHEAD or not self._sensible(body):
            return False
        found = self._contradiction_of(seat, message)
        new = self._keep(slot, message)
        if new:
            self._ballots[seat, body.round] = slot
            self._tally = None
        if found is not None:
            found.new = new
            raise found
        return new

    def convict(self, seats: Iterable[int]) -> None:
        """This peer holds evidence against these seats."""
        self._convicted.update(seats)
        self._tally = None

    def _add_leave(self, seat: int, leave: m.Message) -> bool:
        known = self.leaves.get(seat)
        if known is not None:
            if known.signed.content == leave.signed.content:
                return False
            found = Contradiction(PeerFault(seat, "P18", "two LEAVEs"), (known, leave))
            found.new = False
            raise found
        self.leaves[seat] = leave
        self._tally = None
        for ballot in self._of(seat):
            check_leave(leave, ballot)
        return True

    def _keep(self, slot: list[m.Message], message: m.Message) -> bool:
        """Put a ballot with its twins: when they are too many, one that nobody else votes like goes."""
        if len(slot) >= MAX_TWINS:
            seat = message.header.seat
            others = {
                proposal_of(ballot)
                for (one, _), ballots in self._ballots.items()
                for ballot in ballots
                if one != seat
            }
            spare = [twin for twin in slot if proposal_of(twin) not in others]
            if not spare or proposal_of(message) not in others:
                return False
            slot.remove(spare[0])
        slot.append(message)
        slot.sort(key=lambda twin: twin.signed.content)
        return True

    def _of(self, seat: int) -> list[m.Message]:
        own = sorted(number for one, number in self._ballots if one == seat)
        return [ballot for number in own for ballot in self._ballots[seat, number]]

    def count(self, seat: int) -> int:
        """How many ballots of a seat are kept."""
        return sum(len(slot) for (one, _), slot in self._ballots.items() if one == seat)

    def _sensible(self, body: m.Ballot) -> bool:
        gone, excluded = set(body.gone), set(body.excluded)
        return (
            body.round >= 1
            and body.cite < body.round
            and len(body.opens) == (32 if body.cite else 0)
            and tuple(sorted(gone)) == body.gone
            and tuple(sorted(excluded)) == body.excluded
            and excluded <= gone
            and gone < self.live
        )

    def _contradiction_of(self, seat: int, ballot: m.Message) -> Contradiction | None:
        try:
            for other in self._of(seat):
                check_pair(other, ballot)
            if seat in self.leaves:
                check_leave(self.leaves[seat], ballot)
        except Contradiction as found:
            return found
        return None

    # -- what it means -------------------------------------------------------------------------------

    @property
    def sealed(self) -> bool:
        """Whether this peer has voted: it signs no game message of this view any more."""
        return any(seat == self.me for seat, _ in self._ballots)

    @property
    def any(self) -> bool:
        """Whether anybody has voted or left."""
        return bool(self._ballots or self.leaves)

    def excludable(self) -> frozenset[int]:
        """Who has left or is convicted, as far as this peer has seen it proven.

        A LEAVE of this view proves it together with the last ballot that it names.
        """
        left = {seat for seat, leave in self.leaves.items() if self._has_last_ballot(seat, leave)}
        return frozenset(left | (self._convicted & self.live))

    def discountable(self) -> frozenset[int]:
        """Whom a ballot that cites nothing may exclude: not who left an agreement behind that nobody here knows.

        Such a seat can be done without, but the others may have gone on by what it cited.
        """
        return frozenset(
            seat
            for seat in self.excludable()
            if seat in self._convicted or seat not in self.leaves or self._last_cite(self.leaves[seat]) == 0
        )

    def usable(self, ballot: m.Message) -> bool:
        """Whether a ballot counts: whom it excludes is proven, and what it cites exists."""
        return (ballot.header.seat, ballot.signed.content) in self._counted().usable

    def agreed(self) -> tuple[int, Proposal] | None:
        """The agreement of the highest round that this peer knows of: nothing else may be voted for.

        agreed(r, p): a quorum of all but the excluded voted for p in round r, and by then everybody who stays.
        """
        agreed = self._counted().agreed
        if not agreed:
            return None
        number = max(agreed)
        return number, agreed[number][0]

    def final(self) -> Final | None:
        """The proposal that opens the next view, once it is agreed and confirmed.

        final(p): agreed(r, p), and a quorum of all but the excluded and the leavers voted for p in round r + 1,
        citing r, all with the same digest for the next view.
        """
        return self._counted().final

    def highest_round(self) -> int:
        """The highest round in which anybody has voted; 0 if nobody has."""
        return max((number for _, number in self._ballots), default=0)

    def last_own_round(self) -> tuple[int, int]:
        """(round, cited round) of this peer's last ballot; (0, 0) if there is none."""
        last = self._last_own()
        return (0, 0) if last is None else (body_of(last).round, body_of(last).cite)

    def _last_own(self) -> m.Message | None:
        own = self._of(self.me) if self.me is not None else []
        return own[-1] if own else None

    def _has_last_ballot(self, seat: int, leave: m.Message) -> bool:
        number = self._last_round(leave)
        return number == 0 or (seat, number) in self._ballots

    def _last_round(self, leave: m.Message) -> int:
        assert isinstance(leave.body, m.Leave)
        return leave.body.last_round if leave.header.view == self.view else 0

    def _last_cite(self, leave: m.Message) -> int:
        assert isinstance(leave.body, m.Leave)
        return leave.body.cite if leave.header.view == self.view else 0

    def _counted(self) -> _Tally:
        """Round by round, since a ballot cites earlier rounds only."""
        if self._tally is None:
            tally, voters = _Tally(self.excludable()), dict[Proposal, set[int]]()
            rounds: dict[int, list[m.Message]] = {}
            for (_, number), slot in sorted(self._ballots.items()):
                rounds.setdefault(number, []).extend(slot)
            for number in sorted(rounds):
                self._count_round(number, rounds[number], tally, voters)
            self._tally = tally
        return self._tally

    def _count_round(
        self, number: int, ballots: list[m.Message], tally: _Tally, voters: dict[Proposal, set[int]]
    ) -> None:
        in_round: dict[Proposal, dict[int, int]] = {}  # by seat: the round that it cites
        confirming: dict[tuple[Proposal, bytes], dict[int, int]] = {}
        for ballot in ballots:
            seat, body, proposal = ballot.header.seat, body_of(ballot), proposal_of(ballot)
            if not self._is_usable(body, proposal, tally):
                continue
            tally.usable.add((seat, ballot.signed.content))
            voters.setdefault(proposal, set()).add(seat)
            cited = in_round.setdefault(proposal, {})
            cited[seat] = max(body.cite, cited.get(seat, 0))
            if body.cite and body.cite == number - 1:
                confirming.setdefault((proposal, body.opens), {})[seat] = body.cite
        for (proposal, opens), cited in confirming.items():
            if tally.final is None and self._decide(cited, number, proposal, tally):
                own = self._own_that_opens(proposal, opens)
                tally.final = None if own is None else Final(proposal, number - 1, own)
        agreed = [
            proposal
            for proposal, cited in in_round.items()
            if self._decide(cited, number, proposal, tally) and self.live - proposal.gone <= voters[proposal]
        ]
        if agreed:
            tally.agreed[number] = sorted(agreed, key=_order)

    def _decide(self, cited: Mapping[int, int], number: int, proposal: Proposal, tally: _Tally) -> bool:
        """Whether who voted for a proposal in a round (and cited what) are a quorum.

        Whom the proposal excludes is not counted. Who has left need not be, for ballots of later rounds than
        its last one that cite at least what it cited: else those who agreed with it could wait for it for ever.
        """
        seats = self.live - proposal.excluded
        left = sorted((tally.excludable & self.leaves.keys()) - proposal.excluded)
        for size in range(len(left) + 1):
            for without in itertools.combinations(left, size):
                leaves = [self.leaves[seat] for seat in without]
                least = max((self._last_cite(leave) for leave in leaves), default=0)
                if number <= max((self._last_round(leave) for leave in leaves), default=0):
                    continue
                if is_quorum({seat for seat, cite in cited.items() if cite >= least}, seats - {*without}):
                    return True
        return False

    def _is_usable(self, body: m.Ballot, proposal: Proposal, tally: _Tally) -> bool:
        if not proposal.excluded <= tally.excludable:
            return False
        # A convict could void with its LEAVE what honest peers have cited already: for it only evidence counts.
        for seat in (proposal.excluded & self.leaves.keys()) - self._convicted:
            leave = self.leaves[seat]
            if body.round <= self._last_round(leave) or body.cite < self._last_cite(leave):
                return False
        return body.cite == 0 or proposal in tally.agreed.get(body.cite, [])

    def _said(self, seat: int, proposal: Proposal) -> set[bytes]:
        """The own messages that a seat has named for the step of a proposal: one, or it lies."""
        return {
            body_of(ballot).own
            for ballot in self._of(seat)
            if (ballot.header.step, ballot.header.previous) == (proposal.step, proposal.digest)
        }

    def _own(self, proposal: Proposal) -> tuple[tuple[int, bytes], ...]:
        """What stands of each seat that stays; nothing of one that contradicted itself."""
        said = ((seat, self._said(seat, proposal)) for seat in sorted(self.live - proposal.gone))
        return tuple((seat, next(iter(owns)) if len(owns) == 1 else b"") for seat, owns in said)

    def _own_that_opens(self, proposal: Proposal, opens: bytes) -> tuple[tuple[int, bytes], ...] | None:
        """The reading of the survivors' own messages that was confirmed, if this peer can tell."""
        seats = sorted(self.live - proposal.gone)
        choices = [
            sorted(self._said(seat, proposal) | ({b""} if self._lied(seat, proposal) else set()))
            for seat in seats
        ]
        for reading in itertools.islice(itertools.product(*choices), MAX_READINGS):
            own = tuple(zip(seats, reading, strict=True))
            if proposal.opens(self.view, own) == opens:
                return own
        return None

    def _lied(self, seat: int, proposal: Proposal) -> bool:
        return len(self._said(seat, proposal)) > 1

    # -- voting --------------------------------------------------------------------------------------

    def vote(self, step: int, digest: bytes, suspects: frozenset[int], *, again: bool) -> Vote | None:
        """The ballot to sign now, or None.

        `step` and `digest` are where this peer stands, `suspects` those it would go on without. `again`: it is
        time for another round (about a second after the last ballot). Another round is voted in only when this
        peer would vote differently by now, or somebody is in a later round: a table without a quorum is quiet.
        """
        assert self.me is not None
        known = self.agreed()
        if known is not None:
            return self._vote_for_agreed(*known, again=again)
        wanted = suspects | self.leaves.keys() | self.excludable()
        if self.me in wanted or not (wanted or self._ballots):
            return None
        excluded = self.discountable()
        proposal = Proposal(step, digest, frozenset(wanted), excluded)
        last, behind = self._last_own(), self._is_behind()
        changed = last is None or proposal != proposal_of(last) or not self.usable(last)
        if last is not None and not (again and (changed or behind)):
            return None
        after = max(
            (
                self._last_round(self.leaves[seat])
                for seat in (excluded & self.leaves.keys()) - self._convicted
            ),
            default=0,
        )
        return Vote(proposal, max(self.last_own_round()[0] + 1, self.highest_round(), after + 1), 0, b"")

    def _vote_for_agreed(self, number: int, proposal: Proposal, *, again: bool) -> Vote | None:
        last, (last_round, cited) = self._last_own(), self.last_own_round()
        opens = proposal.opens(self.view, self._own(proposal))
        # A seat that the others go on without confirms that too: they may be too few without its vote.
        at_once = cited < number and self.me not in proposal.gone
        changed = last is None or cited < number or body_of(last).opens != opens
        if not at_once and not (again and (changed or self._is_behind())):
            return None
        highest = self.highest_round() if self._is_behind() else 0
        return Vote(proposal, max(last_round + 1, number + 1, highest), number, opens)

    def _is_behind(self) -> bool:
        """Whether somebody votes in a later round, or left in this peer's one: only later ballots do without it."""
        last = self.last_own_round()[0]
        left = (self._last_round(self.leaves[seat]) for seat in self.excludable() & self.leaves.keys())
        return self.highest_round() > last or (last > 0 and max(left, default=0) >= last)

    def all(self) -> list[m.Message]:
        """Everything, for who lacks it: LEAVEs first, then ballots by round and seat."""
        slots = sorted(self._ballots.items(), key=lambda entry: (entry[0][1], entry[0][0]))
        ballots = [ballot for _, slot in slots for ballot in slot]
        return [self.leaves[seat] for seat in sorted(self.leaves)] + ballots


def _order(proposal: Proposal) -> tuple[int, bytes, list[int], list[int]]:
    return proposal.step, proposal.digest, sorted(proposal.gone), sorted(proposal.excluded)
