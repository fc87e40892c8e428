"""Where a match stands: all that is public at the start of a step, and what can be read off it."""

from __future__ import annotations

from dataclasses import dataclass

from otto_protocol.crypto.deck import Ciphertext, Deck
from otto_protocol.crypto.group import Point
from otto_protocol.hashing import tagged_hash
from otto_protocol.match.effects import Promise, Purpose
from otto_protocol.match.phases import MatchPhase
from otto_protocol.roster import Roster
from otto_protocol.rules.end import Outcome
from otto_protocol.rules.end import outcome as outcome_of
from otto_protocol.rules.seats import Hidden
from otto_protocol.rules.state import State


@dataclass(frozen=True, slots=True)
class Shuffled:
    """One seat's shuffle, waiting for its proof: the context is that of the step in which it was made."""

    seat: int
    context: bytes
    before: Deck
    after: Deck


@dataclass(frozen=True, slots=True)
class Heal:
    """A heal under way. `hidden` are the slots; the others are filled in step by step."""

    hidden: Hidden
    keys: dict[int, Point]  # S_k by seat
    pile: Deck = ()  # the entries of the healed deck times s
    own: tuple[Deck, ...] = ()  # by seat: its hidden cards times s


class Place:
    """One place in the log of a match. `Replica` moves from one to the next; everything else only reads it."""

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self.match = roster.match_id()
        self.view = 0  # how often seats were removed, or the step was done again
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
        self.promises: dict[tuple[int, Purpose], Promise] = {}
        self.decided_turn = 0  # the turn that the promises about Otto belong to
        self.pile: dict[int, Ciphertext] = {}  # slots of the draw pile: (a, b) under the joint key
        self.held: dict[int, Ciphertext] = {}  # slots that have an owner: (a, b - everybody else's shares)
        self.state: State | None = None
        self.heal: Heal | None = None

    @property
    def play(self) -> State:
        """The state of the game; there is one from the opened keys on."""
        assert self.state is not None
        return self.state

    @property
    def joint_key(self) -> Point:
        """The joint key of this game; there is one from the opened keys on."""
        assert self.joint is not None
        return self.joint

    @property
    def heal_now(self) -> Heal:
        """The heal under way; there is one in the phases of a heal."""
        assert self.heal is not None
        return self.heal

    def shufflers(self) -> tuple[int, ...]:
        """The live seats in turn order, which is the order of their shuffles."""
        return tuple(seat for seat in self.order if seat in self.live)

    def dealt_slots(self) -> dict[int, int]:
        """Slot -> owner, of the cards that the current DEAL or DRAW gives out."""
        if self.phase is MatchPhase.DRAW:
            return {slot: seat for seat, slot in self.play.draws}
        return {slot: seat for seat in self.live for slot in self.play.hands[seat]}

    def slots_to_share(self, seat: int) -> tuple[int, ...]:
        """The slots for which `seat` owes a share in this step: the dealt ones of others, ascending."""
        return tuple(sorted(slot for slot, owner in self.dealt_slots().items() if owner != seat))

    def context(self, purpose: Purpose, seat: int) -> bytes:
        """32 bytes that bind a proof or commitment to version, match, game, view, step, log, seat and keys."""
        return tagged_hash(
            "context",
            purpose.value.encode(),
            self.match,
            b"".join(n.to_bytes(4, "big") for n in (self.game, self.view, self.step, seat)),
            self.digest,
            self.roster.members[seat].key,
            self.joint.encode() if self.joint is not None else b"",
            self.keys[seat].encode() if seat in self.keys else b"",
        )

    def result_points(self) -> tuple[int, ...]:
        """The points of each seat in the game that has just ended."""
        return tuple(self.outcome().points)

    def outcome(self) -> Outcome:
        """How the game has ended; asked from its end on."""
        outcome = outcome_of(self.play)
        assert outcome is not None
        return outcome
