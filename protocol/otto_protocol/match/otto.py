"""Otto inside the match: what a message means to the rules, which message a move becomes, what the rules await.

All that the match knows of this very game is here; the other modules deal cards, whatever they are for.
How a move is added:

1. `otto_protocol.rules`: the move in `moves`, its place in `phases.GAME_STEPS`, then `check_moves`,
   `apply_moves` and `legal` (mypy names each `match` that lacks it);
2. `messages`: its dataclass, at the end of `KINDS` (the place there is the number on the wire) and in `MOVES`;
3. here: `meaning` and `message_of`. A move that hides something: `PROMISES` and `promised_by`, too. A phase
   that leaves no choice: `FORCED`;
4. docs/rules.md and the vectors, and in otto_p2p what people read and what built-in players do (mypy again).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from otto_protocol import rules
from otto_protocol.errors import IllegalMove, LocalError, PeerFault
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Played, Promise, Purpose
from otto_protocol.match.openings import open_cards
from otto_protocol.match.phases import MatchEvent, MatchPhase
from otto_protocol.match.place import Place
from otto_protocol.rules import GamePhase, Secret, moves
from otto_protocol.rules.cards import NUMBERS

FORCED = (GamePhase.OPEN_LEAD, GamePhase.DUEL_OPEN, GamePhase.SCORE)
"""Here a seat opens what it has laid before: there is no choice, and the time that it takes tells nothing."""


# -- what is awaited -------------------------------------------------------------------------------------


def awaited(place: Place) -> tuple[int, ...]:
    """The seats that the rules await in PLAY, ascending."""
    return tuple(sorted(rules.awaited(place.play)))


def undecided(place: Place) -> tuple[int, ...]:
    """The seats that could say Otto and have not committed to their decision, ascending."""
    return tuple(seat for seat in awaited(place) if (seat, Purpose.OTTO) not in place.promises)


def what_now(place: Place) -> MatchEvent:
    """What the state of the game asks of the match: cards, commitments, a result, or the next move."""
    match place.play.phase:
        case GamePhase.DRAW:
            return MatchEvent.CARDS_DUE
        case GamePhase.RESHUFFLE:
            return MatchEvent.PILE_EMPTY
        case GamePhase.OTTO if undecided(place) and len(awaited(place)) > 1:
            return MatchEvent.CONTESTED
        case GamePhase.END:
            return MatchEvent.FINISHED
        case _:
            return MatchEvent.SPOKEN


def decisions(place: Place, seat: int, secret: Secret) -> list[moves.SeatMove]:
    """What a seat that is awaited may decide; empty when nothing is left to decide."""
    if place.phase not in (MatchPhase.PLAY, MatchPhase.OTTO_COMMIT) or is_forced(place, seat):
        return []
    return rules.legal_moves(place.play, seat, secret)


def is_forced(place: Place, seat: int) -> bool:
    """Whether the seat's next message of PLAY leaves it no choice."""
    if place.phase is not MatchPhase.PLAY:
        return False
    decided = place.play.phase is GamePhase.OTTO and (seat, Purpose.OTTO) in place.promises
    return decided or place.play.phase in FORCED


def forced_move(place: Place, seat: int, secret: Secret, *, says_otto: bool) -> moves.SeatMove | None:
    """The only move of a seat, or None if it has a choice. `says_otto`: what it has committed to, if it has."""
    if not is_forced(place, seat):
        return None
    legal = rules.legal_moves(place.play, seat, secret)
    if place.play.phase is GamePhase.OTTO:
        return next(move for move in legal if isinstance(move, moves.Say) and move.otto == says_otto)
    return legal[0]


# -- what is promised ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hides:
    """What a commitment hides: a value of so many bytes. `rule` is broken by a card that was not there."""

    size: int
    rule: str = ""


PROMISES: dict[Purpose, Hides] = {
    Purpose.NUMBER: Hides(1),
    Purpose.OTTO: Hides(1),
    Purpose.LEAD: Hides(4, "T6"),
    Purpose.DUEL: Hides(4, "T12"),
}


def content(purpose: Purpose, value: int) -> bytes:
    """What a commitment to a number, a slot, or a decision hides."""
    return value.to_bytes(PROMISES[purpose].size, "big")


