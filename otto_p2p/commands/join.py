"""`otto-p2p join`: from options, checked, to a peer with a screen."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import locale
import os
import signal
import sys
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import trio

from otto_p2p.exits import INTERRUPTED
from otto_p2p.i18n import _, ngettext
from otto_p2p.net.addresses import parse_peer
from otto_p2p.plain import plain
from otto_p2p.screen.options import can_show, from_environment
from otto_p2p.stdio import LineWriter, read_lines
from otto_p2p.storage.folders import data_folder
from otto_p2p.storage.journal import open_identity
from otto_p2p.table.peer import Network, Screen, companions, run_peer
from otto_p2p.table.settings import Settings
from otto_p2p.updates import Controls, Update
from otto_protocol.errors import LocalError
from otto_protocol.limits import MAX_DECKS, MAX_SEATS, MIN_SEATS
from otto_protocol.lobby.names import name_problem
from otto_protocol.roster import MAX_NAME, TableRules
from otto_protocol.rules import most_players

STDIN, STDOUT = 0, 1
MAX_GAMES, MAX_TURN_SECONDS = 99, 3600


class UsageError(LocalError):
    """An option that cannot be used: exit status 2."""


@dataclass(frozen=True, slots=True)
class Join:
    """The options of `join`, checked."""

    settings: Settings
    network: Network
    bots: int
    auto: bool
    plain: bool
    data_dir: Path


def checked(options: argparse.Namespace) -> Join:
    """The options of `join`. Raises UsageError, in one line, for what cannot be."""
    rules = _rules(options)
    seats = _seats(options.players, options.bots, rules.decks)
    automatic = 0
    if options.auto:
        automatic = options.players or (options.bots + 1 if options.bots else 2)
    for text in options.peer:
        try:
            parse_peer(text)
        except LocalError as error:
            raise UsageError(str(error)) from None
    if options.port is not None and not 0 <= options.port <= 65535:
        raise UsageError(_("--port is a number from 0 to 65535, not {port}").format(port=options.port))
    settings = Settings(
        name=_name(options.name),
        rules=rules,
        seats=seats,
        wanted=options.table,
        own_table=options.new,
        automatic=automatic,
        indirect=options.relay,
        transcript=None if options.transcript is None else Path(options.transcript),
        grace=_grace(options.grace),
    )
    network = Network(options.port, tuple(options.peer), not options.no_mdns)
    return Join(settings, network, options.bots, options.auto, options.plain, data_folder(options.data_dir))


def _rules(options: argparse.Namespace) -> TableRules:
    default = TableRules()
    decks = default.decks if options.decks is None else options.decks
    games = default.games if options.games is None else options.games
    seconds = default.turn_seconds if options.turn_time is None else options.turn_time
    if not 1 <= decks <= MAX_DECKS:
        raise UsageError(_("a table uses 1 to 4 decks, not {n} (rule R1)").format(n=decks))
    if not 1 <= games <= MAX_GAMES:
        raise UsageError(_("a match has 1 to 99 games, not {n}").format(n=games))
    if not 0 <= seconds <= MAX_TURN_SECONDS:
        raise UsageError(_("--turn-time is 0 to 3600 seconds, not {n}").format(n=seconds))
    return TableRules(decks, games, seconds, memory_aid=not options.no_memory)


def _grace(seconds: int) -> float:
    if not 5 <= seconds <= 86400:
        raise UsageError(_("--grace is 5 to 86400 seconds, not {n}").format(n=seconds))
    return float(seconds)


def _seats(players: int | None, bots: int, decks: int) -> int | None:
    if players is not None and not MIN_SEATS <= players <= MAX_SEATS:
        raise UsageError(_("Otto is for 2 to 10 players, not {n} (rule R2)").format(n=players))
    if not 0 <= bots < MAX_SEATS:
        raise UsageError(_("--bots is 0 to 9, not {n}").format(n=bots))
    wanted, most = max(players or 0, bots + 1), most_players(decks)
    if wanted > most:
        raise UsageError(
            ngettext(
                "{decks} deck is enough for {most} players, not {n}: use more --decks (rule R2)",
                "{decks} decks are enough for {most} players, not {n}: use more --decks (rule R2)",
                decks,
            ).format(decks=decks, most=most, n=wanted)
        )
    if players is not None and bots >= players:
        raise UsageError(_("with {n} built-in players there is no seat left for you").format(n=bots))
    return players


def _name(given: str | None) -> str:
    """The name to play under: the given one, which must be fit for others' screens, or the user's."""
    name = unicodedata.normalize("NFC", (_user() if given is None else given).strip())
    size = len(name.encode("utf-8", "surrogatepass"))
    if given is None:
        while len(name.encode("utf-8", "replace")) > MAX_NAME:
            name = name[:-1]
        return name if name_problem(name) is None else _("player")
    if not name:
        raise UsageError(_("a name cannot be empty"))
    if size > MAX_NAME:
        raise UsageError(
            _("a name has at most {most} bytes of UTF-8, this one has {size}").format(
                most=MAX_NAME, size=size
            )
        )
    if name_problem(name) is not None:
        raise UsageError(_("a name cannot have control or invisible characters: {name}").format(name=name))
    return name


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user in the system's list
        return ""


def join(wanted: Join) -> int:
    """Play until the table is closed; the exit status. Raises LocalError."""
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(contextlib.closing(open_identity(wanted.data_dir)))
        bots = companions(wanted.settings, journal, wanted.bots, stack)

        async def peer(screen: Screen) -> None:
            await run_peer(wanted.settings, wanted.network, journal, screen, companions=bots)

        try:
            if wanted.plain or not can_show():
                return trio.run(_plain, peer, wanted.auto)
            from otto_p2p.screen.run import run_screen  # Textual takes a third of a second to import

            return run_screen(peer, from_environment(auto=wanted.auto))
        except BaseExceptionGroup as group:
            raise _plainly(group) from None


def _plainly(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What a nursery raised: the one LocalError that is behind it, or the group if there is more to it."""
    expected, rest = group.split(LocalError)
    if expected is None or rest is not None:
        return group
    error: BaseException = expected
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _plain(peer: Callable[[Screen], Awaitable[None]], auto: bool) -> int:
    status = 0

    async def screen(table: Controls, updates: trio.MemoryReceiveChannel[Update]) -> None:
        nonlocal status
        status = await run_plain(table, updates, auto=auto)

    await peer(screen)
    return status


async def run_plain(table: Controls, updates: trio.MemoryReceiveChannel[Update], *, auto: bool) -> int:
    """The plain screen on standard input and output, with signals; the exit status."""
    encoding = sys.stdout.encoding or locale.getpreferredencoding(False)
    writer = LineWriter(STDOUT, encoding)
    screen = plain.Plain(table, writer, os.urandom, auto=auto, interactive=os.isatty(STDIN))
    send, lines = trio.open_memory_channel[str](0)
    async with trio.open_nursery() as writing:
        writing.start_soon(writer.run)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_lines, STDIN, send, encoding)
            nursery.start_soon(_signals, screen)
            nursery.start_soon(_broken, writer, screen)
            await plain.run(screen, updates, lines)
            nursery.cancel_scope.cancel()
        writer.end()
    return INTERRUPTED if screen.interrupted else 0


async def _signals(screen: plain.Plain) -> None:
    wanted = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32":
        wanted.append(signal.SIGHUP)
    with trio.open_signal_receiver(*wanted) as received:
        async for number in received:
            if number == signal.SIGINT:
                screen.interrupt()
            else:
                screen.terminate()


async def _broken(writer: LineWriter, screen: plain.Plain) -> None:
    await writer.broken.wait()
    screen.terminate()
