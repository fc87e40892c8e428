"""What is remembered of proofs and signatures: a verdict on the same arguments, and on no others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest

from otto_protocol.crypto import heal, proofs, shuffle_proof
from otto_protocol.crypto.group import G, mul
from otto_protocol.lobby import record
from otto_protocol.match import messages
from tests import verdicts
from tests.verdicts import remembered

A, B, C = (mul(n, G) for n in (2, 3, 4))
SHARES: list[tuple[Any, ...]] = [
    (A, [B], [C], b"proof", b"context"),
    (B, [B], [C], b"proof", b"context"),
    (A, [A], [C], b"proof", b"context"),
    (A, [B], [A], b"proof", b"context"),
    (A, [B, C], [], b"proof", b"context"),
    (A, [B], [C], b"proofc", b"ontext"),
    (A, [B], [C], b"proof", b""),
]
SIGNED: list[tuple[Any, ...]] = [
    (b"key", b"signature", "tag", b"one", b"two"),
    (b"", b"signature", "tag", b"one", b"two"),
    (b"key", b"", "tag", b"one", b"two"),
    (b"key", b"signature", "", b"one", b"two"),
    (b"key", b"signature", "tag", b"onetwo"),
    (b"key", b"signature", "tag", b"onet", b"wo"),
]
LINKS: list[shuffle_proof.Link] = [
    (((A, B),), ((B, C),), b"proof", b"context"),
    (((A, A),), ((B, C),), b"proof", b"context"),
    (((A, B),), ((B, B),), b"proof", b"context"),
    (((A, B), (B, C)), (), b"proof", b"context"),
    (((A, B),), ((B, C),), b"proofc", b"ontext"),
    (((A, B),), ((B, C),), b"proof", b""),
]


def test_a_test_remembers() -> None:
    assert shuffle_proof.check_chain is not verdicts._check_chain
    assert proofs.check_shares is not verdicts._check_shares
    assert messages.verify is not verdicts._verify


@pytest.mark.anew
def test_a_test_of_the_checks_themselves_does_not() -> None:
    assert shuffle_proof.check_chain is verdicts._check_chain
    assert proofs.check_shares is heal.check_shares is verdicts._check_shares
    assert messages.verify is record.verify is verdicts._verify


@pytest.mark.parametrize(
    ("module", "name", "checked_by", "asked"),
    [
        (proofs, "check_shares", "_check_shares", SHARES),
        (heal, "check_shares", "_check_shares", SHARES),
        (messages, "verify", "_verify", SIGNED),
        (record, "verify", "_verify", SIGNED),
    ],
)
def test_the_key_is_all_arguments(
    module: Any, name: str, checked_by: str, asked: Sequence[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[object] = []

    def check(*arguments: object) -> bool:
        checked.append(arguments)
        return len(checked) % 2 == 1

    monkeypatch.setattr(verdicts, checked_by, check)
    with remembered({}):
        first = [getattr(module, name)(*arguments) for arguments in asked]
        assert [getattr(module, name)(*arguments) for arguments in asked] == first
    assert checked == asked
    assert first == [place % 2 == 0 for place in range(len(asked))]


def test_of_a_chain_each_link_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[list[shuffle_proof.Link]] = []

    def check(X: object, links: list[shuffle_proof.Link], rng: object) -> list[bool]:
        checked.append(links)
        return [link is LINKS[0] for link in links]

    monkeypatch.setattr(verdicts, "_check_chain", check)
    with remembered({}):
        assert shuffle_proof.check_chain(A, LINKS[:2], os.urandom) == [True, False]
        assert shuffle_proof.check_chain(A, [LINKS[1], *LINKS], os.urandom) == [False, True, *[False] * 5]
        assert shuffle_proof.check_chain(B, LINKS[:1], os.urandom) == [True]
    assert checked == [LINKS[:2], LINKS[2:], LINKS[:1]]
