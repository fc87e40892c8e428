"""When enough seats agree: the one majority rule of the protocol."""

from __future__ import annotations

from collections.abc import Iterable


def is_majority(some: Iterable[int], seats: Iterable[int]) -> bool:
    """Whether `some` of `seats` may decide for all: more than half of them. Any two majorities share a seat."""
    seats = set(seats)
    return 2 * len(set(some) & seats) > len(seats)
