"""What is told of a lobby or of a session at rest, as values: to a screen, and to the event loop."""

from __future__ import annotations

from dataclasses import dataclass

from otto_p2p.lookalikes import told_apart
from otto_p2p.table.known_keys import KnownKeys
from otto_p2p.updates import GameUpdate, LobbyUpdate, OpenTable, Person
from otto_p2p.words import table_name
from otto_protocol.crypto.identity import fingerprint
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.record import Here, Stage
from otto_protocol.match.phases import PROOFS, MatchPhase
from otto_protocol.match.session import Session
from otto_protocol.roster import PROTOCOL_VERSION, Member
from otto_protocol.rules.end import Outcome


def lobby_update(lobby: Lobby, join_line: str, countdown: int | None, known: KnownKeys) -> LobbyUpdate:
    """The lobby as it is now."""
    me, records = lobby.me, lobby.records()
    people = tuple(
        Person(
            key=record.key,
            name=record.name,
            tag=fingerprint(record.key),
            ready=record.ready,
            automatic=record.automatic,
            me=record.key == me.key,
            linked=record.key == me.key or me.reaches(record.key),
            acquaintance=(
                None if record.automatic or record.key == me.key else known.judge(record.key, record.name)
            ),
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
                table=table,
                name=table_name(table),
                people=tuple(sorted(told_apart(Member(record.key, record.name) for record in some))),
                rules=terms.rules,
                seats_free=max(0, terms.seats - len(some)),
                playing=playing,
                version=PROTOCOL_VERSION,
            )
        )
    return LobbyUpdate(
        table_name=table_name(me.table),
        table_id=me.table,
        seated=people,
        rules=me.terms.rules,
        obstacles=lobby.obstacles(),
        others=tuple(others),
        join_line=join_line,
        countdown=countdown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a match stood when its worker was last done: all that the event loop knows of a session."""

    view: int
    step: int
    phase: MatchPhase
    live: tuple[int, ...]
    awaited: tuple[int, ...]
    accused: tuple[int, ...]  # convicted and not removed yet, ascending
    convicted: tuple[int, ...]  # all that ever were in this match
    at_first_deal: bool
    may_deal: bool
    may_sign: bool  # False after a restart, until the others have told what they know of this seat
    voting: bool  # somebody has voted in this view
    over: bool
    out: bool
    results: tuple[Outcome, ...]
    totals: tuple[int, ...]
    game: GameUpdate  # what this seat may see; who is away, and what has just happened, is filled in later


def standing(session: Session, game: GameUpdate | None = None) -> Standing:
    """How it stands now; `game`: what was seen last, if nothing has happened since."""
    replica = session.replica
    return Standing(
        view=replica.view,
        step=replica.step,
        phase=replica.phase,
        live=replica.live,
        awaited=session.awaited(),
        accused=tuple(sorted(session.accused())),
        convicted=tuple(session.convicted),
        at_first_deal=session.at_first_deal,
        may_deal=session.may_deal,
        may_sign=session.may_sign,
        voting=session.voting,
        over=session.over,
        out=session.out,
        results=replica.results,
        totals=replica.totals,
        game=game_update(session) if game is None else game,
    )


def game_update(session: Session) -> GameUpdate:
    """The game as this seat may know it."""
    replica = session.replica
    roster = session.start.roster
    progress = (0, 0)
    if replica.phase in (MatchPhase.SHUFFLE, MatchPhase.RESHUFFLE, MatchPhase.HEAL_SHUFFLE):
        progress = (len(replica.shuffles), len(replica.live))
    elif replica.phase in PROOFS:
        progress = (len(session.spoken()), len(replica.live))
    return GameUpdate(
        seat=session.seat,
        members=roster.members,
        tags=tuple(fingerprint(member.key) for member in roster.members),
        game=replica.game,
        games=roster.rules.games,
        phase=replica.phase,
        progress=progress,
        table_number=replica.table_number,
        view=session.seat_view()
        if replica.phase not in (MatchPhase.KEY_COMMIT, MatchPhase.KEY_OPEN)
        else None,
        decisions=tuple(session.decisions()),
        awaited=session.awaited(),
        live=replica.live,
        totals=replica.totals,
        over=session.over,
        place=(replica.view, replica.step),
        memory_aid=roster.rules.memory_aid,
    )
