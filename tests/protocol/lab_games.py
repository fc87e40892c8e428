"""Whole games in memory for tests: players that come to an end soon, and every step of a game again."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.log import Log
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica, Spoken
from otto_protocol.match.transcript import Transcript
from otto_protocol.match.views import Change
from otto_protocol.roster import TableRules
from otto_protocol.rules import moves
from otto_protocol.rules.cards import number
from otto_protocol.rules.legal import SeatView

RNG = Drbg(b"weights of batched checks")


def eager(view: SeatView, legal: Sequence[moves.SeatMove]) -> moves.SeatMove:
    """Exchanges, collects and says Otto whenever it can, keeps its own number, duels never."""
    usual = legal[0]
    if isinstance(usual, moves.Choose):
        return max(legal, key=lambda move: len(move.slots) if isinstance(move, moves.Choose) else 0)
    spare = [
        move
        for move in legal
        if isinstance(move, moves.Lead | moves.Answer)
        and move.slot is not None
        and number(view.secret.cards[move.slot]) != view.secret.number
    ]
    return spare[(7 * view.state.turn + 3 * view.seat) % len(spare)] if spare else usual


def duellist(view: SeatView, legal: Sequence[moves.SeatMove]) -> moves.SeatMove:
    """Like `eager`, but challenges whom it can in every sixth turn."""
    if view.state.turn % 6 == 1:
        for move in legal:
            if isinstance(move, moves.Challenge):
                return move
    return eager(view, legal)


def patient(view: SeatView, legal: Sequence[moves.SeatMove]) -> moves.SeatMove:
    """Like `eager`, but says Otto in every ninetieth turn only: hands run empty, and several could say it."""
    if isinstance(legal[0], moves.Say) and view.state.turn % 90 != 89:
        return legal[-1]
    return eager(view, legal)


SEEDS = {"patient": "patient 33"}
"""Two of these come to several who could say Otto, and to a reshuffle."""

PLAYERS = {"eager": eager, "duellist": duellist, "patient": patient}


@functools.cache
def played(players: int, seed: str = "", decks: int = 2, games: int = 1, player: str = "eager") -> Lab:
    """A finished table, made once in a test run: look at it, do not change it."""
    seed = seed or SEEDS.get(player, "")
    lab = Lab(players, Drbg(f"game {players} {seed}".encode()), TableRules(decks, games))
    lab.play(PLAYERS[player])
    return lab


def steps(transcript: Transcript) -> Iterator[tuple[Replica, dict[int, Spoken]]]:
    """Every step of an honest transcript: the replica at its start, and what was said in it."""
    replica = Replica(transcript.start.roster)
    spoken: dict[int, Spoken] = {}
    for item in transcript.items:
        message = m.parse_content(m.parse_signed(item))
        seat = message.header.seat
        spoken[seat] = Spoken(message, replica.check(seat, message.body))
        if len(spoken) == len(replica.live):
            yield replica, spoken
            replica, spoken = replica.advance(spoken, RNG), {}
    yield replica, {}


def changes(transcript: Transcript) -> list[Change]:
    """All that happens in a transcript, for somebody who only looks on."""
    log = Log(transcript.start.roster, RNG)
    for item in transcript.items:
        log.receive(item)
        opened = log.count().opened() if log.view.ballots.entries else None
        if opened is not None:
            log.open_view(opened)
    return log.changes


@functools.cache
def all_steps(
    players: int, seed: str = "", decks: int = 2, games: int = 1, player: str = "eager"
) -> tuple[tuple[Replica, dict[int, Spoken]], ...]:
    """The steps of `played`."""
    return tuple(steps(played(players, seed, decks, games, player).transcript()))


def sign_at(replica: Replica, identity: IdentityKey, seat: int, body: m.Body) -> m.Message:
    """What a seat would send at this step to say `body`."""
    header = m.Header(replica.match, replica.view, replica.step, seat, replica.digest)
    return m.sign(identity, header, body)


def first(phase: MatchPhase, *kinds: type[m.Body], players: int = 2) -> tuple[Replica, int, m.Body]:
    """The first step of a phase in which somebody said a message of these kinds: replica, seat, message."""
    for player in PLAYERS:
        for replica, spoken in all_steps(players, player=player):
            for seat, one in spoken.items():
                wanted = isinstance(one.message.body, kinds) if kinds else seat in replica.wanted()
                if replica.phase is phase and wanted:
                    return replica, seat, one.message.body
    raise LookupError(f"no {kinds} in {phase} of the sample games")
