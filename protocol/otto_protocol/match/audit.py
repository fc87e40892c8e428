"""Checks a transcript from nothing but its bytes: the result, or the step, seat and rule that fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from otto_protocol.errors import DecodeError, OttoError, PeerFault
from otto_protocol.hashing import Rng
from otto_protocol.limits import STEPS_KEPT
from otto_protocol.lobby.record import check_start
from otto_protocol.match import messages as m
from otto_protocol.match.ballots import Ballots
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.proposals import Contradiction
from otto_protocol.match.replica import Replica, Spoken, StepFaults
from otto_protocol.match.transcript import Transcript
from otto_protocol.roster import Roster
from otto_protocol.rules.end import Outcome


@dataclass(frozen=True, slots=True)
class Failed:
    """What does not hold. `seat` is None when no seat can be blamed for it (the file was changed, or is cut).

    `rule` is the number of a T, R or P rule, or one of the file's own: "F1" the certificate, "F2" a signature,
    "F3" the order of the messages, "F4" unfinished, "F5" evidence that proves nothing.
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


Verdict = Verified | Failed


def audit(transcript: Transcript, rng: Rng) -> Verdict:
    """Replay a transcript; `rng` weighs the batched checks (os.urandom), a verdict does not depend on it."""
    start = transcript.start
    try:
        check_start(start)
    except DecodeError as error:
        return Failed(0, None, "F1", str(error))
    replay = _Replay(start.roster, rng)
    try:
        for signed in transcript.messages:
            replay.hear(signed)
        replay.settle()
    except _Failure as failure:
        return failure.failed
    replica = replay.replica
    if replica.phase is not MatchPhase.OVER:
        waiting = ", ".join(start.roster.members[seat].name for seat in replica.awaited())
        return Failed(replica.step, None, "F4", f"the match is not finished: it waits for {waiting}")
    return Verified(
        start.roster, replica.digest, replica.results, replica.totals, replica.step, tuple(replay.expelled)
    )


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
    try:
        check_start(start)
    except DecodeError as error:
        return Failed(0, None, "F1", str(error))
    if not evidence.accused:
        return Failed(0, None, "F5", "nobody is accused")
    seat = evidence.accused[0].seat
    replay = _Replay(start.roster, rng)
    if not evidence.messages and len(evidence.accused) == 2:
        fault = contradiction(start.roster, *evidence.accused)
        if fault is not None:
            return Proven(start.roster, seat, fault.rule, fault.text)
    try:
        for signed in (*evidence.messages, *evidence.accused):
            replay.hear(signed)
        replay.settle()
    except _Failure as failure:
        found = replay.accused.get(seat, failure.failed)  # several may be at fault in one step
        if found.seat == seat:
            return Proven(start.roster, seat, found.rule, found.text)
        return Failed(found.step, None, "F5", found.text)
    return Failed(0, None, "F5", "the accused messages break no rule")


def contradiction(roster: Roster, one: m.Signed, other: m.Signed) -> PeerFault | None:
    """The rule that two messages of a seat break by themselves, wherever in the match they were signed."""
    members, match = roster.members, roster.match_id()
    for signed in (one, other):
        if signed.seat >= len(members) or not m.signature_valid(signed, members[signed.seat].key, match):
            return None
    try:
        first, second = m.parse_content(one), m.parse_content(other)
    except DecodeError:
        return None
    places = {(message.header.match, message.header.view, message.header.seat) for message in (first, second)}
    if places != {(match, first.header.view, one.seat)}:
        return None
    votes = [isinstance(message.body, m.VOTES) for message in (first, second)]
    if not any(votes) and first.header.step == second.header.step and one.content != other.content:
        return PeerFault(one.seat, "P1", "two different messages for one step")
    if all(votes):
        ballots = Ballots(range(len(members)))
        try:
            for message in (first, second):
                ballots.add(message)
        except Contradiction as found:
            return found.fault
    return None


class _Failure(OttoError):
    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.text)
        self.failed = failed


