"""Players who are lost in the middle of a game: rule R20, field reports 17, 19 and 21."""

from __future__ import annotations

import pytest

from otto_protocol.errors import IllegalMove, LocalError
from otto_protocol.hashing import Drbg
from otto_protocol.rules import (
    EndReason,
    GamePhase,
    apply,
    awaited,
    check,
    hidden,
    remove_seats,
    with_new_pile,
)
from otto_protocol.rules.cards import short
from otto_protocol.rules.game import Game
from otto_protocol.rules.moves import (
    Challenge,
    Choose,
    Drawn,
    Exchange,
    Guess,
    LayDuel,
    OpenDuel,
    Reshuffled,
    Say,
    Score,
    SitOut,
)
from otto_protocol.rules.positions import arrange
from otto_protocol.rules.state import draft, freeze
from tests.protocol.rules_play import ZEROS, answer, lead, open_lead, play_cards, refused, slot_of

RNG = Drbg(b"lost players")


def four(leader: int = 0) -> Game:
    hands = ["R1" + ZEROS, "R3 B3", "R5 B5", "B7 G7 R2 R2 Y2 Y2 G2 G2"]
    return arrange(hands, ["G9", "Y9", "B8", "Y8"], [9, 9, 8, 8], RNG, leader=leader)


@pytest.mark.parametrize(("order", "heir"), [((0, 1, 2, 3), 3), ((3, 2, 1, 0), 1)])
def test_r20_the_turn_goes_to_the_next_seat_that_is_there(order: tuple[int, ...], heir: int) -> None:
    game = Game.deal(range(4), 2, RNG, order, leader=2)
    for seat in range(4):
        game.play(Choose(seat, (), 5))
    game.remove({2})
    assert (game.state.leader, game.awaited, game.state.turn) == (heir, (heir,), 1)


def test_r20_an_answer_that_will_not_come_is_not_waited_for() -> None:
    game = four()
    lead(game, "R1")
    answer(game, 1, "R3")
    game.remove({2})
    assert (game.state.phase, game.awaited) == (GamePhase.ANSWER, (3,))
    answer(game, 3, "B7")
    open_lead(game)
    assert game.awaited == (1,)


def test_r20_the_last_one_awaited_is_lost_and_the_step_is_complete() -> None:
    game = Game.deal(range(4), 2, RNG, leader=0)
    for seat in (0, 1, 3):
        game.play(Choose(seat, (), 5))
    game.remove({2})
    assert game.state.phase is GamePhase.LEAD


def test_r20_the_leader_lost_before_the_choice_is_done() -> None:
    game = Game.deal(range(3), 2, RNG, (0, 1, 2), leader=1)
    game.remove({1})
    for seat in (0, 2):
        game.play(Choose(seat, (), 5))
    assert (game.awaited, game.state.turn) == ((2,), 0)


def test_r20_a_leader_lost_before_opening_voids_the_turn() -> None:
    game = four()
    lead(game, "R1")
    for seat, face in ((1, "R3"), (2, "R5"), (3, "B7")):
        answer(game, seat, face)
    hands = game.state.hands
    game.remove({0})
    assert (game.state.phase, game.awaited, game.state.said) == (GamePhase.LEAD, (1,), None)
    assert game.state.hands[1:] == hands[1:]
    assert [short(card) for card in game.seat_view(1).seen(3)] == ["B7"]


def test_r20_after_opening_the_turn_goes_on_without_the_leader() -> None:
    game = four()
    play_cards(game, "R1", "R3", "R5", "B7")
    game.play(Exchange(1, True))
    game.remove({0})
    assert game.awaited == (2,)
    assert remove_seats(game.state, {2}).state.entitled == (1,)
    game.play(Exchange(2, True))
    assert (game.state.phase, game.state.drew) == (GamePhase.COLLECT, (1, 2))


def test_r20_a_duel_with_a_lost_player_is_void_and_another_may_be_called() -> None:
    game = four()
    game.play(Challenge(0, 1))
    game.play(LayDuel(1, slot_of(game, 1, "R3")))
    game.play(Guess(0, 3))
    game.remove({1})
    assert (game.state.phase, game.awaited, game.state.duel) == (GamePhase.LEAD, (0,), None)
    check(game.state, Challenge(0, 2))


