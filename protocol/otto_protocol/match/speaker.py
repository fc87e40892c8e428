"""One seat's own part: its secrets, and the messages that it makes of them. Only `session` uses it, and experiments.

Everything secret is derived from the seed of the match and the place in the log that it is for, so a restart
makes the same again; the fresh secret of a heal alone is random, and forgotten when it is used.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Annotated

from otto_protocol.crypto import heal, proofs, shuffle_proof
from otto_protocol.crypto.commitments import commit
from otto_protocol.crypto.deck import Deck, encode_deck
from otto_protocol.crypto.group import (
    Point,
    decode_scalar,
    encode_scalar,
    mul_base_secret,
    mul_secret,
    random_scalar,
)
from otto_protocol.encoding import AtMost, Max
from otto_protocol.hashing import Drbg, Rng, tagged_hash
from otto_protocol.match import heal_steps, otto
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Effect, HealKey, Played, Promise, Purpose
from otto_protocol.match.openings import unknown_slots
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.place import Place
from otto_protocol.match.signed_points import card_under
from otto_protocol.rules import Secret, moves


@dataclass(frozen=True, slots=True)
class Note:
    """What a seat must remember of its own message, and nobody else may know: stored with it, never sent."""

    value: Annotated[int, Max(2**32 - 1)]
    nonce: Annotated[bytes, AtMost(32)]


class Speaker:
    """The secrets of one seat at one place in the log; `snapshot` keeps them, for going back there."""

    def __init__(self, seat: int, seed: bytes, rng: Rng) -> None:
        self.seat = seat
        self.secret = Secret()
        self.promised: dict[Purpose, Note] = {}  # openings of our own promises, by what was promised
        self.key = 0  # x of this game
        self.key_open: m.KeyOpen | None = None
        self._seed = seed
        self._rng = rng
        self.witness: tuple[bytes, Deck, Deck, shuffle_proof.Witness] | None = None
        self._proof: tuple[bytes, bytes] | None = None

    def copy(self, rng: Rng | None = None) -> Speaker:
        """A copy that later changes do not reach, with `rng` if it is given."""
        other = copy.copy(self)
        other.promised = dict(self.promised)
        other._rng = rng or self._rng
        return other

    def snapshot(self) -> Speaker:
        """A copy for going back to; the shuffle under way stays behind."""
        other = self.copy()
        other.drop_shuffle()
        return other

    def drop_shuffle(self) -> None:
        """Forget a shuffle under way; its secrets are never used again."""
        self.witness = self._proof = None

    def body_of(self, place: Place, move: moves.Move) -> tuple[m.Body, Note | None]:
        """The message of a decision, and the note to keep with it."""
        promised = otto.promised_by(place, move)
        if promised is None:
            return otto.message_of(place, move, b"", self), None
        purpose, value = promised
        context = place.context(purpose, self.seat)
        note = Note(value, self._nonce_for(purpose, context))
        commitment = commit(context, otto.content(purpose, value), note.nonce)
        return otto.message_of(place, move, commitment, self), note

    def nonce(self, purpose: Purpose) -> bytes:
        """The nonce of what this seat has promised."""
        return self.promised[purpose].nonce

    def opening(self, place: Place, slots: tuple[int, ...]) -> m.Opening:
        """Shares and a proof for those of its slots that are not public yet."""
        unknown = unknown_slots(place, slots)
        if not unknown:
            return m.Opening(b"", b"")
        bases = [place.held[slot][0] for slot in unknown]
        shares, proof = self._shares(place, bases, Purpose.OPEN)
        return m.Opening(b"".join(share.encode() for share in shares), proof)

    def _nonce_for(self, purpose: Purpose, context: bytes) -> bytes:
        return tagged_hash("nonce", self._seed, context, purpose.value.encode())

    def _shares(self, place: Place, bases: list[Point], purpose: Purpose) -> tuple[list[Point], bytes]:
        context = place.context(purpose, self.seat)
        shares = [mul_secret(self.key, base) for base in bases]
        key, rng = place.keys[self.seat], self._drbg(place, purpose)
        return shares, proofs.prove_shares(self.key, key, bases, shares, context, rng)

    def _heal(self, place: Place) -> tuple[m.Body, Note | None]:
        match place.phase:
            case MatchPhase.HEAL_PROVE:
                secret = random_scalar(self._rng)  # not from the seed: nobody shall be able to make it again
                key = mul_base_secret(secret)
                context = place.context(Purpose.HEAL_KEY, self.seat)
                possession = proofs.prove_key(secret, key, context, self._drbg(place, Purpose.HEAL_KEY))
                note = Note(0, encode_scalar(secret))
                return m.HealProof(self._own_proof(place), key.encode(), possession), note
            case MatchPhase.RAISE:
                secret = decode_scalar(self.promised[Purpose.HEAL_KEY].nonce)
                entries = (*place.deck, *heal_steps.kept_cards(place))
                raised = heal.raise_entries(secret, entries)
                key = place.heal_now.keys[self.seat]
                context = place.context(Purpose.RAISE, self.seat)
                proof = heal.prove_raise(
                    secret, key, entries, raised, context, self._drbg(place, Purpose.RAISE)
                )
                size = len(place.deck)
                return m.Raise(encode_deck(raised[:size]), encode_deck(raised[size:]), proof), None
            case _:
                bases = heal_steps.tag_bases(place.heal_now, self.seat)
                shares, proof = self._shares(place, bases, Purpose.TAGS)
                encoded = [share.encode() for share in shares]
                size = len(place.heal_now.pile)
                return m.Tags(b"".join(encoded[:size]), b"".join(encoded[size:]), proof), None

    def automatic(self, place: Place) -> tuple[m.Body, Note | None] | None:
        """The message that needs no decision, and its note; None when a decision is awaited."""
        if place.phase in (MatchPhase.HEAL_PROVE, MatchPhase.RAISE, MatchPhase.TAGS):
            return None if self._has_lost_heal(place) else self._heal(place)
        body = self._plain(place)
        return None if body is None else (body, None)

    def _has_lost_heal(self, place: Place) -> bool:
        """Whether the fresh secret is gone: an old copy of the journal was restored."""
        return place.phase is MatchPhase.RAISE and Purpose.HEAL_KEY not in self.promised

    def _plain(self, place: Place) -> m.Body | None:
        match place.phase:
            case MatchPhase.KEY_COMMIT:
                assert self.key_open is not None
                context = place.context(Purpose.KEY, self.seat)
                return m.KeyCommit(commit(context, self.key_open.committed(), self.key_open.nonce))
            case MatchPhase.KEY_OPEN:
                return self.key_open
            case MatchPhase.SHUFFLE | MatchPhase.RESHUFFLE | MatchPhase.HEAL_SHUFFLE:
                context = place.context(Purpose.SHUFFLE, self.seat)
                deck, witness = self._shuffle(place, place.deck, context)
                self.witness = (context, place.deck, deck, witness)
                return m.Shuffle(encode_deck(deck))
            case MatchPhase.PROVE | MatchPhase.REPROVE:
                return m.ShuffleProof(self._own_proof(place))
            case MatchPhase.DEAL | MatchPhase.DRAW:
                bases = [place.pile[slot][0] for slot in place.slots_to_share(self.seat)]
                shares, proof = self._shares(place, bases, Purpose.SHARES)
                return m.Shares(b"".join(share.encode() for share in shares), proof)
            case MatchPhase.RESULT:
                return m.Result(place.result_points())
            case MatchPhase.PLAY:
                return self._forced(place)
            case _:
                return None

    def _forced(self, place: Place) -> m.Body | None:
        decided = self.promised.get(Purpose.OTTO)
        says_otto = decided is not None and bool(decided.value)
        move = otto.forced_move(place, self.seat, self.secret, says_otto=says_otto)
        return None if move is None else self.body_of(place, move)[0]

    def _shuffle(self, place: Place, deck: Deck, context: bytes) -> tuple[Deck, shuffle_proof.Witness]:
        return shuffle_proof.shuffle(deck, place.joint_key, Drbg(tagged_hash("shuffle", self._seed, context)))

    def prepare_proof(self, place: Place) -> bool:
        """Prove the own shuffle while the others still shuffle."""
        if self.witness is None or self._proof is not None:
            return False
        context, before, after, witness = self.witness
        rng = Drbg(tagged_hash("shuffle proof", self._seed, context))
        self._proof = (context, shuffle_proof.prove(before, after, place.joint_key, witness, context, rng))
        return True

    def _own_proof(self, place: Place) -> bytes:
        made = next(made for made in place.shuffles if made.seat == self.seat)
        if self._proof is None or self._proof[0] != made.context:
            # After a restart: shuffle again, the same way.
            deck, witness = self._shuffle(place, made.before, made.context)
            assert deck == made.after
            self.witness, self._proof = (made.context, made.before, deck, witness), None
            self.prepare_proof(place)
        assert self._proof is not None
        return self._proof[1]

    def _drbg(self, place: Place, purpose: Purpose) -> Drbg:
        context = place.context(purpose, self.seat)
        return Drbg(tagged_hash("drbg", self._seed, context, purpose.value.encode()))

    def _recalled(self, promise: Promise, before: Place) -> Note | None:
        """The note of an own promise that the journal has lost, and that came back from somebody else."""
        purpose, nonce = promise.purpose, self._nonce_for(promise.purpose, promise.context)
        values = otto.possible(before, self.seat, purpose)
        kept = (value for value in values if promise.kept_by(otto.content(purpose, value), nonce))
        return next((Note(int(value), nonce) for value in kept), None)

    def enter(self, place: Place) -> None:
        """What a new step means for our own secrets."""
        if place.phase is MatchPhase.KEY_COMMIT:
            self.secret, self.promised = Secret(), {}
            self.witness = self._proof = None
            context = place.context(Purpose.KEY, self.seat)
            rng = Drbg(tagged_hash("game key", self._seed, context))
            self.key = random_scalar(rng)
            key = mul_base_secret(self.key)
            possession = proofs.prove_key(self.key, key, context, rng)
            self.key_open = m.KeyOpen(rng(32), key.encode(), possession)
        if place.phase in (MatchPhase.DEAL, MatchPhase.DRAW):
            self.witness = self._proof = None
        if place.state is not None and place.joint is not None:  # not the state of the game before
            self._learn(place)  # also between two draws of one turn, when the pile has to be shuffled

    def _learn(self, place: Place) -> None:
        state = place.play
        own = (*state.hands[self.seat], *state.collections[self.seat])
        for slot in own:
            if slot not in self.secret.cards and slot in place.held:
                held = place.held[slot]
                card = card_under(held, mul_secret(self.key, held[0]))
                self.secret = self.secret.learn(slot, card)

    def close(self, before: Place, effect: Effect, note: Note | None) -> None:
        """Our own message counts from the end of its step on."""
        if isinstance(effect, HealKey) and note is not None:
            self.promised[Purpose.HEAL_KEY] = note
        promise = effect.promise if isinstance(effect, Played) else effect
        if isinstance(promise, Promise):
            note = note or self._recalled(promise, before)
            if note is not None:
                self.promised[promise.purpose] = note
        if isinstance(effect, Played):
            if isinstance(effect.move, moves.Say):
                self.promised.pop(Purpose.OTTO, None)
            hidden = None if effect.promise is None or note is None else note.value
            move = effect.move if hidden is None else otto.with_secret(effect.move, hidden)
            self.secret = self.secret.after(move)
