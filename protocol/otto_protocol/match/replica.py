"""The public state of a match, moved only by signed messages: the same at every peer, and in every audit.

`check` judges one message against the state at the start of its step (so the order of arrival does not
matter), `advance` closes the step when everybody has spoken. A replica knows no secret and is never
changed: `advance` returns the next one, so a peer can go back to an earlier step.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from otto_protocol import rules
from otto_protocol.crypto import deck as cards
from otto_protocol.crypto import proofs, shuffle_proof
from otto_protocol.crypto.deck import Ciphertext
from otto_protocol.crypto.group import Point, add
from otto_protocol.errors import OttoError, PeerFault
from otto_protocol.hashing import Drbg, Rng, random_below, shuffled, tagged_hash
from otto_protocol.match import heal_steps, otto, phases
from otto_protocol.match import messages as m
from otto_protocol.match.effects import (
    Acknowledged,
    Countersigned,
    Effect,
    HealKey,
    NewDeck,
    OpenedKey,
    Played,
    Promise,
    ProofBytes,
    Purpose,
    Raised,
    ShareBatch,
    Tagged,
    all_of,
)
from otto_protocol.match.phases import MatchEvent, MatchPhase, Who
from otto_protocol.match.place import Heal, Place, Shuffled
from otto_protocol.match.signed_points import many_points, one_point, whole_deck
from otto_protocol.rules import GamePhase, moves
from otto_protocol.rules.cards import deck_size


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message that was checked, and what it means."""

    message: m.Message
    effect: Effect


