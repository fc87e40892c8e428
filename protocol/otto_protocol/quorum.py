"""When enough seats agree: the one quorum rule of the protocol."""

from __future__ import annotations

from collections.abc import Collection


def is_quorum(some: Collection[int], seats: Collection[int]) -> bool:
    """Whether `some` of `seats` may decide for all: more than half, or exactly half with the lowest seat.

    Exactly half is enough at four seats or more only: with two, one alone would always win by
    declaring the other one gone. Any two quorums of the same seats have a seat in common.
    """
    some = set(some) & set(seats)
    if 2 * len(some) != len(seats):
        return 2 * len(some) > len(seats)
    return len(seats) >= 4 and min(seats) in some
