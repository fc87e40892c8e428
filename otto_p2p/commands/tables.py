"""`otto-p2p tables`: who is on this LAN, looked at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import trio

from otto_p2p.i18n import _
from otto_p2p.net.adverts import DOCTOR, TableRow, by_table
from otto_p2p.net.discovery import browse_once
from otto_p2p.texts.safe import safe
from otto_p2p.ui.columns import columns
from otto_protocol.roster import PROTOCOL_VERSION

SECONDS = 2.0  # answers come within 0.2 s; a busy or lossy network takes longer


def tables(*, as_json: bool) -> int:
    """Print the tables; the exit status. Raises LocalError when discovery does not work at all."""
    seen = trio.run(browse_once, SECONDS)
    rows = by_table(advert for advert in seen if advert.version != DOCTOR)
    lines = [json.dumps([_values(row) for row in rows], indent=2)] if as_json else shown(rows)
    for line in lines:
        print(line, file=sys.stdout)
    return 0


def shown(rows: Sequence[TableRow]) -> list[str]:
    """The tables as lines, with a heading."""
    if not rows:
        return [_("Nobody was found on this LAN. Open a table with: otto-p2p join")]
    heading = (_("TABLE"), _("SEATS"), _("STATE"), _("PEOPLE"))
    return columns([heading, *((_title(row), _seats(row), _state(row), _people(row)) for row in rows)])


def _title(row: TableRow) -> str:
    return safe(row.title) or row.table.hex()[:8]


def _seats(row: TableRow) -> str:
    return f"{row.seated}/{row.seats}" if row.seats else "?"


def _state(row: TableRow) -> str:
    if row.version != PROTOCOL_VERSION:
        return _("plays version {version}, this is {own}").format(version=row.version, own=PROTOCOL_VERSION)
    if row.playing:
        return _("playing")
    return _("full") if row.seated >= row.seats else _("open")


def _people(row: TableRow) -> str:
    return ", ".join(safe(peer.name) for peer in row.peers)


def _values(row: TableRow) -> dict[str, object]:
    return {
        "table": row.table.hex(),
        "name": row.title,
        "seated": row.seated,
        "seats": row.seats,
        "pinned": row.pinned,
        "playing": row.playing,
        "version": row.version,
        "peers": [
            {
                "name": peer.name,
                "key": peer.key.hex(),
                "addresses": [str(address) for address in peer.addresses],
            }
            for peer in row.peers
        ],
    }
