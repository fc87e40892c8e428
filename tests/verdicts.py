"""Verdicts on proofs and signatures, remembered: what many seats of one process check is checked once.

A verdict depends on nothing but its arguments, and all of them are its key. A run has one memory for all its
tests (tests/conftest.py); those marked `anew` are about the checks themselves and do without it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from unittest import mock

from otto_protocol.crypto import heal, identity, proofs, shuffle_proof
from otto_protocol.crypto.deck import encode_deck
from otto_protocol.crypto.group import Point
from otto_protocol.crypto.proofs import joined
from otto_protocol.crypto.shuffle_proof import Link
from otto_protocol.hashing import Rng, tagged_hash
from otto_protocol.lobby import record
from otto_protocol.match import messages

Verdicts = dict[bytes, bool]

_check_chain, _check_shares, _verify = shuffle_proof.check_chain, proofs.check_shares, identity.verify


@contextlib.contextmanager
def remembered(known: Verdicts) -> Iterator[None]:
    """Within this block what is known is not checked again, and what is checked becomes known."""

    def once(key: bytes, check: Callable[[], bool]) -> bool:
        if key not in known:
            known[key] = check()
        return known[key]

    def check_chain(X: Point, links: Sequence[Link], _: Rng) -> list[bool]:
        # Randomness of its own: what a session draws afterwards must not depend on what is known.
        keys = [
            tagged_hash("link", X.encode(), encode_deck(old), encode_deck(new), proof, context)
            for old, new, proof, context in links
        ]
        unknown = {key: link for key, link in zip(keys, links, strict=True) if key not in known}
        known.update(zip(unknown, _check_chain(X, list(unknown.values()), os.urandom), strict=True))
        return [known[key] for key in keys]

    def check_shares(
        X: Point, bases: Sequence[Point], shares: Sequence[Point], proof: bytes, context: bytes
    ) -> bool:
        key = tagged_hash("shares", X.encode(), joined(bases), joined(shares), proof, context)
        return once(key, lambda: _check_shares(X, bases, shares, proof, context))

    def verify(public: bytes, signature: bytes, tag: str, *parts: bytes) -> bool:
        key = tagged_hash("signature", public, signature, tag.encode(), *parts)
        return once(key, lambda: _verify(public, signature, tag, *parts))

    with (
        mock.patch.object(shuffle_proof, "check_chain", check_chain),
        mock.patch.object(proofs, "check_shares", check_shares),
        mock.patch.object(heal, "check_shares", check_shares),
        mock.patch.object(messages, "verify", verify),
        mock.patch.object(record, "verify", verify),
    ):
        yield
