"""Adverts: bounded when written, strict when read."""

from __future__ import annotations

import dataclasses
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zeroconf import ServiceInfo

from otto_p2p.net.addresses import Address
from otto_p2p.net.adverts import SERVICE_TYPE, Advert, by_table, cut_utf8, read_advert, txt_record
from otto_protocol.roster import PROTOCOL_VERSION

ADVERT = Advert(
    key=bytes(range(32)),
    nonce=b"nonce6",
    name="Ann",
    table=bytes(16),
    title="red otter",
    seated=2,
    seats=4,
    pinned=True,
    playing=False,
    port=47701,
)


def as_bytes(advert: Advert) -> dict[bytes, bytes | None]:
    return {key.encode(): value.encode() for key, value in txt_record(advert).items()}


def test_what_is_published_is_read() -> None:
    read = read_advert(ADVERT.instance, as_bytes(ADVERT), 47701, ["10.0.0.1", "fe80::1%2", "10.0.0.1"])
    addresses = (Address("10.0.0.1", 47701), Address("fe80::1%2", 47701))
    assert read == dataclasses.replace(ADVERT, addresses=addresses)


@pytest.mark.parametrize("name", ["é" * 40, "🂡" * 16, "a" * 200, "Jānis"])
def test_long_names_are_cut_and_everything_fits(name: str) -> None:
    # field report 7: the name is in TXT, never in the instance name
    advert = dataclasses.replace(ADVERT, name=name, title=name)
    record = txt_record(advert)
    assert len(record["n"].encode()) <= 40
    assert len(record["w"].encode()) <= 63
    assert len(f"{advert.instance}.{SERVICE_TYPE}".split(".")[0].encode()) <= 63
    info = ServiceInfo(
        SERVICE_TYPE,
        f"{advert.instance}.{SERVICE_TYPE}",
        addresses=[ipaddress.ip_address(f"fd00::{n}").packed for n in range(1, 9)],
        port=1,
        properties=record,
        server="x.local.",
    )
    assert info.text is not None
    assert len(info.text) < 500
    assert read_advert(advert.instance, as_bytes(advert), 1, []) is not None


@pytest.mark.parametrize(
    "change",
    [
        {b"k": None},
        {b"k": b"00"},
        {b"k": b"g" * 64},
        {b"k": b"ff" * 32},
        {b"v": b""},
        {b"v": b"-1"},
        {b"v": b"99999"},
        {b"v": "١".encode()},
        {b"n": b"\xff\xfe"},
        {b"n": b"\x1b[2J"},
        {b"n": b"a" * 41},
        {b"n": b""},
        {b"t": b"00"},
        {b"w": b"\x1b[31m"},
        {b"w": b"w" * 64},
        {b"p": b"5/4"},
        {b"p": b"2/11"},
        {b"p": b"a/b"},
        {b"p": b"1/2/3"},
    ],
)
def test_nonsense_is_no_advert(change: dict[bytes, bytes | None]) -> None:
    assert read_advert(ADVERT.instance, {**as_bytes(ADVERT), **change}, 47701, []) is None


@pytest.mark.parametrize("port", [None, 0, -1, 65536])
def test_a_port_is_needed(port: int | None) -> None:
    assert read_advert(ADVERT.instance, as_bytes(ADVERT), port, []) is None


def test_the_instance_name_belongs_to_the_key() -> None:
    for instance in ("", "ann", "0" * 16 + "-" + "0" * 12, ADVERT.instance + "x"):
        assert read_advert(instance, as_bytes(ADVERT), 47701, []) is None


def test_another_version_is_shown_whatever_else_it_says() -> None:
    record = {**as_bytes(ADVERT), b"v": b"%d" % (PROTOCOL_VERSION + 1), b"p": b"?", b"t": None}
    read = read_advert(ADVERT.instance, record, 47701, [])
    assert read is not None
    assert (read.name, read.version) == ("Ann", PROTOCOL_VERSION + 1)


@given(st.dictionaries(st.sampled_from([b"v", b"k", b"n", b"t", b"w", b"p", b"f"]), st.binary(max_size=255)))
def test_any_record_is_an_advert_or_nothing(record: dict[bytes, bytes | None]) -> None:
    read_advert(ADVERT.instance, {**as_bytes(ADVERT), **record}, 47701, ["10.0.0.1"])


def test_one_row_for_a_table_however_many_peers_and_addresses() -> None:
    # field report 1
    twice = dataclasses.replace(ADVERT, addresses=(Address("192.168.1.5", 1), Address("fe80::5%2", 1)))
    other = dataclasses.replace(ADVERT, key=bytes(32), seated=3)
    rows = by_table([twice, other, twice])
    assert len(rows) == 1
    assert rows[0].seated == 3
    assert rows[0].peers == (other, twice)


@given(st.text(max_size=60), st.integers(0, 70))
def test_cut_text_is_valid_and_short(text: str, size: int) -> None:
    cut = cut_utf8(text, size)
    assert len(cut.encode()) <= size
    assert text.encode("utf-8", "replace").decode().startswith(cut)
