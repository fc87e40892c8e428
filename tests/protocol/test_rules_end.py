"""The rules of Otto from the duel to the end: T11 to T17 and R11 to R19."""

from __future__ import annotations

import pytest

from otto_protocol.errors import LocalError
from otto_protocol.hashing import Drbg
from otto_protocol.rules import (
    STALL_ROUNDS,
    Bonus,
    Cheat,
    EndReason,
    GamePhase,
    Outcome,
    apply,
    bonuses,
    standings,
)
from otto_protocol.rules.cards import colour, short
from otto_protocol.rules.game import Game
from otto_protocol.rules.moves import (
    Challenge,
    Collect,
    Exchange,
    Guess,
    LayDuel,
    Lead,
    LoseCard,
    OpenDuel,
    Say,
    Score,
    SitOut,
)
from otto_protocol.rules.positions import arrange
from otto_protocol.rules.state import draft, freeze
from tests.protocol.rules_play import ZEROS, answer, lead, open_lead, play_cards, refused, slot_of

RNG = Drbg(b"duels and ends")
FIVES = "R5 R5 Y5 Y5 G5 G5 B5 B5"


def duellists(hand: str = "R3 B4") -> Game:
    return arrange(["Y1" + ZEROS, hand, "B9"], ["G7", "R9 B9", ""], [7, 9, 9], RNG)


def duel(game: Game, face: str, guess: int) -> None:
    game.play(Challenge(0, 1))
    game.play(LayDuel(1, slot_of(game, 1, face)))
    game.play(Guess(0, guess))
    slot = slot_of(game, 1, face)
    game.play(OpenDuel(1, slot, game.cards[slot]))


def at_otto(*collections: str, numbers: list[int], hands: list[str], leader: int = 0) -> Game:
    """A game at its OTTO step (or after it, when nobody can say it): the leader led, nobody exchanged."""
    game = arrange(hands, collections, numbers, RNG, leader=leader)
    new = draft(game.state)
    new.phase = GamePhase.OTTO
    new.waiting = tuple(seat for seat, laid in enumerate(new.collections) if len(laid) >= 8)
    game.state = freeze(new)
    return game


def otto(game: Game, seat: int, *bonus: str) -> Say:
    slots = [*game.state.collections[seat], *(slot_of(game, seat, face) for face in bonus)]
    number = game.secrets[seat].number
    return Say(seat, True, number, tuple((slot, game.cards[slot]) for slot in slots))


def finish(game: Game) -> Outcome:
    for seat in game.awaited:
        game.play(game.legal(seat)[0])
    assert game.outcome is not None
    return game.outcome


def test_t11_the_leader_challenges_somebody_else() -> None:
    game = duellists()
    refused(game, Challenge(1, 0), "T11")
    refused(game, Challenge(0, 0), "T11")
    refused(game, Challenge(0, 7), "T11")
    assert [move for move in game.legal(0) if isinstance(move, Challenge)] == [Challenge(0, 1)]


def test_r11_one_duel_a_turn() -> None:
    game = duellists()
    duel(game, "R3", 0)
    game.play(game.legal(1)[0])
    assert (game.state.phase, game.awaited) == (GamePhase.LEAD, (0,))
    refused(game, Challenge(0, 1), "R11")
    assert not any(isinstance(move, Challenge) for move in game.legal(0))


def test_r11_before_the_lead() -> None:
    game = duellists()
    lead(game, "Y1")
    refused(game, Challenge(0, 1), "R11")


def test_r11_both_need_a_collected_card_and_the_challenged_one_a_hand() -> None:
    game = duellists()
    refused(game, Challenge(0, 2), "R11")
    refused(arrange(["Y1" + ZEROS, "R3", ""], ["", "R9", ""], [7, 9, 9], RNG), Challenge(0, 1), "R11")
    refused(arrange(["Y1" + ZEROS, "", ""], ["G7", "R9", ""], [7, 9, 9], RNG), Challenge(0, 1), "R11")


def test_t12_the_card_is_secret_and_the_challenger_says_a_colour() -> None:
    game = duellists()
    game.play(Challenge(0, 1))
    refused(game, LayDuel(0), "T12")
    assert apply(game.state, LayDuel(1, 12)) == apply(game.state, LayDuel(1))
    game.play(LayDuel(1, slot_of(game, 1, "R3")))
    for guess in (-1, 4):
        refused(game, Guess(0, guess), "T12")
    refused(game, Guess(1, 0), "T12")
    assert game.legal(0) == [Guess(0, guess) for guess in range(4)]


