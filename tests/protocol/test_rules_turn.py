"""The rules of Otto from the cards to the turn: T1 to T10 and R1 to R10, one test or more for each."""

from __future__ import annotations

from collections import Counter

import pytest

from otto_protocol.errors import LocalError
from otto_protocol.hashing import Drbg
from otto_protocol.rules import GamePhase, apply, check, check_table, start
from otto_protocol.rules.cards import COLOURS, colour, number, short
from otto_protocol.rules.game import Game
from otto_protocol.rules.moves import (
    Answer,
    Challenge,
    Choose,
    Collect,
    Exchange,
    Lead,
    OpenLead,
    Reshuffled,
    Say,
    SitOut,
)
from otto_protocol.rules.positions import arrange
from otto_protocol.rules.state import draft, freeze
from tests.protocol.rules_play import ZEROS, answer, lead, open_lead, play_cards, refused, slot_of

RNG = Drbg(b"rules of a turn")
NOTHING = ["", "", ""]


def test_t01_one_deck_has_one_zero_and_two_of_each_other_number_in_every_colour() -> None:
    faces = Counter(short(card) for card in range(76))
    assert len(faces) == 40
    assert all(count == (1 if face[1] == "0" else 2) for face, count in faces.items())
    assert [short(card) for card in (0, 1, 2, 3, 18, 19, 57)] == ["R0", "R1", "R1", "R2", "R9", "Y0", "B0"]
    assert (number(76 + 18), COLOURS[colour(76 + 18)]) == (9, "red")


def test_t01_a_card_beyond_the_decks_does_not_exist() -> None:
    game = arrange(["R1", "R3", "R5"], NOTHING, [9, 9, 9], RNG)
    lead(game, "R1")
    refused(game, Answer(1, 12, 152), "T1")


def test_t01_a_seen_card_cannot_be_another_one_later() -> None:
    game = arrange(["R1" + ZEROS, "R3", "B5"], NOTHING, [9, 9, 9], RNG)
    play_cards(game, "R1", "R3", "B5")
    game.play(Exchange(1, False))
    lead(game, "R3")
    refused(game, Answer(2, slot_of(game, 2, "B5"), 1), "T1")


@pytest.mark.parametrize("decks", [1, 2, 3, 4])
def test_r01_one_to_four_decks_of_76(decks: int) -> None:
    assert len(start(range(2), 0, decks).pile) == 76 * decks - 24


def test_r01_no_deck_and_five_decks_are_refused() -> None:
    for decks in (0, 5):
        with pytest.raises(LocalError, match="R1"):
            check_table(3, decks)


@pytest.mark.parametrize(("players", "decks"), [(5, 1), (10, 2), (2, 1), (10, 4)])
def test_r02_tables_that_fit(players: int, decks: int) -> None:
    check_table(players, decks)


@pytest.mark.parametrize(("players", "decks"), [(6, 1), (1, 2), (11, 4), (0, 2), (10, 1)])
def test_r02_tables_that_do_not_fit_are_refused_with_a_sentence(players: int, decks: int) -> None:
    with pytest.raises(LocalError, match="R2"):
        start(range(players), 0, decks)


def test_t02_twelve_cards_each_and_the_rest_in_the_pile() -> None:
    state = start((2, 0, 1), 0, 2)
    assert state.hands[2] == tuple(range(12))
    assert state.hands[0] == tuple(range(12, 24))
    assert state.pile == tuple(range(36, 152))


def test_t03_all_cards_of_the_chosen_number_are_laid() -> None:
    game = Game.deal(range(3), 2, RNG)
    own = number(game.cards[game.state.hands[1][0]])
    move = next(m for m in game.legal(1) if isinstance(m, Choose) and m.number == own)
    game.play(move)
    assert {number(game.cards[slot]) for slot in game.state.collections[1]} == {own}
    assert own not in {number(game.cards[slot]) for slot in game.state.hands[1]}
    assert len(game.state.hands[1]) + len(game.state.collections[1]) == 12


def test_t03_only_own_cards_and_each_once() -> None:
    game = Game.deal(range(3), 2, RNG)
    hand = game.state.hands[0]
    refused(game, Choose(0, (hand[0], hand[0])), "T3")
    refused(game, Choose(0, (game.state.hands[1][0],)), "T3")
    game.play(Choose(0, (), 5))
    refused(game, Choose(0, ()), "T3")


def test_r03_the_public_sees_how_many_but_not_which() -> None:
    game = Game.deal(range(2), 2, RNG)
    for seat in (0, 1):
        game.play(max((m for m in game.legal(seat) if isinstance(m, Choose)), key=lambda m: len(m.slots)))
    assert all(len(laid) > 0 for laid in game.state.collections)
    assert not game.state.known
    assert game.state.numbers == (None, None)


