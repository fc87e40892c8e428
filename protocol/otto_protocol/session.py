"""One seat of a match: takes signed messages in, gives signed messages out, knows its own secrets.

`receive` takes what came from the network in any order; `decisions` and `act` are for the player; `work`
does the next thing that needs no decision (keys, shuffles, proofs, shares), one at a time, so that the
caller can send each message before the next is computed. What is in `outgoing` must be stored before it is
sent: after a crash `restore` goes on with the stored messages, and no step is ever signed twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from otto_protocol import messages as m
from otto_protocol import heal, healing, moves, proofs, rules, shuffle
from otto_protocol.commitments import commit
from otto_protocol.deck import Deck, encode_deck
from otto_protocol.encoding import MAX_UINT, AtMost, Max, pack, unpack
from otto_protocol.errors import DecodeError, IllegalMove, LocalError, PeerFault
from otto_protocol.group import (
    Point,
    decode_scalar,
    encode_scalar,
    mul_base_secret,
    mul_secret,
    random_scalar,
)
from otto_protocol.hashing import Drbg, Rng, tagged_hash
from otto_protocol.identity import IdentityKey
from otto_protocol.phases import Phase
from otto_protocol.plays import Played, Promise, unknown_slots
from otto_protocol.points import card_under
from otto_protocol.replica import Replica, Spoken, StepFaults
from otto_protocol.roster import PROTOCOL_VERSION, Start
from otto_protocol.rules_legal import View, legal_moves
from otto_protocol.rules_legal import view as view_of
from otto_protocol.rules_state import Phase as Play
from otto_protocol.rules_state import Secret, State
from otto_protocol.transcript import Transcript

MAX_AHEAD = 64  # steps: a message for a step further ahead is dropped, catching up brings it again
KEPT = 64  # replicas of finished steps, to go back to


@dataclass(frozen=True, slots=True)
class Note:
    """What a seat must remember of its own message, and nobody else may know: stored with it, never sent."""

    value: Annotated[int, Max(2**32 - 1)]
    nonce: Annotated[bytes, AtMost(32)]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message of our own: store `data` and `note` together, then send `data` to everybody.

    Once it is stored, the note of the earlier message `forget` must be wiped (empty: of none).
    """

    data: bytes
    note: bytes
    forget: bytes = b""


