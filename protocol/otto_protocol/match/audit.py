"""Checks a transcript from nothing but its bytes: the result, or the step, seat and rule that fails.

It is the same function as at the table: a transcript is read through the `Log` of somebody who only looks on.
"""

from __future__ import annotations

from dataclasses import dataclass

from otto_protocol.errors import DecodeError
from otto_protocol.hashing import Rng
from otto_protocol.lobby.record import check_start
from otto_protocol.match import messages as m
from otto_protocol.match.log import Log
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.transcript import Transcript
from otto_protocol.match.views import Conviction
from otto_protocol.roster import Roster
from otto_protocol.rules.end import Outcome


@dataclass(frozen=True, slots=True)
class Failed:
    """What does not hold. `seat` is None when no seat can be blamed for it (the file was changed, or is cut).

    `rule` is the number of a T, R or P rule, or one of the file's own: "F1" the certificate, "F2" a signature,
    "F3" the order of the messages, "F5" evidence that proves nothing.
    """

    step: int
    seat: int | None
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Verified:
    """A whole match that holds: its final digest (32 bytes), and the outcome of each of its games."""

    roster: Roster
    digest: bytes
    results: tuple[Outcome, ...]
    totals: tuple[int, ...]
    steps: int
    expelled: tuple[Failed, ...] = ()  # what seats were convicted of, before the others went on without them


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A match that holds as far as it goes: all is valid up to `step`, and there it waits for these seats."""

    roster: Roster
    digest: bytes
    results: tuple[Outcome, ...]
    totals: tuple[int, ...]
    step: int
    awaited: tuple[int, ...]
    expelled: tuple[Failed, ...] = ()


Verdict = Verified | Unfinished | Failed


@dataclass(frozen=True, slots=True)
class Proven:
    """An evidence file that convicts: this seat broke this rule, whatever anybody says."""

    roster: Roster
    seat: int
    rule: str
    text: str


def audit(transcript: Transcript, rng: Rng) -> Verdict:
    """Replay a transcript; `rng` weighs the batched checks (os.urandom), a verdict does not depend on it."""
    try:
        check_start(transcript.start)
    except DecodeError as error:
        return Failed(0, None, "F1", str(error))
    roster = transcript.start.roster
    log = Log(roster, rng)
    failed = _replay(log, transcript)
    replica, accused = log.replica, sorted(log.accused())
    if accused:  # what comes behind a cheat that nobody was removed for has no place any more
        return _failed(log.convicted[accused[0]], replica)
    if failed is not None:
        return failed
    expelled = tuple(_failed(log.convicted[seat], replica) for seat in sorted(log.convicted))
    if replica.phase is not MatchPhase.OVER:
        return Unfinished(
            roster, replica.digest, replica.results, replica.totals, replica.step, log.awaited(), expelled
        )
    return Verified(roster, replica.digest, replica.results, replica.totals, replica.step, expelled)


def judge(evidence: Transcript, rng: Rng) -> Proven | Failed:
    """Whether the last item of an evidence file convicts a seat, on top of the log that comes with it.

    Failed means that nothing is proven against anybody.
    """
    try:
        check_start(evidence.start)
    except DecodeError as error:
        return Failed(0, None, "F1", str(error))
    log = Log(evidence.start.roster, rng)
    failed = _replay(log, evidence)
    for conviction in log.convicted.values():
        if evidence.items and conviction.seat == _accused(evidence.items[-1]):
            return Proven(evidence.start.roster, conviction.seat, conviction.rule, conviction.text)
    return failed or Failed(log.replica.step, None, "F5", "the evidence convicts nobody")


def _accused(item: bytes) -> int | None:
    try:
        parsed = m.parse(item)
    except DecodeError:
        return None
    return parsed.accused[0].seat if isinstance(parsed, m.Evidence) and parsed.accused else None


def _replay(log: Log, transcript: Transcript) -> Failed | None:
    """Read all items; what is wrong with the file itself, or None."""
    for item in transcript.items:
        step = log.replica.step
        try:
            new = log.receive(item)
            parsed = m.parse(item)
        except DecodeError as error:
            return Failed(step, None, "F2", str(error))
        if isinstance(parsed, m.Signed) and parsed.seat not in log.convicted:
            if not new or not log.counts(parsed):
                return Failed(step, None, "F3", f"a message of seat {parsed.seat} does not belong here")
        elif isinstance(parsed, m.Evidence) and _accused(item) not in log.convicted:
            return Failed(step, None, "F5", "evidence that convicts nobody")
        opened = log.count().opened() if log.view.ballots.entries else None
        if opened is not None and not log.open_view(opened):
            return Failed(step, None, "F3", "a view is opened at another place in the log")
    return None


def _failed(conviction: Conviction, replica: Replica) -> Failed:
    step = replica.step if conviction.step is None else conviction.step
    return Failed(step, conviction.seat, conviction.rule, conviction.text)
