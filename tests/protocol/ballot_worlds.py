"""Worlds of voters: what each seat knows, all that can happen next, and what follows by the real `Ballots`.

A seat here is a small session: it speaks once in a step, goes on when all have spoken, seals, votes, and
opens the next view. All that it is follows from the set of messages that it knows, so a world is one set for
each seat. A crash needs no state of its own: the seat does nothing any more, which is asked of every world.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from otto_protocol.match.ballots import Ballots
from otto_protocol.match.proposals import Contradiction, Proposal, Vote, proposal_of

from otto_protocol.hashing import tagged_hash
from otto_protocol.match import messages as m
from otto_protocol.quorum import is_quorum

START = tagged_hash("start of the model")
MATCH = tagged_hash("match of the model")
NO_SIGNATURE = bytes(64)


@dataclass(frozen=True)
class Case:
    """What may happen in a model."""

    seats: int
    rounds: int
    steps: int = 1  # in the first view; nobody speaks in later ones
    suspicions: tuple[tuple[int, frozenset[int]], ...] = ()  # (who, of whom): right or wrong, at any time
    leavers: frozenset[int] = frozenset()  # who may sign LEAVE at any time
    liar: int | None = None  # signs ballots as it likes, and shows each to whom it likes
    lies: int = 2
    hears: str = (
        "both"  # before all hear each other: what another one signed ("own"), with what it relays ("all")
    )
    views: int = 1  # so many views may be opened
    hearing: frozenset[tuple[int, int]] | None = None  # (who, whom) before all hear each other; None: all


Known = int
"""What a seat knows: a bit for each message, by its place in `Book`."""


@dataclass(frozen=True)
class Stand:
    """Where a seat stands by what it knows."""

    view: int
    step: int
    digest: bytes
    ballots: Ballots
    opened: tuple[tuple[frozenset[int], bytes], ...]  # of each later view: its seats and its first digest
    out: bool


class Book:
    """All messages that were signed in any world of one model, numbered; and what sets of them mean."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.messages: list[m.Message] = []
        self.authors = [0] * case.seats  # by seat: the bits of what it signed
        self._numbers: dict[m.Message, int] = {}
        self.stand = functools.cache(self._stand)
        self.ballot = functools.cache(self._ballot)

    def bit(self, header: m.Header, body: m.Body) -> Known:
        """The bit of a message, which is signed now if it has not been."""
        content = repr((header, body)).encode()
        message = m.Message(header, body, m.Signed(header.seat, content, NO_SIGNATURE))
        number = self._numbers.get(message)
        if number is None:
            number = self._numbers[message] = len(self.messages)
            self.messages.append(message)
            self.authors[header.seat] |= 1 << number
        return 1 << number

    def of(self, known: Known) -> list[m.Message]:
        return [message for number, message in enumerate(self.messages) if known >> number & 1]

    def _stand(self, seat: int, known: Known) -> Stand:
        """Where the seat stands: as far as the messages carry it, view by view."""
        live = frozenset(range(self.case.seats))
        view, step, digest = 0, 0, START
        opened: list[tuple[frozenset[int], bytes]] = []
        left: dict[int, m.Message] = {}
        convicted: set[int] = set()
        messages = self.of(known)
        said = {
            (message.header.view, message.header.step, message.header.seat, message.header.previous): message
            for message in messages
            if isinstance(message.body, m.GoOn)
        }
        while True:
            ballots = Ballots(live, seat, view=view, left=left)
            for message in messages:
                if isinstance(message.body, m.Leave):
                    fits = message.header.view <= view
                else:
                    fits = isinstance(message.body, m.Ballot) and message.header.view == view
                if not fits:
                    continue
                try:
                    ballots.add(message)
                except Contradiction as contradiction:
                    convicted.add(contradiction.fault.culprit)
            ballots.convict(convicted)
            final = ballots.final()
            if final is not None and seat in final.proposal.gone:
                return Stand(view, step, digest, ballots, tuple(opened), out=True)
            if final is not None and self._all_here(final.own, view, final.proposal, said):
                live -= final.proposal.gone
                step, digest = final.proposal.step + 1, final.digest(view)
                left = {one: leave for one, leave in ballots.leaves.items() if one in live}
                view += 1
                opened.append((live, digest))
                continue
            while view == 0 and step < self.case.steps:
                now = [said.get((view, step, one, digest)) for one in sorted(live)]
                if None in now:
                    break
                digest = tagged_hash("step", digest, *(one.content_hash() for one in now if one))
                step += 1
            return Stand(view, step, digest, ballots, tuple(opened), out=seat in ballots.leaves)

    @staticmethod
    def _all_here(
        own: tuple[tuple[int, bytes], ...],
        view: int,
        proposal: Proposal,
        said: dict[tuple[int, int, int, bytes], m.Message],
    ) -> bool:
        for seat, hash_of in own:
            message = said.get((view, proposal.step, seat, proposal.digest))
            if hash_of and (message is None or message.content_hash() != hash_of):
                return False
        return True

    def contradicted(self, known: Known) -> set[int | None]:
        """Who is convicted by these ballots."""
        ballots, found = Ballots(range(self.case.seats)), set[int | None]()
        for message in self.of(known):
            if isinstance(message.body, m.VOTES) and message.header.view == 0:
                try:
                    ballots.add(message)
                except Contradiction as contradiction:
                    found.add(contradiction.fault.culprit)
        return found

    def speak(self, seat: int, known: Known) -> Known:
        """The bit of what the seat says now in the game, or 0."""
        stand = self.stand(seat, known)
        if stand.out or stand.ballots.sealed or stand.view or stand.step >= self.case.steps:
            return 0
        header = m.Header(MATCH, 0, stand.step, seat, stand.digest)
        bit = self.bit(header, m.GoOn(b""))
        spoken = any(
            message.header.seat == seat and message.header.step == stand.step
            for message in self.of(known)
            if isinstance(message.body, m.GoOn)
        )
        return 0 if spoken else bit

    def _ballot(self, seat: int, known: Known, suspects: frozenset[int]) -> Known:
        """The bit of the ballot that the seat signs now when it suspects these, or 0."""
        stand = self.stand(seat, known)
        if stand.out:
            return 0
        choice = stand.ballots.vote(stand.step, stand.digest, suspects & stand.ballots.live, again=True)
        if choice is None:
            return 0
        return self.sign_ballot(seat, known, stand.view, choice)

    def sign_ballot(self, seat: int, known: Known, view: int, vote: Vote) -> Known:
        proposal = vote.proposal
        own = b""
        for message in self.of(known & self.authors[seat]):
            at = message.header
            if isinstance(message.body, m.GoOn) and (at.view, at.step, at.previous) == (
                view,
                proposal.step,
                proposal.digest,
            ):
                own = message.content_hash()
        gone, excluded = tuple(sorted(proposal.gone)), tuple(sorted(proposal.excluded))
        header = m.Header(MATCH, view, proposal.step, seat, proposal.digest)
        return self.bit(header, m.Ballot(vote.round, gone, excluded, own, vote.cite, vote.opens))

    def leave(self, seat: int, known: Known) -> Known:
        stand = self.stand(seat, known)
        if stand.out:
            return 0
        last, cite = stand.ballots.last_own_round()
        header = m.Header(MATCH, stand.view, stand.step, seat, stand.digest)
        return self.bit(header, m.Leave(last, cite))


