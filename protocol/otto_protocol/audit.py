"""Checks a transcript from nothing but its bytes: the result, or the step, seat and rule that fails."""

from __future__ import annotations

from dataclasses import dataclass

from otto_protocol import messages as m
from otto_protocol.errors import DecodeError, PeerFault
from otto_protocol.hashing import Rng
from otto_protocol.here import check_roster, ready_valid
from otto_protocol.phases import Phase
from otto_protocol.replica import Replica, Spoken, StepFaults
from otto_protocol.roster import Roster, Start
from otto_protocol.rules_end import Outcome
from otto_protocol.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Verified:
    """A whole match that holds: its final digest (32 bytes), and the outcome of each of its games."""

    roster: Roster
    digest: bytes
    results: tuple[Outcome, ...]
    totals: tuple[int, ...]
    steps: int


@dataclass(frozen=True, slots=True)
class Failed:
    """What does not hold. `seat` is None when no seat can be blamed for it (the file was changed, or is cut).

    `rule` is the number of a T, R or P rule, or one of the file's own: "F1" the certificate, "F2" a signature,
    "F3" the order of the messages, "F4" unfinished.
    """

    step: int
    seat: int | None
    rule: str
    text: str


Verdict = Verified | Failed


def audit(transcript: Transcript, rng: Rng) -> Verdict:
    """Replay a transcript; `rng` weighs the batched checks, and a verdict does not depend on it."""
    start = transcript.start
    problem = start_problem(start)
    if problem is not None:
        return Failed(0, None, "F1", problem)
    replica = Replica(start.roster)
    try:
        replica, _ = _replay(replica, transcript.messages, rng)
    except _Failure as failure:
        return failure.failed
    if replica.phase is not Phase.OVER:
        waiting = ", ".join(start.roster.members[seat].name for seat in replica.awaited())
        return Failed(replica.step, None, "F4", f"the match is not finished: it waits for {waiting}")
    return Verified(start.roster, replica.digest, replica.results, replica.totals, replica.step)


@dataclass(frozen=True, slots=True)
class Proven:
    """An evidence file that convicts: this seat broke this rule, whatever anybody says."""

    roster: Roster
    seat: int
    rule: str
    text: str


def judge(evidence: Transcript, rng: Rng) -> Proven | Failed:
    """Whether the accused messages of an evidence file break a rule on top of the log that comes with them.

    Failed means that nothing is proven against anybody.
    """
    start = evidence.start
    problem = start_problem(start)
    if problem is not None:
        return Failed(0, None, "F1", problem)
    if not evidence.accused:
        return Failed(0, None, "F5", "nobody is accused")
    seat = evidence.accused[0].seat
    try:
        if len(evidence.accused) == 2:
            _two_contents(start.roster, evidence.accused)
        replica, spoken = _replay(Replica(start.roster), evidence.messages, rng)
        message = _genuine(replica, evidence.accused[0])
        spoken[seat] = Spoken(message, replica.check(seat, message.body))
        if len(spoken) == len(replica.awaited()):
            replica.advance(spoken, rng)
    except _Failure as failure:
        return failure.failed
    except StepFaults as error:
        for fault in error.faults:
            if fault.culprit == seat:
                return Proven(start.roster, seat, fault.rule, fault.text)
    except PeerFault as fault:
        if fault.culprit == seat:
            return Proven(start.roster, seat, fault.rule, fault.text)
    return Failed(0, None, "F5", "the accused messages break no rule")


def _two_contents(roster: Roster, accused: tuple[m.Signed, ...]) -> None:
    """Raises PeerFault (P1) if these are two contents of one seat for one step."""
    match = roster.match_id()
    one, other = accused
    if one.seat != other.seat or one.content == other.content or one.seat >= len(roster.members):
        return
    if not all(m.signature_valid(signed, roster.members[one.seat].key, match) for signed in accused):
        return
    try:
        headers = [m.parse_content(signed).header for signed in accused]
    except DecodeError:
        return
    if (headers[0].view, headers[0].step) == (headers[1].view, headers[1].step):
        raise PeerFault(one.seat, "P1", "two different messages for one step")


def start_problem(start: Start) -> str | None:
    """What is wrong with a START certificate, or None."""
    try:
        check_roster(start.roster)
    except DecodeError as error:
        return str(error)
    members = start.roster.members
    if len(start.signatures) != len(members):
        return "the certificate has not one signature for each member"
    for member, signature in zip(members, start.signatures, strict=True):
        if not ready_valid(start.roster, member.key, signature):
            return f"{member.name} has not signed the certificate"
    return None


class _Failure(Exception):
    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.text)
        self.failed = failed


def _replay(
    replica: Replica, signed: tuple[m.Signed, ...], rng: Rng
) -> tuple[Replica, dict[int, Spoken]]:
    """The replica after these messages, and what has been said in its step."""
    spoken: dict[int, Spoken] = {}
    last = -1
    for one in signed:
        try:
            message = _genuine(replica, one)
            if replica.phase is Phase.OVER:
                raise _Failure(Failed(replica.step, None, "F3", "messages after the end of the match"))
            if message.header.seat <= last:
                raise _Failure(Failed(replica.step, None, "F3", "messages out of order"))
            spoken[one.seat] = Spoken(message, replica.check(one.seat, message.body))
            last = one.seat
            if len(spoken) == len(replica.awaited()):
                replica, spoken, last = replica.advance(spoken, rng), {}, -1
        except PeerFault as fault:
            raise _Failure(Failed(replica.step, fault.culprit, fault.rule, fault.text)) from None
        except StepFaults as error:
            first = error.faults[0]
            raise _Failure(Failed(replica.step, first.culprit, first.rule, first.text)) from None
    return replica, spoken


def _genuine(replica: Replica, signed: m.Signed) -> m.Message:
    """The message, if it is signed by its seat for this very place in the log."""
    members = replica.roster.members
    step = replica.step
    if signed.seat >= len(members) or not m.signature_valid(signed, members[signed.seat].key, replica.match):
        raise _Failure(
            Failed(step, None, "F2", f"a message said to be of seat {signed.seat} is not signed by it")
        )
    try:
        message = m.parse_content(signed)
    except DecodeError as error:
        raise PeerFault(signed.seat, "P2", str(error)) from None
    header = message.header
    if (header.match, header.view, header.step, header.previous) != (
        replica.match,
        replica.view,
        replica.step,
        replica.digest,
    ):
        raise _Failure(Failed(step, None, "F3", f"a message of seat {signed.seat} does not belong here"))
    return message
