"""A cheating peer at a table of real ones: TLS on the loopback interface, a journal each, one process.

The cheats are those of `harness`, but what they get is what a peer on a network has: its own session, its
key, its links. Nothing of another peer can be read.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import trio

from otto_p2p.net.frames import MatchMessage
from otto_p2p.table.engine import Report
from otto_p2p.table.match_driver import MatchDriver
from otto_p2p.table.settings import Settings
from otto_p2p.updates import News
from otto_protocol.hashing import Drbg
from otto_protocol.lobby.actions import Cause
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Verified, audit
from otto_protocol.match.session import Conviction, Session
from otto_protocol.match.transcript import Transcript, load
from tests.adversary.harness import Told, Verdict
from tests.adversary.scene import Cheat, Scene, Sent, moment
from tests.e2e.program import run
from tests.net.tables import Peer, introduce, settings, until

CHEATER = "Mallory"
HONEST = ("Anna", "Bob", "Cil")
SECONDS = 150.0  # for what takes some seconds on a machine that is not busy
PLAYED_OUT = 900.0  # for a whole game
GO_ON = 2  # turns that are played after the cheat before the others leave, one after the other
BEFORE_DEAL = (
    "key commit",
    "key open",
    "shuffle",
    "prove",
)  # nothing is at stake yet: the others start again


class OneSeat(Scene):
    """What a strategy of `harness` sees and uses, at one real peer: of the others it knows the seats only."""

    def __init__(self, peer: Peer, session: Session, told: Told, cheat: Cheat) -> None:
        identities: Any = {session.seat: peer.journal.identity}
        self.sessions = [session] * len(session.start.roster.members)
        self.identities, self.gone = identities, set()
        self.enter(cheat, told.kind)
        self.peer, self.cheater, self.culprits = peer, session.seat, {session.seat}

    def honest(self) -> list[Session]:
        others: list[Any] = [
            SimpleNamespace(seat=seat) for seat in self.me.replica.live if seat != self.cheater
        ]
        return others

    def header(self, session: Session | None = None) -> m.Header:
        return super().header(session or self.me)

    def cheats(self) -> None:
        """From now on its session says what the strategy wants."""
        self.me.instead = lambda body: self.cheat.body(self, body)

    def raw(self, data: bytes) -> None:
        """Bytes in place of a frame, on every link."""
        for _, link in self.peer.mesh._book.linked():
            link.send(data)


class CheatingMatch(MatchDriver):
    """A match whose session is honest, but what is sent is what a strategy makes of it, from a moment on.

    It holds its session, and uses it between two visits of the engine to its thread only.
    """

    def __init__(self, cheater: Cheater, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.cheater = cheater
        self.hidden: set[bytes] = set()  # what its session has said, and nobody was to see

    def make_session(self, records: Sequence[tuple[bytes, bytes]] | None) -> Session:
        session = super().make_session(records)
        self.cheater.seat = OneSeat(self.cheater, session, self.cheater.told, self.cheater.cheat)
        return session

    def on_report(self, report: Report) -> None:
        cheat, seat = self.cheater.cheat, self.cheater.seat
        assert seat is not None
        for data in report.outgoing:
            sent = [Sent(data)]
            if self.cheater.begun:
                sent = list(cheat.outgoing(seat, m.parse_content(m.parse_signed(data))))
            if data not in [one.data for one in sent]:
                self.hidden.add(data)
            self._send(sent)
        if not self.cheater.begun and self._is_moment(seat.me):
            self.cheater.begun = True
            seat.cheats()
            self._send(cheat.begin(seat))
        if self.cheater.begun:
            self._send(cheat.tick(seat))
        answers = tuple(
            dataclasses.replace(
                answer, messages=tuple(data for data in answer.messages if data not in self.hidden)
            )
            for answer in report.answers
        )
        super().on_report(dataclasses.replace(report, outgoing=(), answers=answers))

    def on_conviction(self, conviction: Conviction, evidence: Transcript) -> None:
        """It does not tell on itself."""

    def _is_moment(self, session: Session) -> bool:
        told = self.cheater.told
        turn, _, name = told.start.rpartition(": ")
        free = session.seat not in session.spoken()
        return moment(session) == name and free and (not turn or session.replica.play.turn >= int(turn))

    def _send(self, sent: Iterable[Sent]) -> None:
        for one in sent:
            for seat, key in enumerate(self.members):
                if one.to is None or seat in one.to:
                    self.cheater.mesh.send(key, MatchMessage(one.data))


class Cheater(Peer):
    """The peer that cheats, in one match after the other until its cheat is done."""

    def __init__(self, folder: Path, settings: Settings, told: Told) -> None:
        self.told = told
        self.cheat = told.make()
        self.begun = False
        self.seat: OneSeat | None = None
        super().__init__(folder, CHEATER, settings, driver=functools.partial(CheatingMatch, self))


@dataclasses.dataclass
class Played:
    """A game that is over."""

    honest: list[Peer]
    cheater: Cheater
    seat: int = -1  # of the cheating peer, in the match of its cheat
    removed: dict[str, list[str]] = dataclasses.field(
        default_factory=dict
    )  # by peer, before the others leave


async def play(told: Told, folder: Path, turn_seconds: int = 120, grace: float = 150.0) -> Played:
    """A game of honest peers and one that cheats, to its end."""

    def made(name: str) -> Settings:
        own = settings(name, told.players, turn_seconds, grace)
        return dataclasses.replace(own, keep_transcript=name != CHEATER)

    honest = [Peer(folder / name, name, made(name)) for name in HONEST[: told.players - 1]]
    cheater = Cheater(folder / CHEATER, made(CHEATER), told)
    played = Played(honest, cheater)
    peers = [*honest, cheater]
    async with trio.open_nursery() as nursery:
        for peer in peers:
            await nursery.start(peer.run)
        introduce(peers)
        await until(lambda: cheater.cheat.done, PLAYED_OUT if told.ends == "play" else SECONDS)
        assert cheater.seat is not None
        played.seat = cheater.seat.me.seat
        if told.ends == "play":
            await until(lambda: all(peer.ended for peer in honest), PLAYED_OUT)
        else:
            await _go_on(told, honest)
        played.removed = {peer.name: [name for (name,) in peer.said(News.REMOVED)] for peer in honest}
        at_table = [] if told.start in BEFORE_DEAL else [cheater]
        await _go_home([*honest[1:], *at_table])
        await until(lambda: honest[0].ended, SECONDS)
        nursery.cancel_scope.cancel()
    return played


async def _go_on(told: Told, honest: list[Peer]) -> None:
    """Until the cheat is dealt with, and some turns have been played after it."""
    if told.verdict is not Verdict.HARMLESS:
        what = News.NOT_STARTED if told.start in BEFORE_DEAL else News.REMOVED
        await until(lambda: all(peer.said(what) for peer in honest), SECONDS)
    if told.start in BEFORE_DEAL:
        for peer in honest:
            await peer.table.lobby.change(lambda: peer.table.lobby.lobby.set_automatic(len(honest)))  # noqa: B023  # awaited
    turn = max(peer.turn for peer in honest)
    await until(lambda: all(peer.turn >= turn + GO_ON or peer.ended for peer in honest), SECONDS)


async def _go_home(peers: list[Peer]) -> None:
    """One after the other leaves, if it is still in the game."""
    for peer in peers:
        if peer.ended is None:
            peer.table.leave()
            await until(lambda: peer.ended, SECONDS)  # noqa: B023  # it is awaited here


def check(told: Told, played: Played) -> None:
    """What must have come of it, for every honest peer, and for one who has only the files."""
    convicted = told.verdict is Verdict.CONVICTED
    removed = told.verdict is not Verdict.HARMLESS and told.start not in BEFORE_DEAL
    for peer in played.honest:
        assert [words[0] for words in peer.said(News.CHEAT)] == [CHEATER] * convicted, peer.name
        silent = [name for cause, name in peer.said(News.NOT_STARTED) if cause == Cause.SILENT.value]
        assert set(silent) <= {CHEATER}, "somebody else is said to hold up the start"
        assert played.removed[peer.name] == [CHEATER] * removed, peer.name
        for _, rule, _, file in peer.said(News.CHEAT):
            assert rule in told.rules, peer.name
            judged = run("verify", "--evidence", file)
            proof = f"Proven: seat {played.seat} ({CHEATER}) broke rule {rule}: "
            assert (judged.returncode, judged.stdout[: len(proof)]) == (0, proof), judged
    ends = [_verified(told, played, peer, convicted and removed) for peer in played.honest if _ended(peer)]
    assert ends, "nobody has come to the end"
    if told.ends == "play":
        assert len(ends) == len(played.honest)
        assert len({verdict.digest for verdict in ends}) == 1
    if told.players == 2 and removed:
        assert [result.winner for result in ends[0].results] == [1 - played.seat]


def _ended(peer: Peer) -> bool:
    """Whether a peer was there to the end of the match; who goes home before has a transcript without it."""
    assert peer.ended is not None
    return peer.ended.complete


def _verified(told: Told, played: Played, peer: Peer, expelled: bool) -> Verified:
    """The verdict on the transcript that a peer has kept, here and by the command."""
    assert peer.ended is not None
    path = peer.ended.transcript
    assert path is not None
    transcript = load(path.read_bytes())
    if told.start in BEFORE_DEAL:
        assert CHEATER not in [member.name for member in transcript.start.roster.members], (
            "it sits there again"
        )
    verdict = audit(transcript, Drbg(b"audit"))
    assert isinstance(verdict, Verified), verdict
    assert verdict.results, "no game came to an end"
    convicts = [(one.seat, one.rule) for one in verdict.expelled]
    assert convicts == [(played.seat, rule) for _, rule, _, _ in peer.said(News.CHEAT) if expelled]
    held = run("verify", str(path))
    assert (held.returncode, "The transcript holds" in held.stdout) == (0, True), held
    return verdict
