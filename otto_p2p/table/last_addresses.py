"""Where the players of a match were last reached: kept, so that a restarted peer needs no discovery."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from otto_p2p.net.addresses import Address, parse_hint
from otto_p2p.net.frames import MAX_HINT, MAX_HINTS, Key
from otto_p2p.net.mesh import Mesh
from otto_p2p.storage.journal import Journal
from otto_protocol.encoding import AtMost, pack, unpack
from otto_protocol.errors import DecodeError
from otto_protocol.limits import MAX_SEATS

_NAME = "addresses"


@dataclass(frozen=True, slots=True)
class LastAddresses:
    """The addresses of one peer, "1.2.3.4:5" or "[v6]:5", best first."""

    key: Key
    addresses: Annotated[tuple[Annotated[str, AtMost(MAX_HINT)], ...], AtMost(MAX_HINTS)]


@dataclass(frozen=True, slots=True)
class Everybody:
    """What the journal keeps."""

    people: Annotated[tuple[LastAddresses, ...], AtMost(MAX_SEATS)]


def noted(mesh: Mesh, keys: Iterable[bytes]) -> bytes:
    """Where these peers can be dialled, as far as the mesh knows now, as bytes for `keep`."""
    people = []
    for key in keys:
        if key != mesh.key:
            # A scope is this machine's, and may be another one after a restart: it is looked up again then.
            places = [Address(a.host.partition("%")[0], a.port) for a in mesh.addresses(key)]
            texts = [text for text in dict.fromkeys(map(str, places)) if parse_hint(text) is not None]
            people.append(LastAddresses(key, tuple(texts[:MAX_HINTS])))
    return pack(Everybody(tuple(people[:MAX_SEATS])))


def keep(journal: Journal, data: bytes) -> None:
    """Keep what `noted` said, in place of what was kept before. Blocks."""
    journal.remember(_NAME, data)


def kept(journal: Journal) -> bytes | None:
    """What was kept last, or None. Blocks."""
    return journal.recall(_NAME)


def tell(mesh: Mesh, data: bytes | None) -> None:
    """Let the mesh dial whoever was kept; what cannot be read is as good as nothing."""
    try:
        people = unpack(Everybody, data).people if data is not None else ()
    except DecodeError:
        return
    for one in people:
        mesh.add_candidate([a for text in one.addresses if (a := parse_hint(text)) is not None], one.key)