def test_r20_a_challenger_lost_in_a_duel_voids_the_turn() -> None:
    game = four()
    game.play(Challenge(0, 1))
    game.play(LayDuel(1, slot_of(game, 1, "R3")))
    game.play(Guess(0, 3))
    slot = slot_of(game, 1, "R3")
    game.play(OpenDuel(1, slot, game.cards[slot]))
    assert game.awaited == (0,)
    game.remove({0})
    assert (game.state.phase, game.awaited, game.state.dueled) == (GamePhase.LEAD, (1,), False)


def test_r20_seen_cards_are_spent_and_the_others_go_into_the_pile() -> None:
    game = four()
    play_cards(game, "R1", "R3", "R5", "B7")
    pile = len(game.state.pile)
    removal = remove_seats(game.state, {3})
    assert [short(card) for card in removal.state.spent] == ["B7"]
    size = pile + 7 + 1  # the old pile, what was not seen of the hand, the collection
    assert len(removal.hidden.dead) == size
    assert removal.hidden.kept[3] == ()
    assert slot_of(game, 1, "R3") not in removal.hidden.kept[1]  # seen
    assert slot_of(game, 1, "Y9") in removal.hidden.kept[1]
    state = with_new_pile(removal.state, size)
    assert state.pile == tuple(range(game.state.next_slot, game.state.next_slot + size))
    assert (state.hands[3], state.collections[3], state.needs_pile) == ((), (), False)


def test_r20_a_draw_under_way_is_undone_and_owed() -> None:
    game = four()
    play_cards(game, "R1", "R3", "R5", "B7")
    state = apply(apply(game.state, Exchange(1, True)), Exchange(2, True))
    assert state.phase is GamePhase.DRAW
    removal = remove_seats(state, {1})
    slots = [slot for _, slot in state.draws]
    assert set(slots) <= set(removal.hidden.dead)
    after = with_new_pile(removal.state, len(removal.hidden.dead))
    assert [seat for seat, _ in after.draws] == [2]
    assert after.draws[0][1] >= state.next_slot  # no slot has a second owner
    assert {short(card) for card in after.spent} >= {"R3", "R5"}  # discards stay


def between_two_draws() -> Game:
    """Seats 1, 2, 3 exchange and the pile has one card: 1 has drawn it, the reshuffle is due."""
    hands = ["R1" + ZEROS, "R3 B3", "R5 B5", "R7 G7"]
    game = arrange(hands, ["G9", "Y9", "B8", "Y8"], [9, 9, 8, 8], RNG, pile="B1")
    play_cards(game, "R1", "R3", "R5", "R7")
    return game


def test_r20_who_is_owed_still_draws_in_the_order_of_the_table() -> None:
    game = between_two_draws()
    state = game.state
    for seat in (3, 1, 2):
        state = apply(state, Exchange(seat, True))
    assert ([seat for seat, _ in state.draws], state.owed) == ([1], (2, 3))
    removal = remove_seats(state, {0})
    after = with_new_pile(removal.state, len(removal.hidden.dead))
    assert [seat for seat, _ in after.draws] == [1, 2, 3]


def test_r20_lost_between_its_draw_and_the_reshuffle() -> None:
    state = between_two_draws().state
    for seat in (1, 2, 3):
        state = apply(state, Exchange(seat, True))
    state = apply(state, Drawn())
    assert (state.phase, state.drew) == (GamePhase.RESHUFFLE, (1,))
    removal = remove_seats(state, {1})
    state = with_new_pile(removal.state, len(removal.hidden.dead))
    while state.phase is not GamePhase.COLLECT:
        state = apply(state, Drawn() if state.phase is GamePhase.DRAW else Reshuffled())
    assert awaited(state) == (2, 3)


