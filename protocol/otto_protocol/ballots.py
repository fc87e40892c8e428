"""Removing seats by ballots in two phases: what is agreed must be confirmed, and who knows an agreement votes for it.

Pure: no clock, no sockets. One `Ballots` holds all that one peer has seen of one view. docs/protocol.md,
"Removing seats", tells why the simpler rules break; tests/protocol/test_ballots_model.py explores this one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otto_protocol import messages as m
from otto_protocol.errors import PeerFault
from otto_protocol.hashing import tagged_hash
from otto_protocol.quorum import is_quorum

MAX_ROUNDS_AHEAD = 1000  # a ballot for a later round than that is not kept


@dataclass(frozen=True, slots=True)
class Proposal:
    """Where to go on, and without whom: before `step` with `digest`, without `gone`.

    `excluded` are those of `gone` that signed LEAVE or are convicted: they count as no voters at all.
    """

    step: int
    digest: bytes
    gone: frozenset[int]
    excluded: frozenset[int]


@dataclass(frozen=True, slots=True)
class Final:
    """A proposal that is agreed and confirmed; it opens the next view.

    `own`: by surviving seat, the hash of its message of the step, which stands (b"": it had none).
    """

    proposal: Proposal
    agreed_round: int
    own: tuple[tuple[int, bytes], ...]

    def digest(self, view: int) -> bytes:
        """32 bytes: the digest at which the view after `view` begins."""
        p = self.proposal
        return tagged_hash(
            "view",
            p.digest,
            view.to_bytes(4, "big"),
            p.step.to_bytes(4, "big"),
            bytes(sorted(p.gone)),
            bytes(sorted(p.excluded)),
            *(bytes([seat]) + own for seat, own in self.own),
        )


def proposal_of(ballot: m.Message) -> Proposal:
    """What a ballot votes for."""
    body = ballot.body
    assert isinstance(body, m.Ballot)
    return Proposal(
        ballot.header.step, ballot.header.previous, frozenset(body.gone), frozenset(body.excluded)
    )


class Ballots:
    """The ballots of one view as one peer knows them; `live` are the seats of the view, `me` this peer's (or None)."""

    def __init__(self, live: Iterable[int], me: int | None = None) -> None:
        self.live = frozenset(live)
        self.me = me
        self._convicted: set[int] = set()
        self.leaves: dict[int, m.Message] = {}
        self._ballots: dict[tuple[int, int], m.Message] = {}  # (seat, round)
        self._known: dict[tuple[int, Proposal], bool] = {}  # is_agreed, as long as nothing new arrives

    # -- what arrives --------------------------------------------------------------------------------

    def add(self, message: m.Message) -> bool:
        """Keep a ballot or a LEAVE of a live seat; False if it is known.

        Raises Contradiction when it and another one of the same seat cannot both be honest.
        """
        seat, body = message.header.seat, message.body
        if seat not in self.live:
            return False
        if isinstance(body, m.Leave):
            if seat in self.leaves:
                return False
            for ballot in self._of(seat):
                self._check_leave(message, ballot)
            self.leaves[seat] = message
            self._known.clear()
            return True
        assert isinstance(body, m.Ballot)
        known = self._ballots.get((seat, body.round))
        if known is not None:
            if known.signed.content == message.signed.content:
                return False
            raise Contradiction(PeerFault(seat, "P16", "two ballots in one round"), (known, message))
        if body.round > self.highest_round() + MAX_ROUNDS_AHEAD or not self._sensible(body):
            return False
        for other in self._of(seat):
            self._check_pair(other, message)
        if seat in self.leaves:
            self._check_leave(self.leaves[seat], message)
        self._ballots[seat, body.round] = message
        self._known.clear()
        return True

    def convict(self, seats: Iterable[int]) -> None:
        """This peer holds evidence against these seats."""
        self._convicted.update(seats)
        self._known.clear()

    def _of(self, seat: int) -> list[m.Message]:
        return [ballot for (one, _), ballot in sorted(self._ballots.items()) if one == seat]

    def _sensible(self, body: m.Ballot) -> bool:
        gone, excluded = set(body.gone), set(body.excluded)
        return (
            body.round >= 1
            and body.cite < body.round
            and tuple(sorted(gone)) == body.gone
            and tuple(sorted(excluded)) == body.excluded
            and excluded <= gone
            and gone < self.live
        )

    @staticmethod
    def _check_pair(one: m.Message, other: m.Message) -> None:
        first, second = sorted((one, other), key=_round)
        a, b = first.body, second.body
        assert isinstance(a, m.Ballot) and isinstance(b, m.Ballot)
        if a.cite > b.cite:
            raise Contradiction(
                PeerFault(one.header.seat, "P17", "a ballot cites less than an earlier one"), (first, second)
            )
        if one.header.step == other.header.step and a.own != b.own:
            raise Contradiction(
                PeerFault(one.header.seat, "P19", "two ballots name different own messages for one step"),
                (first, second),
            )

    @staticmethod
    def _check_leave(leave: m.Message, ballot: m.Message) -> None:
        last, vote = leave.body, ballot.body
        assert isinstance(last, m.Leave) and isinstance(vote, m.Ballot)
        if vote.round > last.last_round or vote.cite > last.cite:
            raise Contradiction(PeerFault(leave.header.seat, "P18", "a ballot after LEAVE"), (leave, ballot))

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
        """Who has left or is convicted, as far as this peer has seen it proven."""
        return frozenset(self.leaves) | (self._convicted & self.live)

    def usable(self, ballot: m.Message) -> bool:
        """Whether a ballot counts: whom it excludes is proven, and what it cites exists."""
        body, proposal = ballot.body, proposal_of(ballot)
        assert isinstance(body, m.Ballot)
        if not proposal.excluded <= self.excludable():
            return False
        for seat in proposal.excluded & self.leaves.keys():
            last = self.leaves[seat].body
            assert isinstance(last, m.Leave)
            if body.round <= last.last_round or body.cite < last.cite:
                return False
        return body.cite == 0 or self.is_agreed(body.cite, proposal)

    def is_agreed(self, number: int, proposal: Proposal) -> bool:
        """agreed(r, p): a quorum without the excluded in round r, and everybody who stays by then."""
        key = (number, proposal)
        if key not in self._known:
            self._known[key] = self._find_agreed(number, proposal)
        return self._known[key]

    def _find_agreed(self, number: int, proposal: Proposal) -> bool:
        by_then = self._voters(proposal, lambda round_: round_ <= number)
        in_round = self._voters(proposal, lambda round_: round_ == number)
        return self.live - proposal.gone <= by_then and is_quorum(in_round, self.live - proposal.excluded)

    def _voters(self, proposal: Proposal, which: object) -> set[int]:
        return {
            seat
            for (seat, round_), ballot in self._ballots.items()
            if which(round_) and proposal_of(ballot) == proposal and self.usable(ballot)  # type: ignore[operator]
        }

    def agreed(self) -> tuple[int, Proposal] | None:
        """The agreement of the highest round that this peer knows of."""
        for number in sorted({round_ for _, round_ in self._ballots}, reverse=True):
            found = {
                proposal_of(ballot)
                for (_, round_), ballot in self._ballots.items()
                if round_ == number and self.usable(ballot)
            }
            for proposal in found:
                if self.is_agreed(number, proposal):
                    return number, proposal
        return None

    def final(self) -> Final | None:
        """The proposal that opens the next view, once it is agreed and confirmed."""
        for number in sorted({round_ for _, round_ in self._ballots}):
            citing: dict[Proposal, set[int]] = {}
            for (seat, round_), ballot in self._ballots.items():
                body = ballot.body
                assert isinstance(body, m.Ballot)
                if round_ == number and body.cite == number - 1 >= 1 and self.usable(ballot):
                    citing.setdefault(proposal_of(ballot), set()).add(seat)
            for proposal, seats in citing.items():
                if is_quorum(seats, self.live - proposal.excluded):
                    return Final(proposal, number - 1, self._own(proposal))
        return None

    def _own(self, proposal: Proposal) -> tuple[tuple[int, bytes], ...]:
        own: dict[int, bytes] = {}
        for (seat, _), ballot in sorted(self._ballots.items()):
            assert isinstance(ballot.body, m.Ballot)
            if seat not in proposal.gone and proposal_of(ballot) == proposal:
                own[seat] = ballot.body.own
        return tuple(sorted(own.items()))

    def highest_round(self) -> int:
        """The highest round in which anybody has voted; 0 if nobody has."""
        return max((round_ for _, round_ in self._ballots), default=0)

    def last_own_round(self) -> tuple[int, int]:
        """(round, cited round) of this peer's last ballot; (0, 0) if there is none."""
        own = self._of(self.me) if self.me is not None else []
        if not own:
            return 0, 0
        body = own[-1].body
        assert isinstance(body, m.Ballot)
        return body.round, body.cite

    # -- voting --------------------------------------------------------------------------------------

    def vote(
        self, step: int, digest: bytes, suspects: frozenset[int], *, again: bool
    ) -> tuple[Proposal, int, int] | None:
        """(proposal, round, cite) of the ballot to sign now, or None.

        `step` and `digest` are where this peer stands, `suspects` those it would go on without. `again`: it is
        time for another round (about a second after the last ballot). Another round is voted in only when this
        peer would vote differently by now, or somebody is in a later round: a table without a quorum is quiet.
        """
        assert self.me is not None
        last, cited = self.last_own_round()
        behind = again and self.highest_round() > last
        known = self.agreed()
        if known is not None:
            number, proposal = known
            if self.me in proposal.gone or not (cited < number or behind):
                return None
            return proposal, max(last + 1, number + 1, self.highest_round() if behind else 0), number
        wanted = suspects | self.excludable()
        if self.me in wanted or not (wanted or self._ballots):
            return None
        proposal = Proposal(step, digest, frozenset(wanted), self.excludable())
        changed = again and proposal != self._last_proposal()
        if last and not changed and not behind:
            return None
        return proposal, max(last + 1, self.highest_round(), self._after_leavers()), 0

    def _last_proposal(self) -> Proposal | None:
        own = self._of(self.me) if self.me is not None else []
        return proposal_of(own[-1]) if own else None

    def _after_leavers(self) -> int:
        rounds = [leave.body.last_round for leave in self.leaves.values() if isinstance(leave.body, m.Leave)]
        return max(rounds, default=0) + 1

    def all(self) -> list[m.Message]:
        """Everything, for who lacks it: LEAVEs first, then ballots by round and seat."""
        ballots = sorted(self._ballots.items(), key=lambda entry: (entry[0][1], entry[0][0]))
        return [self.leaves[seat] for seat in sorted(self.leaves)] + [ballot for _, ballot in ballots]


class Contradiction(Exception):
    """Two messages of one seat that no honest peer signs both."""

    def __init__(self, fault: PeerFault, messages: tuple[m.Message, m.Message]) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.messages = messages


def _round(ballot: m.Message) -> int:
    assert isinstance(ballot.body, m.Ballot)
    return ballot.body.round
