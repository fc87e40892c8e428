"""What ballots say: proposals, votes for them, and pairs of messages that no honest seat signs both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otto_protocol.errors import OttoError, PeerFault
from otto_protocol.hashing import tagged_hash
from otto_protocol.match import messages as m


@dataclass(frozen=True, slots=True)
class Proposal:
    """Where to go on, and without whom: before `step` with `digest`, without `gone`.

    `excluded` are those of `gone` that signed LEAVE or are convicted: they count as no voters at all.
    """

    step: int
    digest: bytes
    gone: frozenset[int]
    excluded: frozenset[int]

    def opens(self, view: int, own: Iterable[tuple[int, bytes]]) -> bytes:
        """32 bytes: the digest at which the view after `view` begins. `own`: as in `Final`."""
        return tagged_hash(
            "view",
            self.digest,
            view.to_bytes(4, "big"),
            self.step.to_bytes(4, "big"),
            bytes(sorted(self.gone)),
            bytes(sorted(self.excluded)),
            *(bytes([seat]) + said for seat, said in own),
        )


@dataclass(frozen=True, slots=True)
class Vote:
    """What to put on a ballot."""

    proposal: Proposal
    round: int
    cite: int
    opens: bytes


@dataclass(frozen=True, slots=True)
class Final:
    """A proposal that is agreed and confirmed; it opens the next view.

    `own`: by surviving seat, ascending, the hash of its message of the step, which stands (b"": it had none).
    """

    proposal: Proposal
    agreed_round: int
    own: tuple[tuple[int, bytes], ...]

    def digest(self, view: int) -> bytes:
        """32 bytes: the digest at which the view after `view` begins."""
        return self.proposal.opens(view, self.own)


class Contradiction(OttoError):
    """Two messages of one seat that no honest peer signs both. `new`: the second one was kept nevertheless."""

    def __init__(self, fault: PeerFault, messages: tuple[m.Message, m.Message]) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.messages = messages
        self.new = True


def proposal_of(ballot: m.Message) -> Proposal:
    """What a ballot votes for."""
    body = body_of(ballot)
    return Proposal(
        ballot.header.step, ballot.header.previous, frozenset(body.gone), frozenset(body.excluded)
    )


def check_pair(one: m.Message, other: m.Message) -> None:
    """Raises Contradiction if one seat cannot honestly have signed these two ballots."""
    first, second = sorted((one, other), key=lambda ballot: (body_of(ballot).round, ballot.signed.content))
    a, b, seat = body_of(first), body_of(second), one.header.seat
    if a.round == b.round:
        raise Contradiction(PeerFault(seat, "P16", "two ballots in one round"), (first, second))
    if a.cite > b.cite:
        raise Contradiction(
            PeerFault(seat, "P17", "a ballot cites less than an earlier one"), (first, second)
        )
    same_place = (first.header.step, first.header.previous) == (second.header.step, second.header.previous)
    if same_place and a.own != b.own:
        raise Contradiction(
            PeerFault(seat, "P19", "two ballots name different own messages for one place in the log"),
            (first, second),
        )


def check_leave(leave: m.Message, ballot: m.Message) -> None:
    """Raises Contradiction if a ballot cannot come before a LEAVE of the same seat."""
    last, vote = leave.body, body_of(ballot)
    assert isinstance(last, m.Leave)
    later = leave.header.view < ballot.header.view
    if later or vote.round > last.last_round or vote.cite > last.cite:
        raise Contradiction(PeerFault(leave.header.seat, "P18", "a ballot after LEAVE"), (leave, ballot))


def body_of(ballot: m.Message) -> m.Ballot:
    """The body of a message that is a ballot."""
    assert isinstance(ballot.body, m.Ballot)
    return ballot.body
