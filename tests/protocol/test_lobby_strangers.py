"""The lobby and those who do not belong to a table: they set no terms of it, and cost a running game nothing."""

from __future__ import annotations

from dataclasses import replace

from otto_protocol.lobby.record import MAX_COUNT, Stage, Terms
from otto_protocol.lobby.seating import agreed_terms
from otto_protocol.roster import TableRules
from tests.protocol.test_lobby import KEYS, RULES, Room, lobby


def test_terms_far_ahead_are_not_followed_and_can_be_changed_again() -> None:
    """A stranger names the table once, with terms of the greatest version."""
    a, b, stranger = lobby(0), lobby(1), lobby(2)
    room = Room(a, b)
    before = a.me.terms
    rules = TableRules(4, 99, 1, memory_aid=False)
    hijack = replace(
        stranger.me, counter=9, table=a.me.table, terms=Terms(MAX_COUNT, 10, rules), seated=(KEYS[2],)
    )
    for one in (a, b):
        one.on_link(KEYS[2])
        one.on_here(hijack)
    room.settle()
    assert KEYS[2] in a.me.seated
    assert a.me.terms == b.me.terms == before
    room.do(a, a.set_rules(TableRules(games=2)))
    room.settle()
    assert a.me.terms == b.me.terms == Terms(before.version + 1, before.seats, TableRules(games=2))


def test_terms_count_from_those_who_have_a_seat() -> None:
    """A third at a table of two names it, and has no seat."""
    a, b = lobby(0, seats=2), lobby(1, seats=2)
    room = Room(a, b)
    third = replace(
        lobby(2).me, counter=9, table=a.me.table, terms=Terms(a.me.terms.version + 1, 10, RULES), round=7
    )
    a.on_link(KEYS[2])
    a.on_here(third)
    room.settle()
    assert KEYS[2] not in a.me.seated
    assert (a.me.terms, a.me.round) == (b.me.terms, b.me.round)
    assert a.me.terms.seats == 2


def test_terms_changed_while_somebody_was_away_are_caught_up_with() -> None:
    a, b = lobby(0), lobby(1)
    room = Room(a, b)
    for games in range(2, 12):
        a.set_rules(TableRules(games=games))  # nothing of it arrives
    assert b.me.terms.version < a.me.terms.version - 8
    room.do(a, a.set_rules(TableRules(games=12)))
    room.settle()
    assert b.me.terms == a.me.terms


def test_whoever_comes_takes_what_most_there_say() -> None:
    mine = Terms(0, 10, RULES)
    table, low, high = (Terms(version, 10, TableRules(games=version % 90)) for version in (40, 1, MAX_COUNT))
    newer = Terms(41, 10, RULES)
    assert agreed_terms(mine, [table, newer, table, high, low]) == newer
    assert agreed_terms(mine, [table, table, high]) == table
    assert agreed_terms(mine, []) == mine


def test_others_cost_a_running_game_nothing() -> None:
    a, b = lobby(0), lobby(1)
    room = Room(a, b)
    room.ready(a, b)
    for stage in (Stage.KEYS, Stage.DEALT, Stage.PLAYING):
        room.reach(stage, a, b)
    c = lobby(2)
    a.on_link(KEYS[2])
    for counter in range(1, 30):
        table = a.me.table if counter % 2 else c.me.table
        assert a.on_here(replace(c.me, counter=counter, table=table)) == ()
    assert KEYS[2] not in a.me.seated
    room.do(a, a.finished())
    assert KEYS[2] in a.me.seated  # now it is looked at
    assert b.me.stage is Stage.PLAYING