World = tuple[Known, ...]


def moves(book: Book, world: World) -> Iterator[tuple[str, World]]:
    """Everything that can happen next."""
    case, hearing = book.case, book.case.hearing

    def learn(seat: int, bits: Known) -> World:
        return (*world[:seat], world[seat] | bits, *world[seat + 1 :])

    for seat, known in enumerate(world):
        if bit := book.speak(seat, known):
            yield f"{seat} speaks", learn(seat, bit)
        for other, others in enumerate(world):
            if other == seat or not others & ~known or not (hearing is None or (seat, other) in hearing):
                continue
            signed = others & book.authors[other]
            if other == case.liar:
                for number in range(len(book.messages)):
                    if signed & ~known & (1 << number):
                        yield f"{seat} hears #{number} of {other}", learn(seat, 1 << number)
                continue
            if case.hears != "all" and signed & ~known:
                yield f"{seat} hears {other}", learn(seat, signed)
            if case.hears == "all" or (case.hears == "both" and others & ~signed & ~known):
                yield f"{seat} hears all from {other}", learn(seat, others)
        if seat == case.liar:
            for name, bit in lies(book, world, seat):
                yield name, learn(seat, bit)
            continue
        for who, suspects in case.suspicions:
            if who != seat:
                continue
            bit = book.ballot(seat, known, suspects)
            if bit and within(book, bit):
                yield f"{seat} votes without {sorted(suspects)}", learn(seat, bit)
        if seat in case.leavers and (bit := book.leave(seat, known)):
            yield f"{seat} leaves", learn(seat, bit)


def within(book: Book, bit: Known) -> bool:
    """Whether a ballot is within the bounds of the model."""
    message = book.messages[bit.bit_length() - 1]
    assert isinstance(message.body, m.Ballot)
    return message.body.round <= book.case.rounds and message.header.view < book.case.views


