"""Whole random games: the cards stay the cards of the decks, and simultaneous moves have no order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otto_protocol.hashing import Drbg, random_below, shuffled
from otto_protocol.rules import ENOUGH, EndReason, GamePhase, apply, awaited, check_table, remove_seats
from otto_protocol.rules.cards import deck_size, number
from otto_protocol.rules.game import Game
from otto_protocol.rules.moves import MOVE_TYPES, Reshuffled, SeatMove
from tests.protocol.rules_play import naive

TABLES = [(2, 1), (3, 1), (4, 2), (5, 1), (6, 2), (10, 2), (4, 4), (7, 3)]
TOGETHER = (
    GamePhase.CHOOSE,
    GamePhase.ANSWER,
    GamePhase.EXCHANGE,
    GamePhase.COLLECT,
    GamePhase.OTTO,
    GamePhase.SCORE,
)


def check_cards(game: Game) -> None:
    """Every card of the decks is in exactly one place, and what is known is true."""
    state = game.state
    held = [slot for row in (*state.hands, *state.collections) for slot in row]
    slots = [*held, *state.pile, *(slot for _, slot in state.draws)]
    assert len(set(slots)) == len(slots)
    assert max(slots, default=0) < state.next_slot
    places = Counter([*(game.cards[slot] for slot in slots), *state.spent])
    assert places == Counter(range(deck_size(state.decks)))
    assert state.known.keys() <= set(held)
    assert all(game.cards[slot] == card for slot, card in state.known.items())
    for seat in state.live:
        assert {*state.hands[seat], *state.collections[seat]} <= game.secrets[seat].cards.keys()


def check_order(game: Game, rng: Drbg) -> None:
    """Two orders of the moves of a simultaneous step give one state."""
    moves: list[SeatMove] = [naive(game, seat, rng) for seat in game.awaited]
    ends = []
    for _ in range(2):
        state = game.state
        for place in shuffled(list(range(len(moves))), rng):
            state = apply(state, moves[place])
        ends.append(state)
    assert ends[0] == ends[1]
    assert repr(ends[0].spent) == repr(ends[1].spent)


@settings(max_examples=25, deadline=None)
@given(seed=st.binary(min_size=8, max_size=8), table=st.sampled_from(TABLES))
def test_a_game_keeps_its_cards_and_its_order(seed: bytes, table: tuple[int, int]) -> None:
    players, decks = table
    rng = Drbg(seed)
    game = Game.deal(range(players), decks, rng)
    while game.outcome is None:
        if game.state.phase in TOGETHER and len(game.awaited) > 1:
            check_order(game, rng)
        game.play(naive(game, game.awaited[random_below(len(game.awaited), rng)], rng))
        check_cards(game)
    result = game.outcome
    if result.reason is EndReason.OTTO:
        assert result.winner is not None
        assert result.points[result.winner] == 10 + sum(bonus.points for bonus in result.bonus)
        assert len(game.state.collections[result.winner]) >= ENOUGH
    else:
        assert result.winner is None
    assert result.cheats == ()
    for seat, own in enumerate(result.numbers):
        assert {number(game.cards[slot]) for slot in game.state.collections[seat]} <= {own}


@settings(max_examples=40, deadline=None)
@given(seed=st.binary(min_size=8, max_size=8), players=st.integers(3, 8))
def test_a_game_survives_its_players(seed: bytes, players: int) -> None:
    """Seats are lost at random steps, sometimes in a heal, down to the last; slots never get a new owner."""
    rng = Drbg(seed)
    game = Game.deal(range(players), 2, rng)
    owners: dict[int, int] = {}
    fresh = True  # nobody has moved in this step yet
    while game.outcome is None:
        gone = [seat for seat in sorted(game.state.live) if fresh and random_below(200, rng) == 0]
        if gone and len(gone) < len(game.state.live):
            removal = remove_seats(game.state, gone)
            assert set(awaited(removal.state)) <= game.state.live - set(gone)
            game.remove(gone)
        else:
            phase, turn = game.state.phase, game.state.turn
            game.play(naive(game, game.awaited[0], rng))
            fresh = (game.state.phase, game.state.turn) != (phase, turn)
        check_cards(game)
        for seat, hand in enumerate(game.state.hands):
            for slot in (*hand, *game.state.collections[seat]):
                assert owners.setdefault(slot, seat) == seat
    result = game.outcome
    assert set(game.state.live) >= ({result.winner} if result.reason is EndReason.LAST_SEAT else set())


ALLOWED = [
    (players, decks) for players in range(2, 11) for decks in range(1, 5) if 13 * players <= 76 * decks
]


@pytest.mark.parametrize(("players", "decks"), ALLOWED)
def test_games_end_at_every_table_that_is_allowed(players: int, decks: int) -> None:
    check_table(players, decks)
    rng = Drbg(bytes([players, decks]))
    game = Game.deal(range(players), decks, rng)
    while game.outcome is None:
        game.play(naive(game, game.awaited[0], rng, duels=0))
    assert game.state.turn > 0


def test_a_reshuffle_takes_a_whole_pile_at_ten_players_and_one_card_is_no_trouble() -> None:
    rng = Drbg(b"many reshuffles")
    sizes = []

    class Watched(Game):
        def _apply(self, move: object) -> None:
            if isinstance(move, Reshuffled):
                sizes.append(len(self.state.spent))
            assert isinstance(move, MOVE_TYPES)
            super()._apply(move)

    game = Watched.deal(range(5), 1, rng)
    while game.outcome is None:
        game.play(naive(game, game.awaited[0], rng))
    assert len(sizes) > 5
    assert min(sizes) >= 1


def test_only_a_seat_that_is_awaited_has_legal_moves() -> None:
    rng = Drbg(b"awaited")
    game = Game.deal(range(4), 2, rng)
    for _ in range(400):
        if game.outcome is not None:
            break
        for seat in range(4):
            assert bool(game.legal(seat)) == (seat in game.awaited)
        game.play(naive(game, game.awaited[0], rng))
