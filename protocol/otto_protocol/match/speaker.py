"""One seat's own part: its secrets, and the messages that it makes of them. Only `session` uses it.

Everything secret is derived from the seed of the match and the place in the log that it is for, so a restart
makes the same again; the fresh secret of a heal alone is random, and forgotten when it is used.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
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
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Drbg, Rng, tagged_hash
from otto_protocol.match import heal_steps
from otto_protocol.match import messages as m
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.plays import Played, Promise, unknown_slots
from otto_protocol.match.replica import Replica
from otto_protocol.match.signed_points import card_under
from otto_protocol.rules import moves
from otto_protocol.rules.legal import legal_moves
from otto_protocol.rules.state import GamePhase, Secret


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
        self.promised: dict[str, Note] = {}  # openings of our own promises, by what was promised
        self._seed = seed
        self._rng = rng
        self._key = 0
        self._key_open: m.KeyOpen | None = None
        self._witness: tuple[bytes, Deck, Deck, shuffle_proof.Witness] | None = None
        self._proof: tuple[bytes, bytes] | None = None

    def snapshot(self) -> Speaker:
        """A copy that later changes do not reach."""
        other = copy.copy(self)
        other.promised = dict(self.promised)
        other.drop_shuffle()
        return other

    def drop_shuffle(self) -> None:
        """Forget a shuffle under way; its secrets are never used again."""
        self._witness = self._proof = None

    def body_of(self, replica: Replica, move: moves.Move) -> tuple[m.Body, Note | None]:
        """The message of a legal decision, and the note to keep with it."""
        if replica.phase is MatchPhase.OTTO_COMMIT:
            assert isinstance(move, moves.Say)
            return self._promise(replica, "otto", int(move.otto), bytes([move.otto]), m.OttoCommit)
        match move:
            case moves.Choose(slots=slots, number=int(number)):
                return self._promise(replica, "number", number, bytes([number]), lambda c: m.Choose(c, slots))
            case moves.Challenge():
                return m.Challenge(move.target), None
            case moves.LayDuel(slot=int(slot)):
                return self._promise(replica, "duel", slot, slot.to_bytes(4, "big"), m.LayDuel)
            case moves.Guess():
                return m.Guess(move.colour), None
            case moves.OpenDuel():
                return m.OpenDuel(
                    move.slot, self.promised["duel"].nonce, self._open(replica, (move.slot,))
                ), None
            case moves.LoseCard():
                return m.LoseCard(move.slot, self._open(replica, (move.slot,))), None
            case moves.Lead(number=number, slot=int(slot)):
                return self._promise(
                    replica, "lead", slot, slot.to_bytes(4, "big"), lambda c: m.Lead(number, c)
                )
            case moves.Answer():
                return m.Answer(move.slot, self._open(replica, (move.slot,))), None
            case moves.SitOut():
                return m.SitOut(self._open(replica, tuple(slot for slot, _ in move.cards))), None
            case moves.OpenLead():
                return m.OpenLead(
                    move.slot, self.promised["lead"].nonce, self._open(replica, (move.slot,))
                ), None
            case moves.Exchange():
                return m.Exchange(move.take), None
            case moves.Collect():
                return m.Collect(move.slots), None
            case moves.Say(otto=False):
                return m.GoOn(self._otto_nonce(replica)), None
            case moves.Say(number=int(number)):
                own = replica.play.collections[self.seat]
                bonus = tuple(slot for slot, _ in move.cards if slot not in own)
                opening = self._open(replica, (*own, *bonus))
                return m.Otto(
                    self._otto_nonce(replica), number, self.promised["number"].nonce, bonus, opening
                ), None
            case moves.Score():
                opening = self._open(replica, tuple(slot for slot, _ in move.cards))
                return m.Score(move.number, self.promised["number"].nonce, opening), None
            case _:
                raise LocalError("this is nobody's move")

    def _otto_nonce(self, replica: Replica) -> bytes:
        return self.promised["otto"].nonce if (self.seat, "otto") in replica.promises else b""

    def _note(self, replica: Replica, what: str, value: int) -> Note:
        nonce = tagged_hash("nonce", self._seed, replica.context(what, self.seat), what.encode())
        return Note(value, nonce)

    def _promise(
        self, replica: Replica, what: str, value: int, content: bytes, make: Callable[[bytes], m.Body]
    ) -> tuple[m.Body, Note]:
        note = self._note(replica, what, value)
        digest = commit(replica.context(what, self.seat), content, note.nonce)
        return make(digest), note

    def _open(self, replica: Replica, slots: tuple[int, ...]) -> m.Opening:
        unknown = unknown_slots(replica, slots)
        if not unknown:
            return m.Opening(b"", b"")
        bases = [replica.held[slot][0] for slot in unknown]
        shares, proof = self._shares(replica, bases, "open")
        return m.Opening(b"".join(share.encode() for share in shares), proof)

    def _shares(self, replica: Replica, bases: list[Point], purpose: str) -> tuple[list[Point], bytes]:
        context = replica.context(purpose, self.seat)
        shares = [mul_secret(self._key, base) for base in bases]
        key = replica.keys[self.seat]
        return shares, proofs.prove_shares(
            self._key, key, bases, shares, context, self._drbg(replica, purpose)
        )

    def _heal(self, replica: Replica) -> tuple[m.Body, Note | None]:
        match replica.phase:
            case MatchPhase.HEAL_PROVE:
                secret = random_scalar(self._rng)  # not from the seed: nobody shall be able to make it again
                key = mul_base_secret(secret)
                context = replica.context("heal key", self.seat)
                possession = proofs.prove_key(secret, key, context, self._drbg(replica, "heal key"))
                note = Note(0, encode_scalar(secret))
                return m.HealProof(self._own_proof(replica), key.encode(), possession), note
            case MatchPhase.RAISE:
                secret = decode_scalar(self.promised["heal"].nonce)
                entries = (*replica.deck, *heal_steps.kept_cards(replica))
                raised = heal.raise_entries(secret, entries)
                key = replica.healing.keys[self.seat]
                context = replica.context("raise", self.seat)
                proof = heal.prove_raise(secret, key, entries, raised, context, self._drbg(replica, "raise"))
                size = len(replica.deck)
                return m.Raise(encode_deck(raised[:size]), encode_deck(raised[size:]), proof), None
            case _:
                bases = heal_steps.tag_bases(replica.healing, self.seat)
                shares, proof = self._shares(replica, bases, "tags")
                encoded = [share.encode() for share in shares]
                size = len(replica.healing.pile)
                return m.Tags(b"".join(encoded[:size]), b"".join(encoded[size:]), proof), None

    def automatic(self, replica: Replica) -> tuple[m.Body, Note | None] | None:
        """The message that needs no decision, and its note; None when a decision is awaited."""
        if replica.phase in (MatchPhase.HEAL_PROVE, MatchPhase.RAISE, MatchPhase.TAGS):
            return self._heal(replica)
        body = self._plain(replica)
        return None if body is None else (body, None)

    def _plain(self, replica: Replica) -> m.Body | None:
        match replica.phase:
            case MatchPhase.KEY_COMMIT:
                assert self._key_open is not None
                content = replica.key_commitment_content(self._key_open)
                return m.KeyCommit(commit(replica.context("key", self.seat), content, self._key_open.nonce))
            case MatchPhase.KEY_OPEN:
                return self._key_open
            case MatchPhase.SHUFFLE | MatchPhase.RESHUFFLE | MatchPhase.HEAL_SHUFFLE:
                context = replica.context("shuffle", self.seat)
                deck, witness = self._shuffle(replica, replica.deck, context)
                self._witness = (context, replica.deck, deck, witness)
                return m.Shuffle(encode_deck(deck))
            case MatchPhase.PROVE | MatchPhase.REPROVE:
                return m.ShuffleProof(self._own_proof(replica))
            case MatchPhase.DEAL | MatchPhase.DRAW:
                bases = [replica.pile[slot][0] for slot in replica.slots_to_share(self.seat)]
                shares, proof = self._shares(replica, bases, "shares")
                return m.Shares(b"".join(share.encode() for share in shares), proof)
            case MatchPhase.RESULT:
                return m.Result(replica.result_points())
            case MatchPhase.PLAY:
                return self._forced(replica)
            case _:
                return None

    def is_forced(self, replica: Replica) -> bool:
        """Whether what is awaited opens what was laid before: no choice, and its time tells nothing."""
        if replica.phase is not MatchPhase.PLAY:
            return False
        return replica.play.phase in (GamePhase.OPEN_LEAD, GamePhase.DUEL_OPEN, GamePhase.SCORE) or (
            replica.play.phase is GamePhase.OTTO and (self.seat, "otto") in replica.promises
        )

    def _forced(self, replica: Replica) -> m.Body | None:
        if not self.is_forced(replica):
            return None
        legal = legal_moves(replica.play, self.seat, self.secret)
        if replica.play.phase is GamePhase.OTTO:
            said = bool(self.promised["otto"].value)
            return self.body_of(
                replica, next(x for x in legal if isinstance(x, moves.Say) and x.otto == said)
            )[0]
        return self.body_of(replica, legal[0])[0]

    def _shuffle(self, replica: Replica, deck: Deck, context: bytes) -> tuple[Deck, shuffle_proof.Witness]:
        return shuffle_proof.shuffle(deck, replica.x, Drbg(tagged_hash("shuffle", self._seed, context)))

    def prepare_proof(self, replica: Replica) -> bool:
        """Prove the own shuffle while the others still shuffle."""
        if self._witness is None or self._proof is not None:
            return False
        context, before, after, witness = self._witness
        rng = Drbg(tagged_hash("shuffle proof", self._seed, context))
        self._proof = (context, shuffle_proof.prove(before, after, replica.x, witness, context, rng))
        return True

    def _own_proof(self, replica: Replica) -> bytes:
        made = next(made for made in replica.shuffles if made.seat == self.seat)
        if (
            self._proof is None or self._proof[0] != made.context
        ):  # after a restart: shuffle again, the same way
            deck, witness = self._shuffle(replica, made.before, made.context)
            assert deck == made.after
            self._witness, self._proof = (made.context, made.before, deck, witness), None
            self.prepare_proof(replica)
        assert self._proof is not None
        return self._proof[1]

    def _drbg(self, replica: Replica, purpose: str) -> Drbg:
        return Drbg(tagged_hash("drbg", self._seed, replica.context(purpose, self.seat), purpose.encode()))

    def _recalled(self, effect: object, before: Replica) -> Note | None:
        """The note of an own promise that the journal has lost, and that came back from somebody else."""
        hand = before.play.hands[self.seat] if before.state is not None else ()
        values: tuple[int, ...]
        match effect:
            case Promise() if before.phase is MatchPhase.OTTO_COMMIT:
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

    def enter(self, replica: Replica) -> None:
        """What a new step means for our own secrets."""
        if replica.phase is MatchPhase.KEY_COMMIT:
            self.secret, self.promised = Secret(), {}
            self._witness = self._proof = None
            context = replica.context("key", self.seat)
            rng = Drbg(tagged_hash("game key", self._seed, context))
            self._key = random_scalar(rng)
            key = mul_base_secret(self._key)
            possession = proofs.prove_key(self._key, key, context, rng)
            self._key_open = m.KeyOpen(rng(32), key.encode(), possession)
        if replica.phase in (MatchPhase.DEAL, MatchPhase.DRAW):
            self._witness = self._proof = None
        if replica.state is not None and replica.joint is not None:  # not the state of the game before
            self._learn(replica)  # also between two draws of one turn, when the pile has to be shuffled

    def _learn(self, replica: Replica) -> None:
        state = replica.play
        own = (*state.hands[self.seat], *state.collections[self.seat])
        for slot in own:
            if slot not in self.secret.cards and slot in replica.held:
                held = replica.held[slot]
                card = card_under(held, mul_secret(self._key, held[0]))
                self.secret = self.secret.learn(slot, card)

    def close(self, before: Replica, effect: object, note: Note | None) -> None:
        """Our own move counts from the end of its step on."""
        note = note or self._recalled(effect, before)
        if isinstance(effect, heal_steps.HealKey) and note is not None:
            self.promised["heal"] = note
        if isinstance(effect, Promise) and before.phase is MatchPhase.OTTO_COMMIT and note is not None:
            self.promised["otto"] = note
        if not isinstance(effect, Played):
            return
        move = effect.move
        match move:
            case moves.Choose() if note is not None:
                self.promised["number"] = note
                move = moves.Choose(move.seat, move.slots, note.value)
            case moves.Lead() if note is not None:
                self.promised["lead"] = note
                move = moves.Lead(move.seat, move.number, note.value)
            case moves.LayDuel() if note is not None:
                self.promised["duel"] = note
                move = moves.LayDuel(move.seat, note.value)
            case moves.Say():
                self.promised.pop("otto", None)
        self.secret = self.secret.after(move)
