"""Attacks that a review of the protocol found: each worked once."""

from __future__ import annotations

import pytest

from otto_protocol import messages as m
from otto_protocol.ballots import Ballots
from otto_protocol.hashing import Drbg
from otto_protocol.identity import IdentityKey

NOWHERE = b"\x07" * 32
SIGNERS = [IdentityKey.generate(Drbg(b"review %d" % seat)) for seat in range(4)]


# -- a convict that leaves -----------------------------------------------------------------------------


def vote_of(voter: Ballots) -> m.Message | None:
    """The ballot that an honest peer signs at its next look, kept by itself."""
    assert voter.me is not None
    choice = voter.vote(7, NOWHERE, frozenset(), again=True)
    if choice is None:
        return None
    proposal = choice.proposal
    body = m.Ballot(
        choice.round,
        tuple(sorted(proposal.gone)),
        tuple(sorted(proposal.excluded)),
        b"",
        choice.cite,
        choice.opens,
    )
    header = m.Header(bytes(32), 0, proposal.step, voter.me, proposal.digest)
    message = m.sign(SIGNERS[voter.me], header, body)
    voter.add(message)  # raises Contradiction if an honest peer contradicts itself
    return message


@pytest.mark.parametrize("leave", [m.Leave(1, 0), m.Leave(2, 0), m.Leave(5, 4)])
def test_a_convict_that_leaves_makes_nobody_contradict_itself(leave: m.Leave) -> None:
    """Its LEAVE made votes without it void that had been cited already: who voted again broke P17."""
    voters = [Ballots(range(4), me) for me in range(3)]
    for voter in voters:
        voter.convict((3,))
    first = [vote_of(voter) for voter in voters]
    for voter in voters:
        for message in first:
            assert message is not None
            voter.add(message)
    early = vote_of(voters[0])
    assert early is not None and isinstance(early.body, m.Ballot) and early.body.cite == 1
    goodbye = m.sign(SIGNERS[3], m.Header(bytes(32), 0, 7, 3, NOWHERE), leave)
    for voter in voters:
        voter.add(goodbye)
        voter.add(early)
    for _ in range(3):
        for message in [vote_of(voter) for voter in voters]:
            for voter in voters:
                if message is not None:
                    voter.add(message)
    finals = [voter.final() for voter in voters]
    assert None not in finals
    assert len({final.digest(0) for final in finals if final is not None}) == 1
