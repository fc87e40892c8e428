"""What a heal costs: `python -m tests.protocol.measure_heal`. CPU of a whole session, bytes of each peer.

The critical path is what the table waits for: the shuffles one after another, then in each step the slowest
seat. Beside it stands the number of multiplications that docs/protocol.md counts ("Costs"), in t.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from otto_protocol.crypto.group import G, mul
from otto_protocol.hashing import random_below
from otto_protocol.lab import Chooser
from otto_protocol.match.events import Record
from otto_protocol.match.phases import MatchPhase
from tests.protocol.lab_games import eager
from tests.protocol.losing_tables import LosingTable

HEAL = (MatchPhase.HEAL_SHUFFLE, MatchPhase.HEAL_PROVE, MatchPhase.RAISE, MatchPhase.TAGS)


class Measured(LosingTable):
    """CPU seconds by (phase, step, seat), and bytes by seat, of a heal."""

    def __init__(self, players: int, seed: str) -> None:
        super().__init__(players, seed, decks=2)
        self.cpu: dict[tuple[MatchPhase, int, int], float] = defaultdict(float)
        self.bytes: dict[int, int] = defaultdict(int)

    def turn_of(self, seat: int, choose: Chooser) -> bool:
        replica = self.sessions[seat].replica
        began = time.process_time()
        done = super().turn_of(seat, choose)
        if replica.phase in HEAL:
            self.cpu[replica.phase, replica.step, seat] += time.process_time() - began
        return done

    def send(self, seat: int, record: Record) -> None:
        if self.sessions[seat].replica.view == 1:
            self.bytes[seat] += len(record.data)
        super().send(seat, record)


def multiplication() -> float:
    """t: CPU seconds of one 256-bit variable-base multiplication."""
    scalar = int.from_bytes(bytes(range(200, 232)), "big") >> 1
    times = []
    for _ in range(7):
        began = time.process_time()
        for _ in range(300):
            mul(scalar, G)
        times.append((time.process_time() - began) / 300)
    return statistics.median(times)


def measure(players: int) -> None:
    """One line: a seat goes in the first turn, nearly all cards being hidden."""
    table = Measured(players, f"measure {players}")

    def leads(now: LosingTable) -> bool:
        there = [one.replica for one in now.sessions]
        return all(
            one.state is not None and one.phase is MatchPhase.PLAY and one.play.turn >= 1 for one in there
        )

    assert table.run(leads, eager)
    hidden = 152 - len(table.sessions[0].replica.play.spent) - len(table.sessions[0].replica.play.known)
    table.leave(random_below(players, table.rng))
    t = multiplication()

    def healed(now: LosingTable) -> bool:
        there = [now.sessions[seat].replica for seat in now.here]
        return all(one.view == 1 and one.phase not in HEAL for one in there)

    assert table.run(healed, eager)
    steps: dict[tuple[MatchPhase, int], list[float]] = defaultdict(list)
    for (phase, step, _), seconds in table.cpu.items():
        steps[phase, step].append(seconds)
    by_phase: dict[MatchPhase, float] = defaultdict(float)
    for (phase, _), of_seats in steps.items():
        by_phase[phase] += max(of_seats)
    seconds = sum(by_phase.values())
    sent = statistics.mean(table.bytes[seat] for seat in table.here)
    k = players - 1
    held = k * 11
    nominal = (
        (k * 1.58 + 6.57 + 5 * k + 3) * hidden
        + (2 + 2 * 0.83) * (hidden + held)
        + (k - 1) * 4 * 0.83 * (hidden + held)
        + (1 + 0.83) * (hidden + 11)
        + (k - 1) * 2 * 0.83 * (hidden + 11)
    )
    parts = ", ".join(f"{phase.value} {1000 * one:.0f}" for phase, one in by_phase.items())
    print(
        f"{players} -> {k}: {hidden} hidden cards, path {1000 * seconds:.0f} ms CPU "
        f"({parts}), {nominal:.0f} multiplications of {1e6 * t:.1f} us, ratio {seconds / (nominal * t):.2f}, "
        f"{sent:.0f} bytes of each peer"
    )


if __name__ == "__main__":
    for count in (4, 10):
        measure(count)
