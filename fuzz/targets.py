"""What a stranger's bytes reach, one function each: it returns, or raises our own DecodeError, nothing else."""

from __future__ import annotations

from collections.abc import Callable

from otto_p2p.net.adverts import read_advert
from otto_p2p.net.frames import decode_frame, encode_frame
from otto_protocol.encoding import decode, encode
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg
from otto_protocol.lobby.names import name_problem
from otto_protocol.lobby.record import Here, OtherVersion, open_here
from otto_protocol.match import messages as m
from otto_protocol.match.audit import audit, judge
from otto_protocol.match.transcript import dump, load


def value(data: bytes) -> None:
    """The strict inverse of the encoding."""
    assert encode(decode(data)) == data


def frame(data: bytes) -> None:
    """One frame of a link."""
    assert encode_frame(decode_frame(data)) == data


def message(data: bytes) -> None:
    """A signed message of a match: the outer layer, and what is inside."""
    signed = m.parse_signed(data)
    inside = m.parse_content(signed)
    assert m.content_of(inside.header, inside.body) == signed.content


def content(data: bytes) -> None:
    """What somebody has signed: canonical, or a fault."""
    inside = m.parse_content(m.Signed(data[0] % 10 if data else 0, data[1:], bytes(64)))
    assert m.content_of(inside.header, inside.body) == data[1:]


def here(data: bytes) -> None:
    """A record of the lobby. What is taken can be shown on a terminal."""
    record = open_here(data)
    assert isinstance(record, Here | OtherVersion)
    assert name_problem(record.name) is None


def transcript(data: bytes) -> None:
    """A transcript file, and the verdict on it."""
    loaded = load(data)
    assert dump(loaded) == data
    audit(loaded, Drbg(b"audit"))
    judge(loaded, Drbg(b"judge"))


def advert(data: bytes) -> None:
    """An mDNS answer: keys and values of a TXT record, cut at zero bytes. Nothing is raised at all."""
    label, _, rest = data.partition(b"\0")
    parts = rest.split(b"\0")
    record: dict[bytes, bytes | None] = {}
    for part in parts:
        key, equals, text = part.partition(b"=")
        record[key] = text if equals else None
    try:
        read = read_advert(label.decode("latin-1"), record, len(data) * 7, ["192.168.1.5", "fe80::5%eth0"])
    except DecodeError:
        raise AssertionError("an advert is no reason to raise") from None
    if read is not None:
        assert name_problem(read.name) is None
        assert read.title.isprintable()


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (value, frame, message, content, here, transcript, advert)
}


def check(name: str, data: bytes) -> bool:
    """Whether the bytes were taken; raises whatever is not allowed to be raised."""
    try:
        TARGETS[name](data)
    except DecodeError:
        return False
    return True
