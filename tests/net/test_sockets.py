"""The mesh on real sockets of this machine: nothing is left behind, and strangers cost little."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from otto_p2p.net.addresses import Address
from otto_p2p.net.events import PeerDown
from otto_p2p.net.frames import MatchMessage
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import listening_port, open_listeners
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from tests.net.virtual_lan import credentials

CYCLES = 200 if os.environ.get("OTTO_LONG") else 30


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


class Local:
    """A mesh on this machine."""

    def __init__(self, number: int) -> None:
        listeners = open_listeners(0)
        self.port = listening_port(listeners)
        self.address = Address("127.0.0.1", self.port)
        identity = IdentityKey.generate(Drbg(b"local %d" % number))
        self.key = identity.public
        self.mesh = Mesh(
            identity,
            listeners=listeners,
            port=self.port,
            choose=lambda hints: tuple(hints),
            credentials=credentials(number),
        )
        self.log: list[object] = []

    async def run(self, task_status: trio.TaskStatus[None]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._collect)
            await nursery.start(self.mesh.run)
            task_status.started()

    async def _collect(self) -> None:
        async for event in self.mesh.events:
            self.log.append(event)

    def linked(self) -> set[bytes]:
        return {info.key for info in self.mesh.links()}


@asynccontextmanager
async def local(*numbers: int) -> AsyncIterator[list[Local]]:
    async with trio.open_nursery() as nursery:
        made = [Local(number) for number in numbers]
        for one in made:
            await nursery.start(one.run)
        yield made
        nursery.cancel_scope.cancel()


async def both_linked(a: Local, b: Local) -> None:
    with trio.fail_after(60):
        while a.linked() != {b.key} or b.linked() != {a.key}:
            await trio.sleep(0.005)


async def test_connections_leave_no_descriptors_behind() -> None:
    async with local(0) as (a,):
        before, tasks = descriptors(), trio.lowlevel.current_statistics().tasks_living
        for _ in range(CYCLES):
            async with local(1) as (b,):
                b.mesh.add_candidate([a.address])
                await both_linked(a, b)
            with trio.fail_after(60):
                while a.linked():
                    await trio.sleep(0.005)
        await trio.sleep(0.05)
        assert descriptors() <= before + 1
        # One task that waits for each peer that has left, until it is forgotten: bounded by `Limits.contacts`.
        assert trio.lowlevel.current_statistics().tasks_living <= tasks + 2


async def test_strangers_by_the_hundred_do_not_disturb() -> None:
    async with local(0, 1) as (a, b):
        b.mesh.add_candidate([a.address])
        await both_linked(a, b)
        before = descriptors()

        async def round_trip() -> float:
            begin = trio.current_time()
            mark = len(a.log)
            b.mesh.send(a.key, MatchMessage(b"ping"))
            while len(a.log) == mark:
                await trio.sleep(0)
            return trio.current_time() - begin

        strangers = []
        times = []
        for number in range(300):
            one = socket.create_connection(("127.0.0.1", a.port))
            if number % 3 == 1:
                one.send(b"GET / HTTP/1.1\r\n\r\n")
            elif number % 3 == 2:
                one.close()
            strangers.append(one)
            times.append(await round_trip())
        assert sorted(times)[150] < 0.2
        # Ours are the 300 minus those that were closed; the mesh holds only a bounded number of its own.
        assert descriptors() - before - len(strangers) < 60
        assert a.linked() == {b.key}
        assert not any(isinstance(event, PeerDown) for event in a.log)
        for one in strangers:
            one.close()
