"""Discovery and mesh on a LAN of real sockets, in one process."""

from __future__ import annotations

import pytest
import trio

from tests.lan.lab import Lan
from tests.lan.peers import LanPeer, until

pytestmark = pytest.mark.lan


@pytest.mark.parametrize("count", [3, 10])
async def test_peers_find_each_other_and_link_up(lan: Lan, count: int) -> None:
    peers = [LanPeer(host) for host in lan.hosts(count)]
    async with trio.open_nursery() as nursery:
        for peer in peers:
            nursery.start_soon(peer.run)
        begin = trio.current_time()
        await until(lambda: all(len(peer.adverts) == count - 1 for peer in peers), 10)
        found = max(max(peer.seen_at.values()) for peer in peers) - begin
        await until(lambda: all(len(peer.linked()) == count - 1 for peer in peers), 10)
        print(f"{count} peers: all found in {found:.2f} s, full mesh in {trio.current_time() - begin:.2f} s")
        nursery.cancel_scope.cancel()
