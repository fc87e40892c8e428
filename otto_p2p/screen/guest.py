"""Trio as a guest of asyncio: the network in the thread, and the event loop, of the screen.

The one module that knows both. Everything that the screen asks of the table is called inside trio, by its
token; everything that the table tells is handed over in the same thread.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import trio

from otto_p2p.updates import Closed, Controls, Update
from otto_protocol.roster import TableRules
from otto_protocol.rules import moves

if TYPE_CHECKING:
    from outcome import Outcome  # of trio's own dependencies

Screen = Callable[[Controls, trio.MemoryReceiveChannel[Update]], Awaitable[None]]
Peer = Callable[[Screen], Awaitable[None]]
"""What runs a whole peer until the screen that it is given returns."""


class Guest:
    """One peer in guest mode. `start` it when the asyncio loop runs; `stop` it, whatever happened."""

    def __init__(
        self,
        peer: Peer,
        on_table: Callable[[Controls], None],
        on_update: Callable[[Update], None],
        on_end: Callable[[], None],
    ) -> None:
        """`on_table` and `on_update` hear of the table, `on_end` when the peer has ended, in this thread."""
        self._peer = peer
        self._on_table = on_table
        self._on_update = on_update
        self._on_end = on_end
        self._scope = trio.CancelScope()
        self._token: trio.lowlevel.TrioToken | None = None
        self._ended: asyncio.Future[None] | None = None
        self._outcome: Outcome[None] | None = None

    def start(self) -> None:
        """Begin; the asyncio loop must be running."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        trio.lowlevel.start_guest_run(
            self._main,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            run_sync_soon_not_threadsafe=loop.call_soon,
            done_callback=self._done,
            host_uses_signal_set_wakeup_fd=True,
        )

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with self._scope:
            await self._peer(self._feed)

    async def _feed(self, table: Controls, updates: trio.MemoryReceiveChannel[Update]) -> None:
        assert self._token is not None
        self._on_table(Hands(table, self._token))
        async for update in updates:
            self._on_update(update)
            if isinstance(update, Closed):
                return

    def _done(self, result: Outcome[None]) -> None:
        self._outcome = result
        assert self._ended is not None
        self._ended.set_result(None)
        self._on_end()

    async def stop(self) -> None:
        """Cancel the peer and wait until it has said its goodbyes; raises what it died of."""
        if self._ended is None:
            return
        if not self._ended.done():
            if self._token is None:  # not even begun: it will see the cancelled scope
                self._scope.cancel()
            else:
                with contextlib.suppress(trio.RunFinishedError):  # it has ended on its own just now
                    self._token.run_sync_soon(self._scope.cancel)
        await self._ended
        assert self._outcome is not None
        self._outcome.unwrap()


class Hands(Controls):
    """The table's controls for a caller outside of trio; a call is made in trio's next step."""

    def __init__(self, table: Controls, token: trio.lowlevel.TrioToken) -> None:
        self._table = table
        self._token = token

    def _soon(self, call: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(trio.RunFinishedError):  # no table any more; the screen ends, too
            self._token.run_sync_soon(call, *arguments)

    def ready(self, value: int) -> None:
        self._soon(self._table.ready, value)

    def act(self, move: moves.Move) -> None:
        self._soon(self._table.act, move)

    def sit_at(self, table: bytes) -> None:
        self._soon(self._table.sit_at, table)

    def open_table(self) -> None:
        self._soon(self._table.open_table)

    def change_rules(self, rules: TableRules) -> None:
        self._soon(self._table.change_rules, rules)

    def stop_countdown(self) -> None:
        self._soon(self._table.stop_countdown)

    def check_address(self, address: str) -> None:
        self._table.check_address(address)

    def dial(self, address: str) -> None:
        self.check_address(address)  # what is wrong with it is said at once
        self._soon(self._table.dial, address)

    def drop(self, seat: int) -> None:
        self._soon(self._table.drop, seat)

    def close(self) -> None:
        self._soon(self._table.close)

    def leave(self) -> None:
        self._soon(self._table.leave)
