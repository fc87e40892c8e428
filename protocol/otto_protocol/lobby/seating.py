"""The rules of the lobby as functions of the newest records: who sits where, what is missing, who has come how far.

Everybody who has the same records computes the same list, so lists agree as soon as knowledge does; a group
that already lists each other keeps its seats whoever comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from otto_protocol.lobby.actions import Cause
from otto_protocol.lobby.record import VERSIONS_AHEAD, Here, Ready, Stage, Terms, seating_rank
from otto_protocol.quorum import is_majority
from otto_protocol.roster import Member, Roster, Start
from otto_protocol.rules import most_players


class Lack(Enum):
    """Why the table has not started yet."""

    ALONE = "nobody else sits here"
    NO_SEAT = "this peer has no seat at the table (yet)"
    NOT_READY = "`key` is not ready"
    IN_GAME = "`key` is still in a game"
    NO_CONSENT = "somebody would be left out, and `key` has not agreed to that"
    LIST_DIFFERS = "`key` sees other people at this table"
    ROUND_DIFFERS = "`key` has not come to this round yet"
    TERMS_DIFFER = "`key` has not got the table's rules yet"
    ROSTER_DIFFERS = "`key` has signed for other players"
    CANNOT_REACH = "`key` and `other` cannot reach each other"
    TOO_MANY = "there are not enough cards for so many"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing that the start waits for; `key` and `other` are identity keys, or empty."""

    lack: Lack
    key: bytes = b""
    other: bytes = b""


def seated(table: bytes, seats: int, records: Iterable[Here]) -> tuple[bytes, ...]:
    """The keys of those who sit at a table, at most `seats`, in `seating_rank` order.

    First those who list each other (a greedy clique: those in most such pairs first), then the others that
    are at the table, both by rank where nothing else decides.
    """
    lists = {record.key: frozenset(record.seated) for record in records if record.table == table}
    rank = {key: seating_rank(table, key) for key in lists}
    mutual = {
        key: {other for other in listed if other in lists and key in lists[other]}
        for key, listed in lists.items()
    }
    taken: list[bytes] = []
    for key in sorted(lists, key=lambda key: (-len(mutual[key]), rank[key])):
        if len(taken) < seats and all(other in mutual[key] for other in taken):
            taken.append(key)
    newcomers = sorted((key for key in lists if key not in taken), key=lambda key: rank[key])
    taken += newcomers[: seats - len(taken)]
    return tuple(sorted(taken, key=lambda key: rank[key]))