def test_r20_a_reshuffle_under_way_gives_way_to_the_healed_pile() -> None:
    state = between_two_draws().state
    for seat in (1, 2, 3):
        state = apply(state, Exchange(seat, True))
    state = apply(state, Drawn())
    removal = remove_seats(state, {0})
    after = with_new_pile(removal.state, len(removal.hidden.dead))
    assert (after.phase, [seat for seat, _ in after.draws]) == (GamePhase.DRAW, [2, 3])
    assert len(after.pile) + len(after.draws) == len(removal.hidden.dead)  # no card is lost
    nobody_is_owed = remove_seats(state, {2, 3})
    after = with_new_pile(nobody_is_owed.state, len(nobody_is_owed.hidden.dead))
    assert (after.phase, awaited(after)) == (GamePhase.COLLECT, (1,))


def test_r20_nothing_can_be_played_before_the_heal() -> None:
    game = four()
    removal = remove_seats(game.state, {3})
    assert awaited(removal.state) == ()
    with pytest.raises(IllegalMove, match="R20"):
        check(removal.state, game.legal(0)[0])
    with pytest.raises(LocalError):
        with_new_pile(removal.state, 5)
    with pytest.raises(LocalError):
        with_new_pile(game.state, len(hidden(game.state).dead))


def test_r20_another_loss_in_the_heal_starts_from_the_same_slots() -> None:
    game = four()
    first = remove_seats(game.state, {3})
    second = remove_seats(first.state, {2})
    both = remove_seats(game.state, {2, 3})
    assert set(second.hidden.dead) == set(both.hidden.dead)
    assert second.hidden.kept == both.hidden.kept
    assert with_new_pile(second.state, len(second.hidden.dead)) == with_new_pile(
        both.state, len(both.hidden.dead)
    )


def test_r20_the_last_one_left_wins() -> None:
    game = four()
    game.remove({1, 2})
    game.remove({3})
    result = game.outcome
    assert result is not None
    assert (result.winner, result.reason, result.points) == (0, EndReason.LAST_SEAT, (10, 0, 0, 0))


def counting() -> Game:
    """Seat 0 has said Otto, the two others are to open their collections."""
    eight = "R5 R5 Y5 Y5 G5 G5 B5 B5"
    game = arrange(["R1", "R3" + ZEROS, "R6"], [eight, "R2 B2", "G8"], [5, 2, 8], RNG)
    new = draft(game.state)
    new.phase, new.waiting = GamePhase.OTTO, (0,)
    game.state = freeze(new)
    game.play(next(move for move in game.legal(0) if isinstance(move, Say) and move.otto))
    return game


def test_r20_lost_while_points_are_counted_is_nothing_and_the_winner_stays() -> None:
    game = counting()
    game.play(game.legal(2)[0])
    game.remove({0, 1})
    result = game.outcome
    assert result is not None
    assert (result.winner, result.points) == (0, (10, 0, 1))


def test_r20_a_move_of_the_waiting_step_is_void() -> None:
    game = four()
    lead(game, "R1")
    before = game.state
    answer(game, 2, "R5")
    with_answer, without = remove_seats(game.state, {2}).state, remove_seats(before, {2}).state
    assert with_answer.answers == without.answers
    assert with_answer.waiting == without.waiting


def test_r20_not_everybody_and_not_nobody() -> None:
    game = four()
    for gone in (set[int](), {0, 1, 2, 3}, {7}):
        with pytest.raises(LocalError):
            remove_seats(game.state, gone)
    game.remove({1, 2, 3})
    with pytest.raises(LocalError):
        remove_seats(game.state, {0})


@pytest.mark.parametrize("gone", [{0}, {1}, {2}, {0, 1}])
def test_r20_a_game_that_has_ended_stays_as_it_ended(gone: set[int]) -> None:
    game = counting()
    for seat in (1, 2):
        game.play(game.legal(seat)[0])
    ended = game.outcome
    assert ended is not None
    assert ended.points == (10, 2, 1)
    game.remove(gone)
    assert game.outcome == ended


def test_r20_who_sat_out_or_scored_does_not_come_back() -> None:
    game = four()
    game.remove({3})
    refused(game, SitOut(3, ()), "R5")
    refused(game, Challenge(0, 3), "T11")
    refused(game, Score(3, 8, ()), "R16")
