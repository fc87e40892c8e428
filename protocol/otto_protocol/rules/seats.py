"""Taking seats out of a running game, and the new draw pile after it (rule R20, docs/protocol.md, "Healing")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otto_protocol.errors import LocalError
from otto_protocol.rules.apply_moves import happen, movers, settle
from otto_protocol.rules.end import OTTO_POINTS
from otto_protocol.rules.phases import BEFORE_OPEN_LEAD, GameEvent, GamePhase
from otto_protocol.rules.state import Draft, EndReason, State, clockwise, draft, freeze


@dataclass(frozen=True, slots=True)
class Hidden:
    """The slots whose cards are not public, as a heal needs them.

    `kept`: by seat, the slots that live seats go on holding; `dead`: slots that nobody will hold any more
    (the old pile, undone draws, what gone seats had). The new pile has as many cards as `dead`.
    """

    kept: tuple[tuple[int, ...], ...]
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Removal:
    """The state without the gone seats, and the hidden slots; `with_new_pile` is due when `state.needs_pile`."""

    state: State
    hidden: Hidden


def remove_seats(state: State, gone: Iterable[int]) -> Removal:
    """The game without these seats (R20). Their public cards go on the spent pile.

    Moves of theirs in the step that is waiting are void; it may have begun before an earlier loss. A game that
    has ended stays as it ended. Raises LocalError if nobody leaves, or if nobody would be left.
    """
    leaving = frozenset(gone) & state.live
    if not leaving or leaving == state.live:
        raise LocalError("those who leave are in the game, and not all of them")
    if state.phase is GamePhase.END:
        ended = draft(state)
        ended.live -= leaving
        return Removal(freeze(ended), hidden(state))
    moved = set(movers(state)) - set(state.waiting)
    new = draft(state)
    for seat in leaving & moved:
        _undo(new, seat)
    new.live -= leaving
    new.waiting = tuple(seat for seat in new.waiting if seat in new.live)
    _spend(new, leaving)
    if new.phase is GamePhase.SCORE:
        settle(new)
    elif len(new.live) == 1:
        _last_seat(new)
    else:
        new.needs_pile = True
        _in_flight(new)
    result = freeze(new)
    return Removal(result, hidden(result))


def _undo(new: Draft, seat: int) -> None:
    """Void what a seat has done in a simultaneous step; its cards leave with it."""
    new.answers = (*new.answers[:seat], None, *new.answers[seat + 1 :])
    new.choices = (*new.choices[:seat], None, *new.choices[seat + 1 :])
    if new.phase is GamePhase.OTTO:
        new.claims = (*new.claims[:seat], None, *new.claims[seat + 1 :])
        new.numbers = (*new.numbers[:seat], None, *new.numbers[seat + 1 :])


def hidden(state: State) -> Hidden:
    """The hidden slots of a state."""
    held = [
        tuple(slot for slot in (*hand, *collection) if slot not in state.known)
        for hand, collection in zip(state.hands, state.collections, strict=True)
    ]
    kept = tuple(slots if seat in state.live else () for seat, slots in enumerate(held))
    lost = (slot for seat, slots in enumerate(held) if seat not in state.live for slot in slots)
    return Hidden(kept, (*state.pile, *lost))


def with_new_pile(state: State, pile_size: int) -> State:
    """The game goes on with a new pile of `pile_size` cards under the next slot numbers.

    Raises LocalError unless seats were just removed and the size is that of `hidden(state).dead`.
    """
    if not state.needs_pile or pile_size != len(hidden(state).dead):
        raise LocalError("the new pile has exactly the cards that have no place after a loss")
    new = draft(state)
    new.needs_pile = False
    new.pile = tuple(range(new.next_slot, new.next_slot + pile_size))
    new.next_slot += pile_size
    new.hands = tuple(hand if seat in new.live else () for seat, hand in enumerate(new.hands))
    new.collections = tuple(laid if seat in new.live else () for seat, laid in enumerate(new.collections))
    settle(new)
    return freeze(new)


def _spend(new: Draft, leaving: frozenset[int]) -> None:
    """The public cards of those who leave go on the spent pile; only hidden slots stay with them."""
    hands, collections, known = list(new.hands), list(new.collections), dict(new.known)
    for seat in sorted(leaving):
        public = sorted(slot for slot in (*hands[seat], *collections[seat]) if slot in known)
        new.spent = (*new.spent, *(known.pop(slot) for slot in public))
        hands[seat] = tuple(slot for slot in hands[seat] if slot not in public)
        collections[seat] = tuple(slot for slot in collections[seat] if slot not in public)
    new.hands, new.collections, new.known = tuple(hands), tuple(collections), known


def _last_seat(new: Draft) -> None:
    (seat,) = new.live
    new.winner, new.reason = seat, EndReason.LAST_SEAT
    new.points = tuple(OTTO_POINTS if other == seat else 0 for other in range(new.seats))
    happen(new, GameEvent.LAST_SEAT)


def _in_flight(new: Draft) -> None:
    """What becomes of the turn. Nothing follows from it before `with_new_pile`."""
    if new.leader not in new.live and new.phase in BEFORE_OPEN_LEAD:
        happen(new, GameEvent.TURN_VOID)
    elif new.duel is not None and new.duel.target not in new.live:
        happen(new, GameEvent.DUEL_VOID)
    elif new.phase is GamePhase.RESHUFFLE:
        happen(new, GameEvent.SHUFFLE_VOID)
    elif new.leader not in new.live and new.phase is GamePhase.CHOOSE:
        new.leader = clockwise(new.order, new.live, new.leader)[0]
    new.entitled = tuple(seat for seat in new.entitled if seat in new.live)
    new.drew = tuple(seat for seat in new.drew if seat in new.live)
    # A draw under way is undone: whoever drew is owed a card, and no slot is ever given to a second owner.
    undone = tuple(seat for seat, _ in new.draws)
    new.owed = tuple(seat for seat in (*undone, *new.owed) if seat in new.live)
    new.pile = (*(slot for _, slot in new.draws), *new.pile)
    new.draws = ()
