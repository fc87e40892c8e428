"""Peers without a seat, on a virtual LAN: they are told nothing of a game, and cost it nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import trio
from trio.testing import MockClock

from otto_p2p.net import events as net
from otto_p2p.net import frames
from otto_p2p.net.addresses import Address
from otto_p2p.net.mesh import Mesh
from otto_p2p.table.engine import Lacking
from otto_p2p.table.timing import TableTiming
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from otto_protocol.lobby.record import Here, Stage, open_here, sign_here
from tests.net.tables import Peer, running, three, until
from tests.net.virtual_lan import PORT, VirtualLan, credentials

TIMING = TableTiming()


class Stranger:
    """A mesh and a key, no table: it sends what it likes, and counts what it hears."""

    def __init__(self, lan: VirtualLan) -> None:
        self.identity = IdentityKey.generate(Drbg(b"stranger"))
        number = len(lan.listeners)
        host = f"p{number}"

        async def dial(address: Address) -> trio.abc.Stream:
            return await lan.connect(host, address.host)

        self.mesh = Mesh(
            self.identity,
            listeners=[lan.listener(host)],
            port=PORT,
            dial=dial,
            choose=lambda hints: tuple(hints),
            credentials=credentials(number),
        )
        self.messages = 0
        self.records: dict[bytes, int] = {}  # of each author: how many
        self.newest: dict[bytes, Here] = {}
        self.links: set[bytes] = set()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(self.mesh.run)
            task_status.started()
            async for event in self.mesh.events:
                match event:
                    case net.PeerUp():
                        self.links.add(event.key)
                    case net.PeerDown():
                        self.links.discard(event.key)
                    case net.FrameFrom(frame=frames.MatchMessage()):
                        self.messages += 1
                    case net.FrameFrom(frame=frames.LobbyRecord(record=data)):
                        record = open_here(data)
                        assert isinstance(record, Here)
                        self.newest[record.key] = record
                        self.records[record.key] = self.records.get(record.key, 0) + 1

    async def meet(self, peers: list[Peer]) -> None:
        for peer in peers:
            self.mesh.add_candidate((peer.address,), label=peer.name)
        await until(lambda: len(self.links) == len(peers) == len(self.newest))

    def says(self, like: Here, counter: int, **fields: object) -> None:
        """Send everybody a record of its own that is like another one."""
        own = replace(like, key=self.identity.public, name="x", counter=counter, pinned=False)
        own = replace(own, seated=(own.key,), reached=1, ready=0, stage=0, members=(), ready_signature=b"")
        record = sign_here(self.identity, replace(own, **fields))  # type: ignore[arg-type]
        for key in self.links:
            self.mesh.send(key, frames.LobbyRecord(record))


def playing(peers: list[Peer]) -> bool:
    return all(peer.table.lobby.stage is Stage.PLAYING for peer in peers)


async def test_sync_is_answered_for_members_only(tmp_path: Path, autojump_clock: MockClock) -> None:
    peers = three(tmp_path)
    anna, bob, _ = peers
    stranger = Stranger(anna.lan)
    async with running(peers) as nursery:
        await nursery.start(stranger.run)
        await until(lambda: playing(peers))
        await stranger.meet([anna])
        match = stranger.newest[anna.mesh.key].roster()
        assert match is not None
        question = frames.Sync(match.match_id(), 0, 0)
        for _ in range(20):
            stranger.mesh.send(anna.mesh.key, question)
        heard = len(bob.updates)
        bob.mesh.send(anna.mesh.key, question)  # a member that asks the same is answered
        await until(lambda: len(bob.updates) > heard + 3)
        assert stranger.messages == 0
        assert anna.mesh.key in stranger.links


async def test_sync_is_answered_once_at_a_time(tmp_path: Path, autojump_clock: MockClock) -> None:
    """A member asks a thousand times; in the queue of the engine there is never more than one question."""
    peers = three(tmp_path, idle="Cil")
    anna, bob, _ = peers
    async with running(peers):
        await until(lambda: playing(peers))
        assert anna.table.match is not None
        engine = anna.table.match.engine
        batches: list[int] = []
        absorb = engine._absorb

        def counted(batch: list[object], now: float) -> object:
            batches.append(sum(isinstance(item, Lacking) and item.key == bob.mesh.key for item in batch))
            return absorb(batch, now)  # type: ignore[arg-type]

        engine._absorb = counted  # type: ignore[method-assign, assignment]
        asked = 0
        for _ in range(1000):
            asked += bob.mesh.send(anna.mesh.key, frames.Sync(engine.match, 2**32 - 1, 0))
        await trio.sleep(3)
        assert asked == 1000
        assert max(batches) == 1


async def test_records_of_strangers_cost_a_running_game_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Somebody changes its record fifty times a second, between the players' table and its own."""
    peers = three(tmp_path, idle="Cil")
    stranger = Stranger(peers[0].lan)
    async with running(peers) as nursery:
        await nursery.start(stranger.run)
        await until(lambda: playing(peers))
        await stranger.meet(peers)
        template = stranger.newest[peers[0].mesh.key]
        await trio.sleep(2)
        before, counter, seconds = dict(stranger.records), 0, 4
        for _ in range(seconds * 50):
            counter += 1
            stranger.says(template, counter, table=template.table if counter % 2 else bytes(16))
            await trio.sleep(0.02)
        after = dict(stranger.records)
        assert not any(peer.ended for peer in peers)
        for peer in peers:
            assert after[peer.mesh.key] - before[peer.mesh.key] <= seconds + 1
        await trio.sleep(TIMING.publish + 2 * TIMING.tick)
        for peer in peers:  # the last one was looked at in the end
            known = peer.table.lobby.lobby.neighbours.newest(stranger.identity.public)
            assert known is not None
            assert known.counter == counter


async def test_own_records_are_a_second_apart(tmp_path: Path, autojump_clock: MockClock) -> None:
    """A record that somebody makes change all the time goes out a few times at once, then once a second."""
    anna = three(tmp_path)[0]
    stranger = Stranger(anna.lan)
    async with running([anna]) as nursery:
        await nursery.start(stranger.run)
        await stranger.meet([anna])
        template = stranger.newest[anna.mesh.key]
        counter, seconds, before = 0, 10, stranger.records[anna.mesh.key]
        for _ in range(seconds * 20):
            counter += 1
            stranger.says(template, counter, table=template.table if counter % 2 else bytes(16), pinned=True)
            await trio.sleep(0.05)
        told = stranger.records[anna.mesh.key] - before
        assert seconds / 2 <= told <= seconds + TIMING.at_once + 1
        counter += 1
        stranger.says(template, counter, table=template.table)
        await trio.sleep(2 * TIMING.publish)
        assert stranger.newest[anna.mesh.key] == anna.table.lobby.lobby.me  # and the newest one in the end
