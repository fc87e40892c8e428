"""`otto-p2p history`: the matches that are over, with whom and how they ended, and what everybody has won in all."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from otto_p2p.friends import Played, Record, records
from otto_p2p.i18n import _, ngettext
from otto_p2p.storage.files import JournalInUse
from otto_p2p.storage.journal import Journal, MatchState, Past
from otto_p2p.texts.results import points, ranking
from otto_p2p.texts.safe import safe
from otto_p2p.words import table_name
from otto_protocol.crypto.identity import fingerprint
from otto_protocol.encoding import unpack
from otto_protocol.roster import Roster, Start


@dataclass(frozen=True, slots=True)
class Told:
    """One match of the history: `me` is the seat of the identity whose journal it is in."""

    past: Past
    roster: Roster
    me: int


def history(data_dir: Path, *, as_json: bool = False) -> int:
    """Print the history of all identities in a data folder; the exit status. Raises LocalError."""
    matches, busy = read(data_dir)
    if as_json:
        shown = {
            "matches": [as_object(told) for told in matches],
            "players": [_record_object(record) for record in statistics(matches)],
        }
        print(json.dumps(shown, ensure_ascii=False, indent=2))
        return 0
    for line in lines(matches):
        print(line)
    for folder in busy:
        print(
            _("(a game is going on with the keys in {folder}; its history is not shown)").format(
                folder=folder
            )
        )
    return 0


def read(data_dir: Path) -> tuple[list[Told], list[Path]]:
    """The finished matches, the latest first; and the folders of identities that are in use just now."""
    matches, busy = [], []
    for folder in _identities(data_dir):
        try:
            journal = Journal(folder)
        except JournalInUse:
            busy.append(folder)
            continue
        with contextlib.closing(journal):
            for past in journal.history():
                roster = unpack(Start, past.start).roster
                keys = [member.key for member in roster.members]
                matches.append(Told(past, roster, keys.index(journal.identity.public)))
    return sorted(matches, key=lambda told: told.past.ended, reverse=True), busy


def statistics(matches: Sequence[Told]) -> list[Record]:
    """What each player of these matches (the latest first) has won, oneself first; finished matches count."""
    played, mine = [], set()
    for told in matches:
        past, members = told.past, told.roster.members
        mine.add(members[told.me].key)
        if past.state is MatchState.FINISHED and (result := past.result) is not None:
            played.append(Played(past.id, members, result.totals, result.winners, result.duels))
    return records(played, mine)


def _identities(data_dir: Path) -> Iterator[Path]:
    """The folders with a journal; opening another one would make it."""
    for folder in sorted(data_dir.glob("identity*")):
        if (folder / "journal.db").exists():
            yield folder


def lines(matches: Sequence[Told]) -> list[str]:
    """The history for people: a line a match, then a line a player, best first."""
    if not matches:
        return [_("No match has been played yet.")]
    told = []
    for match in matches:
        told += [_head(match), *_players(match)]
        if match.past.transcript is not None:
            told.append("  " + _("Transcript: {path}").format(path=safe(str(match.past.transcript))))
    won = statistics(matches)
    return [*told, "", _("All finished matches together:"), *map(_record, won)] if won else told


def _record(record: Record) -> str:
    name = safe(record.name)
    parts = [
        _("{name} (you)").format(name=name) if record.me else name,
        _("matches won: {won} of {all}").format(won=record.matches_won, all=record.matches),
        _("games won: {won} of {all}").format(won=record.games_won, all=record.games),
        points(record.points),
    ]
    if record.duels:
        parts.append(_("duels won: {won} of {all}").format(won=record.duels_won, all=record.duels))
    parts.append(_("key {key}").format(key=fingerprint(record.key)))
    return "  " + parts[0] + ": " + ", ".join(parts[1:])


def _head(match: Told) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(match.past.ended))
    state = "" if match.past.state is MatchState.FINISHED else ", " + _("not finished")
    games = match.roster.rules.games
    text = ngettext(
        "{when}  table {table}, {n} game{state}", "{when}  table {table}, {n} games{state}", games
    )
    return text.format(when=when, table=table_name(match.roster.table), n=games, state=state)


def _players(match: Told) -> Iterator[str]:
    result = match.past.result
    totals = None if result is None else result.totals
    seats = range(len(match.roster.members)) if totals is None else ranking(totals)
    for seat in seats:
        member = match.roster.members[seat]
        name = safe(member.name)
        if seat == match.me:
            name = _("{name} (you)").format(name=name)
        shown = points(totals[seat]) if totals is not None else "-"
        if result is not None and (won := result.winners.count(seat)):
            shown += ", " + ngettext("{n} game won", "{n} games won", won).format(n=won)
        yield "  " + _("{name}: {points}, key {key}").format(
            name=name, points=shown, key=fingerprint(member.key)
        )


def as_object(match: Told) -> dict[str, object]:
    """One match as JSON has it. Times are Unix seconds, keys hexadecimal (32 bytes).

    `duels`: the seats that won and lost each duel; null where that was not noted.
    """
    past, result = match.past, match.past.result
    return {
        "match": past.id.hex(),
        "table": table_name(match.roster.table),
        "begun": past.begun,
        "ended": past.ended,
        "state": past.state.value,
        "games": match.roster.rules.games,
        "winners": None if result is None else list(result.winners),
        "duels": None if result is None else result.duels,
        "transcript": None if past.transcript is None else str(past.transcript),
        "players": [
            {
                "name": member.name,
                "key": member.key.hex(),
                "me": seat == match.me,
                "points": None if result is None else result.totals[seat],
            }
            for seat, member in enumerate(match.roster.members)
        ],
    }


def _record_object(record: Record) -> dict[str, object]:
    return {**asdict(record), "key": record.key.hex()}
