"""Whatever bytes arrive: they are taken, or our own DecodeError is raised, in bounded time and memory.

The corpus of the fuzzer is replayed, with every byte of each honest input changed or cut off, and hypothesis
adds its own. Longer runs: fuzz/run.py.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.make_corpus import HOSTILE, examples
from fuzz.targets import TARGETS, check
from otto_protocol.encoding import decode, encode
from otto_protocol.errors import DecodeError

CORPUS = sorted((Path(__file__).parents[2] / "fuzz" / "corpus").iterdir())
NAMES = sorted(TARGETS)
EXAMPLES = examples()


def test_the_corpus_of_the_fuzzer() -> None:
    assert len(CORPUS) > 80
    taken = dict.fromkeys(NAMES, 0)
    for path in CORPUS:
        data = path.read_bytes()
        name = NAMES[data[0] % len(NAMES)]
        taken[name] += check(name, data[1:])
    assert all(taken.values()), taken


@pytest.mark.parametrize("name", NAMES)
def test_every_byte_of_an_honest_input_changed_or_cut(name: str) -> None:
    for data in sorted(EXAMPLES[name], key=len)[:2]:
        step = max(1, len(data) // 120)
        for place in range(0, len(data), step):
            check(name, data[:place])
            for bits in (1, 0x80, 0xFF):
                changed = bytearray(data)
                changed[place] ^= bits
                check(name, bytes(changed))
        check(name, data + b"\0")
        check(name, data * 2)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_bytes(name: str, data: st.DataObject) -> None:
    base = data.draw(st.sampled_from([b"", *EXAMPLES[name]]))
    place = data.draw(st.integers(0, len(base)))
    middle = data.draw(st.binary(max_size=40))
    check(name, base[:place] + middle + base[place + data.draw(st.integers(0, 40)) :])


VALUES = st.recursive(
    st.integers(0, 2**64 - 1) | st.binary(max_size=60) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=6).map(tuple),
    max_leaves=20,
)


@pytest.mark.parametrize("name", ["frame", "message", "content", "here", "transcript"])
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(value=VALUES, first=st.integers(0, 9))
def test_any_values(name: str, value: object, first: int) -> None:
    """Canonical encodings of anything: what is inside is wrong, not the bytes."""
    data = encode(value)  # type: ignore[arg-type]
    check(name, bytes([first]) + data if name in ("frame", "content") else data)


def test_hostile_bytes_take_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for data in (*HOSTILE, b"\x91" * 200_000, b"\xdd\x00\xff\xff\xff" + b"\x90" * 50_000):
        with pytest.raises(DecodeError):
            decode(data)
        for name in NAMES:
            if name not in ("value", "advert"):
                assert not check(name, data)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 20 * 1024, "kilobytes"