def test_r03_a_number_of_which_one_holds_no_card() -> None:
    game = Game.deal(range(4), 2, RNG)
    choices = [move for seat in range(4) for move in game.legal(seat) if isinstance(move, Choose)]
    assert len(choices) == 40
    game.play(next(move for move in choices if not move.slots))


def test_t04_the_lot_is_fair_and_comes_from_the_randomness_given() -> None:
    leaders = Counter(Game.deal(range(4), 2, RNG).state.leader for _ in range(400))
    assert set(leaders) == {0, 1, 2, 3}
    assert min(leaders.values()) > 60
    assert Game.deal(range(4), 2, Drbg(b"x")).state == Game.deal(range(4), 2, Drbg(b"x")).state


def test_t05_the_next_player_clockwise_leads_next() -> None:
    game = arrange(["R1" + ZEROS, "R3", "R5"], NOTHING, [9, 9, 9], RNG, leader=2)
    refused(game, Lead(0, 1), "T5")
    play_cards(game, "R5", "R1", "R3")
    for seat in (0, 1):
        game.play(Exchange(seat, False))
    assert (game.state.leader, game.state.turn) == (0, 1)


def test_t06_the_card_stays_hidden_and_the_number_is_public() -> None:
    game = arrange(["R1 B2", "R3", "R5"], NOTHING, [9, 9, 9], RNG)
    hidden = [apply(game.state, Lead(0, 1, slot)) for slot in (None, 0, 1)]
    assert hidden[0] == hidden[1] == hidden[2]
    assert (hidden[0].said, hidden[0].known) == (1, {})
    refused(game, Lead(0, 10), "T6")
    refused(game, Lead(0, -1), "T6")


def test_t06_the_led_card_comes_from_the_hand() -> None:
    game = arrange(["R1", "R3", "R5"], ["B1", "", ""], [1, 9, 9], RNG)
    lead(game, "R1")
    answer(game, 1, "R3")
    answer(game, 2, "R5")
    refused(game, OpenLead(0, slot_of(game, 0, "B1"), 58), "T6")


def test_r04_the_number_said_must_be_true() -> None:
    game = arrange(["R1 B2", "R3", "R5"], NOTHING, [9, 9, 9], RNG)
    lead(game, "R1")
    answer(game, 1, "R3")
    answer(game, 2, "R5")
    slot = slot_of(game, 0, "B2")
    refused(game, OpenLead(0, slot, game.cards[slot]), "R4")
    open_lead(game)


def test_t07_an_answer_may_not_have_the_led_number() -> None:
    game = arrange(["R1", "B1 R3", "R5"], NOTHING, [9, 9, 9], RNG)
    lead(game, "R1")
    slot = slot_of(game, 1, "B1")
    refused(game, Answer(1, slot, game.cards[slot]), "T7")
    assert [move.card for move in game.legal(1) if isinstance(move, Answer)] == [
        game.cards[slot_of(game, 1, "R3")]
    ]


def test_t07_an_answer_comes_from_the_own_hand_and_not_from_the_leader() -> None:
    game = arrange(["R1 Y4", "R3", "R5"], ["", "B9", ""], [9, 9, 9], RNG)
    lead(game, "R1")
    for seat, face, rule in ((1, "B9", "T7"), (0, "Y4", "T7")):
        slot = slot_of(game, seat, face)
        refused(game, Answer(seat, slot, game.cards[slot]), rule)
    refused(game, Answer(1, slot_of(game, 2, "R5"), game.cards[slot_of(game, 2, "R5")]), "T7")


def test_r05_any_order_gives_the_same() -> None:
    game = arrange(["R1", "R3", "R5"], NOTHING, [9, 9, 9], RNG)
    lead(game, "R1")
    one, two = game.legal(1)[0], game.legal(2)[0]
    assert apply(apply(game.state, one), two) == apply(apply(game.state, two), one)


def test_r05_who_can_answer_must() -> None:
    game = arrange(["R1", "B1 R3", "R5"], NOTHING, [9, 9, 9], RNG)
    lead(game, "R1")
    whole = tuple((slot, game.cards[slot]) for slot in game.state.hands[1])
    refused(game, SitOut(1, whole), "R5")
    refused(game, SitOut(1, whole[:1]), "R5")  # only the card that could not be laid
    refused(game, SitOut(1, (whole[0], whole[0])), "R5")
    refused(game, SitOut(1, ()), "R5")


