"""What stays of a match on this machine: its transcript and result, and files of evidence."""

from __future__ import annotations

from pathlib import Path

from otto_p2p.storage.journal import MatchState, StoredResult
from otto_p2p.storage.transcripts import fought_duels, save_evidence, save_transcript
from otto_p2p.table.context import Context
from otto_p2p.table.engine import Engine
from otto_p2p.updates import MatchEnded, News
from otto_protocol.errors import LocalError
from otto_protocol.match.transcript import Transcript
from otto_protocol.match.views import Conviction


async def keep_match(context: Context, engine: Engine) -> None:
    """When all is stopped: write the transcript and the result down, and tell the screen."""
    path: Path | None = None
    duels: tuple[tuple[int, int], ...] | None = None
    await engine.stopped.wait()
    if context.settings.keep_transcript:
        folder, owner = context.journal.path.parent / "transcripts", context.mesh.key.hex()[:8]
        transcript = await engine.transcript()
        duels = await context.run(fought_duels, transcript)
        try:
            path = await context.run(save_transcript, transcript, context.settings.transcript, folder, owner)
        except LocalError as error:
            context.notify(News.WARNING, str(error))
    standing = engine.standing
    result = StoredResult(standing.totals, tuple(outcome.winner for outcome in standing.results), duels)
    state = MatchState.FINISHED if standing.over else MatchState.ABANDONED
    await context.run(context.journal.finish, engine.match, result, path, state)
    context.tell(MatchEnded(path, standing.over))


async def forget_match(context: Context, engine: Engine) -> None:
    """When all is stopped: note that nothing came of this match."""
    await engine.stopped.wait()
    await context.run(context.journal.finish, engine.match, None, None, MatchState.ABANDONED)


async def keep_evidence(context: Context, conviction: Conviction, evidence: Transcript, name: str) -> None:
    """Write a file for third parties, and tell the screen who has cheated."""
    path = ""
    if context.settings.keep_transcript:
        folder, owner = context.journal.path.parent / "evidence", context.mesh.key.hex()[:8]
        try:
            path = str(await context.run(save_evidence, evidence, folder, owner))
        except LocalError as error:
            context.notify(News.WARNING, str(error))
    context.notify(News.CHEAT, name, conviction.rule, conviction.text, path)
