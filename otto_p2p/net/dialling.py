"""The dialling side: several addresses of a peer raced, peers kept connected, typed addresses sought."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Sequence

import trio

from otto_p2p.net.addresses import Address
from otto_p2p.net.contacts import Contact, ContactBook
from otto_p2p.net.events import DialFailed
from otto_p2p.net.frames import CloseReason
from otto_p2p.net.handshake import Half, OtherPeer, Peer, Self, finish, open_half
from otto_p2p.net.link import Timing
from otto_p2p.net.streams import Dial, FrameStream, LinkError

MAX_WORKED = 4  # addresses of a peer that have worked once and are tried before all others

Choose = Callable[[Iterable[Address]], Sequence[Address]]
Attach = Callable[[Contact, FrameStream, Peer, Address], None]

# When all addresses of a peer failed, the error that says most is reported.
_TELLING = {
    CloseReason.UNREACHABLE: 1,
    CloseReason.TIMEOUT: 2,
    CloseReason.LOST: 3,
    CloseReason.NOT_OTTO: 4,
    CloseReason.OTHER_PEER: 5,
    CloseReason.BUSY: 6,
    CloseReason.UNWANTED: 6,
    CloseReason.OTHER_VERSION: 7,
    CloseReason.BAD_PROOF: 8,
    CloseReason.DUPLICATE: 9,
    CloseReason.MYSELF: 9,
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
    errors: list[LinkError] = []

    async def attempt(address: Address, done: trio.Event) -> None:
        try:
            with trio.fail_after(timing.handshake):
                half = await open_half(me, await dial(address), expected)
        except trio.TooSlowError:
            errors.append(LinkError(CloseReason.TIMEOUT, str(address)))
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
    raise max(
        errors or [LinkError(CloseReason.UNREACHABLE, "no address")],
        key=lambda error: _TELLING.get(error.reason, 0),
    )


class Dialler:
    """Gets links to peers: `keep` and `seek` are tasks, one for each known peer and each typed address.

    `attach` takes each new stream, `failed` hears why there is none.
    """

    def __init__(
        self,
        me: Self,
        book: ContactBook,
        *,
        dial: Dial,
        choose: Choose,
        attach: Attach,
        failed: Callable[[DialFailed], Awaitable[None]],
        timing: Timing,
        jitter: random.Random,
    ) -> None:
        self._me = me
        self._book = book
        self._dial = dial
        self._choose = choose
        self._attach = attach
        self._failed = failed
        self._timing = timing
        self._jitter = jitter

    async def keep(self, contact: Contact) -> None:
        """Keep one peer connected, as long as there is a reason to."""
        attempts = 0
        while self._book.worth_keeping(contact):
            link = contact.link
            if link is not None:
                while contact.link is link:
                    await contact.change()
                # Links that end at once are not dialled again at once.
                lived = trio.current_time() - link.since
                attempts = 1 if lived > self._timing.last_retry else attempts + 1
                continue
            with trio.move_on_after(self._delay(contact, attempts)):
                while contact.link is None:
                    await contact.change()
                continue
            if not contact.addresses:
                with trio.move_on_after(self._timing.forget):
                    await contact.change()
                continue
            attempts += 1
            try:
                await self._reach(contact)
            except LinkError as error:
                if error.reason not in (contact.problem, CloseReason.DUPLICATE):
                    contact.problem = error.reason
                    contact.detail = error.detail
                    address = str(next(iter(contact.best_first()), ""))
                    await self._failed(DialFailed(contact.key, address, error.reason, error.detail))
        self._book.forget(contact)

    def _delay(self, contact: Contact, attempts: int) -> float:
        if attempts == 0:
            return 0.0 if self._book.own < contact.key else self._timing.grace
        if contact.left or trio.current_time() < contact.refused_until:
            return self._timing.last_retry
        hearsay = contact.introducer is not None and contact.heard is None and not contact.protected
        delay = self._backoff(attempts, self._timing.hearsay_retry if hearsay else self._timing.last_retry)
        # Both have noticed that the link is gone: the lower key goes first here too.
        return delay if self._book.own < contact.key else delay + self._timing.grace / 2

    def _backoff(self, attempts: int, most: float) -> float:
        delay = min(most, self._timing.first_retry * 2.0 ** min(attempts - 1, 16))
        return delay * self._jitter.uniform(0.75, 1.25)

    async def _reach(self, contact: Contact) -> None:
        """One attempt to get a link to a known peer. Raises LinkError; returns when there is one."""
        known = contact.best_first()
        # What has worked goes first, even what nobody would choose: a typed name, or loopback.
        worked = [address for address in known if contact.addresses[address]][:MAX_WORKED]
        addresses = [*worked, *(address for address in self._choose(known) if address not in worked)]
        if not addresses:
            raise LinkError(CloseReason.UNREACHABLE, "no address that fits this network")
        found: tuple[Half, Address] | None = None
        try:
            # A link that comes about meanwhile, dialled by the other side, ends the attempt.
            with trio.CancelScope() as contact.dialling:
                found = await self._race(addresses, contact.key)
        finally:
            contact.dialling = None
        if found is not None:
            await self._finish(*found)

    async def _race(self, addresses: Sequence[Address], expected: bytes | None) -> tuple[Half, Address]:
        def other(address: Address, error: OtherPeer) -> None:
            expecting = self._book.get(expected) if expected is not None else None
            if expecting is not None:
                expecting.addresses.pop(address, None)
            found = self._book.know(error.peer.key)
            if found is not None:
                self._book.tell(found, [address])

        return await race(self._me, self._dial, addresses, expected, self._timing, other)

    async def seek(self, label: str, addresses: tuple[Address, ...]) -> None:
        """Dial an address that somebody typed, whenever there is no link to whoever answered there."""
        attempts = 0
        problem: CloseReason | None = None
        while True:
            attempts += 1
            try:
                half, address = await self._race(addresses, None)
                contact = self._book.know(half.peer.key)
                if contact is None:
                    await half.frames.aclose()
                    raise LinkError(CloseReason.BUSY, "too many peers")
                if contact.link is None:
                    await self._finish(half, address)
                else:
                    await half.frames.aclose()
                    contact.worked(address)
                problem = None
                attempts = 0
                while contact.link is not None:
                    await contact.change()
                # Its own task dials it first; if it is gone for good, somebody else may be there by now.
                await trio.sleep(self._timing.last_retry)
            except LinkError as error:
                if error.reason not in (problem, CloseReason.DUPLICATE):
                    problem = error.reason
                    await self._failed(DialFailed(None, label, error.reason, error.detail))
                if error.reason == CloseReason.MYSELF:
                    return
                await trio.sleep(self._backoff(max(attempts, 1), self._timing.last_retry))

    async def _finish(self, half: Half, address: Address) -> None:
        contact = self._book.know(half.peer.key)
        if contact is None:
            await half.frames.aclose()
            raise LinkError(CloseReason.BUSY, "too many peers")
        async with contact.finishing:
            # The two tasks that may dial one peer do not take its links from each other.
            ours = contact.link is not None and contact.link.dialled
            if self._book.keeps_old(contact, half.peer, dialled=True) or (
                ours and contact.alive(half.peer, self._timing.silent)
            ):
                await half.frames.aclose()
                return
            try:
                with trio.fail_after(self._timing.handshake):
                    frames = await finish(half)
            except trio.TooSlowError:
                raise LinkError(CloseReason.TIMEOUT, str(address)) from None
            contact.worked(address)
            if self._book.keeps_old(contact, half.peer, dialled=True):
                await frames.aclose()
            else:
                self._attach(contact, frames, half.peer, address)
