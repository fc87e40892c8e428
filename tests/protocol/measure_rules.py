"""How fast random games are: `python tests/protocol/measure_rules.py [GAMES [PLAYERS [DECKS]]]`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "protocol")]

from otto_protocol.rules.game import Game  # noqa: E402  the path comes first, so that a clone is measured as it is
from tests.protocol.rules_play import naive  # noqa: E402

PROCESSES = 2


def play(job: tuple[int, int, int]) -> tuple[str, int]:
    """Why a game ended, and its turns."""
    seed, players, decks = job
    rng = Random(seed).randbytes
    game = Game.deal(range(players), decks, rng)
    while (result := game.outcome) is None:
        game.play(naive(game, game.awaited[0], rng))
    return result.reason.value, game.state.turn


def main(games: int = 10_000, players: int = 4, decks: int = 2) -> None:
    """Play and print."""
    began = time.perf_counter()
    with ProcessPoolExecutor(PROCESSES) as pool:
        ends = list(pool.map(play, ((seed, players, decks) for seed in range(games)), chunksize=50))
    seconds = time.perf_counter() - began
    turns = sorted(turn for _, turn in ends)
    low, middle, high = (turns[games * tenths // 10] for tenths in (1, 5, 9))
    print(f"{games} games of {players} players, {decks} decks: {seconds:.1f} s on {PROCESSES} processes")
    print(f"turns {middle} ({low}..{high}); {dict(Counter(reason for reason, _ in ends))}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
