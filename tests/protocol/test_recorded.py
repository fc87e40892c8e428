"""The recorded matches still verify, step by step: a change that breaks them changes the protocol."""

from __future__ import annotations

import base64
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from otto_protocol.hashing import Drbg
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Verified, audit
from otto_protocol.match.replica import Replica, Spoken
from otto_protocol.match.transcript import Transcript, dump, load

FILE = Path(__file__).parents[2] / "protocol" / "vectors" / "match.json"
MATCHES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["accepted"]
RNG = Drbg(b"weights")

each = pytest.mark.parametrize("match", MATCHES, ids=lambda match: match["name"])


def transcript(match: dict[str, Any]) -> Transcript:
    return load(base64.b64decode(match["transcript"]))


@each
def test_a_recorded_match_verifies(match: dict[str, Any]) -> None:
    verdict = audit(transcript(match), RNG)
    assert isinstance(verdict, Verified), verdict
    assert verdict.digest.hex() == match["digest"]
    assert [list(result.points) for result in verdict.results] == match["points"]
    assert verdict.roster.match_id().hex() == match["match"]


@each
def test_its_file_has_one_form(match: dict[str, Any]) -> None:
    assert dump(transcript(match)) == base64.b64decode(match["transcript"])


@each
def test_each_step_is_what_was_recorded(match: dict[str, Any]) -> None:
    """Up to the first vote the recording is replayed here, without the audit."""
    found = transcript(match)
    replica, spoken = Replica(found.start.roster), dict[int, Spoken]()
    steps = iter(match["steps"])
    for item in found.items:
        signed = m.parse(item)
        assert isinstance(signed, m.Signed)
        message = m.parse_content(signed)
        if isinstance(message.body, m.BALLOTS) or message.header.step != replica.step:
            break
        if not spoken:
            here = [replica.view, replica.step, replica.phase.value, list(replica.wanted())]
            assert [*here, replica.digest.hex()] == next(steps)
        spoken[signed.seat] = Spoken(message, replica.check(signed.seat, message.body))
        if len(spoken) == len(replica.live):
            replica, spoken = replica.advance(spoken, RNG), {}
    assert list(replica.order) == match["order"]
    assert replica.table_number == match["table_number"]


def test_a_recorded_match_with_a_loss_has_a_heal_in_it() -> None:
    phases = {phase for match in MATCHES for _, _, phase, _, _ in match["steps"]}
    assert {"key commit", "deal", "heal prove", "raise", "tags", "result", "over"} <= phases


@each
def test_a_recorded_match_without_one_of_its_messages_does_not_verify(match: dict[str, Any]) -> None:
    found = transcript(match)
    for n in range(0, len(found.items), len(found.items) // 24):
        items = (*found.items[:n], *found.items[n + 1 :])
        assert not isinstance(audit(dataclasses.replace(found, items=items), RNG), Verified)
