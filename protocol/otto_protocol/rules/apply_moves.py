"""The state after a move, and everything that follows from it by itself (docs/rules.md)."""

from __future__ import annotations

from typing import TypeVar, assert_never

from otto_protocol.rules.cards import colour, number
from otto_protocol.rules.check_moves import check
from otto_protocol.rules.end import bonuses, count_points, no_winner
from otto_protocol.rules.moves import (
    Answer,
    Challenge,
    Choose,
    Collect,
    Drawn,
    Exchange,
    Guess,
    LayDuel,
    Lead,
    LoseCard,
    Move,
    OpenDuel,
    Opened,
    OpenLead,
    Reshuffled,
    Say,
    Score,
    SeatMove,
    SitOut,
)
from otto_protocol.rules.phases import GAME_STEPS, GameEvent, GamePhase
from otto_protocol.rules.state import (
    ENOUGH,
    SAT_OUT,
    Draft,
    Duel,
    EndReason,
    Fields,
    State,
    clear_turn,
    clockwise,
    draft,
    first_dealt,
    freeze,
)

T = TypeVar("T")


def apply(state: State, move: Move) -> State:
    """The state after `move`, of which only the public fields are looked at. Raises IllegalMove.

    Moves of one step (CHOOSE, ANSWER, EXCHANGE, COLLECT, OTTO, SCORE) give the same state in any order.
    """
    check(state, move)
    new = draft(state)
    if isinstance(move, Reshuffled):
        new.pile = tuple(range(new.next_slot, new.next_slot + len(new.spent)))
        new.next_slot += len(new.spent)
        new.spent = ()
    elif isinstance(move, Drawn):
        for seat, slot in new.draws:
            new.hands = _with(new.hands, seat, (*new.hands[seat], slot))
        new.drew = (*new.drew, *(seat for seat, _ in new.draws))
        new.draws = ()
    else:
        new.waiting = tuple(seat for seat in new.waiting if seat != move.seat)
        _move(new, move)
    phase = GAME_STEPS[new.phase, type(move)]
    if phase is not new.phase:
        enter(new, phase)
    settle(new)
    return freeze(new)


def _move(new: Draft, move: SeatMove) -> None:
    """What a legal move of a seat does, before anything follows from it."""
    match move:
        case Answer(seat, slot, card):
            _see_hand(new, seat, ((slot, card),))
            new.answers = _with(new.answers, seat, slot)
        case Exchange(seat, take):
            new.choices = _with(new.choices, seat, take)
        case Lead(number=said):
            new.said = said
        case OpenLead(seat, slot, card):
            _see_hand(new, seat, ((slot, card),))
            new.lead = slot
            new.entitled = _entitled(new, colour(card))
        case Collect(seat, slots):
            if slots:
                _lay(new, seat, slots)
                new.quiet = 0
        case Say(seat, otto, said, cards):
            if otto:
                assert said is not None
                new.known = {**new.known, **dict(cards)}
                new.numbers = _with(new.numbers, seat, said)
                new.claims = _with(new.claims, seat, bonuses(said, [card for _, card in cards]))
        case SitOut(seat, cards):
            _see_hand(new, seat, cards)
            new.answers = _with(new.answers, seat, SAT_OUT)
        case Challenge(target=target):
            new.duel, new.dueled = Duel(target), True
        case LayDuel():
            pass
        case Guess(colour=guess):
            assert new.duel is not None
            new.duel = Duel(new.duel.target, guess)
        case OpenDuel(seat, slot, card):
            assert new.duel is not None
            _see_hand(new, seat, ((slot, card),))
            loser = seat if colour(card) == new.duel.colour else new.leader
            new.duel = Duel(seat, new.duel.colour, slot, loser)
        case LoseCard(seat, slot, card):
            new.collections = _with(new.collections, seat, _without(new.collections[seat], slot))
            new.known = {known: face for known, face in new.known.items() if known != slot}
            new.spent = (*new.spent, card)
            new.lost = _with(new.lost, seat, new.lost[seat] | 1 << number(card))
            new.duel, new.quiet = None, 0
        case Choose(seat, slots):
            _lay(new, seat, slots)
        case Score(seat, opened, cards):
            new.known = {**new.known, **dict(cards)}
            new.numbers = _with(new.numbers, seat, opened)
        case _:
            assert_never(move)


def _see_hand(new: Draft, seat: int, cards: Opened) -> None:
    new.known = {**new.known, **dict(cards)}
    seen = new.shown[seat]
    for slot, card in cards:
        if first_dealt(new, slot):  # it shows what was not laid at the start (T3)
            seen |= 1 << number(card)
    if seen != new.shown[seat]:
        new.shown = _with(new.shown, seat, seen)


def _lay(new: Draft, seat: int, slots: tuple[int, ...]) -> None:
    new.hands = _with(new.hands, seat, tuple(slot for slot in new.hands[seat] if slot not in slots))
    new.collections = _with(new.collections, seat, (*new.collections[seat], *slots))


