"""One watch over this machine's network interfaces, for all that want to know where it can be reached."""

from __future__ import annotations

from collections.abc import Callable

import trio

from otto_p2p.net.addresses import (
    Address,
    Interface,
    ListInterfaces,
    list_interfaces,
    own_addresses,
    usable,
)

LOOK_SECONDS = 3.0  # between two looks


class InterfaceWatch:
    """`present` is what was found last: networks come and go while people wait in the lobby. `run` it."""

    def __init__(self, interfaces: ListInterfaces = list_interfaces) -> None:
        """Looks for the first time."""
        self._interfaces = interfaces
        self._changed = trio.Event()
        self._problem: OSError | None = None
        self.present: tuple[Interface, ...] = ()
        self._read()

    def _read(self) -> None:
        try:
            self.present, self._problem = tuple(self._interfaces()), None
        except OSError as error:
            self.present, self._problem = (), error

    def listed(self) -> tuple[Interface, ...]:
        """All interfaces, as `list_interfaces` would say, but without another look. Raises OSError as it does."""
        if self._problem is not None:
            raise self._problem
        return self.present

    def own_addresses(self, port: int) -> tuple[Address, ...]:
        """Where this machine can be dialled, best first."""
        return own_addresses(usable(self.present), port)

    async def run(self) -> None:
        """Look again and again."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look now, in a worker: the system may take its time."""
        before = self.present
        await trio.to_thread.run_sync(self._read)
        if self.present != before:
            self._changed.set()
            self._changed = trio.Event()

    async def follow(self, port: int, told: Callable[[tuple[Address, ...]], None]) -> None:
        """Tell where this machine can be dialled, now and whenever that changes."""
        known: tuple[Address, ...] | None = None
        while True:
            changed, found = self._changed, self.own_addresses(port)
            if found != known:
                known = found
                told(found)
            await changed.wait()
