"""A transcript holds as it is, and in no other way: whatever was changed, cut, reordered or added."""

from __future__ import annotations

import dataclasses
import tracemalloc

import pytest

from otto_protocol.encoding import decode, encode, pack
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Drbg, random_below
from otto_protocol.lab import Lab
from otto_protocol.lobby.record import sign_ready
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Failed, Unfinished, Verdict, Verified, audit
from otto_protocol.match.transcript import MAGIC, Transcript, UnknownVersion, dump, load
from otto_protocol.roster import PROTOCOL_VERSION, Member
from tests.protocol.lab_games import RNG, played

SEED = "a"  # of a short game of two
SAMPLES = 300


def lab() -> Lab:
    return played(2, SEED)


def transcript() -> Transcript:
    return lab().transcript()


def messages_of(found: Transcript) -> list[m.Signed]:
    return [m.parse_signed(item) for item in found.items]


def with_messages(*messages: m.Signed) -> Transcript:
    return dataclasses.replace(transcript(), items=tuple(map(pack, messages)))


def failed(changed: Transcript) -> Failed:
    verdict = audit(changed, RNG)
    assert isinstance(verdict, Failed), verdict
    return verdict


def place(kind: type[m.Body]) -> int:
    """Where the first message of this kind is."""
    return next(
        n for n, signed in enumerate(messages_of(transcript()))
        if isinstance(m.parse_content(signed).body, kind)
    )  # fmt: skip


def said_otherwise(number: int, body: m.Body, **header: object) -> Transcript:
    """The transcript with message `number` saying something else, signed again by its own seat."""
    messages = messages_of(transcript())
    message = m.parse_content(messages[number])
    changed = dataclasses.replace(message.header, **header)  # type: ignore[arg-type]
    messages[number] = m.sign(lab().identities[messages[number].seat], changed, body).signed
    return with_messages(*messages)


@pytest.mark.anew
def test_an_honest_transcript_holds() -> None:
    verdict = audit(load(dump(transcript())), RNG)
    assert isinstance(verdict, Verified)
    replica = lab().session(0).replica
    assert (verdict.digest, verdict.steps) == (replica.digest, replica.step)
    assert (verdict.results, verdict.totals) == (replica.results, replica.totals)


@pytest.mark.anew
def test_the_verdict_does_not_depend_on_the_randomness_of_the_verifier() -> None:
    assert audit(transcript(), Drbg(b"one")) == audit(transcript(), Drbg(b"other"))


def judged(data: bytes) -> Verdict | str:
    """The verdict on a file, or the name of the error that says that it is none."""
    try:
        return audit(load(data), RNG)
    except DecodeError as error:
        return type(error).__name__


def test_no_single_byte_can_change() -> None:
    data = dump(transcript())
    rng = Drbg(b"which bytes")
    blamed = []
    for sample in range(SAMPLES):
        at = sample * len(data) // SAMPLES + random_below(len(data) // SAMPLES, rng)
        changed = bytearray(data)
        changed[at] ^= 1 << random_below(8, rng)
        verdict = judged(bytes(changed))
        assert isinstance(verdict, str | Failed), at
        if isinstance(verdict, Failed):
            blamed.append(verdict.seat)
    assert len(blamed) > SAMPLES // 2
    assert set(blamed) == {None}  # a changed file is no seat's doing


def test_every_byte_of_the_head_counts() -> None:
    data = dump(transcript())
    for at in range(len(MAGIC) + 8):
        changed = bytearray(data)
        changed[at] ^= 1
        assert not isinstance(judged(bytes(changed)), Verified), at


def test_a_truncated_file_is_none() -> None:
    data = dump(transcript())
    for end in (*range(0, 200), *range(200, len(data), 997), len(data) - 1):
        assert judged(data[:end]) == "DecodeError"
    assert judged(data + b"\0") == "DecodeError"