def test_r05_a_hand_of_the_led_number_is_opened_and_sits_out() -> None:
    game = arrange(["R1", "B1 Y1", "R5"], NOTHING, [9, 9, 9], RNG)
    lead(game, "R1")
    (move,) = game.legal(1)
    assert isinstance(move, SitOut)
    game.play(move)
    assert [short(card) for card in game.seat_view(2).seen(1)] == ["B1", "Y1"]
    answer(game, 2, "R5")
    open_lead(game)
    assert game.awaited == (2,)  # who sat out has no card on the table to exchange


def test_r05_a_player_without_a_hand_sits_out() -> None:
    game = arrange(["R1", "", "R5"], ["", "R9 B9", ""], [9, 9, 9], RNG)
    lead(game, "R1")
    assert game.legal(1) == [SitOut(1, ())]
    game.play(SitOut(1, ()))


def test_t08_the_leader_opens_when_all_have_laid() -> None:
    game = arrange(["R1", "R3", "R5"], NOTHING, [9, 9, 9], RNG)
    lead(game, "R1")
    answer(game, 1, "R3")
    slot = slot_of(game, 0, "R1")
    refused(game, OpenLead(0, slot, game.cards[slot]), "T8")
    answer(game, 2, "R5")
    assert (game.state.phase, game.awaited) == (GamePhase.OPEN_LEAD, (0,))
    refused(game, OpenLead(1, slot_of(game, 1, "R3"), game.cards[slot_of(game, 1, "R3")]), "T8")


def test_t09_only_the_colour_of_the_leader_exchanges() -> None:
    game = arrange(["R1", "R3", "B5"], NOTHING, [9, 9, 9], RNG, pile="G9")
    play_cards(game, "R1", "R3", "B5")
    assert game.awaited == (1,)
    refused(game, Exchange(2, True), "T9")
    game.play(Exchange(1, True))
    assert [short(card) for _, card in game.seat_view(1).hand] == ["G9"]
    assert short(game.state.spent[-1]) == "R3"


def test_t10_the_leader_exchanges_only_if_nobody_else_matches() -> None:
    game = arrange(["R1", "R3", "B5"], NOTHING, [9, 9, 9], RNG)
    play_cards(game, "R1", "R3", "B5")
    refused(game, Exchange(0, True), "T10")
    game = arrange(["R1", "Y3", "B5"], NOTHING, [9, 9, 9], RNG, pile="G9")
    play_cards(game, "R1", "Y3", "B5")
    assert game.awaited == (0,)
    game.play(Exchange(0, True))
    assert [short(card) for _, card in game.seat_view(0).hand] == ["G9"]


def test_r06_what_is_not_exchanged_goes_back_and_stays_known() -> None:
    game = arrange(["R1", "R3", "B5"], NOTHING, [9, 9, 9], RNG)
    before = game.state.hands
    play_cards(game, "R1", "R3", "B5")
    game.play(Exchange(1, False))
    assert game.state.hands == before
    assert {short(card) for card in game.state.known.values()} == {"R1", "R3", "B5"}


def test_r07_all_discard_first_and_draw_clockwise_from_the_left_of_the_leader() -> None:
    game = arrange(["R1", "R3", "R5", "R7"], [""] * 4, [9] * 4, RNG, leader=1, pile="B1 B2 B3 B4")
    play_cards(game, "R3", "R5", "R7", "R1")
    for seat in (0, 3, 2):
        game.play(Exchange(seat, True))
    hands = [[short(card) for _, card in game.seat_view(seat).hand] for seat in range(4)]
    assert hands == [["B3"], ["R3"], ["B1"], ["B2"]]
    assert [short(card) for card in game.state.spent[-3:]] == ["R5", "R7", "R1"]


def test_r07_a_player_may_decline() -> None:
    game = arrange(["R1" + ZEROS, "R3", "R5"], NOTHING, [9, 9, 9], RNG)
    play_cards(game, "R1", "R3", "R5")
    game.play(Exchange(1, False))
    game.play(Exchange(2, False))
    assert (game.state.phase, game.state.spent) == (GamePhase.LEAD, ())


def test_r08_the_pile_runs_out_in_the_middle_of_the_draws() -> None:
    game = arrange(["R1", "R3", "R5"], NOTHING, [9, 9, 9], RNG, pile="G9")
    play_cards(game, "R1", "R3", "R5")
    spent = set(game.state.spent)
    step = apply(apply(game.state, Exchange(1, True)), Exchange(2, True))
    assert (step.phase, step.draws, step.owed) == (GamePhase.DRAW, ((1, step.draws[0][1]),), (2,))
    for seat in (1, 2):
        game.play(Exchange(seat, True))
    assert [short(card) for _, card in game.seat_view(1).hand] == ["G9"]
    assert game.state.spent == ()
    drawn = {game.cards[slot] for slot in (*game.state.pile, *game.state.hands[2])}
    assert {short(card) for card in drawn - spent} == {"R3", "R5"}  # today's discards are in it