def test_r12_the_card_comes_from_the_hand() -> None:
    game = duellists()
    game.play(Challenge(0, 1))
    assert {move.slot for move in game.legal(1) if isinstance(move, LayDuel)} == set(game.state.hands[1])
    game.play(LayDuel(1, slot_of(game, 1, "B4")))
    game.play(Guess(0, 0))
    slot = slot_of(game, 1, "R9")
    refused(game, OpenDuel(1, slot, game.cards[slot]), "R12")


@pytest.mark.parametrize(("guess", "loser"), [(0, 1), (1, 0), (2, 0), (3, 0)])
def test_t13_right_costs_the_challenged_player_a_card_and_wrong_the_challenger(
    guess: int, loser: int
) -> None:
    game = duellists()
    duel(game, "R3", guess)
    assert (game.state.phase, game.awaited) == (GamePhase.LOSE_CARD, (loser,))
    before = len(game.state.collections[loser])
    game.play(game.legal(loser)[0])
    assert len(game.state.collections[loser]) == before - 1
    assert len(game.state.spent) == 1


def test_t13_the_lost_card_is_one_of_the_collection() -> None:
    game = duellists()
    duel(game, "R3", 0)
    slot = slot_of(game, 1, "B4")
    refused(game, LoseCard(1, slot, game.cards[slot]), "T13")


def test_r13_the_duel_card_goes_back_and_the_loser_chooses_what_to_lose() -> None:
    game = duellists()
    hand = game.state.hands[1]
    duel(game, "R3", 0)
    assert game.state.hands[1] == hand
    assert [short(card) for card in game.seat_view(0).seen(1)] == ["R3"]
    lost = {short(move.card) for move in game.legal(1) if isinstance(move, LoseCard)}
    assert lost == {"R9", "B9"}
    slot = slot_of(game, 1, "B9")
    game.play(LoseCard(1, slot, game.cards[slot]))
    assert [short(card) for card in game.state.spent] == ["B9"]
    refused(game, OpenDuel(1, hand[0], game.cards[hand[0]]), "R13")


def test_t14_eight_collected_and_otto_end_the_game() -> None:
    game = at_otto(FIVES, "R1", numbers=[5, 1], hands=["R3 G3", "B2"])
    game.play(otto(game, 0))
    assert (game.state.phase, game.awaited) == (GamePhase.SCORE, (1,))
    result = finish(game)
    assert (result.winner, result.reason, result.points) == (0, EndReason.OTTO, (10, 1))
    assert result.numbers == (5, 1)


def test_t14_not_with_seven() -> None:
    game = at_otto(FIVES, "R1 R1 Y1 Y1 G1 G1 B1", numbers=[5, 1], hands=["R3", "B2"])
    refused(game, otto(game, 1), "T14")


def test_t15_one_may_go_on() -> None:
    game = at_otto(FIVES, "R1", numbers=[5, 1], hands=["R3", "B2"])
    assert Say(0, False) in game.legal(0)
    refused(game, Say(0, False, 5), "T15")
    game.play(Say(0, False))
    assert (game.state.phase, game.state.turn, game.state.numbers) == (GamePhase.LEAD, 1, (None, None))


def test_r14_the_first_clockwise_from_the_leader_wins() -> None:
    ones, twos = FIVES.replace("5", "1"), FIVES.replace("5", "2")
    for leader, winner in ((0, 1), (1, 1), (2, 2)):
        game = at_otto("R9", ones, twos, numbers=[9, 1, 2], hands=["R3", "R4", "R5"], leader=leader)
        first, second = otto(game, 1), otto(game, 2)
        assert apply(apply(game.state, first), second) == apply(apply(game.state, second), first)
        game.play(second)
        game.play(first)
        assert game.awaited == (0,)  # the other has opened everything already
        result = finish(game)
        assert result.winner == winner
        assert result.points == tuple(
            10 if seat == winner else points for seat, points in enumerate((1, 8, 8))
        )


def test_r14_the_whole_collection_is_opened_and_nothing_else_is_in_it() -> None:
    game = at_otto(FIVES, "R1", numbers=[5, 1], hands=["R4 R8", "B2"])
    whole = otto(game, 0)
    refused(game, Say(0, True, 5, whole.cards[1:]), "R14")
    refused(game, Say(0, True, 6, whole.cards), "R14")
    refused(game, Say(0, True, None, whole.cards), "R14")
    refused(game, Say(0, True, 11, whole.cards), "R14")
    refused(game, otto(game, 0, "R8"), "R14")  # no card of any bonus
    mixed = at_otto(FIVES + " R9", "R1", numbers=[5, 1], hands=["R4", "B2"])
    refused(mixed, otto(mixed, 0), "R14")
    assert mixed.legal(0) == [Say(0, False)]


