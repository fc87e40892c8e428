"""`otto-p2p verify`: a transcript in, a verdict out; or an evidence file, and whom it convicts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from otto_p2p.i18n import _, ngettext
from otto_p2p.lookalikes import tags
from otto_p2p.texts.people import People
from otto_p2p.texts.results import game_over, match_over
from otto_p2p.texts.safe import safe
from otto_protocol.errors import DecodeError
from otto_protocol.match.audit import Failed, Proven, Unfinished, Verified, audit, judge
from otto_protocol.match.transcript import MAX_TRANSCRIPT, Transcript, UnknownVersion, load
from otto_protocol.roster import Roster
from otto_protocol.rules import Outcome

HOLDS, FAILS, NO_TRANSCRIPT, UNFINISHED = 0, 1, 2, 3


def verify(file: str) -> int:
    """Check a transcript file and print the verdict.

    The exit status: 0 it holds, 1 something in it does not, 2 it is no transcript, or of a version that this
    program does not know, 3 it holds as far as it goes, but the match is not finished.
    """
    transcript = _load(file)
    if transcript is None:
        return NO_TRANSCRIPT
    match audit(transcript, os.urandom):
        case Verified() as verified:
            lines = holds(verified)
            status = HOLDS
        case Unfinished() as unfinished:
            lines = holds_so_far(unfinished)
            status = UNFINISHED
        case Failed() as failed:
            lines = [fails(failed, transcript.start.roster)]
            status = FAILS
    for line in lines:
        print(line)
    return status


def verify_evidence(file: str) -> int:
    """Check an evidence file and print whom it convicts, and of what.

    The exit status: 0 it proves that a seat broke a rule, 1 it proves nothing, 2 it is no evidence file.
    """
    evidence = _load(file)
    if evidence is None:
        return NO_TRANSCRIPT
    match judge(evidence, os.urandom):
        case Proven() as proven:
            name = _people(proven.roster).names[proven.seat]
            text = _("Proven: seat {seat} ({name}) broke rule {rule}: {text}")
            print(text.format(seat=proven.seat, name=name, rule=proven.rule, text=safe(proven.text)))
            return HOLDS
        case Failed(text=text):
            print(_("Nothing is proven against anybody: {text}").format(text=safe(text)))
            return FAILS


def _load(file: str) -> Transcript | None:
    """The transcript in a file, or None after one line about what is wrong with it."""
    try:
        return load(_read(Path(file)))
    except UnknownVersion as error:
        _refuse(_("{file}: {problem}").format(file=file, problem=error))
    except DecodeError:
        _refuse(_("{file} is no transcript of otto-p2p").format(file=file))
    except OSError as error:
        _refuse(_("{file} cannot be read: {problem}").format(file=file, problem=error.strerror))
    return None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_TRANSCRIPT + 1)
    return data


def _refuse(text: str) -> None:
    print(f"otto-p2p: {safe(text)}", file=sys.stderr)


def _people(roster: Roster) -> People:
    marks = tags([member.name for member in roster.members], [member.key for member in roster.members])
    return People.of(roster.members, marks, -1)


def holds(verified: Verified) -> list[str]:
    """The verdict on a match that holds, with its results."""
    people = _people(verified.roster)
    games = len(verified.results)
    lines = [
        ngettext(
            "The transcript holds: {n} step, final digest {digest}.",
            "The transcript holds: {n} steps, final digest {digest}.",
            verified.steps,
        ).format(n=verified.steps, digest=verified.digest.hex())
    ]
    lines += _went(verified.expelled, verified.results, people)
    return [*lines, *match_over(verified.totals, people, games)]


def holds_so_far(unfinished: Unfinished) -> list[str]:
    """The verdict on a match that holds but was not finished: by somebody who was removed, or whose machine died."""
    people = _people(unfinished.roster)
    text = _(
        "The transcript holds as far as step {step}, but the match is not finished: it waits for {names}."
    )
    names = ", ".join(people.names[seat] for seat in unfinished.awaited)
    lines = [text.format(step=unfinished.step, names=names)]
    return lines + _went(unfinished.expelled, unfinished.results, people)


def _went(expelled: tuple[Failed, ...], results: tuple[Outcome, ...], people: People) -> list[str]:
    """Who was convicted and removed, and how each game ended."""
    lines = []
    for cheat in expelled:
        if cheat.seat is not None:
            text = _(
                "Seat {seat} ({name}) broke rule {rule} at step {step}, and the others went on without it."
            )
            name = people.names[cheat.seat]
            lines.append(text.format(seat=cheat.seat, name=name, rule=cheat.rule, step=cheat.step))
    for number, outcome in enumerate(results, 1):
        lines += game_over(outcome, people, number, len(results))
    return lines


def fails(failed: Failed, roster: Roster) -> str:
    """The verdict on a match that does not hold: step, seat and rule."""
    text = _("The transcript fails at step {step}, by rule {rule}: {text}")
    if failed.seat is not None:
        text = _("The transcript fails at step {step}: seat {seat} ({name}) broke rule {rule}: {text}")
    return text.format(
        step=failed.step,
        seat=failed.seat,
        name="" if failed.seat is None else _people(roster).names[failed.seat],
        rule=failed.rule,
        text=safe(failed.text),
    )
