"""Attacks that a review of the protocol found: each worked once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.match import messages as m
from otto_protocol.match.audit import Verified
from otto_protocol.match.events import StepDone
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session
from otto_protocol.roster import TableRules
from tests.protocol.lab_games import eager

# -- a view change that removes nobody -----------------------------------------------------------------


class Sulking(Lab):
    """Seat 0 says nothing in some phases, and votes instead to go on without nobody."""

    def __init__(self, seed: bytes, games: int = 1) -> None:
        super().__init__(3, Drbg(seed), TableRules(games=games))

    def until(self, phase: MatchPhase, game: int) -> None:
        """Play until all stand in this phase, and the other seats have spoken in it."""
        while True:
            there = [one.replica for one in self.sessions]
            if all(one.phase is phase and one.game == game for one in there):
                if not any([self.turn_of(seat, eager) for seat in (1, 2)]):
                    break
            else:
                busy = [
                    self.turn_of(seat, eager)
                    for seat, one in enumerate(there)
                    if not (one.phase is phase and one.game == game and seat == 0)
                ]
                assert any(busy)
        while self.queues[0]:
            self.hear(0, self.queues[0].popleft())

    def change_view(self) -> None:
        """Seat 0 votes to remove nobody, and honest peers follow."""
        sulker = self.sessions[0]
        view = sulker.replica.view
        vote = m.wire(sulker.sign(sulker.log.proposal(frozenset())))
        for seat in range(3):
            self.hear(seat, vote)
        for _ in range(20):
            for seat, session in enumerate(self.sessions):
                while self.queues[seat]:
                    self.hear(seat, self.queues[seat].popleft())
                if session.replica.view == view:
                    session.vote()
                self.flush(seat)
        assert {one.replica.view for one in self.sessions} == {view + 1}
        assert not any(one.convicted for one in self.sessions)


def shown_hand(lab: Lab, seat: int) -> tuple[bytes, ...]:
    """What decides which cards a seat gets: its slots of the deck."""
    replica = lab.session(1).replica
    return tuple(replica.pile[slot][1].encode() for slot in replica.play.hands[seat])


def test_nobody_deals_itself_another_hand_by_a_view_change_without_loss() -> None:
    """Who had all shares of its hand and held back its own could begin again from the keys, at no price."""
    lab = Sulking(b"another hand")
    lab.until(MatchPhase.DEAL, 1)
    dealt = shown_hand(lab, 0)
    lab.change_view()
    assert {one.replica.phase for one in lab.sessions} == {MatchPhase.DEAL}
    assert shown_hand(lab, 0) == dealt
    lab.play(eager)
    assert {one.over for one in lab.sessions} == {True}
    assert not any(one.convicted for one in lab.sessions)
    assert len({one.replica.digest for one in lab.sessions}) == 1


@pytest.mark.parametrize("phase", [MatchPhase.KEY_OPEN, MatchPhase.SHUFFLE, MatchPhase.PROVE])
def test_nobody_draws_the_lot_again_by_a_view_change_without_loss(phase: MatchPhase) -> None:
    """Order, table words and first leader are what the committed keys say, however often the view changes."""
    straight = Sulking(b"an other lot")
    straight.until(MatchPhase.DEAL, 1)
    lot = straight.session(1).replica
    lab = Sulking(b"an other lot")
    lab.until(phase, 1)
    lab.change_view()
    lab.change_view()
    lab.until(MatchPhase.DEAL, 1)
    again = lab.session(2).replica
    assert (again.order, again.table_number, again.play.leader) == (
        lot.order,
        lot.table_number,
        lot.play.leader,
    )
    lab.play(eager)
    assert {one.over for one in lab.sessions} == {True}
    assert not any(one.convicted for one in lab.sessions)


# -- an old step, signed once more ---------------------------------------------------------------------


class Forging(Lab):
    """Seat 0 is a cheat that signs old steps once more; who has nothing to do votes."""

    def __init__(self, seed: bytes, players: int = 3) -> None:
        super().__init__(players, Drbg(seed))
        self.done: dict[int, Replica] = {}

    def advance(self, until: Callable[[Session], bool]) -> None:
        """Play until this holds at an honest seat."""
        while not any(until(one) for one in self.sessions[1:]):
            assert any([self.turn_of(seat, eager) for seat in range(len(self.sessions))])
            for event in [event for one in self.sessions[1:] for event in one.take_events()]:
                if isinstance(event, StepDone):
                    self.done[event.before.step] = event.before

    def once_more(self, session: Session, back: int) -> bytes:
        """Another content of seat 0 for a step so far back."""
        step = session.replica.step - back
        replica = self.done[step]
        header = m.Header(replica.match, replica.view, step, 0, replica.digest)
        return m.wire(m.sign(self.identities[0], header, m.GoOn(bytes(32))))

    def settle(self, rounds: int = 12) -> None:
        """The honest seats hear each other, and vote, for some seconds."""
        honest = self.sessions[1:]
        for _ in range(rounds):
            for one in honest:
                while self.queues[one.seat]:
                    self.hear(one.seat, self.queues[one.seat].popleft())
                one.vote()
                self.flush(one.seat)
            for one in honest:
                lowest = min((other.replica.view, other.replica.step) for other in honest)
                for other in honest:
                    self.queues[other.seat].extend(one.messages_since(*lowest))


def test_an_old_step_signed_once_more_undoes_nothing() -> None:
    """A seat gave itself up, and the last 64 steps were void: somebody else's Otto with them."""
    lab = Forging(b"an old step")
    lab.advance(lambda one: one.replica.phase is MatchPhase.RESULT)
    for seat in (1, 2):
        while lab.queues[seat]:
            lab.hear(seat, lab.queues[seat].popleft())
    stands = lab.session(1).replica
    assert stands.phase is MatchPhase.RESULT
    twice = lab.once_more(lab.session(1), 40)
    for seat in (1, 2):
        lab.queues[seat].append(twice)
    lab.settle()
    for one in lab.sessions[1:]:
        assert [one.convicted[seat].rule for seat in one.convicted] == ["P1"]
        assert one.replica.view == 1
        assert one.replica.step == stands.step + 1
        assert one.replica.phase is MatchPhase.RESULT
        assert one.replica.result_points() == stands.result_points()
    while not all(one.over for one in lab.sessions[1:]):
        assert any([lab.turn_of(seat, eager) for seat in (1, 2)])
    verdict = lab.audit(2)
    assert isinstance(verdict, Verified), verdict
    assert [(one.seat, one.rule) for one in verdict.expelled] == [(0, "P1")]
    assert verdict.digest == lab.session(1).replica.digest


