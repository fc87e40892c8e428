"""`otto-p2p bench --game`: a whole game of built-in players on this machine, with all cryptography and real links."""

from __future__ import annotations

import json as json_format
import os
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import trio

from otto_p2p.net.addresses import Address
from otto_p2p.net.mesh import Mesh
from otto_p2p.net.streams import listening_port, open_listeners
from otto_p2p.players import bots
from otto_p2p.storage.journal import Journal
from otto_p2p.table.settings import Settings
from otto_p2p.table.table import Table
from otto_p2p.updates import Closed, GameUpdate, LobbyUpdate, MatchEnded
from otto_protocol.match.phases import MatchPhase

PLAYERS = 4
HAND_LIMIT = 1.0  # seconds from everyone ready to cards in hand (README.md: "well under a second")
GAME_LIMIT = 60.0  # seconds, not minutes
LOOPBACK = "127.0.0.1"


@dataclass(slots=True)
class Course:
    """What one peer saw: seconds on one clock, turns, and the bytes that it sent."""

    ready: float = 0.0
    hand: float = 0.0
    end: float = 0.0
    turns: int = 0
    sent: int = 0


@dataclass(slots=True)
class _Meeting:
    """Where the peers find each other."""

    ports: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    ended: int = 0


def run(json: bool) -> int:
    """Play and print; the exit status, 0."""
    courses = trio.run(_play)
    deal = max(course.hand for course in courses) - max(course.ready for course in courses)
    game = max(course.end for course in courses) - max(course.ready for course in courses)
    turns = courses[0].turns
    if json:
        figures = {"cards_in_hand_s": deal, "game_s": game, "turns": turns}
        print(json_format.dumps({**figures, "peers": [asdict(course) for course in courses]}))
        return 0
    cores = os.cpu_count()
    print(f"{PLAYERS} built-in players in one process on {cores} cores, links over TLS, journals on disk")
    print(f"  everyone ready -> cards in hand  {deal:7.2f} s   (limit {HAND_LIMIT:.0f} s)")
    print(f"  the whole game                   {game:7.2f} s   (limit {GAME_LIMIT:.0f} s), {turns} turns")
    for seat, course in enumerate(courses):
        print(f"  sent by peer {seat}                {course.sent / 1e6:10.2f} MB")
    return 0


async def _play() -> list[Course]:
    courses = [Course() for _ in range(PLAYERS)]
    meeting = _Meeting()
    with tempfile.TemporaryDirectory() as folder:
        async with trio.open_nursery() as nursery:
            for number, course in enumerate(courses):
                nursery.start_soon(_peer, number, Path(folder) / str(number), course, meeting)
    return courses


async def _peer(number: int, folder: Path, course: Course, meeting: _Meeting) -> None:
    journal = Journal(folder)
    listeners = open_listeners(0)
    port = listening_port(listeners)
    mesh = Mesh(journal.identity, listeners=listeners, port=port)
    meeting.ports[number] = (mesh.key, port)
    table = Table(Settings(f"bot {number}", automatic=PLAYERS, keep_transcript=False), journal, mesh)
    async with trio.open_nursery() as nursery:
        await nursery.start(mesh.run)
        await nursery.start(table.run)
        while len(meeting.ports) < PLAYERS:
            await trio.sleep(0.01)
        for other in range(number):
            mesh.add_candidate((Address(LOOPBACK, meeting.ports[other][1]),), label=str(other))
        await _watch(table, course, meeting)
        course.sent = sum(link.sent for link in mesh.links())
        meeting.ended += 1
        while meeting.ended < PLAYERS:  # the others may need what we sent last
            await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
    journal.close()


async def _watch(table: Table, course: Course, meeting: _Meeting) -> None:
    async for update in table.updates:
        match update:
            case LobbyUpdate(obstacles=obstacles) if obstacles and not course.hand:
                course.ready = time.perf_counter()
            case GameUpdate() if update.view is not None and update.phase is not MatchPhase.KEY_COMMIT:
                if not course.hand and update.phase is MatchPhase.PLAY:
                    course.hand = time.perf_counter()
                course.turns = update.view.state.turn
                if update.decisions:
                    table.act(bots.choose(update.view, update.decisions, os.urandom))
                if update.over:
                    course.end = time.perf_counter()
            case MatchEnded() | Closed():
                return
            case _:
                pass
