"""The built-in player: its games end, it beats simple players, and it knows no more than its seat may."""

from __future__ import annotations

from collections import Counter

import pytest

from otto_p2p.players.bots import Why, choose, explain
from otto_p2p.players.odds import Odds
from otto_protocol.errors import LocalError
from otto_protocol.hashing import Drbg, shuffled
from otto_protocol.rules import EndReason, GamePhase
from otto_protocol.rules.cards import deck_size, number, short
from otto_protocol.rules.game import Game
from otto_protocol.rules.moves import Answer, Challenge, Choose, Exchange, Guess, LayDuel, Lead, OpenDuel, Say
from otto_protocol.rules.positions import arrange
from otto_protocol.rules.state import draft, freeze
from tests.protocol.rules_play import ZEROS, lead, naive, open_lead, slot_of

RNG = Drbg(b"bots")


def play(seed: int, players: int, decks: int, bots: range) -> Game:
    rng = Drbg(bytes([seed, players, decks]))
    game = Game.deal(range(players), decks, rng)
    while game.outcome is None:
        for seat in game.awaited:
            if seat in bots:
                game.play(choose(game.seat_view(seat), game.legal(seat), rng))
            else:
                game.play(naive(game, seat, rng, duels=0))
    return game


@pytest.mark.parametrize("players", range(2, 11))
def test_games_of_built_in_players_end_at_every_table(players: int) -> None:
    tables = [decks for decks in range(1, 5) if 13 * players <= deck_size(decks)]
    reasons = Counter(
        result.reason
        for decks in tables
        for seed in range(12 // len(tables) if players < 6 else 2)
        if (result := play(seed, players, decks, range(players)).outcome) is not None
    )
    assert reasons[EndReason.OTTO] > sum(reasons.values()) / 2


def test_it_beats_three_simple_players() -> None:
    wins = Counter(play(seed, 4, 2, range(1)).outcome.winner for seed in range(60))  # type: ignore[union-attr]
    assert wins[0] >= 33  # a quarter would be 15; 66 % is usual


def test_two_of_them_beat_two_simple_players() -> None:
    points = [0] * 4
    for seed in range(40):
        result = play(seed, 4, 2, range(2)).outcome
        assert result is not None
        points = [total + won for total, won in zip(points, result.points, strict=True)]
    assert min(points[:2]) > max(points[2:])


def test_it_decides_by_its_view_alone() -> None:
    """Other cards in the places that it cannot see: the same move, for the whole of a game."""
    rng = Drbg(b"views")
    game = Game.deal(range(4), 2, rng)
    for _ in range(300):
        if game.outcome is not None:
            break
        seat = game.awaited[0]
        view = game.seat_view(seat)
        own = {*game.state.hands[seat], *game.state.collections[seat], *game.state.known}
        held = [slot for row in (*game.state.hands, *game.state.collections) for slot in row]
        unseen = [slot for slot in (*held, *game.state.pile) if slot not in own]
        other = Game(game.state, list(game.cards), rng)
        other.secrets = list(game.secrets)
        for slot, card in zip(unseen, shuffled([game.cards[slot] for slot in unseen], rng), strict=True):
            other.cards[slot] = card
        move = choose(view, game.legal(seat), Drbg(b"same lot"))
        assert move == choose(other.seat_view(seat), other.legal(seat), Drbg(b"same lot"))
        game.play(move)


def test_it_collects_what_is_quickest_to_complete() -> None:
    rng = Drbg(b"first hands")
    for _ in range(20):
        game = Game.deal(range(4), 2, rng)
        move = choose(game.seat_view(0), game.legal(0), rng)
        assert isinstance(move, Choose)
        counts = Counter(number(card) for _, card in game.seat_view(0).hand)
        assert len(move.slots) == max(count for face, count in counts.items() if face != 0)


def test_with_one_deck_it_never_collects_zeros() -> None:
    game = Game.deal(range(4), 1, RNG)
    zeros = next(move for move in game.legal(0) if isinstance(move, Choose) and move.number == 0)
    assert choose(game.seat_view(0), game.legal(0), RNG) != zeros


def test_it_answers_with_the_colour_that_the_led_number_has_by_what_it_saw() -> None:
    game = arrange(["R1" + ZEROS, "R3 B3 G3 Y3", "B5"], ["", "", "G9"], [9, 9, 9], RNG)
    new = draft(game.state)
    new.known = {slot: game.cards[slot] for slot in game.state.hands[0]}
    game.state = freeze(new)
    lead(game, "R1")
    move = choose(game.seat_view(1), game.legal(1), RNG)
    assert isinstance(move, Answer)
    assert short(move.card) == "R3"


def test_it_leads_a_colour_that_nobody_has() -> None:
    game = arrange(["R1 B2 R7 B7" + ZEROS, "B3 B4", "B5 B6"], ["", "", "G9"], [9, 9, 9], RNG)
    new = draft(game.state)
    new.known = {slot: game.cards[slot] for hand in game.state.hands[1:] for slot in hand}
    game.state = freeze(new)
    for _ in range(5):
        move = choose(game.seat_view(0), game.legal(0), RNG)
        assert isinstance(move, Lead)
        assert move.slot is not None
        assert short(game.cards[move.slot])[0] != "B"


def test_it_keeps_its_own_number_and_gives_away_others() -> None:
    game = arrange(["R1" + ZEROS, "R9", "R3"], ["", "", "G9"], [1, 9, 9], RNG)
    lead(game, "R1")
    for seat in (1, 2):
        slot = game.state.hands[seat][0]
        game.play(Answer(seat, slot, game.cards[slot]))
    open_lead(game)
    assert choose(game.seat_view(1), game.legal(1), RNG) == Exchange(1, False)
    assert choose(game.seat_view(2), game.legal(2), RNG) == Exchange(2, True)


def test_it_calls_a_duel_that_it_cannot_lose_and_no_hopeless_one() -> None:
    eight = "R9 R9 B9 B9 G9 G9 Y9"
    game = arrange(["Y1" + ZEROS, "R3 R4"], ["G7 R7 B7", eight], [7, 9], RNG)
    hidden = choose(game.seat_view(0), game.legal(0), RNG)
    new = draft(game.state)
    new.known = {slot: game.cards[slot] for slot in game.state.hands[1]}
    game.state = freeze(new)
    move = choose(game.seat_view(0), game.legal(0), RNG)
    assert move == Challenge(0, 1)
    assert not isinstance(hidden, Challenge)
    game.play(move)
    game.play(LayDuel(1, game.state.hands[1][0]))
    assert choose(game.seat_view(0), game.legal(0), RNG) == Guess(0, 0)


def test_its_chance_in_a_duel_is_what_comes_true() -> None:
    hoped, duels, right = 0.0, 0, 0
    for seed in range(25):
        rng = Drbg(bytes([seed, 77]))
        game = Game.deal(range(2), 2, rng)
        while game.outcome is None:
            seat = game.awaited[0]
            move = choose(game.seat_view(seat), game.legal(seat), rng)
            if isinstance(move, Challenge):
                hoped += Odds(game.seat_view(seat)).chance_to_guess(move.target)
                duels += 1
            game.play(move)
            if isinstance(move, OpenDuel) and game.state.duel is not None:
                right += game.state.duel.loser == seat
    assert duels > 50
    assert abs(hoped - right) / duels < 0.12


def otto_step(collection: str, hand: str, others: list[str]) -> Game:
    hands = [hand, *("Y1 Y2 Y3 Y4" for _ in others)]
    game = arrange(hands, [collection, *others], [5, 9, 9], RNG)
    new = draft(game.state)
    new.phase, new.waiting = GamePhase.OTTO, (0,)
    game.state = freeze(new)
    return game


def test_it_says_otto_when_others_are_close_and_waits_for_a_bonus_that_is_near() -> None:
    eight = "R5 R5 Y5 Y5 G5 G5 B5 B5"
    close = otto_step(eight, "R4 B4 R1 R2", ["R9 R9 B9 B9 G9 G9 Y9", "B8"])
    move = choose(close.seat_view(0), close.legal(0), RNG)
    assert isinstance(move, Say)
    assert move.otto
    near = otto_step(eight + " R5 Y5", "R1 R2", ["R9", "B8"])
    move = choose(near.seat_view(0), near.legal(0), RNG)
    assert move == Say(0, False)
    assert explain(near.seat_view(0), move).why is Why.GO_ON


def test_without_a_hand_there_is_nothing_to_wait_for() -> None:
    game = otto_step("R5 R5 Y5 Y5 G5 G5 B5 B5", "", ["R9", "B8"])
    move = choose(game.seat_view(0), game.legal(0), RNG)
    assert isinstance(move, Say)
    assert move.otto


def test_every_move_has_a_reason_and_all_reasons_come_up() -> None:
    seen: Counter[Why] = Counter()
    for seed in range(12):
        rng = Drbg(bytes([seed, 1]))
        game = Game.deal(range(3), 2, rng)
        while game.outcome is None:
            seat = game.awaited[0]
            view, legal = game.seat_view(seat), game.legal(seat)
            move = choose(view, legal, rng)
            reasoning = explain(view, move)
            seen[reasoning.why] += 1
            assert 0 <= reasoning.values.get("percent", 0) <= 100
            game.play(move)
    assert set(Why) - {Why.GO_ON, Why.DECLINE} <= seen.keys()


def test_it_does_not_choose_when_there_is_nothing_to_choose() -> None:
    game = arrange(["R1" + ZEROS, "R3"], ["", ""], [9, 9], RNG)
    with pytest.raises(LocalError):
        choose(game.seat_view(1), game.legal(1), RNG)
    assert slot_of(game, 1, "R3") == 12