def lies(book: Book, world: World, liar: int) -> Iterator[tuple[str, Known]]:
    """Ballots of the liar for whatever others vote for, in any round, citing any round before it or none."""
    own = [
        message for message in book.of(world[liar] & book.authors[liar]) if isinstance(message.body, m.Ballot)
    ]
    if len(own) >= book.case.lies:
        return
    everybody = 0
    for seat, known in enumerate(world):
        if seat != liar:
            everybody |= known
    ballots = [message for message in book.of(everybody) if isinstance(message.body, m.Ballot)]
    proposals = {proposal_of(ballot) for ballot in ballots if ballot.header.seat != liar}
    for proposal in proposals:
        own = tuple((seat, b"") for seat in sorted(set(range(book.case.seats)) - proposal.gone))
        for number in range(1, book.case.rounds + 1):
            for cite in range(number):
                vote = Vote(proposal, number, cite, proposal.opens(0, own) if cite else b"")
                bit = book.sign_ballot(liar, world[liar], 0, vote)
                if not bit & world[liar]:
                    yield f"{liar} lies #{bit.bit_length() - 1}", bit


def check_safe(book: Book, world: World) -> bool:
    """No two honest seats open different views: for each view the same seats, and the same digest.

    If they do, somebody signed for both, and what all know together convicts it (nobody else).
    """
    opened: dict[int, tuple[frozenset[int], bytes]] = {}
    for seat, known in enumerate(world):
        if seat == book.case.liar:
            continue
        for view, content in enumerate(book.stand(seat, known).opened):
            if opened.setdefault(view, content) != content:
                liars = book.contradicted(union(world, range(book.case.seats)))
                assert liars == {book.case.liar}, "two different next views"
                return False
    return True


@dataclass
class Explored:
    """Every world that can come about, each with one way to it; who is forked is not followed further."""

    found: dict[World, tuple[World | None, str]]
    forked: list[World]


def reachable(book: Book, limit: int) -> Explored:
    """All worlds from nothing known; `check_safe` is asked in all of them."""
    start = (0,) * book.case.seats
    explored = Explored({start: (None, "")}, [])
    waiting = [start]
    while waiting:
        world = waiting.pop()
        for name, following in moves(book, world):
            if following in explored.found:
                continue
            explored.found[following] = (world, name)
            assert len(explored.found) <= limit, "larger than expected"
            try:
                safe = check_safe(book, following)
            except AssertionError as error:
                raise AssertionError(f"{error}: {path(explored.found, following)}") from None
            if safe:
                waiting.append(following)
            else:
                explored.forked.append(following)
    return explored


def path(found: dict[World, tuple[World | None, str]], world: World) -> list[str]:
    names = []
    at: World | None = world
    while at is not None:
        at, name = found[at]
        names.append(name)
    return names[::-1]


def settle(book: Book, known: Known, together: frozenset[int]) -> tuple[Known, bool]:
    """What becomes of seats that hear each other, and nobody else: (what all know then, whether all went on).

    They tell each other everything, suspect whom they do not hear, and vote again and again.
    """
    for _ in range(200):
        before = known
        stands = {seat: book.stand(seat, known) for seat in sorted(together)}
        silent = frozenset(range(book.case.seats)) - together
        for seat in stands:
            known |= book.speak(seat, known)
            known |= book._ballot(seat, known, silent)
        if known == before:
            break
    else:
        raise AssertionError("they vote for ever")
    stands = {seat: book.stand(seat, known) for seat in sorted(together)}
    return known, all(
        stand.out or not (stand.ballots.any or (silent & stand.ballots.live)) for stand in stands.values()
    )


def union(world: World, seats: Iterable[int]) -> Known:
    known = 0
    for seat in seats:
        known |= world[seat]
    return known


def parts(case: Case, left: frozenset[int]) -> Iterator[frozenset[int]]:
    """All groups of honest seats that may be the only ones left."""
    honest = [seat for seat in range(case.seats) if seat != case.liar and seat not in left]
    for size in range(1, len(honest) + 1):
        yield from map(frozenset, itertools.combinations(honest, size))


def excuse(book: Book, known: Known, together: frozenset[int]) -> str | None:
    """Why those who hear each other may wait for somebody, or None: then they must not."""
    stands = {seat: book.stand(seat, known) for seat in together}
    inside = frozenset(seat for seat, stand in stands.items() if not stand.out)
    if not inside or len({(stands[seat].view, stands[seat].digest) for seat in inside}) > 1:
        return None
    ballots = stands[min(inside)].ballots
    agreed = ballots.agreed()
    if agreed is not None:
        left = ballots.excludable() & ballots.leaves.keys()
        if not is_quorum(inside, ballots.live - agreed[1].excluded - left):
            return "an agreement that they cannot confirm"
        return None
    if not is_quorum(inside, ballots.live - ballots.discountable()):
        return "no quorum"
    return None


def leavers(book: Book, world: World) -> frozenset[int]:
    """Who has signed LEAVE."""
    everything = union(world, range(book.case.seats))
    return frozenset(one.header.seat for one in book.of(everything) if isinstance(one.body, m.Leave))


def everybody(book: Book, world: World) -> frozenset[int]:
    """All that have not left."""
    return frozenset(range(book.case.seats)) - leavers(book, world)
