"""Removing seats: each numbered rule, and everything that can happen at a small table by these rules.

What is explored here in some seconds is explored further by `models/check`, and with OTTO_BIG=1 (hours).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

import pytest

from otto_protocol.hashing import tagged_hash
from otto_protocol.match import messages as m
from otto_protocol.match.contradictions import contradiction, opens
from otto_protocol.match.view_change import Ballots, Count, Proposal, proposal_of
from tests.protocol.view_book import Case
from tests.protocol.view_search import explore, wander
from tests.protocol.view_variants import VARIANTS, Variant

BIG = os.environ.get("OTTO_BIG") == "1"
HERE, THERE = tagged_hash("one log"), tagged_hash("another log")
NOBODY: frozenset[int] = frozenset()


# -- the rules, one by one -----------------------------------------------------------------------------------


def said(seat: int, body: m.Body, previous: bytes = HERE) -> m.Message:
    header = m.Header(tagged_hash("match"), 0, 7, seat, previous)
    return m.Message(header, body, m.Signed(seat, m.content_of(header, body), bytes(64)))


def vote(
    seat: int, number: int, gone: Iterable[int] = (), excluded: Iterable[int] = (), owns: Iterable[m.Own] = ()
) -> m.Message:
    return said(seat, m.Vote(number, tuple(gone), tuple(excluded), tuple(owns)))


def entry(of: m.Message) -> m.Message:
    """By which the voter enters what it voted for."""
    assert isinstance(of.body, m.Vote)
    return said(of.header.seat, m.Enter(of.body.round, opens(of)))


def votes(seats: Iterable[int], number: int, gone: Iterable[int] = ()) -> list[m.Message]:
    return [vote(seat, number, gone) for seat in seats]


def count(
    seats: int,
    ballots: Iterable[m.Message],
    convicted: Iterable[int] = (),
    left: Iterable[int] = (),
    held: Collection[m.Own] = (),
) -> Count:
    kept = Ballots(range(seats))
    for ballot in ballots:
        kept.add(ballot)
    return Count.of(kept, convicted, left, lambda _, own: own in held)


def without(*gone: int) -> Proposal:
    return proposal_of(vote(9, 1, gone))


def own(gone: frozenset[int]) -> Proposal:
    return without(*sorted(gone))


def doubts(*seats: int) -> frozenset[int]:
    return frozenset(seats)


def test_v01_one_vote_in_a_round_and_the_rounds_of_a_seat_rise() -> None:
    table = count(4, [vote(0, 3, [1])])
    assert table.to_vote(0, doubts(1), own) is None, "it has voted for that"
    assert table.to_vote(0, NOBODY, own) == (4, without())
    assert contradiction(vote(0, 3, [1]), vote(0, 3)) is not None


def test_v01_nothing_is_signed_after_an_entry() -> None:
    ballots = votes((0, 1), 1, [2])
    table = count(3, [*ballots, entry(ballots[0])])
    assert table.to_vote(0, doubts(1), own) is None
    assert table.to_enter(0, NOBODY) is None


def test_v01_a_vote_binds_its_author_also_while_it_does_not_count() -> None:
    unknown = m.Own(2, THERE)
    table = count(3, [vote(0, 1, [2]), vote(1, 1, [2]), vote(0, 2, owns=[unknown])])
    assert table.last_vote(0) == (2, None)
    assert table.to_enter(0, NOBODY) is None, "it would contradict the vote of round 2"
    assert table.to_vote(0, doubts(2), own) == (3, without(2))
    assert table.to_vote(1, doubts(2), own) == (2, without(2))


def test_v02_all_that_stay_voted_in_the_same_round() -> None:
    assert count(3, votes((0, 1), 1, [2])).is_agreed(1, without(2))
    assert not count(3, [vote(0, 1, [2]), vote(1, 2, [2])]).is_agreed(1, without(2))
    assert not count(3, votes((0, 1), 1)).is_agreed(1, without()), "seat 2 stays, and has not voted"


def test_v02_and_are_a_majority_of_all_but_the_excluded() -> None:
    assert not count(4, votes((0, 1), 1, [2, 3])).is_agreed(1, without(2, 3))
    ballots = [vote(seat, 1, [2, 3], [3]) for seat in (0, 1)]
    assert count(4, ballots, convicted=[3]).is_agreed(1, proposal_of(ballots[0]))


def test_v02_whoever_is_excluded_must_have_left_or_be_convicted() -> None:
    ballots = [vote(seat, 1, [2, 3], [3]) for seat in (0, 1)]
    for convicted, left in ((), ()), ([2], ()), ((), [2]):
        assert not count(4, ballots, convicted, left).is_agreed(1, proposal_of(ballots[0]))
    for convicted, left in ([3], ()), ((), [3]):
        assert count(4, ballots, convicted, left).is_agreed(1, proposal_of(ballots[0]))


def test_v02_a_vote_counts_when_all_is_here_that_it_names() -> None:
    named = m.Own(0, THERE)
    ballots = [vote(seat, 1, [2], owns=[named]) for seat in (0, 1)]
    assert not count(3, ballots).is_agreed(1, proposal_of(ballots[0]))
    assert count(3, ballots, held=[named]).is_agreed(1, proposal_of(ballots[0]))


def test_v02_a_vote_that_names_seats_of_no_match_counts_for_nothing() -> None:
    ballots = [vote(seat, 1, [5]) for seat in (0, 1, 2)]
    assert count(3, ballots).votes == {}


def test_v02_who_votes_twice_keeps_nobody_from_counting_what_others_count() -> None:
    """Three votes of one round: the two that are kept first would shut out the one by which others went on."""
    lies = [vote(2, 1, owns=[m.Own(2, bytes([number]) * 32)]) for number in (1, 2)]
    for honest in (votes((0, 1), 1), [entry(vote(1, 1)), *votes((0, 1), 1)]):
        kept = Ballots(range(3))
        for ballot in [*lies, *honest, vote(2, 1)]:
            assert kept.add(ballot)
        assert not kept.add(vote(2, 1, owns=[m.Own(2, bytes([3]) * 32)])), (
            "what nobody else wants is not kept"
        )


def test_v03_enter_what_is_agreed_in_the_round_of_the_last_vote() -> None:
    assert count(3, votes((0, 1), 1, [2])).to_enter(0, NOBODY) == (1, without(2))
    assert count(3, votes((0, 1), 1, [2])).to_enter(2, NOBODY) is None


def test_v03_whoever_has_voted_on_has_promised_not_to_enter() -> None:
    table = count(3, [*votes((0, 1), 1, [2]), vote(0, 2)])
    assert table.to_enter(0, NOBODY) is None
    assert table.to_enter(1, NOBODY) == (1, without(2))


def test_v04_a_seat_votes_to_go_on_without_its_suspects_convicts_and_leavers() -> None:
    table = count(5, [], convicted=[2], left=[3])
    assert table.choice(0, doubts(1), own) == without(1, 2, 3)
    assert table.choice(2, NOBODY, own) == without(3), "never without itself"


def test_v04_an_entry_binds_whoever_stays_in_it() -> None:
    ballots = votes((1, 2, 3), 1, [4])
    entered = count(5, [vote(0, 1, [4]), *ballots, entry(ballots[0])])
    assert entered.choice(0, NOBODY, own) == without(4)
    assert entered.choice(4, NOBODY, own) == without(), "it does not stay in it"
    assert entered.choice(0, doubts(1), own) == without(1), "from somebody that it does not suspect"
    agreed = count(5, [vote(0, 1, [4]), *ballots])
    assert agreed.choice(0, NOBODY, own) == without(), "an agreement binds nobody"


def test_v04_a_false_entry_binds_nobody() -> None:
    table = count(5, [*votes((1, 2), 1, [4]), entry(vote(1, 1, [4]))])
    assert table.choice(0, NOBODY, own) == without()


def test_v04_of_several_entries_that_of_the_highest_round() -> None:
    first, second = votes((0, 1, 2, 3), 1, [4]), votes((0, 1, 2, 4), 2, [3])
    for order in ([entry(first[3]), entry(second[3])], [entry(second[3]), entry(first[3])]):
        assert count(5, [*first, *second, *order]).choice(0, NOBODY, own) == without(3)


def test_v05_a_vote_is_due_for_another_choice_or_a_later_round() -> None:
    assert count(3, []).to_vote(0, NOBODY, own) is None, "there is no reason for a vote"
    assert count(3, []).to_vote(0, doubts(2), own) == (1, without(2))
    table = count(3, [vote(0, 1, [2]), vote(1, 2)])
    assert table.to_vote(0, doubts(2), own) == (2, without(2)), "the same again, in the later round"
    assert table.to_vote(0, NOBODY, own) == (2, without())
    assert count(3, [vote(1, 1)]).to_vote(0, NOBODY, own) == (1, without()), "whoever is asked answers"


def test_v05_a_round_that_only_a_liar_names_pulls_nobody_there() -> None:
    """There is no round after the last one: a single vote in it would end all voting."""
    table = count(3, [vote(2, 2**32 - 1), vote(0, 1)])
    assert table.to_vote(0, NOBODY, own) is None
    assert table.to_vote(1, doubts(2), own) == (1, without(2))
    assert count(3, [vote(2, 2**32 - 1), vote(0, 1), vote(1, 2)]).to_vote(0, NOBODY, own) == (2, without())


def follows(
    *more: m.Message, seats: int = 5, suspects: frozenset[int] = NOBODY
) -> tuple[int, Proposal] | None:
    """Seats 0 to 3 agreed in round 1 to go on without 4; seat 3 has voted on, and comes back to it in round 3."""
    agreed = votes((0, 1, 2, 3), 1, [4])
    back = [vote(3, 2), vote(3, 3, [4])]
    return count(seats, [*agreed, *back, *more]).to_enter(3, suspects)


def test_v06_follow_with_all_that_one_goes_on_with() -> None:
    entered = [entry(vote(seat, 1, [4])) for seat in (0, 1, 2)]
    assert follows(*entered) == (3, without(4))
    assert follows(entered[0], vote(1, 3, [4]), vote(2, 3, [4])) == (3, without(4)), "or they vote for it now"


def test_v06_one_entry_alone_may_be_a_lie_that_is_told_to_one_half() -> None:
    assert follows(entry(vote(0, 1, [4]))) is None
    assert follows(entry(vote(0, 1, [4])), entry(vote(1, 1, [4])), vote(2, 2)) is None
    assert follows(vote(0, 3, [4]), vote(1, 3, [4])) is None, "and without one nothing is followed"


def test_v06_nobody_waits_for_its_suspects() -> None:
    two = [entry(vote(seat, 1, [4])) for seat in (0, 1)]
    assert follows(*two) is None
    assert follows(*two, suspects=doubts(2)) == (3, without(4))
    assert follows(*two, suspects=doubts(0, 1, 2)) is None, "somebody that it hears has to be there"


def test_v07_no_majority_is_left_behind_that_may_be_playing_on() -> None:
    table = count(5, [vote(0, 1, [3, 4])])
    assert not table.may_vote(0, without(1, 2), NOBODY), "1 and 2 may be in what it voted for"
    assert table.may_vote(0, without(2, 3), NOBODY), "1 comes along: 2 alone is no majority"
    assert not table.may_vote(0, without(2, 3), doubts(1)), "if it really goes on with 1"
    assert table.may_vote(0, without(3, 4), doubts(1, 2)), "the same again"
    assert count(5, []).may_vote(0, without(1, 2), NOBODY)
    assert count(5, [vote(0, 1, [3, 4])], convicted=[1]).may_vote(0, without(1, 2), NOBODY)


def test_v07_unless_it_cannot_have_been_agreed() -> None:
    mine = vote(0, 1, [3, 4])
    assert count(5, [mine, vote(1, 1)]).may_vote(0, without(1, 2), NOBODY), "1 voted otherwise in that round"
    assert not count(5, [mine, vote(1, 2)]).may_vote(0, without(1, 2), NOBODY), "that was in a later one"
    later = [vote(0, 2, [3, 4]), *votes((1, 2, 3), 1, [4])]
    assert not count(5, later).may_vote(0, without(1, 2), NOBODY)
    assert count(5, [*later, entry(vote(1, 1, [4]))]).may_vote(0, without(1, 2), NOBODY), "1 had entered"


def test_v07_also_by_a_vote_of_its_own_that_does_not_count() -> None:
    mine = vote(0, 1, [3, 4], owns=[m.Own(1, THERE)])
    assert not count(5, [mine]).may_vote(0, without(1, 2), NOBODY)


def test_v07_what_a_leaver_voted_for_binds_whoever_counts_it_out() -> None:
    table = count(6, [vote(5, 1, [0, 3])])
    counted_out = proposal_of(vote(0, 1, [1, 2, 5], [5]))
    assert not table.may_vote(0, counted_out, NOBODY), "1 and 2 may be playing on with 4"
    assert table.may_vote(0, without(1, 2), NOBODY), "as long as it is here, it can say so"
    assert not count(6, [vote(5, 1, [0, 3])], left=[5]).may_vote(0, without(1, 2), NOBODY)


def test_v07_when_voting_and_when_following() -> None:
    agreed = votes((0, 2, 3), 3, [1])
    table = count(
        4, [*votes((0, 1, 2), 1, [3]), *agreed, vote(0, 4, [1]), entry(agreed[1]), entry(agreed[2])]
    )
    assert table.may_vote(0, without(1), NOBODY)
    assert table.to_enter(0, NOBODY) == (4, without(1))
    assert not table.may_vote(0, without(1), doubts(2)), "1 and 2 may be in what 0 voted for in round 1"
    assert table.to_enter(0, doubts(2)) is None


def test_v08_a_seat_is_out_when_all_others_have_entered_a_view_without_it() -> None:
    ballots = votes((0, 1, 2), 1, [3])
    entries = [entry(one) for one in ballots]
    assert not count(4, ballots).goes_on_without(3, NOBODY)
    assert not count(4, [*ballots, *entries[:2]]).goes_on_without(3, NOBODY)
    assert count(4, [*ballots, *entries[:2]]).goes_on_without(3, doubts(2)), "all that it hears"
    assert not count(4, ballots).goes_on_without(3, doubts(0, 1, 2)), "at least one"
    assert count(4, [*ballots, *entries]).goes_on_without(3, NOBODY)
    assert not count(4, [*ballots, *entries]).goes_on_without(0, NOBODY), "it stays"
    assert not count(4, [*ballots[:2], *entries]).goes_on_without(3, NOBODY), "that was never agreed"


def test_two_seats_alone_can_only_leave_or_be_convicted() -> None:
    assert count(2, []).to_vote(0, doubts(1), own) is None
    with_leaver = count(2, [], left=[1])
    due = with_leaver.to_vote(0, NOBODY, lambda gone: proposal_of(vote(0, 1, gone, gone)))
    assert due is not None
    assert count(2, [vote(0, 1, [1], [1])], left=[1]).to_enter(0, NOBODY) == due


def test_the_count_does_not_depend_on_the_order_of_the_ballots() -> None:
    ballots = [*votes((0, 1, 2), 1, [3]), *votes((0, 1), 2), entry(vote(2, 1, [3])), vote(1, 1, [2])]
    assert count(4, ballots) == count(4, reversed(ballots))


# -- everything that can happen ------------------------------------------------------------------------------

LIAR, LIARS = frozenset({2}), frozenset({3, 4})
WHOLE = {
    "a liar with two messages": Case(3, LIAR, rounds=1, contents=2),
    "a liar that votes as it likes": Case(3, LIAR, rounds=2, contents=0),
    "a liar that fills the places of votes": Case(3, LIAR, rounds=1, contents=0, junk=2),
    "a liar, and an honest seat crashes and comes back": Case(3, LIAR, rounds=1, crashes=1, restarts=True),
    "a liar, and an honest seat leaves": Case(3, LIAR, rounds=1, leaves=True),
    "four seats": Case(4, frozenset({3}), rounds=1, contents=0),
}
CUT_OFF = {
    "a liar with a message, two rounds": Case(3, LIAR),
    "four seats, two rounds": Case(4, frozenset({3}), contents=0),
    "all are honest, and suspect each other": Case(4, cuts=True, crashes=1),
}
WALKS = {
    "a liar of four": (Case(4, frozenset({3}), rounds=4, contents=2, junk=1, crashes=1), 40),
    "a liar of four, and somebody comes back": (
        Case(4, frozenset({3}), rounds=4, crashes=1, restarts=True),
        40,
    ),
    "a liar of four, and somebody leaves": (Case(4, frozenset({3}), rounds=4, leaves=True), 40),
    "two liars of five": (Case(5, LIARS, rounds=4, contents=2, crashes=1), 20),
    "a cut table of four": (Case(4, rounds=4, cuts=True, crashes=1), 200),
    "a cut table of five": (Case(5, rounds=4, cuts=True, crashes=1), 100),
}


@pytest.mark.parametrize("name", WHOLE)
def test_small_tables_are_explored_whole(name: str) -> None:
    explored = explore(WHOLE[name])
    assert explored.fault is None, explored.story
    assert explored.complete
    assert explored.states > 200


@pytest.mark.parametrize("name", CUT_OFF)
def test_larger_ones_are_explored_as_far_as_time_allows(name: str) -> None:
    explored = explore(CUT_OFF[name], most=1_000_000 if BIG else 2_000)
    assert explored.fault is None, explored.story


@pytest.mark.parametrize("name", WALKS)
def test_large_tables_are_walked_through_at_random(name: str) -> None:
    case, walks = WALKS[name]
    for seed in range(walks * (1000 if BIG else 1)):
        walked = wander(case, seed)
        assert walked.fault is None, (seed, walked.story)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.caption)
def test_a_wrong_rule_is_refuted(variant: Variant) -> None:
    seen = variant.seen()
    assert seen.fault is not None
    assert variant.fault in seen.fault