class _Replay:
    """Takes the messages of a transcript in order. Whoever broke a rule must be removed by the ballots that follow."""

    def __init__(self, roster: Roster, rng: Rng) -> None:
        self.replica = Replica(roster)
        self.expelled: list[Failed] = []
        self._rng = rng
        self._spoken: dict[int, Spoken] = {}
        self._void: dict[int, Spoken] = {}
        self._contents: dict[tuple[int, int, int], bytes] = {}
        self.accused: dict[int, Failed] = {}
        self._ballots = Ballots(self.replica.live)
        self._voted: dict[int, Ballots] = {}  # by view
        self._next: Replica | None = None
        self._past: dict[tuple[int, int], Replica] = {}
        self._stray: Failed | None = None  # a message that has no place here, unless the next one explains it

    def hear(self, signed: m.Signed) -> None:
        """Take the next message; raises _Failure when the transcript does not hold."""
        seat = signed.seat
        members = self.replica.roster.members
        if seat >= len(members) or not m.signature_valid(signed, members[seat].key, self.replica.match):
            self._fail("F2", f"a message said to be of seat {seat} is not signed by it")
        stray, self._stray = self._stray, None
        self._hear_signed(signed)
        if stray is not None and seat not in self.accused:
            raise _Failure(next(iter(self.accused.values()), stray))

    def _hear_signed(self, signed: m.Signed) -> None:
        seat = signed.seat
        try:
            message = m.parse_content(signed)
        except DecodeError as error:
            self._after_step()
            self._accuse(PeerFault(seat, "P2", str(error)))
            return
        if message.header.match != self.replica.match:
            self._after_step()
            self._accuse(PeerFault(seat, "P15", "a message for another match"))
        elif isinstance(message.body, m.VOTES):
            self._hear_vote(message)
        else:
            self._hear_message(message)

    def settle(self) -> None:
        """Close the step if it is complete. Raises _Failure if an accused seat is still at the table."""
        while self._is_complete() and not self.accused and self.replica.phase is not MatchPhase.OVER:
            after = self._after_step()
            if after is None:
                break
            self._move_to(after)
        failed = next(iter(self.accused.values()), self._stray)
        if failed is not None:
            raise _Failure(failed)

    def _is_complete(self) -> bool:
        return set(self.replica.awaited()) <= self._spoken.keys()

    def _hear_message(self, message: m.Message) -> None:
        header, content = message.header, message.signed.content
        place = (header.view, header.step, header.seat)
        known = self._contents.get(place)
        if known is not None and known != content:
            self._after_step()
            self._accuse(PeerFault(header.seat, "P1", "two different messages for one step"))
            if (header.view, header.step) == (self.replica.view, self.replica.step):
                said = self._spoken.pop(header.seat, None)  # both are void, unless ballots name one of them
                if said is not None:
                    self._void[header.seat] = said
            return
        if self._is_complete() and not self.accused:
            self.settle()
        replica = self.replica
        if known is not None or replica.phase is MatchPhase.OVER:
            self._fail("F3", f"a message of seat {header.seat} stands here once more, or after the end")
        self._contents[place] = content
        if (header.view, header.step, header.previous) != (replica.view, replica.step, replica.digest):
            self._hear_elsewhere(message)
            return
        try:
            effect = replica.check(header.seat, message.body)
        except PeerFault as fault:
            self._accuse(fault)
            return
        self._spoken[header.seat] = Spoken(message, effect)

    def _hear_elsewhere(self, message: m.Message) -> None:
        """What is no part of the log here can only be evidence."""
        header = message.header
        place = (header.view, header.step)
        past = self._past.get(place)
        if past is not None and past.digest == header.previous:
            try:
                past.check(header.seat, message.body)
            except PeerFault as fault:
                self._accuse(fault)
                return
        # The first of two contents may have been signed on top of another log.
        if place != (self.replica.view, self.replica.step):
            text = f"a message of seat {header.seat} does not belong here"
            self._stray = Failed(self.replica.step, None, "F3", text)

    def _hear_old_ballot(self, message: m.Message) -> None:
        """More ballots than a view needed say nothing, unless one contradicts another of its author."""
        voted = self._voted.get(message.header.view)
        try:
            if voted is not None:
                voted.add(message)
        except Contradiction as error:
            self._after_step()
            self._accuse(error.fault)

    def _hear_vote(self, message: m.Message) -> None:
        if message.header.view < self.replica.view and isinstance(message.body, m.Ballot):
            self._hear_old_ballot(message)
            return
        if message.header.view > self.replica.view:
            self._fail("F3", f"a ballot of seat {message.header.seat} does not belong here")
        after = self._after_step()
        try:
            self._ballots.add(message)
        except Contradiction as error:
            self._accuse(error.fault)
        final = self._ballots.final()
        if final is None:
            return
        proposal = final.proposal
        here = (proposal.step, proposal.digest)
        if here != (self.replica.step, self.replica.digest) and after is not None:
            self._move_to(after)
        if here != (self.replica.step, self.replica.digest):
            self._fail("F3", "ballots for another place in the log")
        standing = {}
        for seat, own in final.own:
            said = self._spoken.get(seat) or self._void.get(seat)
            if own and (said is None or said.message.content_hash() != own):
                self._fail("F3", f"the message of seat {seat} that stands by its ballot is missing")
            if own and said is not None:
                standing[seat] = said
        self._move_to(self.replica.without(proposal.gone, standing, final.digest(self.replica.view)))
        self.expelled += [self.accused.pop(seat) for seat in sorted(proposal.gone) if seat in self.accused]
        self._voted[self._ballots.view] = self._ballots
        self._ballots = Ballots(self.replica.live, view=self.replica.view, left=self._ballots.leaves)
        self._ballots.convict(self.accused)

    def _after_step(self) -> Replica | None:
        """The replica after a complete step that ballots follow: they may be about it, or about the next."""
        if self._next is None and self._is_complete() and not self.accused:
            try:
                self._next = self.replica.advance(self._spoken, self._rng)
            except StepFaults as error:
                for fault in error.faults:
                    self._accuse(fault)
                    self._spoken.pop(fault.culprit)
        return self._next

    def _move_to(self, after: Replica) -> None:
        self._past[self.replica.view, self.replica.step] = self.replica
        self._past.pop((self.replica.view, self.replica.step - STEPS_KEPT), None)
        self.replica, self._spoken, self._void, self._next = after, {}, {}, None

    def _accuse(self, fault: PeerFault) -> None:
        failed = Failed(self.replica.step, fault.culprit, fault.rule, fault.text)
        self.accused.setdefault(fault.culprit, failed)
        self._ballots.convict((fault.culprit,))

    def _fail(self, rule: str, text: str) -> NoReturn:
        failed = Failed(self.replica.step, None, rule, text)
        raise _Failure(next(iter(self.accused.values()), failed))