def test_r08_reshuffled_cards_have_new_slots() -> None:
    game = arrange(["R1", "R3", "B5"], NOTHING, [9, 9, 9], RNG, pile="")
    play_cards(game, "R1", "R3", "B5")
    state = apply(game.state, Exchange(1, True))
    assert state.phase is GamePhase.RESHUFFLE
    after = apply(state, Reshuffled())
    assert after.draws == ((1, state.next_slot),)
    assert after.pile == tuple(range(state.next_slot + 1, after.next_slot))
    assert after.next_slot - state.next_slot == len(state.spent)


@pytest.mark.parametrize("hue", ["R", "B"])  # four who could exchange, or the leader alone
def test_r08_both_piles_empty_nobody_can_exchange(hue: str) -> None:
    game = arrange(["R1" + ZEROS, *(hue + face for face in "3579")], [""] * 5, [8] * 5, RNG)
    new = draft(game.state)
    new.pile = new.spent = ()
    game.state = freeze(new)
    play_cards(game, "R1", *(hue + face for face in "3579"))
    refused(game, Exchange(1, True), "T9")
    assert (game.state.phase, game.state.leader) == (GamePhase.LEAD, 1)


def test_r09_only_who_drew_may_collect_and_only_from_the_hand() -> None:
    game = arrange(["R1 B9", "R3 G9", "B5 Y9"], NOTHING, [9, 9, 9], RNG, pile="R9 B1")
    play_cards(game, "R1", "R3", "B5")
    game.play(Exchange(1, True))
    assert (game.state.phase, game.awaited) == (GamePhase.COLLECT, (1,))
    refused(game, Collect(0, (slot_of(game, 0, "B9"),)), "R9")
    refused(game, Collect(1, (slot_of(game, 0, "B9"),)), "R9")
    refused(game, Collect(1, (slot_of(game, 1, "G9"),) * 2), "R9")
    both = Collect(1, (slot_of(game, 1, "G9"), slot_of(game, 1, "R9")))
    assert game.legal(1)[0] == both
    assert Collect(1, ()) in game.legal(1)
    game.play(both)
    assert [len(laid) for laid in game.state.collections] == [0, 2, 0]
    assert game.state.hands[1] == ()


def test_r09_seen_cards_of_two_numbers_are_refused() -> None:
    game = arrange(["R1" + ZEROS, "R3 B4", "B5"], ["", "G4", ""], [9, 4, 9], RNG)
    lead(game, "R1")
    answer(game, 1, "B4")
    answer(game, 2, "B5")
    open_lead(game)
    game.play(Exchange(0, False))
    lead(game, "R3")
    answer(game, 2, "B5")
    answer(game, 0, "Y0")
    open_lead(game)
    game.play(Exchange(1, True))
    seen, hidden = slot_of(game, 1, "B4"), game.state.hands[1][-1]
    check(game.state, Collect(1, (seen, hidden)))
    new = draft(game.state)
    new.known = {**new.known, hidden: 0}  # had everybody seen it as a zero
    game.state = freeze(new)
    refused(game, Collect(1, (seen, hidden)), "R9")


def test_r10_a_leader_without_a_hand_skips_to_the_end_of_the_turn() -> None:
    eight = "R9 R9 B9 B9 G9 G9 Y9 Y9"
    game = arrange(["R1", "R3 B4", ""], ["", "", eight], [8, 8, 9], RNG, leader=1)
    lead(game, "R3")
    game.play(SitOut(2, ()))
    answer(game, 0, "R1")
    open_lead(game)
    game.play(Exchange(0, False))
    game.play(Say(2, False))
    assert game.state.leader == 2
    assert (game.state.phase, game.awaited) == (GamePhase.OTTO, (2,))
    refused(game, Lead(2, 9), "T6")
    refused(game, Challenge(2, 0), "R11")
    game.play(Say(2, False))
    assert (game.state.phase, game.state.leader) == (GamePhase.LEAD, 0)


def test_r10_nobody_is_asked_when_nobody_could_say_otto() -> None:
    game = arrange(["R1" + ZEROS, "", "B6"], ["", "R9", ""], [9, 9, 9], RNG)
    lead(game, "R1")
    game.play(SitOut(1, ()))
    answer(game, 2, "B6")
    open_lead(game)
    game.play(Exchange(0, False))
    assert (game.state.leader, game.state.turn) == (2, 2)
