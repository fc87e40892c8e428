"""An attempt to start: who has come how far in it, when it is over, and the certificate that begins a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otto_protocol.lobby.actions import Cause
from otto_protocol.lobby.record import Here, Ready, Stage
from otto_protocol.lobby.seating import obstacles, would_seal
from otto_protocol.quorum import is_quorum
from otto_protocol.roster import Roster, Start


def certificate(roster: Roster, there: Mapping[bytes, Here]) -> Start | None:
    """START, if all of the roster have sealed it; `open_here` has checked the READY signatures."""
    if not all_have(Stage.SEALED, roster, there):
        return None
    return Start(roster, tuple(there[member.key].ready_signature for member in roster.members))


def all_have(stage: Stage, roster: Roster, there: Mapping[bytes, Here]) -> bool:
    """Whether all of the roster are there, and have come to this stage of it at least."""
    records = [there.get(member.key) for member in roster.members]
    return all(
        record is not None and record.roster() == roster and record.stage >= stage for record in records
    )


def attempt_is_over(
    me: Here, roster: Roster, there: Mapping[bytes, Here], *, complete: bool
) -> tuple[Cause, bytes] | None:
    """Why a peer that is not bound yet must give up its attempt, and because of whom; None while it need not.

    `complete`: it has the certificate. Until then the table must stay as it was when this peer sealed.
    """
    for key in (member.key for member in roster.members):
        record = there.get(key)
        if record is None:
            return Cause.SILENT, key
        gone_on = record.table != me.table or record.round > me.round or record.ready == Ready.NO
        if gone_on or (complete and record.roster() != roster):
            return Cause.WITHDRAWN, key
    if not complete and (would_seal(me, there) != roster or obstacles(me, there)):
        return Cause.CHANGED, b""
    return None


def game_is_lost(me: Here, newest: Sequence[Here], there: Mapping[bytes, Here]) -> bytes | None:
    """The key of one that makes a bound peer's game impossible before its deal is complete, or None.

    `newest` are the newest records of the roster, by seat. Somebody must have signed that it has gone on (it
    never speaks in this round again), and who is left must be no quorum, so that no ballot goes on without it.
    Silence alone lets nobody go: the others may have begun.
    """
    left = [record.key for record in newest if record.table != me.table or record.round > me.round]
    stay = [seat for seat, record in enumerate(newest) if record.key not in left and record.key in there]
    return left[0] if left and not is_quorum(stay, range(len(newest))) else None
