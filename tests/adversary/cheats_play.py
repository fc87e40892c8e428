"""Cheats in the play itself: 27 to 50 of the catalogue."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable

from otto_protocol.crypto.commitments import commit
from otto_protocol.hashing import tagged_hash
from otto_protocol.limits import HAND
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Purpose
from otto_protocol.rules.cards import number
from tests.adversary.harness import A, E, Instead, Silent, X, cheat, instead, leader, meant, opening
from tests.adversary.scene import Cheat, Sent, Table, newest, replica_at, standing

NONCE = bytes(range(32))


class Inject(Cheat):
    """Says something that nobody waits for, at once."""

    def __init__(self, make: Callable[[Table], m.Body]) -> None:
        self.make = make

    def begin(self, table: Table) -> Iterable[Sent]:
        self.done = True
        yield Sent(m.wire(table.sign(table.header(newest(table.sessions)), self.make(table))))

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        return []  # what it would say honestly now would be a second content for this step


class Says(Cheat):
    """Its own session says something else, the first time that it says something of a kind."""

    def __init__(self, kind: type | tuple[type, ...], change: Callable[[Table, m.Body], m.Body]) -> None:
        self.said = kind
        self.change = change

    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, self.said) and not self.done:
            self.done = True
            return self.change(table, body)
        return body


def other_than(table: Table) -> int:
    """A seat that does not cheat."""
    return table.honest()[0].seat


def hand(table: Table, seat: int | None = None) -> tuple[int, ...]:
    state = table.me.replica.play
    return state.hands[table.me.seat if seat is None else seat]


# -- choosing and leading --------------------------------------------------------------------------------


@instead("27", "collect another's card", E, "T3", start="choose", kind=m.Choose)
def foreign_choice(table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Choose)
    return dataclasses.replace(message.body, slots=(hand(table, other_than(table))[0],))


@instead("x12", "collect a card twice", E, "T3", start="choose", kind=m.Choose)
def doubled_choice(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Choose)
    return dataclasses.replace(message.body, slots=message.body.slots[:1] * 2)


@cheat("28", "lead with another's card", E, "T6", start="lead", who=leader)
class ForeignLead(Cheat):
    def body(self, table: Table, body: m.Body) -> m.Body:
        foreign = hand(table, other_than(table))[0]
        if isinstance(body, m.Lead):
            context = table.me.replica.context(Purpose.LEAD, table.me.seat)
            return m.Lead(body.number, commit(context, foreign.to_bytes(4, "big"), NONCE))
        if isinstance(body, m.OpenLead):
            self.done = True
            return m.OpenLead(foreign, NONCE, body.opening)
        return body


@cheat("29", "a false number", E, "R4", start="lead", who=leader)
class FalseNumber(Cheat):
    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.Lead) and not self.done:
            self.done = True
            return m.Lead((body.number + 1) % 10, body.commitment)
        return body


def another_lead(table: Table, body: m.Body) -> m.Body:
    assert isinstance(body, m.OpenLead)
    slot = next(slot for slot in hand(table) if slot != body.slot)
    return m.OpenLead(slot, body.nonce, opening(table, slot))


cheat("30", "open another card than the one that was led", E, "P4", start="lead", who=leader)(
    lambda: Says(m.OpenLead, another_lead)
)
cheat("31", "withhold the card that was led", A, start="open-lead", kind=m.OpenLead)(Silent)
cheat("x13", "lead when it is another's turn", E, "P3", start="lead", who=lambda t: (leader(t) + 1) % 3)(
    lambda: Inject(lambda table: m.Lead(1, NONCE))
)


# -- answering -------------------------------------------------------------------------------------------


def with_led_number(table: Table) -> int:
    said, cards = table.me.replica.play.said, table.me.secret.cards
    return next(slot for slot in hand(table) if number(cards[slot]) == said)


def led_number(table: Table, _body: m.Body) -> m.Body:
    slot = with_led_number(table)
    return m.Answer(slot, opening(table, slot))


def collected(table: Table, _body: m.Body) -> m.Body:
    slot = table.me.replica.play.collections[table.me.seat][0]
    return m.Answer(slot, opening(table, slot))


def sits_out(table: Table, _body: m.Body) -> m.Body:
    return m.SitOut(opening(table, *hand(table)))


def half_open(table: Table, _body: m.Body) -> m.Body:
    whole = opening(table, *hand(table))
    return m.SitOut(dataclasses.replace(whole, shares=whole.shares[:66]))


def foreign_answer(table: Table, body: m.Body) -> m.Body:
    assert isinstance(body, m.Answer)
    return m.Answer(hand(table, other_than(table))[0], body.opening)


def unproven_answer(_table: Table, body: m.Body) -> m.Body:
    assert isinstance(body, m.Answer)
    return m.Answer(body.slot, m.Opening(b"", b""))


ANSWERS = (m.Answer, m.SitOut)
for _title, _id, _start, _rule, _change in (
    ("answer with the number that was led", "32", "an answerer holds the number", "T7", led_number),
    ("answer with a collected card", "33", "an answerer has collected", "T7", collected),
    ("sit out with cards to answer with", "34", "an answerer has collected", "R5", sits_out),
    ("sit out and open a part of the hand", "35", "an answerer has collected", "P10", half_open),
    ("answer with another's card", "x14", "an answerer has collected", "T7", foreign_answer),
    ("answer with a card that is not opened", "x15", "an answerer has collected", "P10", unproven_answer),
):
    cheat(_id, _title, E, _rule, start=_start, who=meant)(functools.partial(Says, ANSWERS, _change))


@instead("x16", "answer with a share of another card", E, "P10", start="answer", kind=m.Answer)
def another_card(table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Answer)
    slot = next(slot for slot in hand(table) if slot != message.body.slot)
    return m.Answer(slot, message.body.opening)


# -- exchanging, drawing, collecting ---------------------------------------------------------------------


def not_waited_for(table: Table) -> int:
    there = newest(table.sessions).replica
    waiting = there.wanted()
    return next(seat for seat in there.live if seat not in waiting)


def _always(body: m.Body) -> Callable[[Table], m.Body]:
    return lambda _: body


for _id, _title, _start, _who, _body in (
    ("36", "exchange without the colour", "exchange", not_waited_for, m.Exchange(True)),
    ("37", "the leader exchanges though another may", "the leader may not exchange", meant, m.Exchange(True)),
    ("38", "speak when nobody asks", "lead", not_waited_for, m.Exchange(False)),
    ("40", "collect without having drawn", "collect", not_waited_for, m.Collect(())),
    (
        "45",
        "Otto with seven cards",
        "2: lead",
        not_waited_for,
        m.Otto(b"", 1, NONCE, (), m.Opening(b"", b"")),
    ),
    ("x17", "a shuffle in the middle of the play", "lead", leader, m.Shuffle(b"")),
    ("x18", "shares that nobody draws", "lead", leader, m.Shares(b"", b"")),
):
    cheat(_id, _title, E, "P3", start=_start, who=_who)(functools.partial(Inject, _always(_body)))


class ToOne(Cheat):
    """Sends a message to one other seat only, and goes on."""

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if self.done or (table.kind is not None and not isinstance(message.body, table.kind)):
            return super().outgoing(table, message)
        self.done = True
        return [Sent(m.wire(message), (other_than(table),))]


cheat("39", "a share to the drawer only", X, start="draw", kind=m.Shares)(ToOne)
cheat("x19", "no share for a drawn card", A, start="draw", kind=m.Shares)(Silent)


@instead("x20", "collect another's card after a draw", E, "R9", start="collect", kind=m.Collect)
def foreign_collect(table: Table, message: m.Message) -> m.Body:
    return m.Collect((hand(table, other_than(table))[0],))


@instead("40b", "collect a card of the first hand after a draw", E, "T3", start="collect", kind=m.Collect)
def kept_collect(table: Table, message: m.Message) -> m.Body:
    past = replica_at(table.me, message.header.step)
    return m.Collect((next(slot for slot in past.play.hands[table.me.seat] if slot < HAND * 3),))


# -- duels -----------------------------------------------------------------------------------------------


def challenge(table: Table) -> m.Body:
    return m.Challenge(other_than(table))


cheat("41", "a second duel in a turn", E, "R11", start="after a duel", who=meant, player="duellist")(
    lambda: Inject(challenge)
)
cheat("42", "a duel about an empty collection", E, "R11", start="lead", who=leader, player="shy")(
    lambda: Inject(challenge)
)
cheat("x21", "a duel with oneself", E, "T11", start="lead", who=leader)(
    lambda: Inject(lambda table: m.Challenge(table.me.seat))
)


def another_duel_card(table: Table, body: m.Body) -> m.Body:
    assert isinstance(body, m.OpenDuel)
    slot = next(slot for slot in hand(table) if slot != body.slot)
    return m.OpenDuel(slot, body.nonce, opening(table, slot))


def from_hand(table: Table, _body: m.Body) -> m.Body:
    slot = hand(table)[0]
    return m.LoseCard(slot, opening(table, slot))


def laid_by(table: Table) -> int:
    duel = newest(table.sessions).replica.play.duel
    assert duel is not None
    return duel.target


cheat("43", "open another card in a duel", E, "P4", start="duel-lay", who=laid_by, player="duellist")(
    lambda: Says(m.OpenDuel, another_duel_card)
)


def loser(table: Table) -> int:
    return newest(table.sessions).replica.wanted()[0]


cheat("44", "lose a card of the hand", E, "T13", start="lose-card", who=loser, player="duellist")(
    lambda: Says(m.LoseCard, from_hand)
)
cheat("x22", "withhold the duel card", A, start="duel-open", kind=m.OpenDuel, player="duellist")(Silent)


# -- Otto, score, result ---------------------------------------------------------------------------------


@cheat("45b", "Otto with a mixed collection", E, "R14", start="choose", who=lambda _: 1)
class MixedOtto(Cheat):
    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.Choose):
            return m.Choose(body.commitment, hand(table)[:8])
        if isinstance(body, m.OttoCommit | m.GoOn) and not self.done:
            self.done = True
            promised = table.me.speaker.promised[Purpose.NUMBER]
            slots = table.me.replica.play.collections[table.me.seat]
            return m.Otto(b"", promised.value, promised.nonce, (), opening(table, *slots))
        return body


@instead("46", "a bonus card twice", E, "R14", start="otto", kind=m.Otto)
def double_bonus(table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Otto)
    return dataclasses.replace(message.body, bonus=hand(table)[:1] * 2)


@instead("x23", "Otto with another number", E, "P4", start="otto", kind=m.Otto)
def other_number(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Otto)
    return dataclasses.replace(message.body, number=(message.body.number + 1) % 10)


@instead("x24", "Otto with a bonus card that gives none", E, "R14", start="otto", kind=m.Otto)
def false_bonus(table: Table, message: m.Message) -> m.Body:
    body = message.body
    assert isinstance(body, m.Otto)
    own, cards = body.number, table.me.secret.cards
    past = replica_at(table.me, message.header.step)
    hidden = past.play.hands[table.me.seat]
    slot = next(slot for slot in hidden if abs(number(cards[slot]) - own) > 1)
    slots = tuple(sorted((*past.play.collections[table.me.seat], slot)))
    return dataclasses.replace(body, bonus=(slot,), opening=table.me.speaker.opening(past, slots))


@cheat("47", "a mixed collection at the end", X, start="choose", who=lambda _: 1, ends="play")
class MixedScore(Cheat):
    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.Choose):
            self.done = True
            numbers = {number(table.me.secret.cards[slot]): slot for slot in hand(table)}
            return m.Choose(body.commitment, tuple(sorted(numbers.values()))[:3])
        return body

    def after(self, table: Table) -> None:
        for session in table.honest():
            (result,) = session.replica.results
            assert [(one.seat, one.rule) for one in result.cheats] == [(table.cheater, "R16")]
            assert result.points[table.cheater or 0] == 0


@cheat(
    "44b",
    "junk as a stake, lost in a duel",
    X,
    start="choose",
    player="duellist",
    who=lambda _: 1,
    ends="play",
)
class LostJunk(Cheat):
    """Lays one card of another number, and loses that one: at the end the collection is of one number."""

    def body(self, table: Table, body: m.Body) -> m.Body:
        if isinstance(body, m.Choose):
            junk = next(slot for slot in hand(table) if slot not in body.slots)
            return m.Choose(body.commitment, (*body.slots, junk))
        if isinstance(body, m.LoseCard) and not self.done:
            self.done = True
            own, cards = table.me.speaker.promised[Purpose.NUMBER].value, table.me.secret.cards
            laid = table.me.replica.play.collections[table.me.seat]
            slot = next(slot for slot in laid if number(cards[slot]) != own)
            return m.LoseCard(slot, opening(table, slot))
        return body

    def after(self, table: Table) -> None:
        seat = table.cheater or 0
        for session in table.honest():
            (result,) = session.replica.results
            assert [(one.seat, one.rule) for one in result.cheats] == [(seat, "R16")]
            assert result.points[seat] == 0


@instead("48", "a wrong result", E, "P11", start="result", kind=m.Result)
def wrong_result(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Result)
    return m.Result(tuple(points + 1 for points in message.body.points))


@instead("x25", "score with another number", E, "P4", start="score", kind=m.Score)
def other_score(_table: Table, message: m.Message) -> m.Body:
    assert isinstance(message.body, m.Score)
    return dataclasses.replace(message.body, number=(message.body.number + 1) % 10)


# -- two tongues -----------------------------------------------------------------------------------------


class TwoTongues(Instead):
    """One thing to one honest seat, the honest thing to another, nothing to the rest."""

    rest = False

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        first, second, *others = [s.seat for s in table.honest()]
        if self.done or (table.kind is not None and not isinstance(message.body, table.kind)):
            yield Sent(m.wire(message))
            return
        self.to = (first,)
        yield from self.say(table, message)
        yield Sent(m.wire(message), (second, *others) if self.rest else (second,))


class TwoTonguesToAll(TwoTongues):
    rest = True


def other_answer(table: Table, message: m.Message) -> m.Body:
    session = table.me
    assert isinstance(message.body, m.Answer)
    past = replica_at(session, message.header.step)
    legal = [slot for slot in past.play.hands[session.seat] if slot != message.body.slot]
    slot = next(slot for slot in legal if number(session.secret.cards[slot]) != past.play.said)
    return m.Answer(slot, session.speaker.opening(past, (slot,)))


cheat("49", "two answers to two peers", E, "P1", start="answer", kind=m.Answer)(
    lambda: TwoTonguesToAll(other_answer)
)
cheat("49b", "two answers, and nothing to the others", E, "P1", start="answer", kind=m.Answer, players=4)(
    lambda: TwoTongues(other_answer)
)
cheat("49c", "two answers at a table of six", E, "P1", start="2: answer", kind=m.Answer, players=6)(
    lambda: TwoTonguesToAll(other_answer)
)


@cheat("50", "another log before the message", A, start="answer", kind=m.Answer)
class BogusLog(Cheat):
    """Signs a message on top of a digest that is none."""

    said: m.Message | None = None

    def outgoing(self, table: Table, message: m.Message) -> Iterable[Sent]:
        if self.said is not None:
            return super().outgoing(table, message)
        header = dataclasses.replace(message.header, previous=tagged_hash("bogus"))
        self.done, self.said = True, table.sign(header, message.body)
        return [Sent(m.wire(self.said))]

    def after(self, table: Table) -> None:
        assert self.said is not None
        for session in table.honest():
            assert self.said not in standing(session)


@instead("x26", "a message of another match", E, "P15", start="answer", kind=m.Answer)
def other_match(table: Table, message: m.Message) -> m.Message:
    header = dataclasses.replace(message.header, match=tagged_hash("another match"))
    content = m.content_of(header, message.body)
    identity = table.identities[message.header.seat]
    signature = identity.sign(m.SIGNATURE_TAG, message.header.match, content)
    return m.Message(header, message.body, m.Signed(header.seat, content, signature))


@instead("x27", "another seat's name inside", E, "P2", start="answer", kind=m.Answer)
def other_seat(table: Table, message: m.Message) -> m.Message:
    seat = message.header.seat
    header = dataclasses.replace(message.header, seat=other_than(table))
    content = m.content_of(header, message.body)
    signature = table.identities[seat].sign(m.SIGNATURE_TAG, message.header.match, content)
    return m.Message(header, message.body, m.Signed(seat, content, signature))
