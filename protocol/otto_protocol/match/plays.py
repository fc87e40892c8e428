"""What a message of play means to the rules: openings and promises are checked, then the rules judge the move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from otto_protocol import rules
from otto_protocol.crypto import commitments, proofs
from otto_protocol.errors import IllegalMove, PeerFault
from otto_protocol.match import messages as m
from otto_protocol.match.signed_points import card_under, many_points
from otto_protocol.rules import moves

if TYPE_CHECKING:
    from otto_protocol.match.replica import Replica


@dataclass(frozen=True, slots=True)
class Promise:
    """A commitment (32 bytes) and the context that it was made in (32 bytes)."""

    context: bytes
    digest: bytes

    def kept_by(self, content: bytes, nonce: bytes) -> bool:
        """Whether `content` under `nonce` is what was committed to."""
        return commitments.check(self.digest, self.context, content, nonce)


@dataclass(frozen=True, slots=True)
class Played:
    """What a message of PLAY means to the rules, and the promise that it makes, if any."""

    move: moves.SeatMove
    promise: Promise | None = None


def check_play(replica: Replica, seat: int, body: m.Body) -> Played:
    """The move in a message of `seat`; raises PeerFault naming the rule that it breaks."""
    played = _meaning(replica, seat, body)
    try:
        rules.check(replica.play, played.move)
    except IllegalMove as error:
        raise PeerFault(seat, error.rule, error.text) from None
    return played


def _meaning(replica: Replica, seat: int, body: m.Body) -> Played:
    match body:
        case m.Choose():
            return _promising(replica, moves.Choose(seat, body.slots), "number", body.commitment)
        case m.Challenge():
            return Played(moves.Challenge(seat, body.target))
        case m.LayDuel():
            return _promising(replica, moves.LayDuel(seat), "duel", body.commitment)
        case m.Guess():
            return Played(moves.Guess(seat, body.colour))
        case m.OpenDuel():
            card = _open_promised(replica, seat, "duel", body.slot, body.nonce, body.opening)
            return Played(moves.OpenDuel(seat, body.slot, card))
        case m.LoseCard():
            _require_own(seat, "T13", (body.slot,), replica.play.collections[seat])
            (card,) = open_cards(replica, seat, (body.slot,), body.opening)
            return Played(moves.LoseCard(seat, body.slot, card))
        case m.Lead():
            return _promising(replica, moves.Lead(seat, body.number), "lead", body.commitment)
        case m.Answer():
            _require_own(seat, "T7", (body.slot,), replica.play.hands[seat])
            (card,) = open_cards(replica, seat, (body.slot,), body.opening)
            return Played(moves.Answer(seat, body.slot, card))
        case m.SitOut():
            slots = tuple(sorted(replica.play.hands[seat]))
            opened = open_cards(replica, seat, slots, body.opening)
            return Played(moves.SitOut(seat, tuple(zip(slots, opened, strict=True))))
        case m.OpenLead():
            card = _open_promised(replica, seat, "lead", body.slot, body.nonce, body.opening)
            return Played(moves.OpenLead(seat, body.slot, card))
        case m.Exchange():
            return Played(moves.Exchange(seat, body.take))
        case m.Collect():
            return Played(moves.Collect(seat, body.slots))
        case m.Otto():
            _check_otto_promise(replica, seat, True, body.nonce)
            _check_number(replica, seat, body.number, body.number_nonce)
            if len(set(body.bonus)) != len(body.bonus):
                raise PeerFault(seat, "R14", "a bonus card is counted twice")
            _require_own(seat, "R14", body.bonus, replica.play.hands[seat])
            slots = tuple(sorted((*replica.play.collections[seat], *body.bonus)))
            opened = open_cards(replica, seat, slots, body.opening)
            return Played(moves.Say(seat, True, body.number, tuple(zip(slots, opened, strict=True))))
        case m.GoOn():
            _check_otto_promise(replica, seat, False, body.nonce)
            return Played(moves.Say(seat, False))
        case m.Score():
            _check_number(replica, seat, body.number, body.number_nonce)
            slots = tuple(sorted(replica.play.collections[seat]))
            opened = open_cards(replica, seat, slots, body.opening)
            return Played(moves.Score(seat, body.number, tuple(zip(slots, opened, strict=True))))
        case _:
            raise PeerFault(seat, "P3", f"{type(body).__name__} is no move")


def _promising(replica: Replica, move: moves.SeatMove, what: str, commitment: bytes) -> Played:
    return Played(move, Promise(replica.context(what, move.seat), commitment))


def _require_own(seat: int, rule: str, slots: tuple[int, ...], own: tuple[int, ...]) -> None:
    if not set(slots) <= set(own):
        raise PeerFault(seat, rule, "a card that is not there")


def _check_number(replica: Replica, seat: int, number: int, nonce: bytes) -> None:
    if not replica.promises[seat, "number"].kept_by(bytes([number]), nonce):
        raise PeerFault(seat, "P4", "another number than the one committed to")


def _check_otto_promise(replica: Replica, seat: int, otto: bool, nonce: bytes) -> None:
    promise = replica.promises.get((seat, "otto"))
    kept = nonce == b"" if promise is None else promise.kept_by(bytes([otto]), nonce)
    if not kept:
        raise PeerFault(seat, "P4", "another decision than the one committed to")


def _open_promised(
    replica: Replica, seat: int, what: str, slot: int, nonce: bytes, opening: m.Opening
) -> int:
    if not replica.promises[seat, what].kept_by(slot.to_bytes(4, "big"), nonce):
        raise PeerFault(seat, "P4", "another card than the one committed to")
    _require_own(seat, "T6" if what == "lead" else "T12", (slot,), replica.play.hands[seat])
    return open_cards(replica, seat, (slot,), opening)[0]


def unknown_slots(replica: Replica, slots: tuple[int, ...]) -> tuple[int, ...]:
    """Those of `slots` whose cards are not public yet, ascending."""
    return tuple(sorted(slot for slot in slots if slot not in replica.play.known))


def open_cards(replica: Replica, seat: int, slots: tuple[int, ...], opening: m.Opening) -> tuple[int, ...]:
    """The card ids of slots that `seat` owns; raises PeerFault (P10) if the opening does not prove them."""
    unknown = unknown_slots(replica, slots)
    shares = many_points(seat, "P10", opening.shares, len(unknown))
    cards_of: dict[int, int] = {slot: replica.play.known[slot] for slot in slots if slot not in unknown}
    if not unknown:
        if opening.proof:
            raise PeerFault(seat, "P10", "a proof where nothing is opened")
        return tuple(cards_of[slot] for slot in slots)
    bases = [replica.held[slot][0] for slot in unknown]
    if not proofs.check_shares(
        replica.keys[seat], bases, shares, opening.proof, replica.context("open", seat)
    ):
        raise PeerFault(seat, "P10", "the proof of the opening does not hold")
    for slot, share in zip(unknown, shares, strict=True):
        cards_of[slot] = card_under(replica.held[slot], share)
    return tuple(cards_of[slot] for slot in slots)
