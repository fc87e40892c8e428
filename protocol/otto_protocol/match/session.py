"""One seat of a match: takes signed messages in, gives signed messages out, knows its own secrets.

`receive` takes what came from the network in any order; `decisions` and `act` are for the player; `work`
does the next thing that needs no decision (keys, shuffles, proofs, shares), one at a time, so that the
caller can send each message before the next is computed; `suspect`, `vote` and `leave` are about seats that
are gone. What is in `outgoing` must be stored before it is sent: after a crash `restore` goes on with the
stored messages, and no step is ever signed twice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from otto_protocol import rules
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import MAX_UINT, pack, unpack
from otto_protocol.errors import DecodeError, IllegalMove, LocalError, PeerFault
from otto_protocol.hashing import Rng
from otto_protocol.limits import STEPS_KEPT
from otto_protocol.match import messages as m
from otto_protocol.match import otto
from otto_protocol.match.ballots import Ballots
from otto_protocol.match.effects import Effect, Played, Purpose
from otto_protocol.match.events import (
    Convicted,
    Conviction,
    Diverged,
    Heard,
    Outgoing,
    Removed,
    SessionEvent,
    StepDone,
    ViewOpened,
    Voted,
)
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.proposals import Contradiction, Final
from otto_protocol.match.replica import Replica, Spoken, StepFaults
from otto_protocol.match.speaker import Note, Speaker
from otto_protocol.match.transcript import Transcript
from otto_protocol.roster import PROTOCOL_VERSION, Start
from otto_protocol.rules import moves
from otto_protocol.rules.legal import SeatView
from otto_protocol.rules.state import Secret, State

__all__ = [
    "Convicted",
    "Conviction",
    "Diverged",
    "Heard",
    "Outgoing",
    "Removed",
    "Session",
    "SessionEvent",
    "StepDone",
    "ViewOpened",
    "Voted",
]

MAX_AHEAD = 64  # steps: a message for a step further ahead is dropped, catching up brings it again
MAX_PAST = 128  # ballots of one seat in a view that is over: later ones are not looked at
MAX_LATER = 128  # votes of one seat that are kept until what they need is here
KEPT_VIEWS = 16  # views whose ballots still convict who contradicts itself


@dataclass(frozen=True, slots=True)
class _Undone:
    """Where this seat stood before it went back to a step that somebody has signed twice."""

    step: int  # the last one of those that were signed twice
    replica: Replica
    past: list[_Past]
    log: list[tuple[m.Signed, ...]]
    spoken: dict[int, Spoken]
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class _Past:
    """A finished step, for going back to its start."""

    replica: Replica
    spoken: dict[int, Spoken]
    speaker: Speaker


class Session:
    """The seat of `identity` in the match that `start` certifies. Not thread-safe: one caller at a time."""

    def __init__(self, start: Start, identity: IdentityKey, seed: bytes, rng: Rng) -> None:
        """`seed`: 32 secret bytes of this match, stored by the caller; nearly everything secret comes from it.

        `rng` weighs the batched verification of others' proofs, and makes the fresh secrets of heals.
        """
        self.start = start
        self.replica = Replica(start.roster)
        self.seat = [member.key for member in start.roster.members].index(identity.public)
        self.instead: Callable[[m.Body], m.Body] | None = None  # for experiments: what to say in place of it
        self.may_deal = True  # whether the first DEAL may be given; the lobby decides (it binds this seat)
        self.out = False  # this seat has left, or the others have gone on without it
        self.convicted: dict[int, Conviction] = {}
        self.outgoing: list[Outgoing] = []
        self.events: list[SessionEvent] = []
        self.log: list[tuple[m.Signed, ...]] = []  # of each finished step, in seat order; ballots behind
        self._view_ends: list[int] = []  # by view: the step at which it ended
        self.ballots = Ballots(self.replica.live, self.seat)
        self._identity = identity
        self._rng = rng
        self.speaker = Speaker(self.seat, seed, rng)
        self._past: list[_Past] = []
        self._spoken: dict[int, Spoken] = {}
        self._seen: dict[tuple[int, int, int], m.Message] = {}  # (view, step, seat) -> the content we know
        self._early: dict[tuple[int, int], dict[int, m.Message]] = {}
        self._voted: dict[int, Ballots] = {}  # of the last views that are over: they still convict
        self._later: dict[tuple[int, bytes], m.Message] = {}  # votes that came too early, by seat and content
        self._undone: _Undone | None = None
        self._own: dict[tuple[int, int], m.Message] = {}
        self._notes: dict[tuple[int, int], Note] = {}
        self._suspects: frozenset[int] = frozenset()
        self.speaker.enter(self.replica)

    def copy(self, rng: Rng | None = None) -> Session:
        """An independent session in the same state, to see what would happen; with `rng` if it is given.

        Never let both of them sign for the same seat of one match: that is what P1 convicts for.
        """
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set):
                setattr(other, name, copy.copy(value))
        other._rng = rng or self._rng
        other.speaker = self.speaker.copy(rng)
        other.ballots = self.ballots.copy()
        other._voted = {view: ballots.copy() for view, ballots in self._voted.items()}
        other._early = {place: dict(messages) for place, messages in self._early.items()}
        other._past = _copied_past(self._past)
        if self._undone is not None:
            there = self._undone
            other._undone = replace(
                there,
                past=_copied_past(there.past),
                log=list(there.log),
                spoken=dict(there.spoken),
                speaker=there.speaker.copy(),
            )
        return other

    # -- what is going on ----------------------------------------------------------------------------

    def awaited(self) -> tuple[int, ...]:
        """The seats that the table waits for now."""
        return tuple(seat for seat in self.replica.awaited() if seat not in self._spoken)

    def spoken(self) -> dict[int, Spoken]:
        """What has been said in this step so far, by seat."""
        return dict(self._spoken)

    @property
    def secret(self) -> Secret:
        """What this seat alone knows of the cards."""
        return self.speaker.secret

    @property
    def history(self) -> list[Replica]:
        """The replicas at the start of the last finished steps."""
        return [past.replica for past in self._past]

    @property
    def at_first_deal(self) -> bool:
        """Whether the first DEAL of the match is what is waited for: giving it binds a seat to the roster."""
        return self.replica.phase is MatchPhase.DEAL and self.replica.game == 1

    @property
    def over(self) -> bool:
        """Whether the match has ended and all have signed its result."""
        return self.replica.phase is MatchPhase.OVER

    def public_state(self) -> State | None:
        """The state with the moves of this step that have arrived already (None before the cards are dealt)."""
        state = self.replica.state
        if state is None or self.replica.phase is not MatchPhase.PLAY:
            return state
        for seat in sorted(self._spoken):
            effect = self._spoken[seat].effect
            if isinstance(effect, Played):
                state = rules.apply(state, effect.move)
        return state

    def seat_view(self) -> SeatView | None:
        """All that this seat may know of the game (None before there is one)."""
        state = self.public_state()
        return None if state is None else rules.seat_view(state, self.seat, self.secret)

    def take_events(self) -> list[SessionEvent]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events

    def take_outgoing(self) -> list[Outgoing]:
        """Our own messages since the last call: store them, then send them."""
        outgoing, self.outgoing = self.outgoing, []
        return outgoing

    def messages_since(self, view: int, step: int) -> list[bytes]:
        """All that we hold from (view, step) on, in order: what a peer that stands there is lacking.

        If its view ended before that step, it has to hear from that end on.
        """
        first = min([step, *self._view_ends[view:]])
        log, spoken = self.log, self._spoken
        if self._undone is not None:  # what is void here may stand elsewhere
            log, spoken = self._undone.log, self._undone.spoken
        kept = [signed for said in log[first:] for signed in said]
        kept += [spoken[seat].message.signed for seat in sorted(spoken)]
        kept += [ballot.signed for ballot in self.ballots.all()]
        kept += [early[seat].signed for _, early in sorted(self._early.items()) for seat in sorted(early)]
        evidence = [data for conviction in self.convicted.values() for data in conviction.messages]
        return [pack(signed) for signed in kept] + evidence

    def transcript(self) -> Transcript:
        """The log so far, for a verifier."""
        said = [signed for step in self.log for signed in step]
        said += [self._spoken[seat].message.signed for seat in sorted(self._spoken)]
        return Transcript(PROTOCOL_VERSION, self.start, tuple(said))

    def evidence(self, conviction: Conviction) -> Transcript:
        """What convinces a verifier that never saw the game (`audit.judge`)."""
        accused = tuple(m.parse_signed(data) for data in conviction.messages)
        said: list[m.Signed] = []
        if conviction.step is not None:
            said += [signed for step in self.log[: conviction.step] for signed in step]
        if conviction.step == self.replica.step:
            spoken = sorted(self._spoken.items())
            said += [one.message.signed for seat, one in spoken if seat != conviction.seat]
            others = [one for one in self.convicted.values() if one is not conviction]
            said += [m.parse_signed(one.messages[0]) for one in others if one.step == conviction.step]
        return Transcript(PROTOCOL_VERSION, self.start, tuple(said), accused)

    # -- the player ----------------------------------------------------------------------------------

    def decisions(self) -> list[moves.SeatMove]:
        """What the player may do now; empty when it is not this seat's decision."""
        return otto.decisions(self.replica, self.seat, self.secret) if self._may_speak() else []

    def act(self, move: moves.Move) -> None:
        """Make a move of our own. Raises IllegalMove, or LocalError when it is not our turn."""
        if move not in self.decisions():
            raise self._refusal(move)
        self._say(*self.speaker.body_of(self.replica, move))

    def _refusal(self, move: moves.Move) -> LocalError:
        """Why a move that is not among the decisions cannot be made."""
        if not self.decisions():
            return LocalError("there is nothing to decide now")
        try:
            rules.check(self.replica.play, moves.public(move))
        except IllegalMove as error:
            return error
        return IllegalMove(move.rule, "this move is not possible with these cards")

    def work(self) -> bool:
        """Do the next thing that needs no decision; False when there is none. May take tens of milliseconds."""
        replica = self.replica
        if self.speaker.prepare_proof(replica):
            return True
        if not self._may_speak() or (self.at_first_deal and not self.may_deal):
            return False
        said = self.speaker.automatic(replica)
        if said is None:
            return False
        self._say(*said)
        return True

    def _may_speak(self) -> bool:
        """Whether this seat is awaited and free to say something new: never a second thing for one step."""
        return (
            self.seat in self.awaited()
            and (self.replica.view, self.replica.step) not in self._own
            and not self.ballots.sealed
            and not self.out
            and not self.accused()
        )

    def accused(self) -> frozenset[int]:
        """The convicted seats that have not been removed yet."""
        return frozenset(self.convicted) & frozenset(self.replica.live)

    # -- messages out --------------------------------------------------------------------------------

    def sign(self, body: m.Body) -> m.Message:
        """A message of this seat where it stands, signed and not said."""
        replica = self.replica
        header = m.Header(replica.match, replica.view, replica.step, self.seat, replica.digest)
        return m.sign(self._identity, header, body)

    def _say(self, body: m.Body, note: Note | None) -> None:
        if self.instead is not None:
            body = self.instead(body)
        message = self.sign(body)
        try:
            effect = self.replica.check(self.seat, body)
        except PeerFault:
            if self.instead is None:
                raise
            self._remember(message, None)
            self.outgoing.append(Outgoing(m.wire(message), b""))
            return
        self._remember(message, note)
        forget = self._forget_secret() if isinstance(body, m.Raise) else b""
        self.outgoing.append(Outgoing(m.wire(message), b"" if note is None else pack(note), forget))
        self._accept(message, effect)
        self._complete()

    def _forget_secret(self) -> bytes:
        """Forget the fresh secret of a heal, here and (by what is returned) in the journal."""
        self.speaker.promised.pop(Purpose.HEAL_KEY)
        for past in self._past:
            past.speaker.promised.pop(Purpose.HEAL_KEY, None)
        place = max(place for place, kept in self._own.items() if isinstance(kept.body, m.HealProof))
        self._notes.pop(place, None)
        return m.wire(self._own[place])

    def _remember(self, message: m.Message, note: Note | None) -> None:
        place = (message.header.view, message.header.step)
        self._own[place] = message
        if note is not None:
            self._notes[place] = note

    # -- messages in ---------------------------------------------------------------------------------

    def receive(self, data: bytes) -> bool:
        """Take a message from the network; look at `events`, `outgoing` and `decisions` afterwards.

        True if it was new: worth storing, and passing on to who does not hear its author. Raises DecodeError
        for bytes that no member of this match signed; nobody can be blamed for them.
        """
        signed = m.parse_signed(data)
        members = self.start.roster.members
        if signed.seat >= len(members) or not m.signature_valid(
            signed, members[signed.seat].key, self.replica.match
        ):
            raise DecodeError("not signed by a member of this match")
        try:
            message = m.parse_content(signed)
        except DecodeError as error:
            return self._hold(PeerFault(signed.seat, "P2", str(error)), (data,))
        if message.header.match != self.replica.match:
            return self._hold(PeerFault(signed.seat, "P15", "a message for another match"), (data,))
        new = self._take(message)
        self._complete()
        return new

    def _take(self, message: m.Message) -> bool:
        return self._take_vote(message) if isinstance(message.body, m.VOTES) else self._place(message)

    def _place(self, message: m.Message) -> bool:
        """Put a message where it belongs; False if nothing new was learnt from it.

        What a convict has said validly still counts where it was said: others may have gone on with it.
        """
        header = message.header
        key = (header.view, header.step, header.seat)
        here = (self.replica.view, self.replica.step)
        known = self._seen.get(key)
        if known is not None and known.signed.content == message.signed.content:
            return False
        if known is not None:
            fault = PeerFault(header.seat, "P1", "two different messages for one step")
            new = self._convict(fault, (known, message))
            self._void(header)
            return new
        if (header.view, header.step) > here:
            if header.step - self.replica.step > MAX_AHEAD or self._too_early(header.seat):
                return False
            self._early.setdefault((header.view, header.step), {})[header.seat] = message
            self._seen[key] = message
            return True
        replica = self._replica_at(header)
        if replica is None:
            if (header.view, header.step) < here:
                return False
            self._seen[key] = message
            self.events.append(Diverged(header.seat, header.step))
            return True
        if header.seat not in replica.live:
            return False  # it was removed: nothing that it says counts any more
        try:
            effect = replica.check(header.seat, message.body)
        except PeerFault as fault:
            self._seen[key] = message
            return self._convict(fault, (message,), header.step)
        if replica is not self.replica:
            return False  # a void message of a step that a view change has ended
        self._accept(message, effect)
        return True

    def _too_early(self, seat: int) -> bool:
        """Whether a seat has said so much before its time, in whatever view, that no more of it is kept."""
        return sum(seat in early for early in self._early.values()) >= MAX_AHEAD

    def _replica_at(self, header: m.Header) -> Replica | None:
        """The replica that a message was made on top of, if it is the current one or one of the last."""
        for replica in (self.replica, *(past.replica for past in reversed(self._past))):
            if (replica.view, replica.step) == (header.view, header.step):
                return replica if replica.digest == header.previous else None
        return None

    def _accept(self, message: m.Message, effect: Effect) -> None:
        header = message.header
        self._seen[header.view, header.step, header.seat] = message
        self._spoken[header.seat] = Spoken(message, effect)
        move = effect.move if isinstance(effect, Played) else None
        self.events.append(Heard(header.seat, self.replica.phase, move))

    def _complete(self) -> None:
        """Go on for as long as steps are complete with what is here."""
        if self._undone is not None and self._is_settled(self._undone):
            self._return()
        while set(self.replica.awaited()) <= self._spoken.keys() and not self.over:
            before, spoken = self.replica, self._spoken
            try:
                after = before.advance(spoken, self._rng, self.seat)
            except StepFaults as error:
                for fault in error.faults:
                    self._convict(fault, (spoken.pop(fault.culprit).message,), before.step)
                break
            self._finish_step(tuple(spoken[seat].message.signed for seat in sorted(spoken)), after)
            self.events.append(StepDone(before, after))
            self._take_early()
        self._take_later()
        self._conclude()

    def _finish_step(self, said: tuple[m.Signed, ...], after: Replica) -> None:
        """Leave the step that is complete, or that a view change ends."""
        before, own = self.replica, self._spoken.get(self.seat)
        self._past.append(_Past(before, self._spoken, self.speaker.snapshot()))
        del self._past[:-STEPS_KEPT]
        self.log.append(said)
        self.replica, self._spoken = after, {}
        if own is not None:
            self.speaker.close(before, own.effect, self._notes.get((before.view, before.step)))
        self.speaker.enter(after)

    def _take_early(self) -> None:
        """Place what came too early for the steps before."""
        for _, message in sorted(self._early.pop((self.replica.view, self.replica.step), {}).items()):
            self._seen.pop((message.header.view, message.header.step, message.header.seat))
            self._place(message)

    def _convict(self, fault: PeerFault, messages: tuple[m.Message, ...], step: int | None = None) -> bool:
        return self._hold(fault, tuple(m.wire(message) for message in messages), step)

    def _hold(self, fault: PeerFault, messages: tuple[bytes, ...], step: int | None = None) -> bool:
        """Keep evidence against a seat; False if there is some already."""
        if fault.culprit in self.convicted:
            return False
        conviction = Conviction(fault.culprit, fault.rule, fault.text, messages, step)
        self.convicted[fault.culprit] = conviction
        self.ballots.convict((fault.culprit,))
        self.events.append(Convicted(conviction))
        return True

    def _void(self, header: m.Header) -> None:
        """Both contents of an equivocation are void, unless everybody else has gone on with the one taken here.

        Else whoever gives up its seat could undo what was played long ago.
        """
        step = header.step
        self._early.get((header.view, step), {}).pop(header.seat, None)
        if header.view != self.replica.view or self.over:
            return
        if step < self.replica.step:
            here = _Undone(
                step, self.replica, list(self._past), list(self.log), self._spoken, self.speaker.snapshot()
            )
            if not self._is_settled(here) and self._go_back(step, None):
                before = self._undone
                self._undone = here if before is None else replace(before, step=max(step, before.step))
        if step == self.replica.step:
            self._spoken.pop(header.seat, None)

    def _is_settled(self, there: _Undone) -> bool:
        """Whether all others but the accused have signed something in this view on top of that step there."""
        view = there.replica.view
        later = [past.replica for past in there.past if past.replica.view == view] + [there.replica]
        digests = {one.step: one.digest for one in later if one.step > there.step}
        said = [self._seen.get((view, step, seat)) for step in digests for seat in self.replica.live]
        signed = [message.header for message in (*said, *self.ballots.all()) if message is not None]
        on_top = {header.seat for header in signed if digests.get(header.step) == header.previous}
        return set(self.replica.live) - self.accused() - {self.seat} <= on_top

    def _return(self) -> None:
        """Stand again where this seat stood before it went back."""
        there, self._undone = self._undone, None
        assert there is not None
        self.replica, self._past, self.log = there.replica, there.past, there.log
        self._spoken, self.speaker = there.spoken, there.speaker
        self._take_early()

    def _go_back(self, step: int, digest: bytes | None) -> bool:
        """Stand again where a step of this view began, with what was said in it; False if that is not known."""
        for place, past in enumerate(self._past):
            replica = past.replica
            if (
                replica.view == self.replica.view
                and replica.step == step
                and digest in (None, replica.digest)
            ):
                del self._past[place:]
                del self.log[step:]
                self.replica, self.speaker = replica, past.speaker
                self._spoken = {seat: one for seat, one in past.spoken.items() if seat not in self.convicted}
                return True
        return False

    # -- losing seats --------------------------------------------------------------------------------

    def suspect(self, seats: Iterable[int]) -> None:
        """Say which seats the table should go on without, if the others agree: silent, or overdue."""
        self._suspects = frozenset(seats) - {self.seat}

    def leave(self) -> bool:
        """Sign LEAVE, the last thing that this seat signs in the match. False if there is nothing to leave."""
        if self.out or self.over:
            return False
        last, cite = self.ballots.last_own_round()
        self._say_vote(m.Leave(last, cite), self.replica.step, self.replica.digest)
        self.out = True
        return True

    def vote(self, *, again: bool) -> bool:
        """Sign a ballot if one is due; False if not. `again`: about a second has gone by since the last one."""
        if self.out or self.over:
            return False
        replica = self.replica
        suspects = self._suspects & frozenset(replica.live)
        choice = self.ballots.vote(replica.step, replica.digest, suspects, again=again)
        if choice is None:
            return False
        proposal = choice.proposal
        own = self._own.get((replica.view, proposal.step))
        said = own.content_hash() if own is not None and own.header.previous == proposal.digest else b""
        gone, excluded = tuple(sorted(proposal.gone)), tuple(sorted(proposal.excluded))
        body = m.Ballot(choice.round, gone, excluded, said, choice.cite, choice.opens)
        self._say_vote(body, proposal.step, proposal.digest)
        self._complete()
        return True

    def _say_vote(self, body: m.Ballot | m.Leave, step: int, digest: bytes) -> None:
        header = m.Header(self.replica.match, self.replica.view, step, self.seat, digest)
        message = m.sign(self._identity, header, body)
        self.outgoing.append(Outgoing(m.wire(message), b""))
        self._take_vote(message)

    def _take_vote(self, message: m.Message) -> bool:
        """Keep a ballot or a LEAVE; False if it is known, or a ballot of a view that is over.

        A LEAVE counts in later views too. A ballot counts once the message is here that it names as its author's
        own: who counts it must be able to pass on what will stand.
        """
        header, body = message.header, message.body
        if header.view < self.replica.view and isinstance(body, m.Ballot):
            return self._contradicts(message)
        if header.view > self.replica.view or not self._names_what_is_here(message):
            key = (header.seat, message.signed.content)
            waiting = sum(seat == header.seat for seat, _ in self._later)
            if key in self._later or waiting >= MAX_LATER:
                return False
            self._later[key] = message
            return True
        try:
            new = self.ballots.add(message)
        except Contradiction as error:
            return self._convict(error.fault, error.messages) or error.new
        if new and isinstance(body, m.Leave) and header.seat == self.seat:
            self.out = True
        if new:
            self.events.append(
                Voted(header.seat, body.gone if isinstance(body, m.Ballot) else (header.seat,))
            )
        return new

    def _contradicts(self, message: m.Message) -> bool:
        """Whether a ballot of a view that is over convicts its author: it may have voted for two tables."""
        voted = self._voted.get(message.header.view)
        try:
            if voted is not None and voted.count(message.header.seat) < MAX_PAST:
                voted.add(message)
        except Contradiction as error:
            return self._convict(error.fault, error.messages)
        return False

    def _names_what_is_here(self, vote: m.Message) -> bool:
        header, body = vote.header, vote.body
        if not isinstance(body, m.Ballot) or not body.own or header.seat == self.seat:
            return True
        return self._said(header.seat, header.view, header.step, body.own) is not None

    def _said(self, seat: int, view: int, step: int, content_hash: bytes) -> m.Message | None:
        """The message of a seat with this content, if it is here: as what was taken, or as evidence."""
        found = [self._seen.get((view, step, seat))]
        if seat in self.convicted:
            signed = (m.parse_signed(data) for data in self.convicted[seat].messages)
            found += [m.parse_content(one) for one in signed if m.content_hash(one) == content_hash]
        return next((one for one in found if one is not None and one.content_hash() == content_hash), None)

    def _take_later(self) -> None:
        """Take the votes again that came too early."""
        for key, message in list(self._later.items()):
            if message.header.view <= self.replica.view and self._names_what_is_here(message):
                del self._later[key]
                self._take_vote(message)

    def _conclude(self) -> None:
        """Open the next view if its ballots are complete and everything that stands in it is here."""
        final = self.ballots.final()
        if final is None or self.out or self.over:
            return
        proposal = final.proposal
        if self.seat in proposal.gone:
            self.out = True
            self.events.append(Removed())
            return
        if not self._stand_at(proposal.step, proposal.digest):
            return  # not there yet: what is missing will come
        standing = self._standing(final)
        if standing is not None:
            self._open_view(final, standing)

    def _stand_at(self, step: int, digest: bytes) -> bool:
        """Go to this place in the log; False if it is not known."""
        if (self.replica.step, self.replica.digest) == (step, digest) or self._go_back(step, digest):
            return True
        if self._undone is None:
            return False
        self._return()
        return self._stand_at(step, digest)

    def _standing(self, final: Final) -> dict[int, Spoken] | None:
        """The messages that the survivors' ballots name, or None while one is missing.

        One that breaks a rule is void for everybody, though its author is not removed yet.
        """
        standing = {}
        for seat, own in final.own:
            if not own:
                continue
            said = self._spoken.get(seat)
            if said is None or said.message.content_hash() != own:
                message = self._said(seat, self.replica.view, final.proposal.step, own)
                if message is None:
                    return None
                try:
                    said = Spoken(message, self.replica.check(seat, message.body))
                except PeerFault:
                    continue
            standing[seat] = said
        return standing

    def _open_view(self, final: Final, standing: dict[int, Spoken]) -> None:
        before, gone = self.replica, final.proposal.gone
        after = before.without(gone, standing, final.digest(before.view))
        said = [standing[seat].message.signed for seat in sorted(standing)]
        logged = {signed.content for step in (*self.log, said) for signed in step}
        evidence = [
            m.parse_signed(data)
            for seat in sorted(final.proposal.excluded & self.convicted.keys())
            for data in self.convicted[seat].messages
        ]
        said += [signed for signed in evidence if signed.content not in logged]
        said += [ballot.signed for ballot in self.ballots.all()]
        self._spoken, self._undone = standing, None
        self.speaker.drop_shuffle()
        self._view_ends.append(before.step)
        self._finish_step(tuple(said), after)
        self._voted[before.view] = self.ballots
        self._voted.pop(before.view - KEPT_VIEWS, None)
        self.ballots = Ballots(after.live, self.seat, view=after.view, left=self.ballots.leaves)
        self.ballots.convict(self.convicted)
        self._suspects -= gone
        self.events.append(ViewOpened(before, after, tuple(sorted(gone))))
        self._take_early()
        self._complete()

    # -- after a crash -------------------------------------------------------------------------------

    def restore(self, records: Iterable[tuple[bytes, bytes]]) -> None:
        """Replay the journal: (data, note) of all messages, our own and others', in any order."""
        placed: list[tuple[tuple[int, int, int], bytes, m.Message | None]] = []
        taken: set[tuple[int, int, int, int]] = set()
        for data, note in records:
            signed = m.parse_signed(data)
            place = _place_of(signed)
            if (*place, signed.seat) in taken and place[1] < MAX_UINT:
                place = (place[0], MAX_UINT, 0)  # a second content undoes what it did only behind the others
            taken.add((*place, signed.seat))
            if signed.seat == self.seat:
                message = m.parse_content(signed)
                if not isinstance(message.body, m.VOTES):
                    self._remember(message, unpack(Note, note) if note else None)
                placed.append((place, data, message))
            else:
                placed.append((place, data, None))
        # In the order of the log, else some are too far ahead, and dropped.
        for _, data, own in sorted(placed, key=lambda entry: entry[0]):
            if own is None:
                self.receive(data)
            else:
                self._take(own)
                self._complete()
        self._complete()
        self.take_events()


def _copied_past(past: list[_Past]) -> list[_Past]:
    return [replace(one, speaker=one.speaker.copy()) for one in past]


def _place_of(signed: m.Signed) -> tuple[int, int, int]:
    """(view, step, behind the messages if it is a vote) of what was signed; the end of all for no message."""
    try:
        message = m.parse_content(signed)
    except DecodeError:
        return (MAX_UINT, MAX_UINT, 0)
    if isinstance(message.body, m.VOTES):
        return (
            message.header.view,
            MAX_UINT,
            message.body.round if isinstance(message.body, m.Ballot) else 0,
        )
    return (message.header.view, message.header.step, 0)
