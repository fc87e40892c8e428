"""Writes match.json: two whole matches as transcripts (base64), with the state at the start of each step.

Not made anew by make_vectors: how the players decide is no part of the protocol. Run it when the protocol
changes; tests/protocol/test_recorded.py verifies what it wrote.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from otto_protocol.hashing import Drbg, tagged_hash
from otto_protocol.lab import Lab
from otto_protocol.match.events import StepDone, ViewOpened
from otto_protocol.match.replica import Replica
from otto_protocol.match.transcript import dump
from otto_protocol.rules import moves
from otto_protocol.rules.cards import number
from otto_protocol.rules.legal import SeatView

TARGET = Path(__file__).with_name("match.json")


def choose(view: SeatView, legal: Sequence[moves.SeatMove]) -> moves.SeatMove:
    """Exchanges, collects and says Otto whenever it can, and keeps its own number."""
    if isinstance(legal[0], moves.Choose):
        return max(legal, key=lambda move: len(move.slots) if isinstance(move, moves.Choose) else 0)
    for move in legal[view.state.turn % len(legal) :]:
        if (
            isinstance(move, moves.Lead | moves.Answer)
            and move.slot is not None
            and number(view.secret.cards[move.slot]) != view.secret.number
        ):
            return move
    return legal[0]


def line(replica: Replica) -> list[Any]:
    """One step as JSON: view, step, phase, the seats from which it wants something, digest."""
    return [replica.view, replica.step, replica.phase.value, list(replica.wanted()), replica.digest.hex()]


def record(name: str, seed: str, players: int, leaver: int | None) -> dict[str, Any]:
    """A whole match; `leaver` leaves at the beginning of the third turn."""
    lab = Lab(players, Drbg(tagged_hash("vectors", seed.encode())))
    steps = [line(lab.session(0).replica)]
    there = list(lab.sessions)
    while not all(session.over for session in there):
        for session in list(there):
            while lab.turn_of(session.seat, choose):
                pass
            state = session.replica.state
            if session.seat == leaver and state is not None and state.turn >= 2 and session.leave():
                there.remove(session)
            if not session.out:
                session.vote()
            lab.flush(session.seat)
            for event in session.take_events():
                if session.seat == 0 and isinstance(event, StepDone | ViewOpened):
                    steps.append(line(event.after))
    first = lab.session(0)
    return {
        "name": name,
        "transcript": base64.b64encode(dump(first.transcript())).decode(),
        "match": first.replica.match.hex(),
        "order": list(first.replica.order),
        "table_number": first.replica.table_number,
        "steps": steps,
        "digest": first.replica.digest.hex(),
        "points": [list(result.points) for result in first.replica.results],
    }


def _step(found: re.Match[str]) -> str:
    """One step in one line."""
    return f"[{found[1]} {found[2]} {found[3]} [{''.join(found[4].split())}], {found[5]}]"


if __name__ == "__main__":
    matches = [  # seeds of short games
        record("two players", "two players 36", 2, None),
        record("three players, seat 2 leaves", "three players 26", 3, 2),
    ]
    text = json.dumps({"accepted": matches}, indent=1)
    # a step in a line
    text = re.sub(
        r"\[\n\s+(\d+,)\n\s+(\d+,)\n\s+(\"[a-z ]+\",)\n\s+\[([^\]]*)\],\n\s+(\"\w+\")\n\s+\]", _step, text
    )
    TARGET.write_text(text + "\n", encoding="utf-8")
