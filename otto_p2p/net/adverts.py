"""What a peer tells the LAN of itself by mDNS: a bounded advert, its TXT record, and how that is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from otto_p2p.net.addresses import Address
from otto_protocol.limits import MAX_SEATS
from otto_protocol.lobby.names import name_problem
from otto_protocol.lobby.record import MAX_ADDRESSES
from otto_protocol.roster import MAX_NAME, PROTOCOL_VERSION

SERVICE_TYPE = "_otto-p2p._tcp.local."
MAX_TITLE = 63  # bytes of UTF-8
NONCE_BYTES = 6
DOCTOR = 0  # the version of `otto-p2p doctor`, which has no table

_LABEL = re.compile(r"([0-9a-f]{16})-([0-9a-f]{12})")
_SEATS = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Advert:
    """A peer and its table, as it says itself; nothing of it is proven before there is a link.

    `key` is 32 bytes, `table` 16, `nonce` 6 and new for each run of the program. `version` is the protocol's:
    of another version only the name can be relied on. `addresses` are filled in by the peer that receives it.
    """

    key: bytes
    nonce: bytes
    name: str
    table: bytes
    title: str
    seated: int
    seats: int
    pinned: bool
    playing: bool
    port: int
    version: int = PROTOCOL_VERSION
    addresses: tuple[Address, ...] = ()

    @property
    def instance(self) -> str:
        """The mDNS instance name: unique for each run, whatever people call themselves (29 bytes)."""
        return f"{self.key.hex()[:16]}-{self.nonce.hex()}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """One table, however many of its peers were seen on however many interfaces."""

    table: bytes
    title: str
    seated: int
    seats: int
    pinned: bool
    playing: bool
    version: int
    peers: tuple[Advert, ...]


def txt_record(advert: Advert) -> dict[str, str]:
    """The TXT record (RFC 6763 section 6): short keys, at most about 350 bytes in all."""
    flags = ("p" if advert.pinned else "") + ("g" if advert.playing else "")
    return {
        "v": str(advert.version),
        "k": advert.key.hex(),
        "n": cut_utf8(advert.name, MAX_NAME),
        "t": advert.table.hex(),
        "w": cut_utf8(advert.title, MAX_TITLE),
        "p": f"{advert.seated}/{advert.seats}",
        "f": flags,
    }


def read_advert(
    instance: str, record: Mapping[bytes, bytes | None], port: int | None, addresses: Iterable[str]
) -> Advert | None:
    """The advert in an mDNS answer, or None for nonsense: whatever a stranger sends, nothing is raised.

    `instance` is the name before the service type; `addresses` are IP addresses, perhaps with a scope.
    """
    label = _LABEL.fullmatch(instance)
    version = _number(record, b"v", 65535)
    key = _hex(record, b"k", 32)
    if label is None or version is None or key is None or label[1] != key.hex()[:16]:
        return None
    if not port or not 1 <= port <= 65535:
        return None
    name = _text(record, b"n", MAX_NAME)
    if name is None or name_problem(name) is not None:
        return None
    table = _hex(record, b"t", 16)
    title = _text(record, b"w", MAX_TITLE)
    seats = _SEATS.fullmatch(_text(record, b"p", 5) or "")
    ours = version == PROTOCOL_VERSION
    if ours and (table is None or title is None or seats is None or not title.isprintable()):
        return None
    seated, places = (int(seats[1]), int(seats[2])) if seats else (0, 0)
    if ours and not (seated <= places <= MAX_SEATS):
        return None
    flags = _text(record, b"f", 8) or ""
    hosts = tuple(dict.fromkeys(addresses))[:MAX_ADDRESSES]
    return Advert(
        key=key,
        nonce=bytes.fromhex(label[2]),
        name=name,
        table=table or bytes(16),
        title=title if title is not None and title.isprintable() else "",
        seated=min(seated, MAX_SEATS),
        seats=min(places, MAX_SEATS),
        pinned="p" in flags,
        playing="g" in flags,
        port=port,
        version=version,
        addresses=tuple(Address(host, port) for host in hosts),
    )


def by_table(adverts: Iterable[Advert]) -> tuple[TableRow, ...]:
    """One row for each table: pinned ones first, then by id; its peers by key.

    Peers of one table may say different things for a moment: the one with the most people is believed.
    """
    tables: dict[tuple[int, bytes], dict[bytes, Advert]] = {}
    for advert in adverts:
        tables.setdefault((advert.version, advert.table), {})[advert.key] = advert
    rows = []
    for (version, table), peers in tables.items():
        first = max(peers.values(), key=lambda advert: (advert.seated, advert.pinned, advert.key))
        rows.append(
            TableRow(
                table=table,
                title=first.title,
                seated=first.seated,
                seats=first.seats,
                pinned=any(advert.pinned for advert in peers.values()),
                playing=any(advert.playing for advert in peers.values()),
                version=version,
                peers=tuple(peers[key] for key in sorted(peers)),
            )
        )
    return tuple(sorted(rows, key=lambda row: (not row.pinned, row.version, row.table)))


def cut_utf8(text: str, size: int) -> str:
    """The longest start of `text` that is valid UTF-8 of at most `size` bytes."""
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


def _text(record: Mapping[bytes, bytes | None], key: bytes, most: int) -> str | None:
    value = record.get(key)
    if value is None or len(value) > most:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _hex(record: Mapping[bytes, bytes | None], key: bytes, size: int) -> bytes | None:
    text = _text(record, key, 2 * size)
    if text is None or re.fullmatch(r"[0-9a-f]*", text) is None or len(text) != 2 * size:
        return None
    return bytes.fromhex(text)


def _number(record: Mapping[bytes, bytes | None], key: bytes, most: int) -> int | None:
    text = _text(record, key, 5)
    if text is None or re.fullmatch(r"[0-9]+", text) is None or int(text) > most:
        return None
    return int(text)