@dataclass(frozen=True, slots=True)
class Conviction:
    """A seat broke a rule; `messages` (signed, wire form) show it to anybody who has the log before them."""

    seat: int
    rule: str
    text: str
    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of a seat was accepted in this step (the move that it means, in PLAY)."""

    seat: int
    phase: Phase
    move: moves.Move | None


@dataclass(frozen=True, slots=True)
class StepDone:
    """Everybody has spoken; `before` and `after` are the replicas on both sides."""

    before: Replica
    after: Replica


@dataclass(frozen=True, slots=True)
class ViewOpened:
    """The table goes on without the seats of `gone`; `before` and `after` are the replicas on both sides."""

    before: Replica
    after: Replica
    gone: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Convicted:
    """Evidence against a seat was found."""

    conviction: Conviction


@dataclass(frozen=True, slots=True)
class Diverged:
    """A seat signed a message on top of another log: both sides must exchange all that they hold."""

    seat: int
    step: int


SessionEvent = Heard | StepDone | ViewOpened | Convicted | Diverged


class Session:
    """The seat of `identity` in the match that `start` certifies. Not thread-safe: one caller at a time."""

    def __init__(self, start: Start, identity: IdentityKey, seed: bytes, rng: Rng) -> None:
        """`seed`: 32 secret bytes of this match, stored by the caller; everything secret is derived from it.

        `rng` only weighs the batched verification of others' proofs.
        """
        self.start = start
        self.replica = Replica(start.roster)
        self.seat = [member.key for member in start.roster.members].index(identity.public)
        self.secret = Secret()
        self.may_deal = True  # whether the first DEAL may be given; the lobby decides (it binds this seat)
        self.convicted: dict[int, Conviction] = {}
        self.outgoing: list[Outgoing] = []
        self.events: list[SessionEvent] = []
        self.log: list[tuple[m.Message, ...]] = []  # the messages of each finished step, in seat order
        self.history: list[Replica] = []  # of the last finished steps
        self._identity = identity
        self._seed = seed
        self._rng = rng
        self._spoken: dict[int, Spoken] = {}
        self._seen: dict[tuple[int, int, int], m.Message] = {}  # (view, step, seat) -> the content we know
        self._early: dict[tuple[int, int], dict[int, m.Message]] = {}
        self._own: dict[tuple[int, int], m.Message] = {}
        self._notes: dict[tuple[int, int], Note] = {}
        self._trusting = False  # while replaying our own journal: what is in it was verified before
        self._key = 0
        self._key_open: m.KeyOpen | None = None
        self._numbers: dict[str, Note] = {}  # openings of our own promises, by what was promised
        self._witness: tuple[bytes, Deck, Deck, shuffle.Witness] | None = None
        self._proof: tuple[bytes, bytes] | None = None
        self._enter()

    # -- what is going on ----------------------------------------------------------------------------

    def awaited(self) -> tuple[int, ...]:
        """The seats that the table waits for now."""
        return tuple(seat for seat in self.replica.awaited() if seat not in self._spoken)

    def spoken(self) -> dict[int, Spoken]:
        """What has been said in this step so far, by seat."""
        return dict(self._spoken)

    @property
    def at_first_deal(self) -> bool:
        """Whether the first DEAL of the match is what is waited for: giving it binds a seat to the roster."""
        return self.replica.phase is Phase.DEAL and self.replica.game == 1

    @property
    def over(self) -> bool:
        """Whether the match has ended and all have signed its result."""
        return self.replica.phase is Phase.OVER

    def public_state(self) -> State | None:
        """The state with the moves of this step that have arrived already (None before the cards are dealt)."""
        state = self.replica.state
        if state is None or self.replica.phase is not Phase.PLAY:
            return state
        for seat in sorted(self._spoken):
            effect = self._spoken[seat].effect
            if isinstance(effect, Played):
                state = rules.apply(state, effect.move)
        return state

    def view(self) -> View | None:
        """All that this seat may know of the game (None before there is one)."""
        state = self.public_state()
        return None if state is None else view_of(state, self.seat, self.secret)

    def take_events(self) -> list[SessionEvent]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events

    def take_outgoing(self) -> list[Outgoing]:
        """Our own messages since the last call: store them, then send them."""
        outgoing, self.outgoing = self.outgoing, []
        return outgoing

    def messages_since(self, view: int, step: int) -> list[bytes]:
        """All that we hold from (view, step) on, in order: what a peer that stands there is lacking."""
        kept = [
            message
            for said in self.log[step:]
            for message in said
            if message.header.view >= view or message.header.step >= step
        ]
        kept += [self._spoken[seat].message for seat in sorted(self._spoken)]
        kept += [early[seat] for _, early in sorted(self._early.items()) for seat in sorted(early)]
        return [m.wire(message) for message in kept]

    def transcript(self) -> Transcript:
        """The log so far, for a verifier."""
        said = [message.signed for step in self.log for message in step]
        said += [self._spoken[seat].message.signed for seat in sorted(self._spoken)]
        return Transcript(PROTOCOL_VERSION, self.start, tuple(said))

    def evidence(self, conviction: Conviction) -> Transcript:
        """What convinces a verifier that never saw the game (`audit.judge`)."""
        accused = tuple(m.parse_signed(data) for data in conviction.messages)
        said: list[m.Signed] = []
        if len(accused) == 1:  # two contents for one step need no log to contradict each other
            said += [message.signed for step in self.log for message in step]
            spoken = sorted(self._spoken.items())
            said += [one.message.signed for seat, one in spoken if seat != conviction.seat]
        return Transcript(PROTOCOL_VERSION, self.start, tuple(said), accused)

    # -- the player ----------------------------------------------------------------------------------

    def decisions(self) -> list[moves.Move]:
        """What the player may do now; empty when it is not this seat's decision."""
        replica = self.replica
        if replica.phase not in (Phase.PLAY, Phase.OTTO_COMMIT) or self.seat not in self.awaited():
            return []
        if self._own.get((replica.view, replica.step)) is not None or self._is_forced():
            return []
        return list(legal_moves(replica.play, self.seat, self.secret))

    def act(self, move: moves.Move) -> None:
        """Make a move of our own. Raises IllegalMove, or LocalError when it is not our turn."""
        if move not in self.decisions():
            self._explain_refusal(move)
        if self.replica.phase is Phase.OTTO_COMMIT:
            assert isinstance(move, moves.Say)
            note = self._note("otto", int(move.otto))
            digest = commit(self.replica.context("otto", self.seat), bytes([move.otto]), note.nonce)
            self._say(m.OttoCommit(digest), note)
            return
        self._say(*self._body_of(move))

    def _explain_refusal(self, move: moves.Move) -> None:
        if not self.decisions():
            raise LocalError("there is nothing to decide now")
        rules.check(self.replica.play, moves.public(move))
        raise IllegalMove(move.rule, "this move is not possible with these cards")

    def _body_of(self, move: moves.Move) -> tuple[m.Body, Note | None]:
        match move:
            case moves.Choose(slots=slots, number=int(number)):
                return self._promise("number", number, bytes([number]), lambda c: m.Choose(c, slots))
            case moves.Challenge():
                return m.Challenge(move.target), None
            case moves.LayDuel(slot=int(slot)):
                return self._promise("duel", slot, slot.to_bytes(4, "big"), m.LayDuel)
            case moves.Guess():
                return m.Guess(move.colour), None
            case moves.OpenDuel():
                return m.OpenDuel(move.slot, self._numbers["duel"].nonce, self._open((move.slot,))), None
            case moves.LoseCard():
                return m.LoseCard(move.slot, self._open((move.slot,))), None
            case moves.Lead(number=number, slot=int(slot)):
                return self._promise("lead", slot, slot.to_bytes(4, "big"), lambda c: m.Lead(number, c))
            case moves.Answer():
                return m.Answer(move.slot, self._open((move.slot,))), None
            case moves.SitOut():
                return m.SitOut(self._open(tuple(slot for slot, _ in move.cards))), None
            case moves.OpenLead():
                return m.OpenLead(move.slot, self._numbers["lead"].nonce, self._open((move.slot,))), None
            case moves.Exchange():
                return m.Exchange(move.take), None
            case moves.Collect():
                return m.Collect(move.slots), None
            case moves.Say(otto=False):
                return m.GoOn(self._otto_nonce()), None
            case moves.Say(number=int(number)):
                own = self.replica.play.collections[self.seat]
                bonus = tuple(slot for slot, _ in move.cards if slot not in own)
                opening = self._open((*own, *bonus))
                return m.Otto(self._otto_nonce(), number, self._numbers["number"].nonce, bonus, opening), None
            case moves.Score():
                opening = self._open(tuple(slot for slot, _ in move.cards))
                return m.Score(move.number, self._numbers["number"].nonce, opening), None
            case _:
                raise LocalError("this is nobody's move")

    def _otto_nonce(self) -> bytes:
        return self._numbers["otto"].nonce if (self.seat, "otto") in self.replica.promises else b""

    def _note(self, what: str, value: int) -> Note:
        nonce = tagged_hash("nonce", self._seed, self.replica.context(what, self.seat), what.encode())
        return Note(value, nonce)

    def _promise(
        self, what: str, value: int, content: bytes, make: type[m.LayDuel] | object
    ) -> tuple[m.Body, Note]:
        note = self._note(what, value)
        digest = commit(self.replica.context(what, self.seat), content, note.nonce)
        return make(digest), note  # type: ignore[operator]

    def _open(self, slots: tuple[int, ...]) -> m.Opening:
        unknown = unknown_slots(self.replica, slots)
        if not unknown:
            return m.Opening(b"", b"")
        bases = [self.replica.held[slot][0] for slot in unknown]
        shares, proof = self._shares(bases, "open")
        return m.Opening(b"".join(share.encode() for share in shares), proof)

    def _shares(self, bases: list[Point], purpose: str) -> tuple[list[Point], bytes]:
        context = self.replica.context(purpose, self.seat)
        shares = [mul_secret(self._key, base) for base in bases]
        key = self.replica.keys[self.seat]
        return shares, proofs.prove_shares(self._key, key, bases, shares, context, self._drbg(purpose))

    # -- what needs no decision ----------------------------------------------------------------------

    def work(self) -> bool:
        """Do the next thing that needs no decision; False when there is none. May take tens of milliseconds."""
        replica = self.replica
        if self._prepare_proof():
            return True
        if self.seat not in self.awaited() or self.convicted:
            return False
        stored = self._own.get((replica.view, replica.step))
        if stored is not None:
            return False  # it was said before a crash, on top of another log; never say another thing
        if replica.phase in (Phase.HEAL_PROVE, Phase.RAISE, Phase.TAGS):
            self._say(*self._heal())
            return True
        body = self._automatic()
        if body is None:
            return False
        self._say(body, None)
        return True

    def _heal(self) -> tuple[m.Body, Note | None]:
        replica = self.replica
        match replica.phase:
            case Phase.HEAL_PROVE:
                secret = random_scalar(self._rng)  # not from the seed: nobody shall be able to make it again
                key = mul_base_secret(secret)
                context = replica.context("heal key", self.seat)
                possession = proofs.prove_key(secret, key, context, self._drbg("heal key"))
                note = Note(0, encode_scalar(secret))
                return m.HealProof(self._own_proof(), key.encode(), possession), note
            case Phase.RAISE:
                secret = decode_scalar(self._numbers["heal"].nonce)
                entries = (*replica.deck, *healing.kept_cards(replica))
                raised = heal.raise_entries(secret, entries)
                key = replica.healing.keys[self.seat]
                context = replica.context("raise", self.seat)
                proof = heal.prove_raise(secret, key, entries, raised, context, self._drbg("raise"))
                size = len(replica.deck)
                return m.Raise(encode_deck(raised[:size]), encode_deck(raised[size:]), proof), None
            case _:
                bases = healing.tag_bases(replica.healing, self.seat)
                shares, proof = self._shares(bases, "tags")
                encoded = [share.encode() for share in shares]
                size = len(replica.healing.pile)
                return m.Tags(b"".join(encoded[:size]), b"".join(encoded[size:]), proof), None

    def _automatic(self) -> m.Body | None:
        replica = self.replica
        match replica.phase:
            case Phase.KEY_COMMIT:
                assert self._key_open is not None
                content = replica.key_commitment_content(self._key_open)
                return m.KeyCommit(commit(replica.context("key", self.seat), content, self._key_open.nonce))
            case Phase.KEY_OPEN:
                return self._key_open
            case Phase.SHUFFLE | Phase.RESHUFFLE | Phase.HEAL_SHUFFLE:
                context = replica.context("shuffle", self.seat)
                deck, witness = self._shuffle(replica.deck, context)
                self._witness = (context, replica.deck, deck, witness)
                return m.Shuffle(encode_deck(deck))
            case Phase.PROVE | Phase.REPROVE:
                return m.ShuffleProof(self._own_proof())
            case Phase.DEAL | Phase.DRAW:
                if self.at_first_deal and not self.may_deal:
                    return None
                bases = [replica.pile[slot][0] for slot in replica.slots_to_share(self.seat)]
                shares, proof = self._shares(bases, "shares")
                return m.Shares(b"".join(share.encode() for share in shares), proof)
            case Phase.RESULT:
                return m.Result(replica.result_points())
            case Phase.PLAY:
                return self._forced()
            case _:
                return None

    def _is_forced(self) -> bool:
        """Whether what is awaited opens what was laid before: no choice, and nothing to be read from when it comes."""
        replica = self.replica
        if replica.phase is not Phase.PLAY:
            return False
        return replica.play.phase in (Play.OPEN_LEAD, Play.DUEL_OPEN, Play.SCORE) or (
            replica.play.phase is Play.OTTO and (self.seat, "otto") in replica.promises
        )

    def _forced(self) -> m.Body | None:
        if not self._is_forced():
            return None
        legal = legal_moves(self.replica.play, self.seat, self.secret)
        if self.replica.play.phase is Play.OTTO:
            said = bool(self._numbers["otto"].value)
            return self._body_of(next(x for x in legal if isinstance(x, moves.Say) and x.otto == said))[0]
        return self._body_of(legal[0])[0]

    def _shuffle(self, deck: Deck, context: bytes) -> tuple[Deck, shuffle.Witness]:
        return shuffle.shuffle(deck, self.replica.x, Drbg(tagged_hash("shuffle", self._seed, context)))

    def _prepare_proof(self) -> bool:
        """Prove the own shuffle while the others still shuffle."""
        if self._witness is None or self._proof is not None:
            return False
        context, before, after, witness = self._witness
        rng = Drbg(tagged_hash("shuffle proof", self._seed, context))
        self._proof = (context, shuffle.prove(before, after, self.replica.x, witness, context, rng))
        return True

    def _own_proof(self) -> bytes:
        made = next(made for made in self.replica.shuffles if made.seat == self.seat)
        if (
            self._proof is None or self._proof[0] != made.context
        ):  # after a restart: shuffle again, the same way
            deck, witness = self._shuffle(made.before, made.context)
            assert deck == made.after
            self._witness, self._proof = (made.context, made.before, deck, witness), None
            self._prepare_proof()
        assert self._proof is not None
        return self._proof[1]

    def _drbg(self, purpose: str) -> Drbg:
        return Drbg(
            tagged_hash("drbg", self._seed, self.replica.context(purpose, self.seat), purpose.encode())
        )

    # -- messages out --------------------------------------------------------------------------------

    def _say(self, body: m.Body, note: Note | None) -> None:
        replica = self.replica
        header = m.Header(replica.match, replica.view, replica.step, self.seat, replica.digest)
        effect = replica.check(self.seat, body)
        message = m.sign(self._identity, header, body)
        self._remember(message, note)
        forget = self._forget() if isinstance(body, m.Raise) else b""
        self.outgoing.append(Outgoing(m.wire(message), b"" if note is None else pack(note), forget))
        self._accept(message, effect)
        self._complete()

    def _forget(self) -> bytes:
        """Forget the fresh secret of a heal, here and (by what is returned) in the journal."""
        self._numbers.pop("heal")
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
            return self._convict(PeerFault(signed.seat, "P2", str(error)), (data,))
        if message.header.match != self.replica.match:
            return self._convict(PeerFault(signed.seat, "P15", "a message for another match"), (data,))
        new = self._place(message)
        self._complete()
        return new

    def _place(self, message: m.Message) -> bool:
        """Put a message where it belongs; False if nothing new was learnt from it."""
        header = message.header
        key = (header.view, header.step, header.seat)
        here = (self.replica.view, self.replica.step)
        known = self._seen.get(key)
        if known is not None:
            if known.signed.content == message.signed.content:
                return False
            fault = PeerFault(header.seat, "P1", "two different messages for one step")
            return self._convict(fault, (m.wire(known), m.wire(message)))
        if (header.view, header.step) > here:
            if header.step - self.replica.step > MAX_AHEAD:
                return False
            self._early.setdefault((header.view, header.step), {})[header.seat] = message
            self._seen[key] = message
            return True
        if (header.view, header.step) < here:
            return False  # a step in which this seat was not awaited: it cannot matter any more
        if header.previous != self.replica.digest:
            self._seen[key] = message
            self.events.append(Diverged(header.seat, header.step))
            return True
        try:
            effect = self.replica.check(header.seat, message.body)
        except PeerFault as fault:
            return self._convict(fault, (m.wire(message),))
        self._accept(message, effect)
        return True

    def _accept(self, message: m.Message, effect: object) -> None:
        header = message.header
        self._seen[header.view, header.step, header.seat] = message
        self._spoken[header.seat] = Spoken(message, effect)  # type: ignore[arg-type]
        move = effect.move if isinstance(effect, Played) else None
        self.events.append(Heard(header.seat, self.replica.phase, move))

    def _complete(self) -> None:
        """Go on for as long as steps are complete with what is here."""
        while not self.convicted and set(self.replica.awaited()) <= self._spoken.keys() and not self.over:
            before, spoken = self.replica, self._spoken
            try:
                self.replica = before.advance(spoken, self._rng, self.seat)
            except StepFaults as error:
                for fault in error.faults:
                    self._convict(fault, (m.wire(spoken[fault.culprit].message),))
                return
            self.log.append(tuple(spoken[seat].message for seat in sorted(spoken)))
            self.history.append(before)
            del self.history[:-KEPT]
            self._spoken = {}
            self._close_own(spoken.get(self.seat), before)
            self.events.append(StepDone(before, self.replica))
            self._enter()
            self._take_early()

    def _take_early(self) -> None:
        """Place what came too early for the steps before."""
        for _, message in sorted(self._early.pop((self.replica.view, self.replica.step), {}).items()):
            self._seen.pop((message.header.view, message.header.step, message.header.seat))
            self._place(message)

    def _close_own(self, own: Spoken | None, before: Replica) -> None:
        """Our own move counts from the end of its step on."""
        if own is None:
            return
        effect = own.effect
        note = self._notes.get((before.view, before.step)) or self._recalled(effect, before)
        if isinstance(effect, healing.HealKey) and note is not None:
            self._numbers["heal"] = note
        if isinstance(effect, Promise) and before.phase is Phase.OTTO_COMMIT and note is not None:
            self._numbers["otto"] = note
        if not isinstance(effect, Played):
            return
        move = effect.move
        match move:
            case moves.Choose() if note is not None:
                self._numbers["number"] = note
                move = moves.Choose(move.seat, move.slots, note.value)
            case moves.Lead() if note is not None:
                self._numbers["lead"] = note
                move = moves.Lead(move.seat, move.number, note.value)
            case moves.LayDuel() if note is not None:
                self._numbers["duel"] = note
                move = moves.LayDuel(move.seat, note.value)
            case moves.Say():
                self._numbers.pop("otto", None)
        self.secret = self.secret.after(move)

    def _recalled(self, effect: object, before: Replica) -> Note | None:
        """The note of an own promise that the journal has lost, and that came back from somebody else."""
        hand = before.play.hands[self.seat] if before.state is not None else ()
        values: tuple[int, ...]
        match effect:
            case Promise() if before.phase is Phase.OTTO_COMMIT:
                what, promise, values, size = "otto", effect, (0, 1), 1
            case Played(moves.Choose(), Promise() as promise):
                what, values, size = "number", tuple(range(10)), 1
            case Played(moves.Lead(), Promise() as promise):
                what, values, size = "lead", hand, 4
            case Played(moves.LayDuel(), Promise() as promise):
                what, values, size = "duel", hand, 4
            case _:
                return None
        nonce = tagged_hash("nonce", self._seed, promise.context, what.encode())
        kept = (value for value in values if promise.kept_by(value.to_bytes(size, "big"), nonce))
        return next((Note(value, nonce) for value in kept), None)

    def _enter(self) -> None:
        """What a new step means for our own secrets."""
        replica = self.replica
        if replica.phase is Phase.KEY_COMMIT:
            self.secret, self._numbers = Secret(), {}
            self._witness = self._proof = None
            context = replica.context("key", self.seat)
            rng = Drbg(tagged_hash("game key", self._seed, context))
            self._key = random_scalar(rng)
            key = mul_base_secret(self._key)
            possession = proofs.prove_key(self._key, key, context, rng)
            self._key_open = m.KeyOpen(rng(32), key.encode(), possession)
        if replica.phase in (Phase.DEAL, Phase.DRAW):
            self._witness = self._proof = None
        if replica.state is not None and replica.phase is Phase.PLAY:
            self._learn()

    def _learn(self) -> None:
        state = self.replica.play
        own = (*state.hands[self.seat], *state.collections[self.seat])
        for slot in own:
            if slot not in self.secret.cards:
                held = self.replica.held[slot]
                card = card_under(held, mul_secret(self._key, held[0]))
                self.secret = self.secret.learn(slot, card)

    def _convict(self, fault: PeerFault, messages: tuple[bytes, ...]) -> bool:
        if fault.culprit in self.convicted:
            return False
        conviction = Conviction(fault.culprit, fault.rule, fault.text, messages)
        self.convicted[fault.culprit] = conviction
        self.events.append(Convicted(conviction))
        return True

    # -- losing seats --------------------------------------------------------------------------------

    def _open_view(self, gone: frozenset[int], standing: dict[int, Spoken], digest: bytes) -> None:
        """Go on without the seats of `gone`, from the step at which the replica stands."""
        before = self.replica
        self.replica = before.without(gone, standing, digest)
        self.log.append(tuple(standing[seat].message for seat in sorted(standing)))
        self.history.append(before)
        self._spoken = {}
        self._witness = self._proof = None
        self._close_own(standing.get(self.seat), before)
        self.events.append(ViewOpened(before, self.replica, tuple(sorted(gone))))
        self._enter()
        self._take_early()

    # -- after a crash -------------------------------------------------------------------------------

    def restore(self, records: Iterable[tuple[bytes, bytes]]) -> None:
        """Replay the journal: (data, note) of all messages, our own and others', in any order."""
        placed: list[tuple[tuple[int, int], bytes, m.Message | None]] = []
        for data, note in records:
            signed = m.parse_signed(data)
            if signed.seat == self.seat:
                message = m.parse_content(signed)
                self._remember(message, unpack(Note, note) if note else None)
                placed.append(((message.header.view, message.header.step), data, message))
            else:
                placed.append((_place_of(signed), data, None))
        for _, data, own in sorted(
            placed, key=lambda entry: entry[0]
        ):  # else some are too far ahead, and dropped
            if own is None:
                self.receive(data)
            else:
                self._place(own)
                self._complete()
        self._complete()
        self.take_events()


def _place_of(signed: m.Signed) -> tuple[int, int]:
    """(view, step) that a message says it is for; the end of all for what is no message."""
    try:
        header = m.parse_content(signed).header
    except DecodeError:
        return (MAX_UINT, MAX_UINT)
    return (header.view, header.step)
