"""Coverage-guided fuzzing of everything that reads a stranger's bytes (atheris, which is no dependency).

    pip install atheris
    python fuzz/run.py [-max_total_time=60] [libFuzzer options] fuzz/corpus

The first byte of an input chooses the target. A finding is fixed, and its input is kept in fuzz/corpus: the
test suite replays all of it (tests/adversary/test_hostile_bytes.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "protocol")]

with atheris.instrument_imports(include=["otto_protocol", "otto_p2p", "fuzz"]):
    from fuzz import targets

NAMES = sorted(targets.TARGETS)


def one_input(data: bytes) -> None:
    """One input of the fuzzer."""
    if data:
        targets.check(NAMES[data[0] % len(NAMES)], data[1:])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