def test_a_match_that_is_cut_is_unfinished() -> None:
    messages = messages_of(transcript())
    for end in (0, 1, 2, 7, len(messages) // 2, len(messages) - 1):
        verdict = audit(with_messages(*messages[:end]), RNG)
        assert isinstance(verdict, Unfinished)
        assert verdict.step == (m.parse_content(messages[end]).header.step)
        assert messages[end].seat in verdict.awaited


def test_another_version_is_named() -> None:
    value = decode(dump(transcript()), 1 << 28)
    assert isinstance(value, tuple)
    magic, inner = value
    assert isinstance(inner, tuple)
    for version in (PROTOCOL_VERSION + 1, 0, 65535):
        with pytest.raises(UnknownVersion, match=str(version)):
            load(encode((magic, (version, *inner[1:]))))
    with pytest.raises(UnknownVersion):  # however the rest of it looks
        load(encode((magic, (PROTOCOL_VERSION + 1, "new", "fields"))))


def peak(data: bytes) -> float:
    """How many times its own size a file takes while it is loaded, or refused."""
    tracemalloc.start()
    try:
        assert judged(data) == "DecodeError"
        return tracemalloc.get_traced_memory()[1] / len(data)
    finally:
        tracemalloc.stop()


def test_a_file_of_many_arrays_is_refused_before_they_are_made() -> None:
    """Without a bound such files took 32 times their size."""
    size = 1 << 20
    for item in (
        b"\x91\x00",
        b"\x00",
        b"\x90",
        b"\x93\x00\xc4\x00\xc4\x00",
        b"\x92\xa8" + b"x" * 8 + b"\x00",
    ):
        count = size // len(item)
        assert peak(b"\x92" + encode(MAGIC) + b"\xdd" + count.to_bytes(4, "big") + item * count) < 6


def test_what_is_no_transcript() -> None:
    for data in (
        b"",
        b"\0",
        b"hello",
        encode(()),
        encode((MAGIC,)),
        encode((MAGIC, ())),
        encode((MAGIC, (1,))),
    ):
        with pytest.raises(DecodeError):
            load(data)


def test_messages_in_another_order() -> None:
    """Inside a step the order means nothing, and the digest is the same; the order of steps is fixed."""
    messages = messages_of(transcript())
    headers = [m.parse_content(signed).header for signed in messages]
    for first in (0, 2, 5, 20, len(messages) - 2):
        swapped = [*messages[:first], messages[first + 1], messages[first], *messages[first + 2 :]]
        if headers[first].step == headers[first + 1].step:
            assert audit(with_messages(*swapped), RNG) == audit(transcript(), RNG)
        else:
            verdict = failed(with_messages(*swapped))
            assert (verdict.seat, verdict.rule) == (None, "F3")


def test_a_message_twice_or_left_out_or_after_the_end() -> None:
    messages = messages_of(transcript())
    for n in (0, 3, 30):
        assert failed(with_messages(*messages[: n + 1], *messages[n:])).rule == "F3"
        assert failed(with_messages(*messages[:n], *messages[n + 1 :])).rule == "F3"
    assert failed(with_messages(*messages, messages[-1])).rule == "F3"


def test_a_message_of_somebody_else() -> None:
    messages = messages_of(transcript())
    for seat in (1 - messages[4].seat, 9):
        messages[4] = dataclasses.replace(messages_of(transcript())[4], seat=seat)
        assert (failed(with_messages(*messages)).seat, failed(with_messages(*messages)).rule) == (None, "F2")


def test_a_certificate_that_not_all_have_signed() -> None:
    start = transcript().start
    roster = start.roster
    other = dataclasses.replace(roster, round=roster.round + 1)
    renamed = (Member(roster.members[0].key, "Mallory"), *roster.members[1:])
    signatures = start.signatures
    for changed in (
        dataclasses.replace(start, roster=other),
        dataclasses.replace(start, signatures=signatures[:1]),
        dataclasses.replace(start, signatures=signatures[::-1]),
        dataclasses.replace(start, signatures=(bytes(64), signatures[1])),
        dataclasses.replace(start, roster=dataclasses.replace(roster, members=renamed)),
        dataclasses.replace(start, roster=dataclasses.replace(roster, members=roster.members[:1])),
        dataclasses.replace(start, roster=dataclasses.replace(roster, members=roster.members[::-1])),
        dataclasses.replace(start, roster=dataclasses.replace(roster, members=())),
    ):
        assert failed(dataclasses.replace(transcript(), start=changed)).rule == "F1"


def test_a_certificate_for_another_match_takes_no_messages_of_this_one() -> None:
    roster = dataclasses.replace(transcript().start.roster, round=7)
    signatures = tuple(sign_ready(identity, roster) for identity in lab().identities)
    start = dataclasses.replace(transcript().start, roster=roster, signatures=signatures)
    assert failed(dataclasses.replace(transcript(), start=start)).rule == "F2"


# -- what a seat did itself ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (m.KeyOpen, "P4"),
        (m.Shuffle, "P6"),
        (m.Shares, "P8"),
        (m.Lead, "T14"),
        (m.Answer, "T7"),
        (m.OpenLead, "P4"),
        (m.Result, "P11"),
    ],
)
def test_a_seat_that_breaks_a_rule_is_named(kind: type[m.Body], rule: str) -> None:
    number = place(kind)
    message = m.parse_content(messages_of(transcript())[number])
    body = message.body
    match body:
        case m.KeyOpen() | m.OpenLead():
            bad: m.Body = dataclasses.replace(body, nonce=bytes(32))
        case m.Shuffle():
            bad = m.Shuffle(body.deck[66:])
        case m.Shares():
            bad = m.Shares(body.shares[33:], body.proof)
        case m.Lead():
            bad = m.GoOn(b"")
        case m.Answer():
            bad = dataclasses.replace(body, slot=2**31)
        case _:
            bad = m.Result((255, 255))
    verdict = failed(said_otherwise(number, bad))
    assert (verdict.step, verdict.seat, verdict.rule) == (message.header.step, message.header.seat, rule)