def test_r14_a_bonus_card_counts_once_and_comes_from_the_own_hand() -> None:
    game = at_otto(FIVES, "R4", numbers=[5, 4], hands=["R4 B4", "B4"])
    whole = otto(game, 0, "R4")
    refused(game, Say(0, True, 5, (*whole.cards, whole.cards[-1])), "R14")
    foreign = slot_of(game, 1, "B4")
    refused(game, Say(0, True, 5, (*whole.cards, (foreign, game.cards[foreign]))), "R14")


def test_r14_otto_opens_no_card_that_no_bonus_needs() -> None:
    game = at_otto(FIVES, "R1", numbers=[5, 1], hands=["R4 B4 R6", "B2"])
    assert game.legal(0)[0] == otto(game, 0)
    game = at_otto(FIVES + " R5", "R1", numbers=[5, 1], hands=["B5 Y5", "B2"])
    assert game.legal(0)[0] == otto(game, 0, "B5", "Y5")


def test_t16_ten_points_to_the_winner_and_one_a_card_to_the_others() -> None:
    game = at_otto(FIVES, "R1 B1 Y1", "", numbers=[5, 1, 2], hands=["R3", "B2", "B3"])
    game.play(otto(game, 0))
    assert finish(game).points == (10, 3, 0)


@pytest.mark.parametrize(
    ("own", "collection", "hand", "won", "points"),
    [
        (5, FIVES, "B5 R5", (), 10),
        (5, FIVES, "B5 R5 G5", (Bonus.THREE_MORE,), 16),
        (5, FIVES, "B5 R5 G5 Y5", (Bonus.FOUR_MORE,), 20),
        (5, FIVES, "R4 B4 R6 B6", (Bonus.NEIGHBOURS,), 15),
        (5, FIVES, "R4 B4 R6 B7", (), 10),
        (5, FIVES, "R4 B4 G4 Y4", (), 10),
        (0, FIVES.replace("5", "0"), "R1 B1", (Bonus.ZEROS,), 18),
    ],
)
def test_t17_each_bonus(own: int, collection: str, hand: str, won: tuple[Bonus, ...], points: int) -> None:
    game = at_otto(collection, "R8", numbers=[own, 8], hands=[hand, "B8"])
    game.play(game.legal(0)[0])
    result = finish(game)
    assert (result.bonus, result.points) == (won, (points, 1))


def faces(game: Game, text: str) -> list[int]:
    return [next(card for card in range(304) if short(card) == face) for face in text.split()]


def test_r15_only_the_better_of_three_and_four_and_the_others_add() -> None:
    game = duellists()
    zeros = FIVES.replace("5", "0")
    assert bonuses(0, faces(game, zeros + " R0 R0 R0")) == (Bonus.THREE_MORE, Bonus.ZEROS)
    assert bonuses(0, faces(game, zeros + " R0 R0 R0 R0 R0")) == (Bonus.FOUR_MORE, Bonus.ZEROS)
    both = (Bonus.FOUR_MORE, Bonus.NEIGHBOURS)
    assert bonuses(5, faces(game, FIVES + " R5 R5 R5 R5 R4 R4 R6 R6")) == both
    assert sum(bonus.points for bonus in both) == 15


def test_r15_numbers_do_not_wrap() -> None:
    game = duellists()
    assert bonuses(0, faces(game, FIVES.replace("5", "0") + " R9 R9 R1 R1")) == (Bonus.ZEROS,)
    assert bonuses(9, faces(game, FIVES.replace("5", "9") + " R8 R8 R0 R0")) == ()


def test_r15_cards_beyond_the_eighth_in_the_collection_count_as_more() -> None:
    game = at_otto(FIVES + " R5 B5", "R8", numbers=[5, 8], hands=["G5", "B8"])
    game.play(game.legal(0)[0])
    assert finish(game).bonus == (Bonus.THREE_MORE,)


def test_r16_a_mixed_collection_scores_nothing_and_is_named() -> None:
    game = at_otto(FIVES, "R1 B1 Y2", "R2 B2", numbers=[5, 1, 2], hands=["R3", "B2", "B3"])
    game.play(otto(game, 0))
    result = finish(game)
    assert result.points == (10, 0, 2)
    assert result.cheats == (Cheat(1, "R16"),)