def possible(place: Place, seat: int, purpose: Purpose) -> tuple[int, ...]:
    """All values that a promise of this purpose could hide; nothing for one that is not of the game."""
    match purpose:
        case Purpose.NUMBER:
            return tuple(NUMBERS)
        case Purpose.OTTO:
            return (False, True)
        case Purpose.LEAD | Purpose.DUEL:
            return place.play.hands[seat]
        case _:
            return ()


def promised_by(place: Place, move: moves.Move) -> tuple[Purpose, int] | None:
    """What the message of a move commits to, or None."""
    match move:
        case moves.Say() if place.phase is MatchPhase.OTTO_COMMIT:
            return Purpose.OTTO, int(move.otto)
        case moves.Choose(number=int(number)):
            return Purpose.NUMBER, number
        case moves.Lead(slot=int(slot)):
            return Purpose.LEAD, slot
        case moves.LayDuel(slot=int(slot)):
            return Purpose.DUEL, slot
        case _:
            return None


def with_secret(move: moves.SeatMove, value: int) -> moves.SeatMove:
    """The move with its private field, which is what it has promised."""
    match move:
        case moves.Choose():
            return replace(move, number=value)
        case moves.Lead() | moves.LayDuel():
            return replace(move, slot=value)
        case _:
            return move


# -- move -> message -------------------------------------------------------------------------------------


class Opener(Protocol):
    """What only the seat itself can do for its messages."""

    def nonce(self, purpose: Purpose) -> bytes:
        """The nonce of its own promise."""

    def opening(self, place: Place, slots: tuple[int, ...]) -> m.Opening:
        """Shares and a proof for those of its slots that are not public yet."""


def message_of(place: Place, move: moves.Move, commitment: bytes, own: Opener) -> m.Body:
    """The message of a legal move; `commitment` is to what `promised_by` names (empty: nothing)."""
    if place.phase is MatchPhase.OTTO_COMMIT:
        return m.OttoCommit(commitment)
    match move:
        case moves.Choose():
            return m.Choose(commitment, move.slots)
        case moves.Challenge():
            return m.Challenge(move.target)
        case moves.LayDuel():
            return m.LayDuel(commitment)
        case moves.Guess():
            return m.Guess(move.colour)
        case moves.OpenDuel():
            return m.OpenDuel(move.slot, own.nonce(Purpose.DUEL), own.opening(place, (move.slot,)))
        case moves.LoseCard():
            return m.LoseCard(move.slot, own.opening(place, (move.slot,)))
        case moves.Lead():
            return m.Lead(move.number, commitment)
        case moves.Answer():
            return m.Answer(move.slot, own.opening(place, (move.slot,)))
        case moves.SitOut():
            return m.SitOut(own.opening(place, _slots(move.cards)))
        case moves.OpenLead():
            return m.OpenLead(move.slot, own.nonce(Purpose.LEAD), own.opening(place, (move.slot,)))
        case moves.Exchange():
            return m.Exchange(move.take)
        case moves.Collect():
            return m.Collect(move.slots)
        case moves.Say(seat=seat, otto=False):
            return m.GoOn(_otto_nonce(place, seat, own))
        case moves.Say(seat=seat, number=int(number)):
            collection = place.play.collections[seat]
            bonus = tuple(slot for slot in _slots(move.cards) if slot not in collection)
            return m.Otto(
                _otto_nonce(place, seat, own),
                number,
                own.nonce(Purpose.NUMBER),
                bonus,
                own.opening(place, (*collection, *bonus)),
            )
        case moves.Score():
            opening = own.opening(place, _slots(move.cards))
            return m.Score(move.number, own.nonce(Purpose.NUMBER), opening)
        case _:
            raise LocalError("this is nobody's move")


def _slots(cards: moves.Opened) -> tuple[int, ...]:
    return tuple(slot for slot, _ in cards)


def _otto_nonce(place: Place, seat: int, own: Opener) -> bytes:
    return own.nonce(Purpose.OTTO) if (seat, Purpose.OTTO) in place.promises else b""


# -- message -> move -------------------------------------------------------------------------------------


def meaning(place: Place, seat: int, body: m.Body) -> Played:
    """The move in a message of `seat`; raises PeerFault naming the rule that it breaks.

    Openings and promises are checked first, then the rules judge the move.
    """
    played = _meaning(place, seat, body)
    try:
        rules.check(place.play, played.move)
    except IllegalMove as error:
        raise PeerFault(seat, error.rule, error.text) from None
    return played


