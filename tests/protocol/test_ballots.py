"""Ballots one by one: what counts, what decides, what contradicts, and what a seat votes next."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import pytest
from otto_protocol.match.ballots import MAX_ROUNDS_AHEAD, MAX_TWINS, Ballots
from otto_protocol.match.proposals import Contradiction, Proposal, Vote

from otto_protocol.match import messages as m
from otto_protocol.quorum import is_quorum

MATCH, PLACE = bytes(32), b"h" * 32
NONE: frozenset[int] = frozenset()


def signed(header: m.Header, body: m.Body) -> m.Message:
    """Ballots look at contents only: signatures are checked before."""
    return m.Message(header, body, m.Signed(header.seat, repr((header, body)).encode(), bytes(64)))


def proposal(gone: Iterable[int], excluded: Iterable[int] = (), digest: bytes = PLACE) -> Proposal:
    return Proposal(7, digest, frozenset(gone), frozenset(excluded))


def ballot(
    seat: int,
    number: int,
    p: Proposal,
    cite: int = 0,
    own: bytes = b"",
    opens: bytes | None = None,
    live: int = 4,
) -> m.Message:
    if opens is None:
        stay = sorted(set(range(live)) - p.gone)
        opens = p.opens(0, [(one, b"") for one in stay]) if cite else b""
    header = m.Header(MATCH, 0, p.step, seat, p.digest)
    return signed(
        header, m.Ballot(number, tuple(sorted(p.gone)), tuple(sorted(p.excluded)), own, cite, opens)
    )


def leave(seat: int, last: int, cite: int = 0, view: int = 0) -> m.Message:
    return signed(m.Header(MATCH, view, 7, seat, PLACE), m.Leave(last, cite))


def table(live: int, *messages: m.Message, me: int | None = None) -> tuple[Ballots, set[int]]:
    """What one knows after these messages, and whom they convict."""
    ballots, liars = Ballots(range(live), me), set()
    for message in messages:
        try:
            ballots.add(message)
        except Contradiction as found:
            liars.add(found.fault.culprit)
    ballots.convict(liars)
    return ballots, liars


def voted(live: int, p: Proposal, voters: Iterable[int], confirmers: Iterable[int]) -> list[m.Message]:
    return [
        *(ballot(seat, 1, p, live=live) for seat in voters),
        *(ballot(seat, 2, p, cite=1, live=live) for seat in confirmers),
    ]


# -- quorums -------------------------------------------------------------------------------------------


def test_more_than_half_is_a_quorum_and_half_with_the_lowest_of_four_or_more() -> None:
    assert is_quorum({0}, {0})
    assert not is_quorum({0}, {0, 1})
    assert not is_quorum({1}, {0, 1})
    assert is_quorum({1, 2}, {0, 1, 2})
    assert not is_quorum({0}, {0, 1, 2})
    assert is_quorum({2, 5}, {2, 4, 5, 9})
    assert not is_quorum({4, 9}, {2, 4, 5, 9})
    assert is_quorum({4, 5, 9}, {2, 4, 5, 9})
    assert not is_quorum({7, 8, 9}, {0, 1, 2})
    assert not is_quorum((), ())


@pytest.mark.parametrize("size", range(1, 8))
def test_any_two_quorums_have_a_seat_in_common(size: int) -> None:
    seats = range(size)
    groups = [group for count in range(size + 1) for group in itertools.combinations(seats, count)]
    quorums = [set(group) for group in groups if is_quorum(group, seats)]
    assert quorums
    assert all(one & other for one, other in itertools.combinations(quorums, 2))


# -- agreed and final ----------------------------------------------------------------------------------


def test_a_final_proves_itself_and_needs_every_one_of_its_ballots() -> None:
    p = proposal({3})
    needed = voted(4, p, voters=(0, 1, 2), confirmers=(0, 1, 2))
    final = table(4, *needed)[0].final()
    assert final is not None
    assert (final.proposal, final.agreed_round) == (p, 1)
    assert final.own == ((0, b""), (1, b""), (2, b""))
    assert final.digest(0) == p.opens(0, final.own)
    for missing in needed[:3]:
        assert table(4, *(one for one in needed if one is not missing))[0].final() is None
    for two in itertools.combinations(needed[3:], 2):
        half = {one.header.seat for one in two}
        assert (table(4, *needed[:3], *two)[0].final() is not None) == (0 in half)


def test_whoever_stays_must_have_agreed() -> None:
    p = proposal({4})
    assert table(5, *voted(5, p, voters=(0, 1, 2), confirmers=()))[0].agreed() is None
    late = ballot(3, 2, p, live=5)
    assert table(5, *voted(5, p, (0, 1, 2), ()), late)[0].agreed() is None, "no quorum in round 2"
    assert table(5, *voted(5, p, (0, 1, 2, 3), ()))[0].agreed() == (1, p)


def test_an_agreement_may_gather_over_rounds_but_needs_a_quorum_in_one() -> None:
    p, q = proposal({3}), proposal({2, 3})
    early = [ballot(0, 1, p), ballot(1, 1, p), ballot(2, 1, proposal(()))]
    later = [ballot(seat, 2, p) for seat in (1, 2)]
    assert table(4, *early, *later)[0].agreed() is None
    assert table(4, *early, *later, ballot(0, 2, p))[0].agreed() == (2, p)
    assert table(4, *early, *later, ballot(0, 2, q))[0].agreed() is None


def test_the_confirmation_comes_in_the_next_round() -> None:
    p = proposal({3})
    agreed = voted(4, p, (0, 1, 2), ())
    late = [ballot(seat, 3, p, cite=1) for seat in (0, 1, 2)]
    ballots = table(4, *agreed, *late)[0]
    assert ballots.final() is None
    assert ballots.agreed() == (3, p)
    assert table(4, *agreed, *late, *(ballot(seat, 4, p, cite=3) for seat in (0, 1)))[0].final() is not None


def test_what_cites_an_agreement_that_does_not_exist_counts_for_nothing() -> None:
    p = proposal({3})
    bogus = ballot(2, 2, p, cite=1)
    ballots = table(4, ballot(0, 1, p), ballot(1, 1, p), bogus)[0]
    assert not ballots.usable(bogus)
    assert ballots.agreed() is None
    assert table(4, ballot(0, 2, p), ballot(1, 2, p), bogus)[0].agreed() is None
    assert table(4, ballot(0, 2, p), ballot(1, 2, p), ballot(2, 2, p))[0].agreed() == (2, p)
    other = ballot(2, 2, proposal({1}), cite=1)
    assert not table(4, *voted(4, p, (0, 1, 2), ()), other)[0].usable(other)


def test_what_a_peer_concludes_does_not_depend_on_the_order() -> None:
    p, q = proposal({3}), proposal({1, 2})
    messages = [
        *voted(4, p, voters=(0, 1, 2), confirmers=(0, 2)),
        ballot(3, 1, q), ballot(3, 1, p), ballot(3, 2, q), ballot(3, 3, q, own=b"x" * 32),
        ballot(1, 2, p, cite=1), leave(1, 2, cite=1),
    ]  # fmt: skip
    expected, liars = table(4, *messages)
    assert liars == {3}
    choice = random.Random(1)
    for _ in range(200):
        some = choice.sample(messages, choice.randint(1, len(messages)))
        first, second = table(4, *some)[0], table(4, *sorted(some, key=lambda one: one.signed.content))[0]
        assert (first.agreed(), first.final()) == (second.agreed(), second.final())
    ballots = table(4, *choice.sample(messages, len(messages)))[0]
    assert (ballots.agreed(), ballots.final()) == (expected.agreed(), expected.final())
    assert ballots.all() == expected.all()
    assert table(4, *expected.all())[0].final() == expected.final()


# -- who left, who is convicted ------------------------------------------------------------------------


def test_of_two_nobody_goes_on_alone_because_the_other_one_is_silent() -> None:
    alone = voted(2, proposal({1}), voters=(0,), confirmers=(0,))
    assert table(2, *alone)[0].agreed() is None


def test_of_two_one_goes_on_when_the_other_one_left_or_is_convicted() -> None:
    p = proposal({1}, {1})
    alone = voted(2, p, voters=(0,), confirmers=(0,))
    assert table(2, *alone)[0].final() is None
    assert table(2, *alone, leave(1, 0))[0].final() is not None
    ballots = table(2, *alone)[0]
    ballots.convict({1})
    assert ballots.final() is not None


def test_leave_proves_nothing_without_the_last_ballot_that_it_names() -> None:
    p = proposal({2}, {2})
    votes = [ballot(seat, 2, p, live=3) for seat in (0, 1)]
    last = ballot(2, 1, proposal(()), live=3)
    assert table(3, *votes, leave(2, 1))[0].agreed() is None
    assert table(3, *votes, leave(2, 1), last)[0].agreed() == (2, p)


def test_who_excludes_a_leaver_votes_later_and_cites_no_less_than_it() -> None:
    p, q = proposal({2}), proposal({1, 2, 3}, {1})
    agreed = voted(4, p, voters=(0, 1, 3), confirmers=(1,))
    too_early, too_low = ballot(0, 2, q), ballot(0, 3, q)
    ballots = table(4, *agreed, leave(1, 2, cite=1), too_early, too_low)[0]
    assert not ballots.usable(too_early)
    assert not ballots.usable(too_low)
    ballots = table(4, ballot(1, 1, p), leave(1, 1), ballot(0, 1, q), too_early)[0]
    assert ballots.usable(too_early)
    assert not ballots.usable(ballot(0, 1, q))


def test_who_left_between_agreement_and_confirmation_is_not_waited_for() -> None:
    p = proposal({0})
    agreed = voted(4, p, voters=(1, 2, 3), confirmers=(1, 2))
    assert table(4, *agreed)[0].final() is None
    assert table(4, *agreed, leave(3, 1))[0].final() is not None
    in_this_round = ballot(3, 2, proposal(()))
    assert table(4, *agreed, in_this_round, leave(3, 2))[0].final() is None, "it voted in the same round"


def test_who_cited_more_than_the_voters_is_waited_for() -> None:
    p, q = proposal({0}), proposal({0, 1})
    others = [ballot(1, 1, p), ballot(1, 2, p, cite=1), leave(1, 2, cite=1)]
    votes = [ballot(seat, 3, q) for seat in (2, 3)]
    assert table(4, *others, *votes)[0].agreed() is None
    ballots = table(4, *others, me=2)[0]
    vote = ballots.vote(7, PLACE, frozenset({0}), again=True)
    assert vote == Vote(q, 2, 0, b""), "gone, but not excluded: the others may have gone on by what it cited"


def test_a_leave_of_an_earlier_view_holds() -> None:
    ballots = Ballots({0, 1}, 0, view=3, left={1: leave(1, 5, cite=4, view=2)})
    assert ballots.excludable() == {1}
    assert ballots.vote(7, PLACE, NONE, again=False) == Vote(proposal({1}, {1}), 1, 0, b"")
    late = Ballots({0, 1}, 0, view=3)
    assert late.add(leave(1, 5, cite=4, view=2))
    assert late.excludable() == {1}
    header = m.Header(MATCH, 3, 7, 1, PLACE)
    with pytest.raises(Contradiction) as caught:
        late.add(signed(header, m.Ballot(1, (), (), b"", 0, b"")))
    assert caught.value.fault.rule == "P18"


def test_two_leaves_contradict() -> None:
    ballots = table(3, leave(1, 0))[0]
    assert not ballots.add(leave(1, 0))
    with pytest.raises(Contradiction) as caught:
        ballots.add(leave(1, 9))
    assert (caught.value.fault.rule, caught.value.new) == ("P18", False)


# -- seats that contradict themselves ------------------------------------------------------------------


def test_own_messages_are_compared_at_one_place_in_the_log_only() -> None:
    here, there = proposal({3}), proposal({3}, digest=b"k" * 32)
    honest = [ballot(1, 1, here, own=b"x" * 32), ballot(1, 2, there)]
    assert table(4, *honest)[1] == set()
    assert table(4, honest[0], ballot(1, 2, proposal(())))[1] == {1}


def test_what_was_counted_once_is_counted_by_all() -> None:
    """Seat 1 knew an agreement by the first of two ballots of seat 3; who knew the second must come to see it."""
    p, q = proposal({0}), proposal({1})
    first, second = ballot(3, 1, p), ballot(3, 1, q)
    known = [ballot(1, 1, p), ballot(2, 1, p), first]
    for messages in ([*known, second], [second, *known], [second, *reversed(known)]):
        ballots, liars = table(4, *messages)
        assert liars == {3}
        assert ballots.agreed() == (1, p)


def test_a_flood_of_contradictions_is_bounded_and_does_not_keep_out_what_matters() -> None:
    p = proposal({0})
    junk = [ballot(3, 1, proposal({0}, digest=bytes([number]) * 32)) for number in range(100)]
    ballots = table(4, *junk)[0]
    assert len(ballots.all()) == MAX_TWINS
    ballots = table(4, *junk, ballot(1, 1, p), ballot(2, 1, p), ballot(3, 1, p))[0]
    assert len(ballots.all()) == MAX_TWINS + 2
    assert ballots.agreed() == (1, p)


def test_confirmations_must_mean_the_same_next_view() -> None:
    """Seat 2 names one own message to seat 0, another one to seat 1: neither may go on by its own reading."""
    p, one, two = proposal({3}), b"x" * 32, b"y" * 32
    opens = [p.opens(0, [(0, b""), (1, b""), (2, own)]) for own in (one, two)]
    shared = [ballot(0, 1, p), ballot(1, 1, p)]
    to_0, to_1 = ballot(2, 1, p, own=one), ballot(2, 1, p, own=two)
    sides = []
    for me, said in ((0, to_0), (1, to_1)):
        ballots = table(4, *shared, said, me=me)[0]
        vote = ballots.vote(7, PLACE, NONE, again=False)
        assert vote is not None
        assert (vote.cite, vote.opens) == (1, opens[me])
        sides.append(ballot(me, 2, p, cite=1, opens=vote.opens))
    together, liars = table(4, *shared, to_0, to_1, *sides, me=0)
    assert liars == {2}
    assert together.final() is None
    void = p.opens(0, [(0, b""), (1, b""), (2, b"")])
    vote = together.vote(7, PLACE, NONE, again=True)
    assert vote is not None
    assert (vote.round, vote.opens) == (3, void)
    both = [ballot(seat, 3, p, cite=2, opens=void) for seat in (0, 1)]
    final = table(4, *shared, to_0, to_1, *sides, *both)[0].final()
    assert final is not None
    assert final.own[2] == (2, b"")


def test_a_reading_that_was_confirmed_before_the_contradiction_was_seen_stands() -> None:
    p, own = proposal({3}), b"x" * 32
    opens = p.opens(0, [(0, b""), (1, b""), (2, own)])
    confirmed = [
        ballot(0, 1, p), ballot(1, 1, p), ballot(2, 1, p, own=own),
        *(ballot(seat, 2, p, cite=1, own=own if seat == 2 else b"", opens=opens) for seat in (0, 1, 2)),
    ]  # fmt: skip
    final = table(4, *confirmed, ballot(2, 1, p, own=b"y" * 32))[0].final()
    assert final is not None
    assert final.own[2] == (2, own)


def test_a_table_that_a_liar_forked_convicts_it_when_the_halves_meet() -> None:
    """The known limit: half of four with the lowest, and a seat that signs for both halves of a cut table."""
    one, other = proposal({1, 2}), proposal({0})
    left = voted(4, one, voters=(0, 3), confirmers=(0, 3))
    right = voted(4, other, voters=(1, 2, 3), confirmers=(1, 2, 3))
    assert table(4, *left)[0].final() is not None
    assert table(4, *right)[0].final() is not None
    assert table(4, *left, *right)[1] == {3}


def test_a_round_far_ahead_is_not_kept() -> None:
    ballots = table(3)[0]
    assert not ballots.add(ballot(1, MAX_ROUNDS_AHEAD + 1, proposal({2}), live=3))
    assert ballots.add(ballot(1, MAX_ROUNDS_AHEAD, proposal({2}), live=3))


# -- voting --------------------------------------------------------------------------------------------


def test_a_seat_votes_when_it_suspects_somebody_or_somebody_else_votes() -> None:
    ballots = table(3, me=0)[0]
    assert ballots.vote(7, PLACE, NONE, again=True) is None
    assert ballots.vote(7, PLACE, frozenset({2}), again=False) == Vote(proposal({2}), 1, 0, b"")
    ballots.add(ballot(1, 4, proposal({2}), live=3))
    assert ballots.vote(7, PLACE, NONE, again=False) == Vote(proposal(()), 4, 0, b"")


def test_a_table_without_a_quorum_is_quiet() -> None:
    ballots = table(3, ballot(0, 1, proposal({1, 2}), live=3), me=0)[0]
    suspects = frozenset({1, 2})
    assert ballots.vote(7, PLACE, suspects, again=True) is None
    assert ballots.vote(7, PLACE, frozenset({1}), again=False) is None, "not before its time"
    assert ballots.vote(7, PLACE, frozenset({1}), again=True) == Vote(proposal({1}), 2, 0, b"")


def test_who_knows_an_agreement_votes_for_it_at_once_whatever_it_suspects() -> None:
    p = proposal({3})
    ballots = table(4, *voted(4, p, (0, 1, 2), ()), me=1)[0]
    vote = ballots.vote(9, b"z" * 32, frozenset({0, 2}), again=False)
    assert vote is not None
    assert (vote.proposal, vote.round, vote.cite) == (p, 2, 1)


def test_a_seat_that_the_others_go_on_without_confirms_after_a_while() -> None:
    ballots = table(4, *voted(4, proposal({3}), (0, 1, 2), ()), me=3)[0]
    assert ballots.vote(7, PLACE, NONE, again=False) is None
    vote = ballots.vote(7, PLACE, NONE, again=True)
    assert vote is not None
    assert (vote.proposal, vote.cite) == (proposal({3}), 1)


def test_who_left_or_is_convicted_is_gone_and_excluded() -> None:
    ballots = table(4, leave(2, 0), me=0)[0]
    ballots.convict({3})
    assert ballots.vote(7, PLACE, NONE, again=False) == Vote(proposal({2, 3}, {2, 3}), 1, 0, b"")
    assert table(4, leave(0, 0), me=0)[0].vote(7, PLACE, NONE, again=True) is None
