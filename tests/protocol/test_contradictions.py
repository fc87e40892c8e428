"""What no honest seat signs, whatever the log says: alone, or together with something else (P1, P2, P15 to P19)."""

from __future__ import annotations

import dataclasses

import pytest

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from otto_protocol.match import messages as m
from otto_protocol.match.contradictions import contradiction, fault_alone, opens

ONE, OTHER = (IdentityKey.generate(Drbg(bytes([seat]))) for seat in (1, 2))
MATCH, HERE, ELSEWHERE = bytes(32), b"\x01" * 32, b"\x02" * 32
STEP = 7


def said(body: m.Body, *, step: int = STEP, view: int = 0, seat: int = 1, log: bytes = HERE) -> m.Message:
    return m.sign(ONE if seat == 1 else OTHER, m.Header(MATCH, view, step, seat, log), body)


def vote(number: int, *gone: int, owns: tuple[m.Own, ...] = (), **place: int) -> m.Message:
    return said(m.Vote(number, gone, (), owns), **place)  # type: ignore[arg-type]


def enter(of: m.Message, number: int | None = None) -> m.Message:
    assert isinstance(of.body, m.Vote)
    body = m.Enter(of.body.round if number is None else number, opens(of))
    return m.sign(ONE, of.header, body)


def leave(last: int, **place: int) -> m.Message:
    return said(m.Leave(last), **place)  # type: ignore[arg-type]


def rule(one: m.Message, other: m.Message) -> str | None:
    """The rule that two messages break together, whichever comes first."""
    first, second = contradiction(one, other), contradiction(other, one)
    assert (first is None) == (second is None)
    assert contradiction(one, one) is None
    if first is None or second is None:
        return None
    assert (first.rule, first.culprit) == (second.rule, second.culprit)
    assert first.culprit == one.header.seat
    return first.rule


def alone(body: m.Body) -> str | None:
    fault = fault_alone(said(body).signed, MATCH)
    return None if fault is None else fault.rule


def test_p01_two_contents_for_one_step_on_whatever_log() -> None:
    assert rule(said(m.Guess(1)), said(m.Guess(2))) == "P1"
    assert rule(said(m.Guess(1)), said(m.Guess(1), log=ELSEWHERE)) == "P1"
    assert rule(said(m.Ack()), said(m.Guess(1))) == "P1"
    assert rule(said(m.Guess(1)), said(m.Guess(2), step=STEP + 1)) is None
    assert rule(said(m.Guess(1)), said(m.Guess(2), view=1)) is None
    assert rule(said(m.Guess(1)), said(m.Guess(2), seat=2)) is None


def test_p15_a_message_of_another_match() -> None:
    fault = fault_alone(said(m.Ack()).signed, ELSEWHERE)
    assert fault is not None
    assert (fault.culprit, fault.rule) == (1, "P15")
    assert fault_alone(said(m.Ack()).signed, MATCH) is None


def test_p16_one_vote_in_a_round_and_one_that_can_be_meant() -> None:
    assert rule(vote(3), vote(3, 2)) == "P16"
    assert rule(vote(3), vote(3, step=STEP + 1)) == "P16"
    assert rule(vote(3), vote(4, 2)) is None
    assert rule(vote(3), vote(3, 2, view=1)) is None
    own = m.Own(1, HERE)
    for senseless in (
        m.Vote(0, (), (), ()),
        m.Vote(1, (2, 0), (), ()),
        m.Vote(1, (2, 2), (), ()),
        m.Vote(1, (2,), (0,), ()),
        m.Vote(1, (1,), (), ()),
        m.Vote(1, (), (), (own, own)),
        m.Vote(1, (), (), (m.Own(2, HERE), own)),
        m.Vote(1, (2,), (), (m.Own(2, HERE),)),
    ):
        assert alone(senseless) == "P16", senseless
    assert alone(m.Vote(1, (0, 2), (2,), (own, m.Own(3, HERE)))) is None


def test_p17_one_entry_for_what_was_voted_for_last() -> None:
    first, second = vote(1), vote(2, 2)
    assert rule(enter(first), enter(second)) == "P17"
    assert rule(enter(first), second) == "P17"
    assert rule(enter(first), vote(1, 2)) == "P17"
    assert rule(enter(first), first) is None
    assert rule(enter(second), first) is None
    assert rule(enter(first), vote(2, view=1)) is None
    assert rule(enter(first), enter(vote(1, view=1))) is None


def test_p18_nothing_after_leave_and_nothing_but_votes_after_a_vote() -> None:
    assert rule(leave(2), leave(3)) == "P18"
    assert rule(leave(2), vote(3)) == "P18"
    assert rule(leave(2), vote(1, view=1)) == "P18"
    assert rule(leave(2), enter(vote(1))) == "P18"
    assert rule(leave(2), said(m.Ack(), view=1)) == "P18"
    assert rule(leave(0), said(m.Ack(), step=STEP + 2)) == "P18"
    assert rule(vote(1), said(m.Ack(), step=STEP + 2)) == "P18"
    assert rule(leave(2), vote(2)) is None
    assert rule(leave(2, view=1), vote(9)) is None
    assert rule(leave(2, view=1), enter(vote(1))) is None
    # It may have gone back by a step, with somebody's second content, before it voted or left.
    assert rule(leave(0), said(m.Ack(), step=STEP + 1)) is None
    assert rule(vote(1), said(m.Ack(), step=STEP + 1)) is None


def test_p19_a_vote_names_what_its_author_has_signed_there() -> None:
    message = said(m.Guess(1))
    own = m.Own(1, message.content_hash())
    assert rule(message, vote(1, owns=(own,))) is None
    assert rule(message, vote(1)) == "P19"
    assert rule(message, vote(1, owns=(m.Own(1, HERE),))) == "P19"
    assert rule(said(m.Guess(1), log=ELSEWHERE), vote(1)) is None
    assert rule(said(m.Guess(1), step=STEP - 1), vote(1)) is None


@pytest.mark.parametrize("body", [m.Ack(), m.Guess(1), m.Vote(1, (), (), ()), m.Enter(1, HERE), m.Leave(0)])
def test_one_content_with_another_signature_is_no_contradiction(body: m.Body) -> None:
    message = said(body)
    again = dataclasses.replace(message, signed=dataclasses.replace(message.signed, signature=bytes(64)))
    assert rule(message, again) is None
