"""What no honest seat signs, whatever the log says: one message that cannot be meant, or two that exclude each other.

Nothing here looks at the state of a match, so a pair convicts everywhere and at any time.
"""

from __future__ import annotations

from otto_protocol.errors import DecodeError, PeerFault
from otto_protocol.hashing import tagged_hash
from otto_protocol.match import messages as m


def fault_alone(signed: m.Signed, match: bytes) -> PeerFault | None:
    """The rule that one signed message breaks by itself (P2, P15, P16), or None."""
    try:
        message = m.parse_content(signed)
    except DecodeError as error:
        return PeerFault(signed.seat, "P2", str(error))
    if message.header.match != match:
        return PeerFault(signed.seat, "P15", "a message for another match")
    if isinstance(message.body, m.Vote) and not _sensible(message.header.seat, message.body):
        return PeerFault(signed.seat, "P16", "a vote that cannot be meant")
    return None


def _sensible(seat: int, vote: m.Vote) -> bool:
    gone, excluded, owns = set(vote.gone), set(vote.excluded), [own.seat for own in vote.owns]
    return (
        vote.round >= 1
        and tuple(sorted(gone)) == vote.gone
        and tuple(sorted(excluded)) == vote.excluded
        and excluded <= gone
        and seat not in gone
        and sorted(set(owns)) == owns
        and gone.isdisjoint(owns)
    )


def opens(vote: m.Message) -> bytes:
    """32 bytes: the digest at which the next view begins if this vote is agreed."""
    header, body = vote.header, vote.body
    assert isinstance(body, m.Vote)
    return tagged_hash(
        "view",
        header.previous,
        header.view.to_bytes(4, "big"),
        header.step.to_bytes(4, "big"),
        bytes(body.gone),
        bytes(body.excluded),
        *(bytes([own.seat]) + own.content for own in body.owns),
    )


def own_of(vote: m.Vote, seat: int) -> bytes | None:
    """What a vote names as the message of a seat (b"": none); None for a seat that does not stay."""
    if seat in vote.gone:
        return None
    return next((own.content for own in vote.owns if own.seat == seat), b"")


def contradiction(one: m.Message, other: m.Message) -> PeerFault | None:
    """The rule that two different messages of one seat of one match break together, or None."""
    first, second = sorted((one, other), key=lambda message: _RANK.get(type(message.body), 0))
    if first.signed.content == second.signed.content or first.header.seat != second.header.seat:
        return None
    broken = _broken(first, second)
    return None if broken is None else PeerFault(one.header.seat, *broken)


# In this order `_broken` gets two messages: what belongs to a step comes first.
_RANK: dict[type[m.Body], int] = {m.Vote: 1, m.Enter: 2, m.Leave: 3}


def _broken(first: m.Message, second: m.Message) -> tuple[str, str] | None:
    a, b = first.header, second.header
    match first.body, second.body:
        case m.Leave(), m.Leave():
            return ("P18", "two LEAVEs")
        case _, m.Leave(last_round=last):
            return _after_leave(first, b.view, b.step, last)
        case m.Enter(), m.Enter() if a.view == b.view:
            return ("P17", "two next views")
        case m.Vote() as vote, m.Enter() as enter if a.view == b.view:
            if vote.round > enter.round:
                return ("P17", "a vote after entering the next view")
            if vote.round == enter.round and opens(first) != enter.opens:
                return ("P17", "another next view than the one that was voted for")
        case m.Vote() as vote, m.Vote() as again if a.view == b.view and vote.round == again.round:
            return ("P16", "two votes in one round")
        case m.Vote(), _:
            return None
        case _, m.Vote() as vote if a.view == b.view:
            if a.step > b.step + 1:
                return ("P18", "a message after a vote")
            own = own_of(vote, b.seat)
            if (a.step, a.previous) == (b.step, b.previous) and own != first.content_hash():
                return ("P19", "a vote that does not name what its author has signed there")
        case _, (m.Vote() | m.Enter()):
            return None
        case _ if (a.view, a.step) == (b.view, b.step):
            return ("P1", "two different messages for one step")
    return None


def _after_leave(message: m.Message, view: int, step: int, last_round: int) -> tuple[str, str] | None:
    header = message.header
    match message.body:
        case m.Enter():
            late = header.view >= view
        case m.Vote(round=number):
            late = header.view > view or (header.view == view and number > last_round)
        case _:
            late = header.view > view or (header.view == view and header.step > step + 1)
    return ("P18", "a message after LEAVE") if late else None