class StepFaults(OttoError):
    """Faults that show only when a step is complete; `faults` names every culprit."""

    def __init__(self, faults: tuple[PeerFault, ...]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = faults


class Replica(Place):
    """The public state at the start of a step, and the way to the next one. Treat as immutable."""

    def wanted(self) -> tuple[int, ...]:
        """The seats from which the phase wants something in this step, ascending; the other live ones say Ack."""
        match phases.SPEAKERS[self.phase].who:
            case Who.ALL:
                return self.live
            case Who.SHUFFLER:
                return (self.shufflers()[len(self.shuffles)],)
            case Who.DEALERS:
                return tuple(seat for seat in self.live if self.slots_to_share(seat))
            case Who.PLAYERS:
                return otto.awaited(self)
            case Who.CONTENDERS:
                return otto.undecided(self)
            case Who.NOBODY:
                return ()

    # -- one message ---------------------------------------------------------------------------------

    def check(self, seat: int, body: m.Body) -> Effect:
        """What this message of `seat` means at this step; raises PeerFault naming the rule that it breaks."""
        allowed = phases.SPEAKERS[self.phase].messages if seat in self.wanted() else (m.Ack,)
        if type(body) not in allowed or self.phase is MatchPhase.OVER:
            raise PeerFault(seat, "P3", f"{type(body).__name__} in {self.phase.value}")
        match body:
            case m.Ack():
                return Acknowledged()
            case m.KeyCommit():
                return Promise(Purpose.KEY, self.context(Purpose.KEY, seat), body.commitment)
            case m.KeyOpen():
                return self._check_key(seat, body)
            case m.Shuffle():
                return NewDeck(whole_deck(seat, "P6", body.deck, len(self.deck)))
            case m.ShuffleProof():
                return ProofBytes(body.proof)
            case m.Shares():
                return self._check_shares(seat, body)
            case m.OttoCommit():
                return Promise(Purpose.OTTO, self.context(Purpose.OTTO, seat), body.commitment)
            case m.Result():
                if body.points != self.result_points():
                    raise PeerFault(seat, "P11", "another result than the log gives")
                return Countersigned()
            case m.HealProof() | m.Raise() | m.Tags():
                return heal_steps.check(self, seat, body)
            case _:
                return otto.meaning(self, seat, body)

    def _check_key(self, seat: int, body: m.KeyOpen) -> OpenedKey:
        promise = self.promises[seat, Purpose.KEY]
        if not promise.kept_by(body.committed(), body.nonce):
            raise PeerFault(seat, "P4", "the opened key is not the committed one")
        key = one_point(seat, "P5", body.key)
        if not proofs.check_key(key, body.possession, promise.context):
            raise PeerFault(seat, "P5", "no proof of possession of the key")
        return OpenedKey(key)

    def _check_shares(self, seat: int, body: m.Shares) -> ShareBatch:
        slots = self.slots_to_share(seat)
        shares = many_points(seat, "P8", body.shares, len(slots))
        bases = [self.pile[slot][0] for slot in slots]
        context = self.context(Purpose.SHARES, seat)
        if not proofs.check_shares(self.keys[seat], bases, shares, body.proof, context):
            raise PeerFault(seat, "P9", "the proof of the shares does not hold")
        return ShareBatch(shares)

    # -- the end of a step -----------------------------------------------------------------------------

    def advance(self, spoken: Mapping[int, Spoken], rng: Rng, trusted: int | None = None) -> Replica:
        """The replica at the start of the next step, once all awaited seats have spoken.

        `rng` weighs batched proofs; the shuffle of seat `trusted` (one's own) is not verified. Raises
        StepFaults when proofs do not hold, each with its culprit.
        """
        after = self._copy()
        after.step += 1
        after.digest = self.step_digest({seat: entry.message for seat, entry in spoken.items()})
        event = after._close(self, spoken, rng, trusted)
        after.phase = phases.after(self.phase, event)
        return after

    def proof_fault(self, spoken: Spoken, rng: Rng) -> PeerFault | None:
        """What is wrong with the shuffle proof in a message that `check` has let pass, if it has one."""
        seat, effect = spoken.message.header.seat, spoken.effect
        if not isinstance(effect, ProofBytes | HealKey):
            return None
        made = next(one for one in self.shuffles if one.seat == seat)
        (valid,) = shuffle_proof.check_chain(
            self.joint_key, [(made.before, made.after, effect.proof, made.context)], rng
        )
        return None if valid else PeerFault(seat, "P7", "the shuffle proof does not hold")

    def step_digest(self, said: Mapping[int, m.Message]) -> bytes:
        """The digest after this step: the one before, and the contents of the step in seat order."""
        contents = [said[seat].signed.content for seat in sorted(said)]
        return _digest_after(self.view, self.step, self.digest, contents)

    def lot(self, said: Mapping[int, m.Message]) -> bytes:
        """32 bytes of which order, leader and table words are made, from the opened keys (seat -> KeyOpen).

        It is the digest that the step has in the view in which the keys were committed to: nothing but what
        was committed to may change it, least of all a view change by somebody who knows the other keys.
        """
        view, step, digest = self.committed
        contents = []
        for seat in sorted(said):
            header = m.Header(self.match, view, step, seat, digest)
            contents.append(m.content_of(header, said[seat].body))
        return _digest_after(view, step, digest, contents)

    def _copy(self) -> Self:
        return copy.copy(self)

    def _close(
        self, before: Replica, spoken: Mapping[int, Spoken], rng: Rng, trusted: int | None
    ) -> MatchEvent:
        effects = _said(spoken)
        match self.phase:
            case MatchPhase.KEY_COMMIT:
                self._promise(effects)
                self.committed = (self.view, self.step, self.digest)
                return MatchEvent.SPOKEN
            case MatchPhase.KEY_OPEN:
                self._open_keys(
                    all_of(OpenedKey, effects),
                    before.lot({seat: one.message for seat, one in spoken.items()}),
                )
                return MatchEvent.SPOKEN
            case MatchPhase.SHUFFLE | MatchPhase.RESHUFFLE | MatchPhase.HEAL_SHUFFLE:
                ((seat, new),) = all_of(NewDeck, effects).items()
                made = Shuffled(seat, before.context(Purpose.SHUFFLE, seat), self.deck, new.deck)
                self.deck, self.shuffles = new.deck, (*self.shuffles, made)
                done = len(self.shuffles) == len(self.shufflers())
                return MatchEvent.SPOKEN if done else MatchEvent.NEXT_SHUFFLER
            case MatchPhase.PROVE:
                self._verify_shuffles(_proofs(effects), rng, trusted)
                self._number_pile(0, self.deck)
                return MatchEvent.SPOKEN
            case MatchPhase.REPROVE:
                self._verify_shuffles(_proofs(effects), rng, trusted)
                self._number_pile(self.play.next_slot, self.deck)
                return self._play_on(moves.Reshuffled())
            case MatchPhase.DEAL:
                self._give_out(before, all_of(ShareBatch, effects))
                return MatchEvent.SPOKEN
            case MatchPhase.DRAW:
                self._give_out(before, all_of(ShareBatch, effects))
                return self._play_on(moves.Drawn())
            case MatchPhase.PLAY:
                return self._play_step(effects)
            case MatchPhase.OTTO_COMMIT:
                self._promise(effects)
                return MatchEvent.SPOKEN
            case MatchPhase.RESULT:
                return self._next_game()
            case MatchPhase.HEAL_PROVE:
                keys = all_of(HealKey, effects)
                self._verify_shuffles({seat: one.proof for seat, one in keys.items()}, rng, trusted)
                self.heal = heal_steps.take_keys(self.heal_now, keys)
                return MatchEvent.SPOKEN
            case MatchPhase.RAISE:
                self.heal = heal_steps.take_raised(self.heal_now, all_of(Raised, effects))
                return MatchEvent.SPOKEN
            case MatchPhase.TAGS:
                return self._resume(heal_steps.new_pile(before, all_of(Tagged, effects)))
            case MatchPhase.OVER:
                raise AssertionError(self.phase)

    def _promise(self, effects: Mapping[int, Effect]) -> None:
        promises = {(seat, one.purpose): one for seat, one in all_of(Promise, effects).items()}
        self.promises = {**self.promises, **promises}

    def _open_keys(self, opened: Mapping[int, OpenedKey], lot: bytes) -> None:
        keys = {seat: one.key for seat, one in opened.items()}
        joint = add(*keys.values())
        if joint is None:  # nobody could aim at this: every key was committed to before any was seen
            raise StepFaults(tuple(PeerFault(seat, "P5", "the keys add up to nothing") for seat in keys))
        self.keys, self.joint = keys, joint
        if not self.order:
            self.order = tuple(shuffled(list(self.live), Drbg(tagged_hash("seat order", lot))))
            self.table_number = int.from_bytes(tagged_hash("table words", lot)[:5], "big") >> 7
        seats = self.shufflers()
        leader = seats[random_below(len(seats), Drbg(tagged_hash("leader", lot)))]
        self.state = rules.start(seats, leader, self.roster.rules.decks, len(self.roster.members))
        self.promises = {}
        self.pile, self.held = {}, {}
        self._open_deck(tuple(range(deck_size(self.roster.rules.decks))))

    def _open_deck(self, card_ids: tuple[int, ...]) -> None:
        self.deck = cards.open_deck(card_ids, self.joint_key)
        self.shuffles = ()

    def _number_pile(self, first: int, entries: tuple[Ciphertext, ...]) -> None:
        """The entries become the draw pile, the slots numbered from `first` on: `rules` counts the same way."""
        self.pile = {first + place: entry for place, entry in enumerate(entries)}

    def _verify_shuffles(self, given: Mapping[int, bytes], rng: Rng, trusted: int | None) -> None:
        checked = [made for made in self.shuffles if made.seat != trusted]
        chain = [(made.before, made.after, given[made.seat], made.context) for made in checked]
        verdicts = shuffle_proof.check_chain(self.joint_key, chain, rng)
        faults = tuple(
            PeerFault(made.seat, "P7", "the shuffle proof does not hold")
            for made, valid in zip(checked, verdicts, strict=True)
            if not valid
        )
        if faults:
            raise StepFaults(faults)
        self.shuffles = ()

    def _give_out(self, before: Replica, effects: Mapping[int, ShareBatch]) -> None:
        """Move the dealt slots from the pile to their owners, less the shares of everybody else."""
        given: dict[int, list[Point]] = {}
        for seat, batch in effects.items():
            for slot, share in zip(before.slots_to_share(seat), batch.shares, strict=True):
                given.setdefault(slot, []).append(share)
        self.pile, self.held = dict(self.pile), dict(self.held)
        for slot in before.dealt_slots():
            a, b = self.pile.pop(slot)
            rest = cards.partial(b, given[slot])
            assert rest is not None, "a card that is the sum of all shares but one"
            self.held[slot] = (a, rest)

    def _play_step(self, effects: Mapping[int, Effect]) -> MatchEvent:
        self._apply(effects)
        return self._what_now()

    def _apply(self, effects: Mapping[int, Effect]) -> None:
        promises, state = dict(self.promises), self.play
        for seat, played in all_of(Played, effects).items():
            if played.promise is not None:
                promises[seat, played.promise.purpose] = played.promise
            state = rules.apply(state, played.move)
        self.promises, self.state = promises, state

    def _play_on(self, move: moves.Move) -> MatchEvent:
        self.state = rules.apply(self.play, move)
        return self._what_now()

    def _what_now(self) -> MatchEvent:
        if self.play.turn != self.decided_turn:  # a leader without a hand goes straight to OTTO again (R10)
            self.promises = {key: one for key, one in self.promises.items() if key[1] is not Purpose.OTTO}
            self.decided_turn = self.play.turn
        if self.play.phase is GamePhase.RESHUFFLE:
            self._open_deck(tuple(sorted(self.play.spent)))
        return otto.what_now(self)

    # -- losing seats --------------------------------------------------------------------------------

    def without(self, gone: frozenset[int], standing: Mapping[int, Spoken], digest: bytes) -> Replica:
        """The replica at the start of the next view: the seats of `gone` are out, what others said stands.

        `standing` are the messages of this step by seats that stay; `digest` is that of the view change. Raises
        nothing that a peer can cause.
        """
        after = self._copy()
        after.view, after.step, after.digest = self.view + 1, self.step + 1, digest
        after.live = tuple(seat for seat in self.live if seat not in gone)
        effects = {seat: effect for seat, effect in _said(standing).items() if seat in after.live}
        event = after._lose(self, gone, effects)
        after.phase = phases.after(self.phase if event in phases.LOSS else MatchPhase.PLAY, event)
        return after

    def _lose(self, before: Replica, gone: frozenset[int], effects: Mapping[int, Effect]) -> MatchEvent:
        if before.phase is MatchPhase.RESULT:
            return MatchEvent.AGAIN
        # Whoever leaves in the deal may have seen its hand: to the last one left that is a game won (R20).
        won = before.phase is MatchPhase.DEAL and len(self.live) == 1
        if before.phase in phases.BEFORE_DEAL and not won:
            if gone or before.phase is MatchPhase.KEY_COMMIT:
                return self._start_again()
            # Whoever has seen the lot, or its hand, must not get another one for nothing.
            return MatchEvent.REPEAT
        if before.phase is MatchPhase.PLAY:
            self._apply(effects)
        elif before.phase is MatchPhase.OTTO_COMMIT:
            self._promise(effects)
        if gone and self.play.phase is not rules.GamePhase.END:  # what has ended is not changed by a loss
            self.joint = add(*(self.keys[seat] for seat in self.live))
            assert self.joint is not None, "proven keys do not add up to nothing"
            self.state = rules.remove_seats(self.play, gone).state
        if not self.play.needs_pile:
            return self._what_now()
        dealt = rules.hidden(self.play)
        self.heal = Heal(dealt, {})
        if not dealt.dead:
            return self._resume(())
        public = {*self.play.spent, *self.play.known.values()}
        self._open_deck(tuple(card for card in range(deck_size(self.play.decks)) if card not in public))
        return MatchEvent.HEAL

    def _start_again(self) -> MatchEvent:
        """Nothing was at stake yet: from the keys, or not at all."""
        if len(self.live) < 2:
            return MatchEvent.DESERTED
        self.keys, self.joint, self.state, self.promises = {}, None, None, {}
        self.deck, self.shuffles = (), ()
        return MatchEvent.RESTART

    def _resume(self, pile: tuple[Ciphertext, ...]) -> MatchEvent:
        self._number_pile(self.play.next_slot, pile)
        self.state = rules.with_new_pile(self.play, len(pile))
        self.heal = None
        return self._what_now()

    def _next_game(self) -> MatchEvent:
        outcome = self.outcome()
        self.results = (*self.results, outcome)
        self.totals = tuple(a + b for a, b in zip(self.totals, outcome.points, strict=True))
        if self.game >= self.roster.rules.games or len(self.live) < 2:
            return MatchEvent.SPOKEN
        self.game += 1
        self.keys, self.joint = {}, None
        return MatchEvent.ANOTHER_GAME


def _proofs(effects: Mapping[int, Effect]) -> dict[int, bytes]:
    return {seat: one.proof for seat, one in all_of(ProofBytes, effects).items()}


def _said(spoken: Mapping[int, Spoken]) -> dict[int, Effect]:
    """The effects of a step by seat, ascending, without those that had nothing to say."""
    effects = {seat: spoken[seat].effect for seat in sorted(spoken)}
    return {seat: effect for seat, effect in effects.items() if not isinstance(effect, Acknowledged)}


def _digest_after(view: int, step: int, digest: bytes, contents: list[bytes]) -> bytes:
    """The digest after a step that began at `digest`, with these contents in seat order."""
    return tagged_hash("step", digest, view.to_bytes(4, "big"), step.to_bytes(4, "big"), *contents)