def agreed_terms(mine: Terms, others: Iterable[Terms]) -> Terms:
    """The greatest terms of a table that can be reached from `mine`, a few versions at a time.

    People change rules a few times while somebody is away. Whoever names a version far ahead is not followed:
    else nobody could change them any more. Somebody without an opinion begins in the middle of what others
    say, so that one of them does not decide.
    """
    known = sorted(others, key=Terms.rank)
    opinions = [terms for terms in known if terms.version > 0]
    best = opinions[(len(opinions) - 1) // 2] if opinions and mine.version == 0 else mine
    for terms in known:
        if terms.rank() > best.rank() and terms.version <= best.version + VERSIONS_AHEAD:
            best = terms
    return best


def is_full_without(key: bytes, seats: int, listed: tuple[bytes, ...], records: Mapping[bytes, Here]) -> bool:
    """Whether the table holds no more, and all that sit there agree on a list without `key`."""
    return (
        len(listed) >= seats
        and key not in listed
        and all(records[other].seated == listed for other in listed)
    )


def better_table(me: Here, records: Iterable[Here], refused: frozenset[bytes]) -> bytes | None:
    """The table to move to from a table that is not pinned, or None: pinned first, then the smallest id.

    A table at which somebody plays, or is about to, counts as pinned. Only a table with room for everybody
    at my table is taken, and never one that was full before.
    """
    at: dict[bytes, list[Here]] = {me.table: [me]}
    for record in records:
        if record.key != me.key:
            at.setdefault(record.table, []).append(record)
    best = _attraction(me.table, at[me.table])
    mine = len(at[me.table])
    for table, people in at.items():
        choice = _attraction(table, people)
        seats = max((record.terms for record in people), key=lambda terms: terms.rank()).seats
        taken = len({record.key for record in people}.union(*(record.seated for record in people)) - {me.key})
        if choice < best and table not in refused and taken + mine <= seats:
            best = choice
    return None if best[1] == me.table else best[1]


def _attraction(table: bytes, people: Iterable[Here]) -> tuple[bool, bytes]:
    """The smaller, the more it attracts."""
    return (not any(record.pinned or record.stage != Stage.LOBBY for record in people), table)


def ready_here(me: Here, record: Here) -> bool:
    """Whether `record` is ready for the attempt that `me` would make now, or has made."""
    if record.stage == Stage.LOBBY:
        return record.ready != Ready.NO
    return record.round == me.round and any(member.key == me.key for member in record.members)


def would_seal(me: Here, records: Mapping[bytes, Here]) -> Roster:
    """The roster of those on my list that are ready; `records` has the newest record of each of them."""
    members = tuple(Member(key, records[key].name) for key in me.seated if ready_here(me, records[key]))
    return Roster(me.protocol, me.rules_version, me.table, me.round, me.terms.rules, members)


def obstacles(me: Here, records: Mapping[bytes, Here]) -> tuple[Obstacle, ...]:
    """All that keeps this peer from sealing `would_seal`; empty when it can."""
    found: list[Obstacle] = []
    if me.key not in me.seated:
        return (Obstacle(Lack.NO_SEAT),)
    if len(me.seated) < 2:
        return (Obstacle(Lack.ALONE),)
    roster = would_seal(me, records)
    players = [records[member.key] for member in roster.members]
    rest = [records[key] for key in me.seated if not ready_here(me, records[key])]
    people = [record for record in players if not record.automatic]
    if rest and not any(record.ready == Ready.WITHOUT for record in people):
        found += [
            Obstacle(Lack.NOT_READY if record.stage == Stage.LOBBY else Lack.IN_GAME, record.key)
            for record in rest
        ]
    elif rest:
        found += [Obstacle(Lack.NO_CONSENT, record.key) for record in people if record.ready != Ready.WITHOUT]
        if not ready_here(me, me):
            found.append(Obstacle(Lack.NOT_READY, me.key))
    if len(players) > most_players(me.terms.rules.decks):
        found.append(Obstacle(Lack.TOO_MANY))
    found += [obstacle for record in players for obstacle in _disagreements(me, roster, record)]
    for place, one in enumerate(players):
        for other in players[:place]:
            linked = one.reaches(other.key) and other.reaches(one.key)
            if not linked and not (one.indirect and other.indirect):
                found.append(Obstacle(Lack.CANNOT_REACH, other.key, one.key))
    if len(players) < 2 and not found:
        found.append(Obstacle(Lack.ALONE))
    return tuple(found)


def _disagreements(me: Here, roster: Roster, record: Here) -> list[Obstacle]:
    if record.stage != Stage.LOBBY:
        return [] if record.roster() == roster else [Obstacle(Lack.ROSTER_DIFFERS, record.key)]
    found = []
    if record.seated != me.seated:
        found.append(Obstacle(Lack.LIST_DIFFERS, record.key))
    if record.round != me.round:
        found.append(Obstacle(Lack.ROUND_DIFFERS, record.key))
    if record.terms != me.terms:
        found.append(Obstacle(Lack.TERMS_DIFFER, record.key))
    return found


# -- an attempt to start ---------------------------------------------------------------------------------


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
    never speaks in this round again), and those left must be no quorum, so that no ballot goes on without it.
    Silence alone lets nobody go: the others may have begun.
    """
    left = [record.key for record in newest if record.table != me.table or record.round > me.round]
    stay = [seat for seat, record in enumerate(newest) if record.key not in left and record.key in there]
    return left[0] if left and not is_majority(stay, range(len(newest))) else None
