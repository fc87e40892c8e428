"""One seat of a match: takes signed messages in, gives signed messages out, knows its own secrets.

What is known of the match is a set of signed messages, and where the match stands follows from it (`log`). A
session is that log, the secrets of one seat (`speaker`), and nothing else that could differ from what was said.
It says something only where its seat has said nothing yet: at its position, as long as nobody is convicted and it
has not voted; and votes only as its last vote allows (`view_change`).

`receive` takes what came from the network in any order; `decisions` and `act` are for the player; `work`
does the next thing that needs no decision (keys, shuffles, proofs, shares, Acks), one at a time, so that the
caller can send each message before the next is computed; `suspect`, `vote` and `leave` are about seats that
are gone. `take_records` gives everything that is new, in order: store it, then send what is our own. After a crash
`restore` takes the same records in the same order through the same code, and ends in the same state.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Self

from otto_protocol import rules
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import pack, unpack
from otto_protocol.errors import DecodeError, IllegalMove, LocalError
from otto_protocol.hashing import Rng
from otto_protocol.match import messages as m
from otto_protocol.match import otto
from otto_protocol.match.effects import Played, Purpose
from otto_protocol.match.events import (
    Convicted,
    Diverged,
    Heard,
    Record,
    Removed,
    SessionEvent,
    StepDone,
    ViewOpened,
    Voted,
)
from otto_protocol.match.log import Log
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica, Spoken
from otto_protocol.match.retelling import evidence_file, record, since
from otto_protocol.match.speaker import Note, Speaker
from otto_protocol.match.transcript import Transcript
from otto_protocol.match.view_change import Proposal, proposal_of
from otto_protocol.match.views import Completed, Conviction, Opened, WentBack
from otto_protocol.roster import PROTOCOL_VERSION, Start
from otto_protocol.rules import moves
from otto_protocol.rules.legal import SeatView
from otto_protocol.rules.state import Secret, State

Place = tuple[int, int, bytes]  # view, step, and the digest before it


class Session:
    """The seat of `identity` in the match that `start` certifies. Not thread-safe: one caller at a time."""

    def __init__(self, start: Start, identity: IdentityKey, seed: bytes, rng: Rng) -> None:
        """`seed`: 32 secret bytes of this match, stored by the caller; nearly everything secret comes from it.

        `rng` weighs the batched verification of others' proofs, and makes the fresh secrets of heals.
        """
        self.start = start
        self.seat = [member.key for member in start.roster.members].index(identity.public)
        self.log = Log(start.roster, rng, self.seat)
        self.may_deal = True  # whether the first DEAL may be given; the lobby decides (it binds this seat)
        self.instead: Callable[[m.Body], m.Body] | None = None  # for experiments: what to say in place of it
        self.may_sign = True  # False after a restart, until others have said what they know of this seat
        self.events: list[SessionEvent] = []
        self._identity = identity
        self._notes: dict[bytes, Note] = {}  # by own message, in wire form
        self._forget: dict[bytes, bytes] = {}  # by own message: the one whose note is wiped when it is stored
        self._suspects: frozenset[int] = frozenset()
        speaker = Speaker(self.seat, seed, rng)
        speaker.enter(self.replica)
        self._speakers: dict[Place, Speaker] = {_place(self.replica): speaker}
        self._told: dict[Place, set[int]] = {}
        self._is_out = False

    # -- what is going on ----------------------------------------------------------------------------

    @property
    def replica(self) -> Replica:
        """The public state at this peer's position."""
        return self.log.replica

    @property
    def convicted(self) -> dict[int, Conviction]:
        """Whoever is convicted, by seat."""
        return self.log.convicted

    @property
    def speaker(self) -> Speaker:
        """The secrets of this seat at its position."""
        return self._speakers[_place(self.replica)]

    def awaited(self) -> tuple[int, ...]:
        """The seats that the table waits for now: those of which it wants something, else those without an Ack."""
        missing = self.log.awaited()
        return tuple(seat for seat in self.replica.wanted() if seat in missing) or missing

    def spoken(self) -> dict[int, Spoken]:
        """What has been said in this step so far, by seat."""
        return self.log.spoken()

    @property
    def secret(self) -> Secret:
        """What this seat alone knows of the cards."""
        return self.speaker.secret

    @property
    def at_first_deal(self) -> bool:
        """Whether the first DEAL of the match is what is waited for: giving it binds a seat to the roster."""
        return self.replica.phase is MatchPhase.DEAL and self.replica.game == 1

    @property
    def over(self) -> bool:
        """Whether the match has ended and all have signed its result."""
        return self.replica.phase is MatchPhase.OVER

    @property
    def out(self) -> bool:
        """Whether this seat has left, or the others have gone on without it."""
        return self._is_out or self.seat in self.log.leaves

    @property
    def voting(self) -> bool:
        """Whether anybody has voted in this view, or has left."""
        return bool(self.log.view.ballots) or bool(self.log.leaves.keys() & set(self.replica.live))

    def accused(self) -> frozenset[int]:
        """The convicted seats that have not been removed yet."""
        return self.log.accused()

    def public_state(self) -> State | None:
        """The state with the moves of this step that have arrived already (None before the cards are dealt)."""
        state = self.replica.state
        if state is None or self.replica.phase is not MatchPhase.PLAY:
            return state
        for spoken in self.spoken().values():
            if isinstance(spoken.effect, Played):
                state = rules.apply(state, spoken.effect.move)
        return state

    def seat_view(self) -> SeatView | None:
        """All that this seat may know of the game (None before there is one)."""
        state = self.public_state()
        return None if state is None else rules.seat_view(state, self.seat, self.secret)

    def take_events(self) -> list[SessionEvent]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events

    def take_records(self) -> list[Record]:
        """All that is new since the last call, in order: store it, and send what is our own."""
        taken, self.log.taken = self.log.taken, []
        records = []
        for data in taken:
            parsed = m.parse(data)
            own = isinstance(parsed, m.Signed) and parsed.seat == self.seat
            note = self._notes.get(data)
            records.append(Record(data, own, pack(note) if note else b"", self._forget.pop(data, b"")))
        return records

    def messages_since(self, view: int, step: int) -> list[bytes]:
        """All that is held from (view, step) on, for a peer that stands there."""
        return since(self.log, view, step)

    def transcript(self) -> Transcript:
        """The log so far, for a verifier."""
        return Transcript(PROTOCOL_VERSION, self.start, tuple(record(self.log)))

    def evidence(self, conviction: Conviction) -> Transcript:
        """What convinces a verifier that never saw the game."""
        return Transcript(PROTOCOL_VERSION, self.start, tuple(evidence_file(self.log, conviction)))

    # -- the player ----------------------------------------------------------------------------------

    def decisions(self) -> list[moves.SeatMove]:
        """What the player may do now; empty when it is not this seat's decision."""
        if not self._may_speak() or self.seat not in self.replica.wanted():
            return []
        return otto.decisions(self.replica, self.seat, self.secret)

    def act(self, move: moves.Move) -> None:
        """Make a move of our own. Raises IllegalMove, or LocalError when it is not our turn."""
        decisions = self.decisions()
        if move not in decisions:
            raise self._refusal(move, decisions)
        self._say(*self.speaker.body_of(self.replica, move))

    def _refusal(self, move: moves.Move, decisions: list[moves.SeatMove]) -> LocalError:
        """Why a move that is not among the decisions cannot be made."""
        if not decisions:
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
        if self.seat not in replica.wanted():
            self._say(m.Ack(), None)
            return True
        said = self.speaker.automatic(replica)
        if said is None:
            return False
        self._say(*said)
        return True

    def _may_speak(self) -> bool:
        """Whether this seat is free to say something new: never a second thing for one step."""
        log = self.log
        return (
            self.may_sign
            and not self.out
            and not self.over
            and not log.is_sealed()
            and (
                not log.accused() or self.replica.phase is MatchPhase.RESULT
            )  # there is only one valid result
            and log.content(self.replica.step, self.seat) is None
        )

    # -- messages out --------------------------------------------------------------------------------

    def sign(self, body: m.Body) -> m.Message:
        """A message of this seat where it stands, signed and not said."""
        return m.sign(self._identity, self._header(), body)

    def _say(self, body: m.Body, note: Note | None) -> None:
        if self.instead is not None:
            body = self.instead(body)
        message = self.sign(body)
        self._keep(message, note)
        if isinstance(body, m.Raise):
            self._forget[m.wire(message)] = self._forget_heal()
        self._after()

    def _keep(self, message: m.Message, note: Note | None = None) -> None:
        data = m.wire(message)
        if note is not None:
            self._notes[data] = note
        self.log.take(message, data)

    def _forget_heal(self) -> bytes:
        """Forget the fresh secret of a heal, here and (by the message that is returned) in the journal."""
        secrets = [speaker.promised.pop(Purpose.HEAL_KEY, None) for speaker in self._speakers.values()]
        data = next((data for data, note in self._notes.items() if note in secrets), b"")
        self._notes.pop(data, None)
        return data

    # -- messages in ---------------------------------------------------------------------------------

    def receive(self, data: bytes) -> bool:
        """Take what came from the network; look at records, events and decisions afterwards.

        True if it was new: worth storing, and passing on to whoever does not hear its author. Raises DecodeError
        for bytes that no member of this match signed; nobody can be blamed for them.
        """
        before = len(self.log.taken)
        self.log.receive(data)
        self._after(data)
        return len(self.log.taken) > before

    def _after(self, data: bytes | None = None) -> None:
        """What follows from what was taken: the position, our secrets there, the next view."""
        self.log.follow()
        self._tell_changes()
        if data is not None:
            self._tell_ballot(data)
        while self.log.view.ballots and not self._is_out and not self.over and self._enter():
            self._tell_changes()
        if not self.log.view.ballots or self._is_out or self.over:
            return
        if self.log.count().goes_on_without(self.seat, self._suspects):
            self._is_out = True
            self.events.append(Removed())

    def _tell_changes(self) -> None:
        changes, self.log.changes = self.log.changes, []
        for change in changes:
            match change:
                case Completed(before=before, spoken=spoken, after=after):
                    self._tell_heard(before, spoken)
                    own = spoken.get(self.seat)
                    self._go_on(before, own, after)
                    self.events.append(StepDone(before, after))
                case Opened(before=before, standing=standing, after=after, gone=gone):
                    self._go_on(before, standing.get(self.seat), after)
                    self._speakers[_place(after)].drop_shuffle()
                    self._suspects -= gone
                    self.events.append(ViewOpened(before, after, tuple(sorted(gone))))
                case Conviction():
                    self.events.append(Convicted(change))
                case WentBack():
                    pass
        self._tell_heard(self.replica, self.spoken())
        here = {_place(node.replica) for node in self.log.view.known.values()}
        self._speakers = {place: one for place, one in self._speakers.items() if place in here}
        self._told = {place: one for place, one in self._told.items() if place in here}

    def _go_on(self, before: Replica, own: Spoken | None, after: Replica) -> None:
        """Our secrets at the next step follow from those at the one before, and from what we said there."""
        if _place(after) in self._speakers:
            return
        speaker = self._speakers[_place(before)]
        self._speakers[_place(before)] = speaker.copy()
        if own is not None:
            speaker.close(before, own.effect, self._notes.get(m.wire(own.message)))
        speaker.enter(after)
        self._speakers[_place(after)] = speaker

    def _tell_heard(self, replica: Replica, spoken: Mapping[int, Spoken]) -> None:
        told = self._told.setdefault(_place(replica), set())
        for seat, one in spoken.items():
            if seat not in told:
                told.add(seat)
                move = one.effect.move if isinstance(one.effect, Played) else None
                self.events.append(Heard(seat, replica.phase, move))

    def _tell_ballot(self, data: bytes) -> None:
        parsed = m.parse(data)
        if isinstance(parsed, m.Signed) and data in self.log.taken[-1:]:
            try:
                message = m.parse_content(parsed)
            except DecodeError:
                return
            if isinstance(message.body, m.Vote):
                self.events.append(Voted(parsed.seat, message.body.gone))
            elif isinstance(message.body, m.Leave):
                self.events.append(Voted(parsed.seat, (parsed.seat,)))
            elif not isinstance(message.body, m.Enter) and (
                message.header.view == self.replica.view
                and message.header.step == self.replica.step
                and message.header.previous != self.replica.digest
            ):
                self.events.append(Diverged(parsed.seat, message.header.step))

    # -- losing seats --------------------------------------------------------------------------------

    def suspect(self, seats: Iterable[int]) -> None:
        """Say which seats the table should go on without, if the others agree: silent, or overdue."""
        self._suspects = frozenset(seats) - {self.seat}
        self._after()

    def leave(self) -> bool:
        """Sign LEAVE, the last thing that this seat signs in the match. False if there is nothing to leave."""
        if self.out or self.over or not self.may_sign:
            return False
        self._keep(self.sign(m.Leave(self.log.count().rounds.get(self.seat, 0))))
        self.events.append(Voted(self.seat, (self.seat,)))
        self._after()
        return True

    def vote(self) -> bool:
        """Sign a vote if one is due; False if not. A second should have gone by since the last one."""
        if self.out or self.over or not self.may_sign:
            return False
        suspects = self._suspects & frozenset(self.replica.live)
        due = self.log.count().to_vote(self.seat, suspects, self._proposal)
        if due is None:
            return False
        number, proposal = due
        body = m.Vote(
            number,
            tuple(sorted(proposal.gone)),
            tuple(sorted(proposal.excluded)),
            tuple(m.Own(seat, content) for seat, content in proposal.owns),
        )
        self._keep(m.sign(self._identity, self._header_of(proposal), body))
        self.events.append(Voted(self.seat, body.gone))
        self._after()
        return True

    def _header(self) -> m.Header:
        replica = self.replica
        return m.Header(replica.match, replica.view, replica.step, self.seat, replica.digest)

    def _header_of(self, proposal: Proposal) -> m.Header:
        replica = self.replica
        return m.Header(replica.match, replica.view, proposal.step, self.seat, proposal.digest)

    def _proposal(self, gone: frozenset[int]) -> Proposal:
        body, header = self.log.proposal(gone), self._header()
        return proposal_of(m.Message(header, body, m.Signed(self.seat, m.content_of(header, body), b"")))

    def _enter(self) -> bool:
        """Enter the next view if that is due, or was signed already; False if not."""
        log, count = self.log, self.log.count()
        signed = count.entries.get(self.seat)
        if signed:
            return log.open_view(signed[0][1])
        due = count.to_enter(self.seat, self._suspects) if self.may_sign and not self.out else None
        if due is None or (due[1].step, due[1].digest) not in log.view.known:
            return False
        number, proposal = due
        entry = m.Enter(number, proposal.opens)
        self._keep(m.sign(self._identity, self._header_of(proposal), entry))
        return log.open_view(proposal)

    # -- after a crash, and for experiments ------------------------------------------------------------

    def restore(self, records: Iterable[tuple[bytes, bytes]]) -> None:
        """Take the journal: (data, note) of everything that was new, in the order in which it was stored."""
        may_sign, self.may_sign = self.may_sign, False
        for data, note in records:
            if note:
                self._notes[data] = unpack(Note, note)
            self.log.receive(data)
            self._after(data)
        self.may_sign = may_sign
        self.log.taken.clear()
        self.take_events()

    def copy(self, rng: Rng | None = None) -> Self:
        """An independent session in the same state, to see what would happen; with `rng` if it is given.

        Never let both of them sign for the same seat of one match: that is what P1 convicts for.
        """
        other = copy.copy(self)
        other.log = self.log.copy(rng)
        other.events = list(self.events)
        other._notes, other._forget = dict(self._notes), dict(self._forget)
        other._speakers = {place: speaker.copy(rng) for place, speaker in self._speakers.items()}
        other._told = {place: set(told) for place, told in self._told.items()}
        return other


def _place(replica: Replica) -> Place:
    return replica.view, replica.step, replica.digest