def test_r16_the_whole_collection_is_opened() -> None:
    game = at_otto(FIVES, "R1 B1", numbers=[5, 1], hands=["R3", "B2"])
    game.play(otto(game, 0))
    (honest,) = game.legal(1)
    assert isinstance(honest, Score)
    refused(game, Score(1, 1, honest.cards[1:]), "R16")
    refused(game, Score(1, 1, (*honest.cards[1:], honest.cards[1])), "R16")
    refused(game, Score(1, 10, honest.cards), "R16")
    refused(game, Score(0, 5, ()), "R16")


def kept_out() -> Game:
    """Seat 1 collects ones but answered with a one of its first hand, which it had not laid (T3)."""
    ones = FIVES.replace("5", "1")
    game = arrange(["R3" + ZEROS, "B1 B4"], ["G9", ones], [9, 1], RNG, leader=0, drew_own=False)
    play_cards(game, "R3", "B1")
    game.play(Exchange(0, False))
    return game


def test_r16_a_card_kept_out_of_the_collection_at_the_start_is_cheating_too() -> None:
    game = kept_out()
    refused(game, otto(game, 1), "T3")
    assert game.legal(1) == [Say(1, False)]
    new = draft(game.state)
    new.phase, new.waiting = GamePhase.SCORE, (0, 1)
    new.reason = EndReason.STALLED
    game.state = freeze(new)
    result = finish(game)
    assert (result.points, result.cheats) == ((1, 0), (Cheat(1, "T3"),))


def test_t03_a_card_dealt_at_the_start_is_not_collected_later() -> None:
    for drew_own in (False, True):
        game = arrange(["R3" + ZEROS, "B1 R4"], ["G9", "R1"], [9, 1], RNG, pile="Y1 G2", drew_own=drew_own)
        play_cards(game, "R3", "R4")
        game.play(Exchange(1, True))
        kept, drawn = slot_of(game, 1, "B1"), slot_of(game, 1, "Y1")
        if drew_own:
            assert game.legal(1)[0] == Collect(1, (kept, drawn))
            game.play(Collect(1, (kept, drawn)))
        else:
            refused(game, Collect(1, (drawn, kept)), "T3")
            assert game.legal(1) == [Collect(1, (drawn,)), Collect(1, ())]
            game.play(Collect(1, (drawn,)))


def test_t03_otto_shows_no_card_of_the_number_that_was_dealt_at_the_start() -> None:
    """Eleven of the number in the first hand, eight laid, the other three shown for a bonus."""
    hands = ["B5 R5 G5", "B2"]
    game = arrange(hands, [FIVES, "R1"], [5, 1], RNG, drew_own=False)
    new = draft(game.state)
    new.phase, new.waiting = GamePhase.OTTO, (0,)
    game.state = freeze(new)
    refused(game, otto(game, 0, "B5", "R5", "G5"), "T3")
    refused(game, otto(game, 0, "G5"), "T3")
    assert game.legal(0) == [otto(game, 0), Say(0, False)]
    game.play(otto(game, 0))
    assert finish(game).bonus == ()
    drew = at_otto(FIVES, "R1", numbers=[5, 1], hands=hands)
    drew.play(otto(drew, 0, "B5", "R5", "G5"))
    assert finish(drew).bonus == (Bonus.THREE_MORE,)


def lost_junk(collection: str) -> Game:
    """Seat 1 collects ones, and has lost a nine of its collection in a duel."""
    game = arrange(["Y1" + ZEROS, "R3 B4"], ["G7", collection], [7, 1], RNG)
    duel(game, "R3", 0)
    slot = slot_of(game, 1, "R9")
    game.play(LoseCard(1, slot, game.cards[slot]))
    return game


def test_r16_a_lost_card_of_another_number_shows_a_mixed_collection() -> None:
    game = lost_junk("R9 R1 B1")
    new = draft(game.state)
    new.phase, new.waiting, new.reason = GamePhase.SCORE, (0, 1), EndReason.STALLED
    game.state = freeze(new)
    result = finish(game)
    assert (result.points, result.cheats) == ((1, 0), (Cheat(1, "R16"),))


def test_r14_who_has_lost_a_card_of_another_number_cannot_say_otto() -> None:
    game = lost_junk(FIVES.replace("5", "1") + " R9")
    new = draft(game.state)
    new.phase, new.waiting = GamePhase.OTTO, (1,)
    game.state = freeze(new)
    refused(game, otto(game, 1), "R14")
    assert game.legal(1) == [Say(1, False)]


