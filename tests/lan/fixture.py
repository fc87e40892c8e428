"""The fixture `lan`: a fresh LAN for a test, or the reason why there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.lan.lab import Lan, problem


@pytest.fixture(name="lan")
def _lan() -> Iterator[Lan]:
    """Hosts by name, on one switch. Skipped where there can be no lab; on CI that is a failure."""
    reason = problem()
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(f"CI has to run the lab, but {reason}")
        pytest.skip(reason)
    made = Lan()
    try:
        yield made
    finally:
        made.close()


lan = _lan
