"""Dial several addresses of one peer, a moment apart: the first whose server proves itself wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import trio

from otto_p2p.addresses import Address
from otto_p2p.frames import Reason
from otto_p2p.handshake import Half, OtherPeer, Self, open_half
from otto_p2p.link import Timing
from otto_p2p.streams import Dial, LinkError

# When all addresses of a peer failed, the error that says most is reported.
_TELLING = {
    Reason.UNREACHABLE: 1,
    Reason.TIMEOUT: 2,
    Reason.LOST: 3,
    Reason.NOT_OTTO: 4,
    Reason.OTHER_PEER: 5,
    Reason.BUSY: 6,
    Reason.UNWANTED: 6,
    Reason.OTHER_VERSION: 7,
    Reason.BAD_PROOF: 8,
    Reason.DUPLICATE: 9,
    Reason.MYSELF: 9,
}


async def race(
    me: Self,
    dial: Dial,
    addresses: Sequence[Address],
    expected: bytes | None,
    timing: Timing,
    on_other: Callable[[Address, OtherPeer], None],
) -> tuple[Half, Address]:
    """The first stream whose server has proven its identity, and the address it was found at.

    The idea is that of RFC 8305 (happy eyeballs), with the proof of identity in place of a connection. An
    attempt starts `timing.stagger` seconds after the one before, or when that has failed. `on_other` hears of
    each address at which another key than `expected` has proven itself. Raises the LinkError that says most.
    """
    winner: list[tuple[Half, Address]] = []
    errors = [LinkError(Reason.UNREACHABLE, "no address")]

    async def attempt(address: Address, done: trio.Event) -> None:
        try:
            with trio.fail_after(timing.handshake):
                half = await open_half(me, await dial(address), expected)
        except trio.TooSlowError:
            errors.append(LinkError(Reason.TIMEOUT, str(address)))
        except LinkError as error:
            errors.append(error)
            if isinstance(error, OtherPeer):
                on_other(address, error)
        else:
            if winner:
                await half.frames.aclose()
            else:
                winner.append((half, address))
                nursery.cancel_scope.cancel()
        done.set()

    try:
        async with trio.open_nursery() as nursery:
            for address in addresses:
                done = trio.Event()
                nursery.start_soon(attempt, address, done)
                with trio.move_on_after(timing.stagger):
                    await done.wait()
    except BaseException:
        for half, _ in winner:
            await half.frames.aclose()
        raise
    if winner:
        return winner[0]
    raise max(errors, key=lambda error: _TELLING.get(error.reason, 0))
