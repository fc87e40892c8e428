"""A whole table in one place, for simulations and tests: the state, every secret, every card.

game = Game.deal(range(4), decks=2, rng=Drbg(b"seed"))
while (result := game.outcome) is None:
    seat = game.awaited[0]
    game.play(choice(game.legal(seat)))
"""

from __future__ import annotations

from collections.abc import Iterable

from otto_protocol.hashing import Rng, random_below, shuffled
from otto_protocol.rules.apply_moves import apply
from otto_protocol.rules.cards import deck_size
from otto_protocol.rules.end import Outcome, outcome
from otto_protocol.rules.legal import SeatView, legal_moves, seat_view
from otto_protocol.rules.moves import Drawn, Move, Reshuffled, SeatMove
from otto_protocol.rules.phases import GamePhase
from otto_protocol.rules.seats import remove_seats, with_new_pile
from otto_protocol.rules.state import Secret, State, start


class Game:
    """A game of which everything is known. `state` is public; `cards[slot]` is the card of a slot."""

    def __init__(self, state: State, cards: list[int], rng: Rng) -> None:
        """`cards`: a permutation of the deck, by slot; `rng` shuffles the spent pile when that is due."""
        self.state = state
        self.cards = cards
        self.secrets = [Secret(None, {slot: cards[slot] for slot in hand}) for hand in state.hands]
        self._rng = rng

    @classmethod
    def deal(
        cls,
        seats: Iterable[int],
        decks: int,
        rng: Rng,
        order: Iterable[int] | None = None,
        leader: int | None = None,
    ) -> Game:
        """A new game of these seats; order of play and leader are drawn by lot unless given (T4).

        Raises LocalError when it is no table (R1, R2).
        """
        playing = list(seats)
        order = tuple(shuffled(playing, rng) if order is None else order)
        leader = order[random_below(len(order), rng)] if leader is None else leader
        state = start(order, leader, decks, max(order) + 1)
        return cls(state, shuffled(list(range(deck_size(decks))), rng), rng)

    @property
    def awaited(self) -> tuple[int, ...]:
        """The seats that must move now."""
        return self.state.waiting

    @property
    def outcome(self) -> Outcome | None:
        """The result, None while the game goes on."""
        return outcome(self.state)

    def legal(self, seat: int) -> list[SeatMove]:
        """The seat's legal moves."""
        return legal_moves(self.state, seat, self.secrets[seat])

    def seat_view(self, seat: int) -> SeatView:
        """What the seat may know."""
        return seat_view(self.state, seat, self.secrets[seat])

    def play(self, move: SeatMove) -> None:
        """Make a seat's move, and shuffle and draw if that is next. Raises IllegalMove."""
        self._apply(move)
        self.secrets[move.seat] = self.secrets[move.seat].after(move)
        self._deal_out()

    def _deal_out(self) -> None:
        """The steps that no seat makes: drawing and shuffling the spent pile."""
        while True:
            if self.state.phase is GamePhase.DRAW:
                for seat, slot in self.state.draws:
                    self.secrets[seat] = self.secrets[seat].learn(slot, self.cards[slot])
                self._apply(Drawn())
            elif self.state.phase is GamePhase.RESHUFFLE:
                self.cards += shuffled(list(self.state.spent), self._rng)
                self._apply(Reshuffled())
            else:
                return

    def remove(self, gone: Iterable[int]) -> None:
        """Take seats out of the game (R20) and shuffle a new pile. Raises LocalError."""
        removal = remove_seats(self.state, gone)
        self.state = removal.state
        if removal.state.needs_pile:
            dead = removal.hidden.dead
            self.cards += shuffled([self.cards[slot] for slot in dead], self._rng)
            self.state = with_new_pile(removal.state, len(dead))
            self._deal_out()

    def _apply(self, move: Move) -> None:
        self.state = apply(self.state, move)