def _entitled(new: Draft, led: int) -> tuple[int, ...]:
    """Who may exchange: T9, else T10; nobody when both piles are empty (R8)."""
    if not (new.pile or new.spent):
        return ()
    same = []
    for seat in clockwise(new.order, new.live, new.leader):
        slot = new.answers[seat]
        if slot is not None and slot != SAT_OUT and colour(new.known[slot]) == led:
            same.append(seat)
    return tuple(same) or (new.leader,)


def _with(row: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    return (*row[:seat], value, *row[seat + 1 :])


def _without(slots: tuple[int, ...], gone: int) -> tuple[int, ...]:
    return tuple(slot for slot in slots if slot != gone)


def enter(new: Draft, phase: GamePhase) -> None:
    """Begin a phase."""
    new.phase = phase
    new.waiting = movers(new)


def movers(there: Fields) -> tuple[int, ...]:
    """The live seats that the phase began with: those that must move, and those that have moved in it already."""
    match there.phase:
        case GamePhase.CHOOSE:
            return tuple(seat for seat in there.order if seat in there.live)
        case GamePhase.LEAD | GamePhase.DUEL_GUESS | GamePhase.OPEN_LEAD:
            return (there.leader,)
        case GamePhase.DUEL_LAY | GamePhase.DUEL_OPEN:
            assert there.duel is not None
            return (there.duel.target,)
        case GamePhase.LOSE_CARD:
            assert there.duel is not None
            assert there.duel.loser is not None
            return (there.duel.loser,)
        case GamePhase.ANSWER:
            return clockwise(there.order, there.live, there.leader)
        case GamePhase.EXCHANGE:
            return tuple(seat for seat in there.entitled if seat in there.live)
        case GamePhase.RESHUFFLE | GamePhase.DRAW | GamePhase.END:
            return ()
        case GamePhase.COLLECT:
            return tuple(seat for seat in there.drew if seat in there.live)
        case GamePhase.OTTO:
            return tuple(seat for seat in _round(there) if len(there.collections[seat]) >= ENOUGH)
        case GamePhase.SCORE:
            return tuple(seat for seat in _round(there) if there.claims[seat] is None)
        case _:
            assert_never(there.phase)


def _round(there: Fields) -> tuple[int, ...]:
    """The live seats clockwise from the leader's left, the leader last."""
    others = clockwise(there.order, there.live, there.leader)
    return (*others, there.leader) if there.leader in there.live else others


def settle(new: Draft) -> None:
    """Let everything happen that follows by itself, until somebody is awaited again."""
    while (event := _event(new)) is not None:
        happen(new, event)


def happen(new: Draft, event: GameEvent) -> None:
    """An event: its effect, and the phase that follows."""
    _take_effect(new, event)
    enter(new, GAME_STEPS[new.phase, event])


def _event(new: Draft) -> GameEvent | None:
    phase = new.phase
    if phase is GamePhase.LEAD:
        if no_winner(new) is not None:
            return GameEvent.NO_WINNER
        return None if new.hands[new.leader] else GameEvent.NO_HAND
    if phase is GamePhase.DRAW:
        if not new.draws and new.owed:
            count = min(len(new.owed), len(new.pile))
            new.draws = tuple(zip(new.owed[:count], new.pile[:count], strict=True))
            new.owed, new.pile = new.owed[count:], new.pile[count:]
        if new.draws:
            return None
        return GameEvent.PILE_EMPTY if new.owed else GameEvent.ALL_DONE
    if new.waiting or phase is GamePhase.RESHUFFLE or phase is GamePhase.END:
        return None
    if phase is GamePhase.OTTO:
        said = any(claim is not None for claim in new.claims)
        return GameEvent.OTTO_SAID if said else GameEvent.NO_OTTO
    return GameEvent.ALL_DONE


def _take_effect(new: Draft, event: GameEvent) -> None:
    match event:
        case GameEvent.ALL_DONE:
            if new.phase is GamePhase.EXCHANGE:
                _discard(new)
            elif new.phase is GamePhase.SCORE:
                count_points(new)
        case GameEvent.NO_WINNER:
            new.reason = no_winner(new)
        case GameEvent.NO_OTTO | GameEvent.TURN_VOID:
            clear_turn(new)
            new.turn += 1
            new.quiet += 1
            new.leader = clockwise(new.order, new.live, new.leader)[0]
        case GameEvent.OTTO_SAID:
            first = next(seat for seat in (new.leader, *_round(new)) if new.claims[seat] is not None)
            new.winner, new.reason = first, EndReason.OTTO
            new.bonus = new.claims[first] or ()
        case GameEvent.DUEL_VOID:
            new.duel, new.dueled = None, False
        case GameEvent.NO_HAND | GameEvent.PILE_EMPTY | GameEvent.SHUFFLE_VOID | GameEvent.LAST_SEAT:
            pass
        case _:
            assert_never(event)


def _discard(new: Draft) -> None:
    """R7: those who exchange lay their cards on the spent pile, clockwise, and are owed one each."""
    owed = tuple(seat for seat in new.entitled if new.choices[seat])
    for seat in owed:
        slot = new.lead if seat == new.leader else new.answers[seat]
        assert slot is not None
        new.spent = (*new.spent, new.known[slot])
        new.hands = _with(new.hands, seat, _without(new.hands[seat], slot))
        new.known = {known: card for known, card in new.known.items() if known != slot}
    new.owed = owed