@pytest.mark.parametrize(("steps", "back", "hearers"), [(14, 1, 1), (17, 2, 7), (19, 4, 4), (22, 3, 6)])
def test_who_went_back_and_who_did_not_meet_again(steps: int, back: int, hearers: int) -> None:
    """Messages are under way, so some see that all have gone on, and some do not see it yet."""
    lab = Forging(b"under way", players=4)
    lab.advance(lambda one: one.replica.step >= steps)
    last = max(lab.sessions[1:], key=lambda one: one.replica.step)
    twice = lab.once_more(last, back)
    for seat in (1, 2, 3):
        if hearers >> (seat - 1) & 1:
            lab.queues[seat].appendleft(twice)
    lab.settle(16)
    there = {(one.replica.view, one.replica.step, one.replica.digest) for one in lab.sessions[1:]}
    assert len(there) == 1
    assert {view for view, _, _ in there} == {1}
    assert {lab.session(1).convicted[seat].rule for seat in lab.session(1).convicted} == {"P1"}


# -- very many views -----------------------------------------------------------------------------------


def test_the_view_can_change_more_than_255_times() -> None:
    """Anybody can make it change; the header had no room for the 256th, and honest peers broke down."""
    lab = Lab(2, Drbg(b"views"))
    header = m.Header(lab.session(0).replica.match, 256, 7, 0, bytes(32))
    message = m.sign(lab.identities[0], header, m.Guess(1))
    assert m.parse_content(message.signed).header == header


def test_a_match_that_is_over_stays_over() -> None:
    """The last step has nothing behind it: signed once more, it made a finished match unfinished."""
    lab = Forging(b"an old step")
    lab.advance(lambda one: one.over)
    one = next(one for one in lab.sessions[1:] if one.over)
    last = lab.done[one.replica.step - 1]
    assert last.phase is MatchPhase.RESULT
    one.receive(lab.once_more(one, 1))
    assert one.convicted[0].rule == "P1"
    assert one.over
