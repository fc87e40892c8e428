"""Transcript files: where they go, how they are written so that no half of one is ever seen, who won the duels."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from otto_p2p.i18n import _
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.match import messages as m
from otto_protocol.match.transcript import Transcript, dump


def save_transcript(transcript: Transcript, wanted: Path | None, folder: Path, owner: str) -> Path:
    """Write a transcript (mode 0600) to `wanted`, or under a name of its own in `folder`; the path.

    `owner` tells the peers of one machine apart: all may write at the same moment. Raises LocalError when it
    cannot be written.
    """
    return _save(transcript, wanted or _named(transcript, folder, owner, "otto"), owner)


def save_evidence(evidence: Transcript, folder: Path, owner: str) -> Path:
    """Write an evidence file (mode 0600) under a name of its own in `folder`; the path. Raises LocalError."""
    return _save(evidence, _named(evidence, folder, owner, "evidence"), owner)


def fought_duels(transcript: Transcript) -> tuple[tuple[int, int], ...]:
    """The seats that won and lost each duel that was fought to its end, in order; nothing is verified.

    Whoever puts a card of the collection away has lost the last duel that somebody was challenged to.
    """
    fought, pair = [], None
    for item in transcript.items:
        try:
            message = m.parse_content(m.parse_signed(item))
        except DecodeError:  # evidence, or of a seat that was removed for it
            continue
        seat = message.header.seat
        match message.body:
            case m.Challenge(target=target):
                pair = (seat, target)
            case m.LoseCard() if pair is not None and seat in pair:
                fought.append((pair[1] if seat == pair[0] else pair[0], seat))
                pair = None
    return tuple(fought)


def _named(transcript: Transcript, folder: Path, owner: str, ending: str) -> Path:
    match = transcript.start.roster.match_id().hex()[:8]
    return folder / time.strftime(f"%Y-%m-%d-%H%M%S-{match}-{owner}.{ending}")


def _save(transcript: Transcript, path: Path, owner: str) -> Path:
    part = path.with_name(f"{path.name}.{owner}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(dump(transcript))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise LocalError(_("{path} cannot be written: {why}").format(path=path, why=error.strerror)) from None
    return path
