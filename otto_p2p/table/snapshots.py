"""What a screen is shown, taken from a lobby or a session at rest."""

from __future__ import annotations

from otto_p2p.lookalikes import told_apart
from otto_p2p.table.known_keys import Acquaintances
from otto_p2p.updates import GameUpdate, LobbyUpdate, OpenTable, Person, ShuffleVerified
from otto_p2p.words import table_name
from otto_protocol.crypto.identity import fingerprint
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.record import Here, Stage
from otto_protocol.match.phases import PROOFS, MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.roster import PROTOCOL_VERSION, Member
from otto_protocol.rules import moves
from otto_protocol.rules.end import Outcome


def lobby_update(lobby: Lobby, join_line: str, countdown: int | None, known: Acquaintances) -> LobbyUpdate:
    """The lobby as it is now."""
    me, records = lobby.me, lobby.records()
    people = tuple(
        Person(
            record.key,
            record.name,
            fingerprint(record.key),
            record.ready,
            record.automatic,
            record.key == me.key,
            record.key == me.key or me.reaches(record.key),
            None if record.automatic or record.key == me.key else known.judge(record.key, record.name),
        )
        for record in (records[key] for key in me.seated if key in records)
    )
    tables: dict[bytes, list[Here]] = {}
    for record in records.values():
        if record.table != me.table:
            tables.setdefault(record.table, []).append(record)
    others = []
    for table, some in sorted(tables.items()):
        terms = max((record.terms for record in some), key=lambda terms: terms.rank())
        playing = any(record.stage >= Stage.KEYS for record in some)
        others.append(
            OpenTable(
                table,
                table_name(table),
                tuple(sorted(told_apart(Member(record.key, record.name) for record in some))),
                terms.rules,
                max(0, terms.seats - len(some)),
                playing,
                PROTOCOL_VERSION,
            )
        )
    return LobbyUpdate(
        table_name(me.table),
        me.table,
        people,
        me.terms.rules,
        lobby.obstacles(),
        tuple(others),
        join_line,
        countdown,
    )


def game_update(
    session: Session,
    happened: tuple[moves.Move, ...],
    outcome: Outcome | None,
    away: dict[int, str],
    away_since: dict[int, float],
    verified: ShuffleVerified | None = None,
) -> GameUpdate:
    """The game as this seat may know it. The session must not be at work in a thread."""
    replica = session.replica
    roster = session.start.roster
    progress = (0, 0)
    if replica.phase in (MatchPhase.SHUFFLE, MatchPhase.RESHUFFLE, MatchPhase.HEAL_SHUFFLE):
        progress = (len(replica.shuffles), len(replica.live))
    elif replica.phase in PROOFS:
        progress = (len(session.spoken()), len(replica.live))
    return GameUpdate(
        session.seat,
        roster.members,
        tuple(fingerprint(member.key) for member in roster.members),
        replica.game,
        roster.rules.games,
        replica.phase,
        progress,
        replica.table_number,
        session.seat_view() if replica.phase not in (MatchPhase.KEY_COMMIT, MatchPhase.KEY_OPEN) else None,
        tuple(session.decisions()),
        session.awaited(),
        away,
        replica.live,
        happened,
        outcome,
        replica.totals,
        session.over,
        away_since,
        roster.rules.memory_aid,
        verified,
    )
