"""One whole peer: sockets, links, discovery and table, put together; and its built-in companions."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import trio

from otto_p2p.i18n import _
from otto_p2p.net.addresses import Address, is_loopback, parse_peer, usable
from otto_p2p.net.adverts import NONCE_BYTES, Advert
from otto_p2p.net.discovery import AdvertSeen, Discovery, DiscoveryTrouble
from otto_p2p.net.interfaces import InterfaceWatch
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import listening_port, open_listeners
from otto_p2p.players import bots
from otto_p2p.storage.journal import Journal, open_bot
from otto_p2p.table.settings import Settings
from otto_p2p.table.table import Table
from otto_p2p.updates import Closed, Controls, GameUpdate, News, Update
from otto_p2p.words import table_name
from otto_protocol.lobby.record import MAX_ADDRESSES, Here, Stage
from otto_protocol.roster import PROTOCOL_VERSION
from otto_protocol.rules import SeatView

ALONE_SECONDS = 10.0  # in the lobby, before it is said why that may be
LEAVE_SECONDS = 5.0  # for companions to leave in good order
LOOPBACK = "127.0.0.1"
BOT_NAMES = ("Anna", "Berta", "Centis", "Dace", "Emīls", "Fricis", "Guna", "Harijs", "Ieva")
"""Names of built-in players; in Latvia they spell the alphabet on the telephone."""

Screen = Callable[[Controls, trio.MemoryReceiveChannel[Update]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Network:
    """How a peer is found and finds others."""

    port: int | None = None  # None: one of the usual ones
    peers: tuple[str, ...] = ()  # HOST[:PORT] of others, as typed
    mdns: bool = True


async def run_peer(
    settings: Settings,
    network: Network,
    journal: Journal,
    screen: Screen,
    *,
    companions: Sequence[tuple[Settings, Journal]] = (),
) -> None:
    """Run a peer and its built-in companions until the screen ends.

    Each companion has its own key, sockets and links. Raises LocalError, in one line, when a port is taken or
    an address in `network` is none.
    """
    targets = [(text, parse_peer(text)) for text in network.peers]
    listeners = open_listeners(network.port)
    port = listening_port(listeners)
    watch = InterfaceWatch()
    mesh = Mesh(journal.identity, listeners=listeners, port=port)
    discovery = Discovery(journal.identity.public, interfaces=watch.listed) if network.mdns else None
    publish = None if discovery is None else _publisher(discovery, journal.identity.public, port)
    addresses = watch.own_addresses(port)
    table = Table(
        settings,
        journal,
        mesh,
        addresses=_texts(addresses),
        join_line=_join_line(addresses, port),
        on_publish=publish,
    )
    for text, found in targets:
        mesh.add_candidate(found, label=text)

    def moved(addresses: Sequence[Address]) -> None:
        mesh.announce(addresses)
        table.moved(_texts(addresses), _join_line(addresses, port))
        if discovery is not None:
            discovery.look_again()

    async with trio.open_nursery() as nursery:
        await nursery.start(mesh.run)
        nursery.start_soon(watch.run)
        if discovery is not None:
            nursery.start_soon(_find, discovery, mesh, table)
            nursery.start_soon(discovery.run)
            own_bots = frozenset(bot.identity.public for _settings, bot in companions)
            nursery.start_soon(_hint_when_alone, mesh, table, own_bots, watch)
        gone = []
        for bot_settings, bot_journal in companions:
            gone.append(trio.Event())
            nursery.start_soon(_run_companion, bot_settings, bot_journal, table, port, watch, gone[-1])
        nursery.start_soon(table.run)
        nursery.start_soon(watch.follow, port, moved)
        await screen(table, table.updates)
        with trio.move_on_after(LEAVE_SECONDS):
            for event in gone:
                await event.wait()
        nursery.cancel_scope.cancel()


def _join_line(addresses: Sequence[Address], port: int) -> str:
    """What to type on another machine to come to this one."""
    return f"otto-p2p join --peer {next(iter(addresses), Address(LOOPBACK, port))}"


def _texts(addresses: Sequence[Address]) -> tuple[str, ...]:
    return tuple(str(address) for address in addresses)[:MAX_ADDRESSES]


def _publisher(discovery: Discovery, key: bytes, port: int) -> Callable[[Here], None]:
    nonce = os.urandom(NONCE_BYTES)

    def publish(here: Here) -> None:
        discovery.publish(
            Advert(
                key=key,
                nonce=nonce,
                name=here.name,
                table=here.table,
                title=table_name(here.table),
                seated=len(here.seated),
                seats=here.terms.seats,
                pinned=here.pinned,
                playing=here.stage >= Stage.KEYS,
                port=port,
            )
        )

    return publish


async def _hint_when_alone(
    mesh: Mesh, table: Table, own_bots: frozenset[bytes], watch: InterfaceWatch
) -> None:
    """When nobody was found for some seconds, say once why that may be and what to do."""
    await trio.sleep(ALONE_SECONDS)
    alone = all(link.key in own_bots for link in mesh.links())
    if alone and table.lobby.stage == Stage.LOBBY:
        if all(is_loopback(interface) for interface in usable(watch.present)):
            table.notice(News.WARNING, _("No network interface has an address."))
        else:
            table.notice(News.NO_MULTICAST, table.lobby.join_line)


async def _find(discovery: Discovery, mesh: Mesh, table: Table) -> None:
    """What discovery finds is dialled; what is wrong with it is told."""
    async for event in discovery.events:
        match event:
            case AdvertSeen(advert) if advert.version == PROTOCOL_VERSION:
                mesh.add_candidate(advert.addresses, advert.key)
            case DiscoveryTrouble(text):
                table.notice(News.WARNING, text)


async def _run_companion(
    settings: Settings,
    journal: Journal,
    owner: Table,
    owner_port: int,
    watch: InterfaceWatch,
    gone: trio.Event,
) -> None:
    """A built-in player: a peer of its own that finds its owner through the loopback interface.

    The others hear of it from its owner; it does not advertise itself. It leaves when its owner does, and
    then sets `gone`.
    """
    settings = replace(settings, owner=owner.context.mesh.key)
    listeners = open_listeners(0)
    port = listening_port(listeners)
    mesh = Mesh(journal.identity, listeners=listeners, port=port)
    mesh.add_candidate((Address(LOOPBACK, owner_port),), label="owner")
    table = Table(settings, journal, mesh, addresses=_texts(watch.own_addresses(port)))
    async with trio.open_nursery() as nursery:
        await nursery.start(table.run)
        await nursery.start(mesh.run)
        nursery.start_soon(watch.follow, port, mesh.announce)
        nursery.start_soon(_leave_together, table, owner)
        await play_by_itself(table, table.updates)
        nursery.cancel_scope.cancel()
    gone.set()


async def _leave_together(table: Table, owner: Table) -> None:
    """Leave when the owner leaves, and as it does."""
    if await owner.left():
        table.leave()
    else:
        table.close()


async def play_by_itself(table: Controls, updates: trio.MemoryReceiveChannel[Update]) -> None:
    """The built-in player in place of a screen: decides at once, until the table is closed."""
    decided: tuple[int, int] | None = None  # where the last question was asked
    async for update in updates:
        match update:
            case Closed():
                return
            case GameUpdate(view=SeatView() as view, decisions=decisions, place=place) if decisions:
                if place != decided:
                    decided = place
                    table.act(bots.choose(view, decisions, os.urandom))
            case GameUpdate():
                decided = None


def companions(
    owner: Settings, journal: Journal, count: int, stack: contextlib.ExitStack
) -> list[tuple[Settings, Journal]]:
    """Settings and journals of `count` built-in players of this owner; `stack` closes the journals.

    They are ready when all of them and their owner (or somebody else) sit at the table.
    """
    found = []
    for number in range(1, count + 1):
        own = stack.enter_context(contextlib.closing(open_bot(journal, number)))
        name = BOT_NAMES[(number - 1) % len(BOT_NAMES)]
        if name == owner.name:
            name = f"{name} {number}"
        settings = replace(
            owner, name=name, automatic=count + 1, keep_transcript=False, wanted=None, own_table=False
        )
        found.append((settings, own))
    return found