def test_r16_lost_cards_of_the_number_are_nothing_to_blame() -> None:
    game = arrange(["Y1" + ZEROS, "R3 B4"], ["G7", FIVES + " R5"], [7, 5], RNG)
    duel(game, "R3", 0)
    game.play(game.legal(1)[0])
    new = draft(game.state)
    new.phase, new.waiting = GamePhase.OTTO, (1,)
    game.state = freeze(new)
    game.play(otto(game, 1))
    assert finish(game).cheats == ()


def test_r16_a_card_drawn_later_may_stay_in_the_hand() -> None:
    game = arrange(["R3" + ZEROS, "R4"], ["", FIVES.replace("5", "1")], [9, 1], RNG, pile="B1 G2")
    play_cards(game, "R3", "R4")
    game.play(Exchange(1, True))
    game.play(Collect(1, ()))
    game.play(Say(1, False))
    lead(game, "B1")
    answer(game, 0, "R0")
    open_lead(game)
    game.play(Exchange(1, False))
    game.play(otto(game, 1))
    assert finish(game).cheats == ()


def test_r17_the_points_of_a_match_add_up() -> None:
    results = []
    for _ in range(2):
        game = at_otto(FIVES, "R1 B1", numbers=[5, 1], hands=["R3", "B2"])
        game.play(otto(game, 0))
        results.append(finish(game))
    assert standings(results) == (20, 4)
    with pytest.raises(LocalError):
        standings([])


def test_r18_with_seven_cards_left_to_everybody_the_game_ends_without_a_winner() -> None:
    game = arrange(["Y1 Y2", "R3 B4 R1 R2 R6 R7"], ["G7 G7", "R9 B9"], [7, 9], RNG)
    assert game.state.phase is GamePhase.LEAD
    duel(game, "R3", 0)
    game.play(game.legal(1)[0])
    assert (game.state.phase, game.awaited) == (GamePhase.SCORE, (1, 0))
    result = finish(game)
    assert (result.winner, result.reason, result.points) == (None, EndReason.DEAD_END, (2, 1))


def test_r18_empty_hands_and_nobody_with_eight_end_the_game() -> None:
    game = arrange(["R1", ""], ["G7", "R9"], [7, 9], RNG)
    lead(game, "R1")
    game.play(SitOut(1, ()))
    open_lead(game)
    game.play(Exchange(0, False))
    assert finish(game).reason is EndReason.DEAD_END


def test_r18_eight_cards_in_one_place_or_two_are_enough_to_go_on() -> None:
    game = arrange(["R1 Y1 B1 G1 R2 B2 G2", ""], ["G7", "R9"], [7, 9], RNG)
    lead(game, "R1")
    game.play(SitOut(1, ()))
    open_lead(game)
    game.play(Exchange(0, False))
    assert (game.state.phase, game.state.leader) == (GamePhase.LEAD, 0)


def test_r19_fifty_rounds_without_a_change_of_any_collection_end_the_game() -> None:
    game = arrange(["R1" + ZEROS, "B2"], ["G7", "R9"], [7, 9], RNG)
    while game.state.phase is not GamePhase.SCORE:
        seat = game.awaited[0]
        moves = game.legal(seat)
        game.play(Exchange(seat, False) if isinstance(moves[0], Exchange) else moves[0])
    assert game.state.turn == 2 * 50
    result = finish(game)
    assert (result.winner, result.reason, result.points) == (None, EndReason.STALLED, (1, 1))


def test_r19_a_collected_card_starts_the_count_again() -> None:
    for slots in (1, 0):
        game = arrange(["R1" + ZEROS, "Y4 R3"], ["", ""], [9, 9], RNG, pile="B9")
        play_cards(game, "R1", "R3")
        new = draft(game.state)
        new.quiet = 7
        game.state = freeze(new)
        game.play(Exchange(1, True))
        game.play(Collect(1, game.state.hands[1][1 : 1 + slots]))
        assert game.state.quiet == (1 if slots else 8)


def test_r19_a_lost_card_starts_the_count_again() -> None:
    game = duellists()
    new = draft(game.state)
    new.quiet = 3 * STALL_ROUNDS - 1
    game.state = freeze(new)
    duel(game, "R3", colour(0))
    game.play(game.legal(1)[0])
    assert game.state.quiet == 0
    assert Lead(0, 1, slot_of(game, 0, "Y1")) in game.legal(0)
