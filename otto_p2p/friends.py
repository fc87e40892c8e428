"""What everybody has won over all matches, for `otto-p2p history` and for the lobby: plain values, no disk."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from otto_protocol.roster import Member


@dataclass(frozen=True, slots=True)
class Played:
    """A finished match. `totals` is by seat, `winners` by game (None: nobody).

    `duels`: the seats that won and lost each duel; None for matches of which that was not noted.
    """

    match: bytes
    members: tuple[Member, ...]
    totals: tuple[int, ...]
    winners: tuple[int | None, ...]
    duels: tuple[tuple[int, int], ...] | None


@dataclass(slots=True)
class Record:
    """What one identity key has won. `games` and `duels` are those that it took part in."""

    key: bytes
    name: str  # the latest one
    me: bool
    matches: int = 0
    matches_won: int = 0
    games: int = 0
    games_won: int = 0
    points: int = 0
    duels: int = 0
    duels_won: int = 0


def records(matches: Iterable[Played], mine: Collection[bytes]) -> list[Record]:
    """One record for each player, one's own keys (`mine`) first, then those that one has played with most.

    `matches`: the latest first; one that is there twice (two identities of one person played it) counts once.
    A match is won with the most points, by several if they have as many.
    """
    found: dict[bytes, Record] = {}
    counted: set[bytes] = set()
    for played in matches:
        if played.match in counted:
            continue
        counted.add(played.match)
        best = max(played.totals)
        for seat, (member, total) in enumerate(zip(played.members, played.totals, strict=True)):
            record = found.setdefault(member.key, Record(member.key, member.name, member.key in mine))
            record.matches += 1
            record.matches_won += total == best
            record.games += len(played.winners)
            record.games_won += played.winners.count(seat)
            record.points += total
            for duel in played.duels or ():
                record.duels += seat in duel
                record.duels_won += seat == duel[0]
    return sorted(
        found.values(), key=lambda record: (not record.me, -record.matches, record.name, record.key)
    )
