"""Attempts to start that somebody holds up: how long they are waited for, and who is named; in virtual time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from otto_p2p.net.frames import Frame, MatchMessage
from otto_p2p.table.timing import TableTiming
from otto_p2p.updates import LobbyUpdate, News, Notice
from otto_protocol.lobby.actions import Cause
from otto_protocol.lobby.record import Stage
from otto_protocol.match import messages as m
from tests.net.tables import Peer, inside, running, three, until

TIMING = TableTiming()


def says_nothing(peer: Peer) -> None:
    """Its links are well, but nothing of a match comes from it."""
    send_to, send = peer.mesh.send_to, peer.mesh.send

    def held_back_to(keys: Iterable[bytes], frame: Frame) -> None:
        if not isinstance(frame, MatchMessage):
            send_to(keys, frame)

    def held_back(key: bytes, frame: Frame) -> bool:
        return isinstance(frame, MatchMessage) or send(key, frame)

    peer.mesh.send_to, peer.mesh.send = held_back_to, held_back  # type: ignore[method-assign]


def contradictions(peer: Peer) -> list[MatchMessage]:
    """Two messages of this peer for the first step."""
    match = peer.table.match
    assert match is not None
    with inside():
        replica = match.engine._session.replica
    header = m.Header(replica.match, 0, 0, match.seat, replica.digest)
    bodies = [m.KeyCommit(32 * byte) for byte in (b"1", b"2")]
    return [MatchMessage(m.wire(m.sign(peer.journal.identity, header, body))) for body in bodies]


@pytest.mark.parametrize("how", ["stuck", "silent", "caught"])
async def test_whoever_holds_up_the_start_is_waited_for_that_long_and_no_longer(
    how: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    anna, bob, cil = peers = three(tmp_path)
    send = cil.mesh.send_to
    says_nothing(cil)
    for peer in peers:  # the links notice it later than the table does, as if others still vouched for Cil
        peer.mesh.timing = replace(peer.mesh.timing, silent=30.0, dead=60.0)
    async with running(peers):
        await until(lambda: all(peer.table.lobby.stage == Stage.KEYS for peer in peers))
        begun = trio.current_time()
        if how == "silent":
            for other in (anna, bob):
                cil.lan.cut(cil.address.host, other.address.host)
        if how == "caught":
            for frame in contradictions(cil):
                send((anna.mesh.key, bob.mesh.key), frame)
        await until(lambda: anna.said(News.NOT_STARTED) and bob.said(News.NOT_STARTED))
        waited = trio.current_time() - begun
    assert anna.said(News.NOT_STARTED)[0] == (Cause.SILENT.value, "Cil")
    expected = {"stuck": TIMING.stuck, "silent": TIMING.silent, "caught": TIMING.caught}[how]
    assert expected - 1.0 < waited < expected + 3 * TIMING.tick
    assert bool(anna.said(News.CHEAT)) == (how == "caught")
    place = next(
        n for n, one in enumerate(anna.updates) if isinstance(one, Notice) and one.news is News.NOT_STARTED
    )
    assert isinstance(
        anna.updates[place - 1], LobbyUpdate
    )  # that comes first: it is what the notice speaks of