def _meaning(place: Place, seat: int, body: m.Body) -> Played:
    state = place.play
    match body:
        case m.Choose():
            return _promising(place, moves.Choose(seat, body.slots), Purpose.NUMBER, body.commitment)
        case m.Challenge():
            return Played(moves.Challenge(seat, body.target))
        case m.LayDuel():
            return _promising(place, moves.LayDuel(seat), Purpose.DUEL, body.commitment)
        case m.Guess():
            return Played(moves.Guess(seat, body.colour))
        case m.OpenDuel():
            card = _open_promised(place, seat, Purpose.DUEL, body)
            return Played(moves.OpenDuel(seat, body.slot, card))
        case m.LoseCard():
            _require_own(seat, "T13", (body.slot,), state.collections[seat])
            (card,) = open_cards(place, seat, (body.slot,), body.opening)
            return Played(moves.LoseCard(seat, body.slot, card))
        case m.Lead():
            return _promising(place, moves.Lead(seat, body.number), Purpose.LEAD, body.commitment)
        case m.Answer():
            _require_own(seat, "T7", (body.slot,), state.hands[seat])
            (card,) = open_cards(place, seat, (body.slot,), body.opening)
            return Played(moves.Answer(seat, body.slot, card))
        case m.SitOut():
            return Played(moves.SitOut(seat, _opened(place, seat, state.hands[seat], body.opening)))
        case m.OpenLead():
            card = _open_promised(place, seat, Purpose.LEAD, body)
            return Played(moves.OpenLead(seat, body.slot, card))
        case m.Exchange():
            return Played(moves.Exchange(seat, body.take))
        case m.Collect():
            return Played(moves.Collect(seat, body.slots))
        case m.Otto():
            _check_decision(place, seat, body.nonce, otto=True)
            _check_number(place, seat, body.number, body.number_nonce)
            if len(set(body.bonus)) != len(body.bonus):
                raise PeerFault(seat, "R14", "a bonus card is counted twice")
            _require_own(seat, "R14", body.bonus, state.hands[seat])
            cards = _opened(place, seat, (*state.collections[seat], *body.bonus), body.opening)
            return Played(moves.Say(seat, True, body.number, cards))
        case m.GoOn():
            _check_decision(place, seat, body.nonce, otto=False)
            return Played(moves.Say(seat, False))
        case m.Score():
            _check_number(place, seat, body.number, body.number_nonce)
            cards = _opened(place, seat, state.collections[seat], body.opening)
            return Played(moves.Score(seat, body.number, cards))
        case _:
            raise PeerFault(seat, "P3", f"{type(body).__name__} is no move")


def _promising(place: Place, move: moves.SeatMove, purpose: Purpose, commitment: bytes) -> Played:
    return Played(move, Promise(purpose, place.context(purpose, move.seat), commitment))


def _require_own(seat: int, rule: str, slots: tuple[int, ...], own: tuple[int, ...]) -> None:
    if not set(slots) <= set(own):
        raise PeerFault(seat, rule, "a card that is not there")


def _check_number(place: Place, seat: int, number: int, nonce: bytes) -> None:
    if not place.promises[seat, Purpose.NUMBER].kept_by(content(Purpose.NUMBER, number), nonce):
        raise PeerFault(seat, "P4", "another number than the one committed to")


def _check_decision(place: Place, seat: int, nonce: bytes, *, otto: bool) -> None:
    promise = place.promises.get((seat, Purpose.OTTO))
    kept = nonce == b"" if promise is None else promise.kept_by(content(Purpose.OTTO, otto), nonce)
    if not kept:
        raise PeerFault(seat, "P4", "another decision than the one committed to")


def _open_promised(place: Place, seat: int, purpose: Purpose, body: m.OpenLead | m.OpenDuel) -> int:
    if not place.promises[seat, purpose].kept_by(content(purpose, body.slot), body.nonce):
        raise PeerFault(seat, "P4", "another card than the one committed to")
    _require_own(seat, PROMISES[purpose].rule, (body.slot,), place.play.hands[seat])
    return open_cards(place, seat, (body.slot,), body.opening)[0]


def _opened(place: Place, seat: int, slots: tuple[int, ...], opening: m.Opening) -> moves.Opened:
    slots = tuple(sorted(slots))
    return tuple(zip(slots, open_cards(place, seat, slots, opening), strict=True))
