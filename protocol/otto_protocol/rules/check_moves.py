"""Which moves are legal, as far as the public can see. Each refusal names the rule in docs/rules.md."""

from __future__ import annotations

from typing import Never, assert_never

from otto_protocol.errors import IllegalMove
from otto_protocol.rules.cards import COLOURS, NUMBERS, deck_size, number
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
from otto_protocol.rules.phases import GAME_STEPS
from otto_protocol.rules.state import State, first_dealt


def check(state: State, move: Move) -> None:
    """Raises IllegalMove, naming the rule, unless `move` is legal as far as the public can see.

    Neither the private fields nor the truth of what is opened are looked at: a card in a move is
    taken to be the card of its slot (the session has proven it).
    """
    if (state.phase, type(move)) not in GAME_STEPS:
        _refuse(move.rule, f"{type(move).__name__} is no move of the phase {state.phase.value}")
    if state.needs_pile:
        _refuse("R20", "the cards are not yet sorted out after a player was lost")
    if isinstance(move, (Reshuffled, Drawn)):
        return
    if move.seat not in state.waiting:
        _refuse_turn(state, move)
    match move:
        case Answer(seat, slot, card):
            _check_held(state, seat, ((slot, card),), "T7")
            if number(card) == state.said:
                _refuse("T7", f"an answer may not have the number {state.said}, which the leader said")
        case Exchange():
            pass  # the seats that are entitled (T9, T10) are those awaited
        case Lead(number=said):
            if said not in NUMBERS:
                _refuse("T6", "a card's number is 0 to 9")
        case OpenLead(seat, slot, card):
            _check_held(state, seat, ((slot, card),), "T6")
            if number(card) != state.said:
                _refuse("R4", f"the leader said {state.said}, and the card is a {number(card)}")
        case Collect(seat, slots):
            _check_slots(slots, state.hands[seat], "R9")
            if any(first_dealt(state, slot) for slot in slots):
                _refuse("T3", "a card that was dealt at the start is collected then or never")
            _check_one_number(state, (*state.collections[seat], *slots))
        case Say():
            _check_say(state, move)
        case SitOut(seat, cards):
            _check_held(state, seat, cards, "R5")
            if len(cards) != len(state.hands[seat]):
                _refuse("R5", "who sits out opens the whole hand")
            if any(number(card) != state.said for _, card in cards):
                _refuse("R5", "a player who can answer must")
        case Challenge():
            _check_challenge(state, move)
        case LayDuel():
            pass
        case Guess(colour=guess):
            if not 0 <= guess < len(COLOURS):
                _refuse("T12", "a colour is 0 to 3")
        case OpenDuel(seat, slot, card):
            _check_held(state, seat, ((slot, card),), "R12")
        case LoseCard(seat, slot, card):
            _check_slots((slot,), state.collections[seat], "T13")
            _check_cards(state, ((slot, card),))
        case Choose(seat, slots):
            _check_slots(slots, state.hands[seat], "T3")
        case Score(seat, opened, cards):
            if opened not in NUMBERS:
                _refuse("R16", "a number is 0 to 9")
            _check_slots(tuple(slot for slot, _ in cards), state.collections[seat], "R16")
            if len(cards) != len(state.collections[seat]):
                _refuse("R16", "the whole collection is opened")
            _check_cards(state, cards)
        case _:
            assert_never(move)


def _refuse_turn(state: State, move: SeatMove) -> Never:
    """The rule by which this seat is not awaited."""
    match move:
        case Lead():
            _refuse("T5", "it is the turn of another player")
        case Challenge():
            _refuse("T11", "a challenge is made in one's own turn")
        case Exchange(seat) if seat == state.leader:
            _refuse("T10", "the leader exchanges only if nobody else's card had the colour")
        case Exchange():
            _refuse("T9", "only a card with the colour of the leader's is exchanged, and once")
        case _:
            _refuse(move.rule, f"seat {move.seat} has no {type(move).__name__} to make now")


def _check_challenge(state: State, move: Challenge) -> None:
    target = move.target
    if target == move.seat or target not in state.live:
        _refuse("T11", "a challenge is to another player")
    if state.dueled:
        _refuse("R11", "one duel a turn")
    if not (state.collections[move.seat] and state.collections[target]):
        _refuse("R11", "both players of a duel need a card in their collection")
    if not state.hands[target]:
        _refuse("R11", "the challenged player needs a card in the hand")


def _check_say(state: State, move: Say) -> None:
    if not move.otto:
        if move.number is not None or move.cards:
            _refuse("T15", "who goes on opens nothing")
        return
    seat, said, collection = move.seat, move.number, state.collections[move.seat]
    if said is None or said not in NUMBERS:
        _refuse("R14", "Otto opens one's number, 0 to 9")
    slots = tuple(slot for slot, _ in move.cards)
    _check_slots(slots, (*collection, *state.hands[seat]), "R14")
    _check_cards(state, move.cards)
    if not set(collection).issubset(slots):
        _refuse("R14", "Otto opens the whole collection")
    for slot, card in move.cards:
        if slot in collection:
            if number(card) != said:
                _refuse("R14", f"a {number(card)} lies in a collection of {said}s")
        elif abs(number(card) - said) > 1:
            _refuse("R14", f"a {number(card)} gives no bonus beside {said}s")
    if state.lost[seat] & ~(1 << said):
        _refuse("R14", f"a card lost in a duel shows that not only {said}s lay in the collection")
    held = [number(card) for slot, card in move.cards if slot not in collection and first_dealt(state, slot)]
    if state.shown[seat] >> said & 1 or said in held:
        _refuse("T3", f"a {said} of the first hand was kept out of the collection")


def _check_slots(slots: tuple[int, ...], among: tuple[int, ...], rule: str) -> None:
    if len(set(slots)) != len(slots) or not set(slots).issubset(among):
        _refuse(rule, "cards must be one's own, each once, and from the right place")


def _check_held(state: State, seat: int, cards: Opened, rule: str) -> None:
    hand = state.hands[seat]
    if len(cards) > 1:
        _check_slots(tuple(slot for slot, _ in cards), hand, rule)
    elif cards and cards[0][0] not in hand:
        _refuse(rule, "the card is not in the player's hand")
    _check_cards(state, cards)


def _check_cards(state: State, cards: Opened) -> None:
    size, known = deck_size(state.decks), state.known
    for slot, card in cards:
        if not 0 <= card < size:
            _refuse("T1", f"there is no card {card} in {state.decks} decks")
        if known.get(slot, card) != card:
            _refuse("T1", "the card was another one when it was seen before")


def _check_one_number(state: State, slots: tuple[int, ...]) -> None:
    known = state.known
    if len({number(known[slot]) for slot in slots if slot in known}) > 1:
        _refuse("R9", "everybody has seen that these cards are not of one number")


def _refuse(rule: str, text: str) -> Never:
    raise IllegalMove(rule, text)
