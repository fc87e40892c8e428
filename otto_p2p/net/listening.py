"""The listening side: strangers come in through a gate, and are peers once they have proven who they are."""

from __future__ import annotations

import errno
from collections.abc import Callable

import trio

from otto_p2p.net.admission import Gate
from otto_p2p.net.frames import CloseReason
from otto_p2p.net.handshake import Peer, Self, accept
from otto_p2p.net.link import Limits, Timing
from otto_p2p.net.streams import FrameStream, LinkError

# accept(2) fails like this when descriptors or memory have run out: it works again when a connection ends.
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Door:
    """Accepts on listeners. `judge` says whether a proven peer is wanted, `admit` takes its stream."""

    def __init__(
        self,
        me: Self,
        *,
        remote: Callable[[trio.abc.Stream], str],
        judge: Callable[[Peer, str], CloseReason],
        admit: Callable[[FrameStream, Peer, str], bool],
        refused: Callable[[str, LinkError], None],
        timing: Timing,
        limits: Limits,
    ) -> None:
        self._me = me
        self._remote = remote
        self._judge = judge
        self._admit = admit
        self._refused = refused
        self._timing = timing
        self._gate = Gate(
            total=limits.strangers,
            per_host=limits.strangers_per_host,
            rate=limits.strangers_rate,
            burst=limits.strangers_burst,
            clock=trio.current_time,
        )

    async def serve(self, listener: trio.abc.Listener[trio.abc.Stream]) -> None:
        """Accept for ever; closes the listener when cancelled."""
        async with listener, trio.open_nursery() as nursery:
            while True:
                try:
                    stream = await listener.accept()
                except OSError as error:
                    if error.errno not in _EXHAUSTED:
                        raise
                    await trio.sleep(0.1)
                else:
                    nursery.start_soon(self._welcome, stream)

    async def _welcome(self, stream: trio.abc.Stream) -> None:
        host = self._remote(stream)
        scope = trio.CancelScope(deadline=trio.current_time() + self._timing.handshake)
        ticket = self._gate.enter(host, scope)
        if ticket is None:
            await trio.aclose_forcefully(stream)
            return
        proven = False
        try:
            with scope:
                frames, peer = await accept(self._me, stream, lambda peer: self._judge(peer, host))
                proven = True
                if not self._admit(frames, peer, host):
                    await frames.aclose()
        except LinkError as error:
            self._refused(host, error)
        finally:
            self._gate.leave(ticket, proven=proven)
