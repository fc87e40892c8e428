"""`otto-p2p verify`: every changed byte is refused, a seat that cheated is named, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest

from otto_p2p import i18n
from otto_p2p.cli import main
from otto_p2p.commands import verify
from otto_p2p.players import bots
from otto_protocol.encoding import pack
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.transcript import Transcript, dump
from otto_protocol.roster import PROTOCOL_VERSION, TableRules

SAMPLES = 12  # tests/protocol/test_audit.py has many more


@pytest.fixture(scope="module")
def lab() -> Lab:
    """A whole game of two built-in players."""
    lab = Lab(2, Drbg(b"verify"), TableRules(decks=1))
    lab.play(lambda view, decisions: bots.choose(view, [*decisions], lab.rng))  # type: ignore[list-item]
    return lab


def test_a_true_transcript_holds(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "true.otto"
    path.write_bytes(dump(lab.transcript()))
    assert main(["--lang", "en", "verify", str(path)]) == 0
    told = capsys.readouterr().out
    assert "The transcript holds" in told
    assert "points, collected the number" in told
    assert main(["verify", str(path), "--lang", "lv"]) == 0
    assert "Protokols ir pareizs" in capsys.readouterr().out


def test_any_changed_byte_is_refused(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One byte changed, at places over the whole file; nobody's seat is blamed for it."""
    i18n.use("en")
    original = dump(lab.transcript())
    rng = Drbg(b"places")
    refused = 0
    for sample in range(SAMPLES):
        place = (sample * len(original) + int.from_bytes(rng(4), "big") % len(original)) // SAMPLES
        changed = bytearray(original)
        changed[place] ^= 1 << (rng(1)[0] % 8)
        path = tmp_path / "changed.otto"
        path.write_bytes(changed)
        status = verify.verify(str(path))
        told = capsys.readouterr()
        assert status in (1, 2), place
        assert (told.out or told.err).count("\n") == 1
        assert "broke rule" not in told.out
        refused += status == 1
    assert refused > SAMPLES // 2


def test_who_cheated_is_named(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seat 1 signs a card that it does not hold, or that the leader's number forbids."""
    true = lab.transcript()
    parsed = [m.parse_content(m.parse_signed(item)) for item in true.items]
    place, message = next(
        (place, message)
        for place, message in enumerate(parsed)
        if isinstance(message.body, m.Answer) and message.header.seat == 1
    )
    assert isinstance(message.body, m.Answer)
    forged = m.sign(lab.identities[1], message.header, m.Answer(9_999, message.body.opening))
    path = tmp_path / "forged.otto"
    items = (*true.items[:place], m.wire(forged), *true.items[place + 1 :])
    path.write_bytes(dump(Transcript(true.version, true.start, items)))
    assert main(["--lang", "en", "verify", str(path)]) == 1
    told = capsys.readouterr().out
    assert f"step {message.header.step}: seat 1 (player 1) broke rule" in told
    assert told.count("\n") == 1


def test_evidence_convicts_on_a_machine_that_never_saw_the_game(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two contents for one step prove themselves; a true transcript proves nothing against anybody."""
    roster = lab.start.roster
    header = m.Header(roster.match_id(), 0, 0, 1, bytes(32))
    both = [m.sign(lab.identities[1], header, m.KeyCommit(bytes([n]) * 32)).signed for n in (1, 2)]
    path = tmp_path / "cheat.evidence"
    version = PROTOCOL_VERSION
    path.write_bytes(dump(Transcript(version, lab.start, (pack(m.Evidence(tuple(both))),))))
    assert main(["--lang", "en", "verify", "--evidence", str(path)]) == 0
    assert "Proven: seat 1" in capsys.readouterr().out
    path.write_bytes(dump(Transcript(version, lab.start, (pack(m.Evidence((both[0], both[0]))),))))
    assert main(["--lang", "en", "verify", "--evidence", str(path)]) == 1
    path.write_bytes(dump(lab.transcript()))
    assert main(["--lang", "en", "verify", "--evidence", str(path)]) == 1
    assert "Nothing is proven" in capsys.readouterr().out
    path.write_bytes(b"nonsense")
    assert main(["--lang", "en", "verify", "--evidence", str(path)]) == 2
