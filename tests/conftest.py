"""Fixtures that tests of every area may use."""

from __future__ import annotations

from tests.lan.fixture import lan

__all__ = ["lan"]
