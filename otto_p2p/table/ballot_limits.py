"""How many ballots are taken: of each seat, from each peer that passes them on, in a view and per minute.

A seat can sign ballots for one round after the other for ever, and each would be stored and passed on by all.
The limit lies here and not in `otto_protocol.match.ballots`, for two reasons. What is concluded there depends
on the set of ballots alone, and a ballot that was refused for ever might be the one that another honest peer
has counted: the two would wait for each other for ever. And round numbers say nothing: an honest peer that
was cut off is far ahead of the others, too, and a flood that honest peers follow is never far ahead.

So nothing is refused for ever, only put off: whoever lacks ballots asks again, and the allowance grows. It is
counted by the peer that passes a ballot on. A flood uses up what its author may send, and not what an honest
peer sends of that author's ballots; and through one honest peer may come as much as all the others together
have taken from the author. So what one honest peer has taken gets to all others. Honest peers stay below the
allowance (`Removals` votes rarely when there were many rounds in one view), and a ballot that is dropped here
is to the protocol one that is late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from otto_protocol.errors import DecodeError
from otto_protocol.match import messages as m

BALLOTS = 64  # of one seat in one view that are taken from itself
ANOTHER = 10.0  # seconds in which one more is
LARGEST = 1024  # bytes: no ballot is longer, and most other messages need not be looked into


class Allowance:
    """The ballots that were taken in this view; `members` are the keys by seat."""

    def __init__(self, members: Sequence[bytes]) -> None:
        self._members = members
        self._view = -1
        self._since = 0.0
        self._taken: Counter[tuple[bytes, int]] = Counter()  # by (peer that passed it on, seat)

    def enter(self, view: int, now: float) -> None:
        """This is the view now; a new one begins with nothing taken."""
        if view != self._view:
            self._view, self._since = view, now
            self._taken.clear()

    def admits(self, peer: bytes, seat: int, now: float) -> bool:
        """Whether one more ballot of this seat may come from this peer."""
        ways = 1 if peer == self._members[seat] else len(self._members)
        return self._taken[peer, seat] < ways * (BALLOTS + (now - self._since) / ANOTHER)

    def take(self, peer: bytes, seat: int) -> None:
        """A ballot that was new was taken."""
        self._taken[peer, seat] += 1


def voter(data: bytes) -> int | None:
    """The seat whose ballot this claims to be, or None: something else. The signature is not looked at."""
    if len(data) > LARGEST:
        return None
    try:
        signed = m.parse_signed(data)
        return signed.seat if isinstance(m.parse_content(signed).body, m.Vote) else None
    except DecodeError:
        return None