def test_a_seat_that_signed_no_message_is_named() -> None:
    messages = messages_of(transcript())
    seat = messages[10].seat
    identity, match = lab().identities[seat], transcript().start.roster.match_id()
    for content in (b"", b"\xc0", messages[10].content + b"\0"):
        messages[10] = m.Signed(seat, content, identity.sign(m.SIGNATURE_TAG, match, content))
        verdict = failed(with_messages(*messages))
        assert (verdict.seat, verdict.rule) == (seat, "P2")


def test_a_shuffle_proof_that_does_not_hold_names_its_maker() -> None:
    number = place(m.ShuffleProof)
    body = m.parse_content(messages_of(transcript())[number]).body
    assert isinstance(body, m.ShuffleProof)
    verdict = failed(said_otherwise(number, m.ShuffleProof(body.proof[:-1] + bytes([body.proof[-1] ^ 1]))))
    assert (verdict.seat, verdict.rule) == (messages_of(transcript())[number].seat, "P7")


def test_a_legal_move_in_place_of_another_breaks_the_chain_behind_it() -> None:
    number = place(m.Exchange)
    body = m.parse_content(messages_of(transcript())[number]).body
    assert isinstance(body, m.Exchange)
    verdict = failed(said_otherwise(number, m.Exchange(not body.take)))
    assert verdict.rule in ("F3", "P3")
    assert verdict.step > m.parse_content(messages_of(transcript())[number]).header.step


@pytest.mark.parametrize(
    ("header", "rule"),
    [({"view": 1}, "F3"), ({"previous": bytes(32)}, "F3"), ({"match": bytes(32)}, "F2"), ({"step": 0}, "P1")],
)
def test_a_message_for_another_place_does_not_belong_here(header: dict[str, object], rule: str) -> None:
    number = place(m.Answer)
    signed = messages_of(transcript())[number]
    verdict = failed(said_otherwise(number, m.parse_content(signed).body, **header))
    assert (verdict.seat, verdict.rule) == (signed.seat if rule == "P1" else None, rule)
