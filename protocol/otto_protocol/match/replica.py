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
from otto_protocol.crypto.deck import Ciphertext, Deck
from otto_protocol.crypto.group import Point, add
from otto_protocol.errors import PeerFault
from otto_protocol.hashing import Drbg, Rng, random_below, shuffled, tagged_hash
from otto_protocol.match import heal_steps, phases
from otto_protocol.match import messages as m
from otto_protocol.match.phases import MatchEvent, MatchPhase, Who
from otto_protocol.match.plays import Played, Promise, check_play
from otto_protocol.match.signed_points import many_points, one_point, whole_deck
from otto_protocol.roster import Roster
from otto_protocol.rules import moves
from otto_protocol.rules.end import Outcome
from otto_protocol.rules.end import outcome as outcome_of
from otto_protocol.rules.seats import healed, hidden, remove_seats
from otto_protocol.rules.state import GamePhase, State
from otto_protocol.rules.state import start as start_game


@dataclass(frozen=True, slots=True)
class Shuffled:
    """One seat's shuffle, waiting for its proof: the context is that of the step in which it was made."""

    seat: int
    context: bytes
    before: Deck
    after: Deck


Effect = bytes | Point | Deck | tuple[Point, ...] | Promise | Played | heal_steps.Given | None


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message that was checked, and what it means."""

    message: m.Message
    effect: Effect


class StepFaults(Exception):
    """Faults that show only when a step is complete; `faults` names every culprit."""

    def __init__(self, faults: tuple[PeerFault, ...]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = faults


class Replica:
    """The public state at the start of a step. Treat as immutable."""

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self.match = roster.match_id()
        self.view = 0
        self.step = 0
        self.digest = tagged_hash("start", self.match)
        self.phase = MatchPhase.KEY_COMMIT
        self.live: tuple[int, ...] = tuple(range(len(roster.members)))
        self.game = 1
        self.order: tuple[int, ...] = ()
        self.table_number = 0
        self.totals: tuple[int, ...] = (0,) * len(roster.members)
        self.results: tuple[Outcome, ...] = ()
        self.keys: dict[int, Point] = {}
        self.joint: Point | None = None
        self.deck: Deck = ()
        self.shuffles: tuple[Shuffled, ...] = ()
        self.committed = (0, 0, b"")  # view, step and digest at which all keys of this game were committed to
        self.promises: dict[tuple[int, str], Promise] = {}
        self.decided_turn = 0  # the turn that the promises about Otto belong to
        self.pile: dict[int, Ciphertext] = {}  # slots of the draw pile: (a, b) under the joint key
        self.held: dict[int, Ciphertext] = {}  # slots that have an owner: (a, b - everybody else's shares)
        self.state: State | None = None
        self.heal: heal_steps.Heal | None = None

    # -- who speaks ---------------------------------------------------------------------------------

    def awaited(self) -> tuple[int, ...]:
        """The seats that must speak before this step is complete, ascending."""
        match phases.SPEAKERS[self.phase].who:
            case Who.ALL:
                return self.live
            case Who.SHUFFLER:
                return (self._shufflers()[len(self.shuffles)],)
            case Who.DEALERS:
                return tuple(seat for seat in self.live if self.slots_to_share(seat))
            case Who.PLAYERS:
                return tuple(sorted(rules.awaited(self.play)))
            case Who.CONTENDERS:
                return tuple(sorted(s for s in rules.awaited(self.play) if (s, "otto") not in self.promises))
            case Who.NOBODY:
                return ()

    @property
    def play(self) -> State:
        """The state of the game; there is one from the opened keys on."""
        assert self.state is not None
        return self.state

    @property
    def x(self) -> Point:
        """The joint key of this game."""
        assert self.joint is not None
        return self.joint

    @property
    def healing(self) -> heal_steps.Heal:
        """The heal under way."""
        assert self.heal is not None
        return self.heal

    def _shufflers(self) -> tuple[int, ...]:
        return tuple(seat for seat in self.order if seat in self.live)

    def dealt_slots(self) -> dict[int, int]:
        """Slot -> owner, of the cards that the current DEAL or DRAW gives out."""
        if self.phase is MatchPhase.DRAW:
            return {slot: seat for seat, slot in self.play.draws}
        return {slot: seat for seat in self.live for slot in self.play.hands[seat]}

    def slots_to_share(self, seat: int) -> tuple[int, ...]:
        """The slots for which `seat` owes a share in this step: the dealt ones of others, ascending."""
        return tuple(sorted(slot for slot, owner in self.dealt_slots().items() if owner != seat))

    # -- contexts ------------------------------------------------------------------------------------

    def context(self, purpose: str, seat: int) -> bytes:
        """32 bytes that bind a proof or commitment to version, match, game, view, step, log, seat and keys."""
        return tagged_hash(
            "context",
            purpose.encode(),
            self.match,
            b"".join(n.to_bytes(4, "big") for n in (self.game, self.view, self.step, seat)),
            self.digest,
            self.roster.members[seat].key,
            self.joint.encode() if self.joint is not None else b"",
            self.keys[seat].encode() if seat in self.keys else b"",
        )

    def key_commitment_content(self, body: m.KeyOpen) -> bytes:
        """What KEY_COMMIT commits to."""
        return body.key + body.possession

    # -- one message ---------------------------------------------------------------------------------

    def check(self, seat: int, body: m.Body) -> Effect:
        """What this message of `seat` means at this step; raises PeerFault naming the rule that it breaks."""
        if seat not in self.awaited() or type(body) not in phases.SPEAKERS[self.phase].messages:
            raise PeerFault(seat, "P3", f"{type(body).__name__} in {self.phase.value}")
        match body:
            case m.KeyCommit():
                return Promise(self.context("key", seat), body.commitment)
            case m.KeyOpen():
                return self._check_key(seat, body)
            case m.Shuffle():
                return whole_deck(seat, "P6", body.deck, len(self.deck))
            case m.ShuffleProof():
                return body.proof
            case m.Shares():
                return self._check_shares(seat, body)
            case m.OttoCommit():
                return Promise(self.context("otto", seat), body.commitment)
            case m.Result():
                if body.points != self.result_points():
                    raise PeerFault(seat, "P11", "another result than the log gives")
                return None
            case m.HealProof() | m.Raise() | m.Tags():
                return heal_steps.check(self, seat, body)
            case _:
                return check_play(self, seat, body)

    def _check_key(self, seat: int, body: m.KeyOpen) -> Point:
        promise = self.promises[seat, "key"]
        if not promise.kept_by(self.key_commitment_content(body), body.nonce):
            raise PeerFault(seat, "P4", "the opened key is not the committed one")
        key = one_point(seat, "P5", body.key)
        if not proofs.check_key(key, body.possession, promise.context):
            raise PeerFault(seat, "P5", "no proof of possession of the key")
        return key

    def _check_shares(self, seat: int, body: m.Shares) -> tuple[Point, ...]:
        slots = self.slots_to_share(seat)
        shares = many_points(seat, "P8", body.shares, len(slots))
        bases = [self.pile[slot][0] for slot in slots]
        if not proofs.check_shares(self.keys[seat], bases, shares, body.proof, self.context("shares", seat)):
            raise PeerFault(seat, "P9", "the proof of the shares does not hold")
        return shares

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
        effects = {seat: spoken[seat].effect for seat in sorted(spoken)}
        match self.phase:
            case MatchPhase.KEY_COMMIT:
                self._promise("key", effects)
                self.committed = (self.view, self.step, self.digest)
                return MatchEvent.SPOKEN
            case MatchPhase.KEY_OPEN:
                self._open_keys(effects, before.lot({seat: one.message for seat, one in spoken.items()}))
                return MatchEvent.SPOKEN
            case MatchPhase.SHUFFLE | MatchPhase.RESHUFFLE | MatchPhase.HEAL_SHUFFLE:
                ((seat, deck),) = effects.items()
                self._shuffle(seat, deck, before)
                done = len(self.shuffles) == len(self._shufflers())
                return MatchEvent.SPOKEN if done else MatchEvent.NEXT_SHUFFLER
            case MatchPhase.PROVE:
                self._verify_shuffles(effects, rng, trusted)
                self.pile = dict(enumerate(self.deck))
                return MatchEvent.SPOKEN
            case MatchPhase.REPROVE:
                self._verify_shuffles(effects, rng, trusted)
                first = self.play.next_slot
                self.pile = {first + place: entry for place, entry in enumerate(self.deck)}
                return self._play_on(moves.Reshuffled())
            case MatchPhase.DEAL:
                self._give_out(before, effects)
                return MatchEvent.SPOKEN
            case MatchPhase.DRAW:
                self._give_out(before, effects)
                return self._play_on(moves.Drawn())
            case MatchPhase.PLAY:
                return self._play_step(effects)
            case MatchPhase.OTTO_COMMIT:
                self._promise("otto", effects)
                return MatchEvent.SPOKEN
            case MatchPhase.RESULT:
                return self._next_game()
            case MatchPhase.HEAL_PROVE:
                keys = {seat: one for seat, one in effects.items() if isinstance(one, heal_steps.HealKey)}
                self._verify_shuffles({seat: one.proof for seat, one in keys.items()}, rng, trusted)
                self.heal = heal_steps.take_keys(self.healing, keys)
                return MatchEvent.SPOKEN
            case MatchPhase.RAISE:
                raised = {seat: one for seat, one in effects.items() if isinstance(one, heal_steps.Raised)}
                self.heal = heal_steps.take_raised(self.healing, raised)
                return MatchEvent.SPOKEN
            case MatchPhase.TAGS:
                tagged = {seat: one for seat, one in effects.items() if isinstance(one, heal_steps.Tagged)}
                return self._healed(heal_steps.new_pile(before, tagged))
            case MatchPhase.OVER:
                raise AssertionError(self.phase)

    def _promise(self, what: str, effects: Mapping[int, Effect]) -> None:
        self.promises = dict(self.promises)
        for seat, promise in effects.items():
            assert isinstance(promise, Promise)
            self.promises[seat, what] = promise

    def _open_keys(self, effects: Mapping[int, Effect], lot: bytes) -> None:
        keys = {seat: key for seat, key in effects.items() if isinstance(key, Point)}
        joint = add(*keys.values())
        if joint is None:  # nobody could aim at this: every key was committed to before any was seen
            raise StepFaults(tuple(PeerFault(seat, "P5", "the keys add up to nothing") for seat in keys))
        self.keys, self.joint = keys, joint
        if not self.order:
            self.order = tuple(shuffled(list(self.live), Drbg(tagged_hash("seat order", lot))))
            self.table_number = int.from_bytes(tagged_hash("table words", lot)[:5], "big") >> 7
        seats = self._shufflers()
        leader = seats[random_below(len(seats), Drbg(tagged_hash("leader", lot)))]
        self.state = start_game(seats, leader, self.roster.rules.decks, len(self.roster.members))
        self.promises = {}
        self.pile, self.held = {}, {}
        self._open_deck(tuple(range(76 * self.roster.rules.decks)))

    def _open_deck(self, card_ids: tuple[int, ...]) -> None:
        self.deck = cards.open_deck(card_ids, self.x)
        self.shuffles = ()

    def _shuffle(self, seat: int, deck: Effect, before: Replica) -> None:
        assert isinstance(deck, tuple)
        made = Shuffled(seat, before.context("shuffle", seat), self.deck, deck)  # type: ignore[arg-type]
        self.shuffles = (*self.shuffles, made)
        self.deck = made.after

    def _verify_shuffles(self, effects: Mapping[int, Effect], rng: Rng, trusted: int | None) -> None:
        checked = [made for made in self.shuffles if made.seat != trusted]
        chain = []
        for made in checked:
            proof = effects[made.seat]
            assert isinstance(proof, bytes)
            chain.append((made.before, made.after, proof, made.context))
        verdicts = shuffle_proof.check_chain(self.x, chain, rng)
        faults = tuple(
            PeerFault(made.seat, "P7", "the shuffle proof does not hold")
            for made, valid in zip(checked, verdicts, strict=True)
            if not valid
        )
        if faults:
            raise StepFaults(faults)
        self.shuffles = ()

    def _give_out(self, before: Replica, effects: Mapping[int, Effect]) -> None:
        """Move the dealt slots from the pile to their owners, less the shares of everybody else."""
        given: dict[int, list[Point]] = {}
        for seat, shares in effects.items():
            assert isinstance(shares, tuple)
            for slot, share in zip(before.slots_to_share(seat), shares, strict=True):
                assert isinstance(share, Point)
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
        self.promises = dict(self.promises)
        state = self.play
        for seat, played in effects.items():
            assert isinstance(played, Played)
            if played.promise is not None:
                what = {moves.Choose: "number", moves.Lead: "lead", moves.LayDuel: "duel"}[type(played.move)]
                self.promises[seat, what] = played.promise
            state = rules.apply(state, played.move)
        self.state = state

    def _play_on(self, move: moves.Move) -> MatchEvent:
        self.state = rules.apply(self.play, move)
        return self._what_now()

    def _what_now(self) -> MatchEvent:
        if self.play.turn != self.decided_turn:  # a leader without a hand goes straight to OTTO again (R10)
            self.promises = {key: p for key, p in self.promises.items() if key[1] != "otto"}
            self.decided_turn = self.play.turn
        match self.play.phase:
            case GamePhase.DRAW:
                return MatchEvent.CARDS_DUE
            case GamePhase.RESHUFFLE:
                self._open_deck(tuple(sorted(self.play.spent)))
                return MatchEvent.PILE_EMPTY
            case GamePhase.OTTO:
                waiting = [seat for seat in rules.awaited(self.play) if (seat, "otto") not in self.promises]
                return (
                    MatchEvent.CONTESTED
                    if waiting and len(rules.awaited(self.play)) > 1
                    else MatchEvent.SPOKEN
                )
            case GamePhase.END:
                return MatchEvent.FINISHED
            case _:
                return MatchEvent.SPOKEN

    # -- losing seats --------------------------------------------------------------------------------

    def without(self, gone: frozenset[int], standing: Mapping[int, Spoken], digest: bytes) -> Replica:
        """The replica at the start of the next view: the seats of `gone` are out, what others said stands.

        `standing` are the messages of this step by seats that stay; `digest` is that of the view change. Raises
        nothing that a peer can cause.
        """
        after = self._copy()
        after.view, after.step, after.digest = self.view + 1, self.step + 1, digest
        after.live = tuple(seat for seat in self.live if seat not in gone)
        effects = {seat: standing[seat].effect for seat in sorted(standing) if seat in after.live}
        event = after._lose(self, gone, effects)
        after.phase = phases.after(self.phase if event in phases.LOSS else MatchPhase.PLAY, event)
        return after

    def _lose(self, before: Replica, gone: frozenset[int], effects: Mapping[int, Effect]) -> MatchEvent:
        if before.phase is MatchPhase.RESULT:
            return MatchEvent.AGAIN
        if before.phase in phases.BEFORE_DEAL:
            if gone or before.phase is MatchPhase.KEY_COMMIT:
                return self._start_again()
            return (
                MatchEvent.REPEAT
            )  # who has seen the lot, or its hand, must not get another one for nothing
        if before.phase is MatchPhase.PLAY:
            self._apply(effects)
        elif before.phase is MatchPhase.OTTO_COMMIT:
            self._promise("otto", effects)
        if gone:
            self.joint = add(*(self.keys[seat] for seat in self.live))
            assert self.joint is not None, "proven keys do not add up to nothing"
            self.state = remove_seats(self.play, gone).state
        if not self.play.healing:
            return self._what_now()
        dealt = hidden(self.play)
        self.heal = heal_steps.Heal(dealt, {})
        if not dealt.dead:
            return self._healed(())
        public = {*self.play.spent, *self.play.known.values()}
        self._open_deck(tuple(card for card in range(76 * self.play.decks) if card not in public))
        return MatchEvent.HEAL

    def _start_again(self) -> MatchEvent:
        """Nothing was at stake yet: from the keys, or not at all."""
        if len(self.live) < 2:
            return MatchEvent.DESERTED
        self.keys, self.joint, self.state, self.promises = {}, None, None, {}
        self.deck, self.shuffles = (), ()
        return MatchEvent.RESTART

    def _healed(self, pile: tuple[Ciphertext, ...]) -> MatchEvent:
        first = self.play.next_slot
        self.pile = {first + place: entry for place, entry in enumerate(pile)}
        self.state = healed(self.play, len(pile))
        self.heal = None
        return self._what_now()

    # -- the end of a game ---------------------------------------------------------------------------

    def result_points(self) -> tuple[int, ...]:
        """The points of each seat in the game that has just ended."""
        outcome = outcome_of(self.play)
        assert outcome is not None
        return tuple(outcome.points)

    def _next_game(self) -> MatchEvent:
        outcome = outcome_of(self.play)
        assert outcome is not None
        self.results = (*self.results, outcome)
        self.totals = tuple(a + b for a, b in zip(self.totals, outcome.points, strict=True))
        if self.game >= self.roster.rules.games or len(self.live) < 2:
            return MatchEvent.SPOKEN
        self.game += 1
        self.keys, self.joint = {}, None
        return MatchEvent.ANOTHER_GAME


def _digest_after(view: int, step: int, digest: bytes, contents: list[bytes]) -> bytes:
    """The digest after a step that began at `digest`, with these contents in seat order."""
    return tagged_hash("step", digest, view.to_bytes(4, "big"), step.to_bytes(4, "big"), *contents)
