"""The lobby's records, what is refused in them, and its rules one by one."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import Any

import pytest

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.encoding import encode, pack, unpack
from otto_protocol.errors import DecodeError, LocalError
from otto_protocol.hashing import Drbg
from otto_protocol.lobby.actions import Abandoned, Action, Cause, Memory, Moved, Publish, Started
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.neighbours import MAX_PEERS
from otto_protocol.lobby.record import (
    MAX_COUNT,
    MAX_HERE,
    Here,
    OtherVersion,
    Ready,
    SignedHere,
    Stage,
    Terms,
    check_roster,
    check_start,
    name_problem,
    open_here,
    seating_rank,
    sign_here,
    sign_ready,
    terms_problem,
)
from otto_protocol.lobby.seating import Lack, seated
from otto_protocol.roster import PROTOCOL_VERSION, Member, Roster, Start, TableRules
from otto_protocol.rules import most_players

IDENTITIES = [IdentityKey.generate(Drbg(bytes([number]))) for number in range(12)]
KEYS = [identity.public for identity in IDENTITIES]
RULES = TableRules()


def lobby(number: int, **options: Any) -> Lobby:
    table = options.pop("table", bytes([number + 1]) * 16)
    rules = options.pop("rules", RULES)
    one = Lobby(IDENTITIES[number], f"P{number}", table, rules=rules, **options)
    one.announce()
    return one


class Room:
    """Lobbies with real signatures; records arrive at once, in order, between those that have a link."""

    def __init__(self, *lobbies: Lobby) -> None:
        self.lobbies = {one.me.key: one for one in lobbies}
        self.done: dict[bytes, list[Action]] = {key: [] for key in self.lobbies}
        self.waiting: list[tuple[bytes, bytes]] = []
        for one, other in itertools.combinations(lobbies, 2):
            self.link(one, other)

    def link(self, *pair: Lobby) -> None:
        for one, other in (pair, pair[::-1]):
            self.do(one, one.on_link(other.me.key))
            self.waiting.append((other.me.key, sign_here(self.identity(one), one.me)))
        self.settle()

    def cut(self, *pair: Lobby) -> None:
        for one, other in (pair, pair[::-1]):
            self.do(one, one.on_gone(other.me.key))
        self.settle()

    @staticmethod
    def identity(one: Lobby) -> IdentityKey:
        return IDENTITIES[KEYS.index(one.me.key)]

    def do(self, one: Lobby, actions: tuple[Action, ...]) -> None:
        self.done[one.me.key] += actions
        for action in actions:
            if isinstance(action, Publish):
                data = sign_here(self.identity(one), action.memory.here)
                self.waiting += [(key, data) for key in one.links if key in self.lobbies]

    def settle(self) -> None:
        while self.waiting:
            key, data = self.waiting.pop(0)
            here, to = open_here(data), self.lobbies[key]
            if here.key == key:
                continue
            self.do(to, to.on_here(here))
            for other in to.relay_to(here.key):
                known = self.lobbies[other].neighbours.newest(here.key)
                if other in self.lobbies and (known is None or known.counter < here.counter):
                    self.waiting.append((other, data))

    def ready(self, *lobbies: Lobby, how: Ready = Ready.YES) -> None:
        for one in lobbies:
            self.do(one, one.set_ready(how))
        self.settle()

    def reach(self, stage: Stage, *lobbies: Lobby) -> None:
        for one in lobbies:
            self.do(one, one.reached(stage))
        self.settle()

    def started(self, one: Lobby) -> Start:
        return [action.start for action in self.done[one.me.key] if isinstance(action, Started)][-1]

    def abandoned(self, one: Lobby) -> list[tuple[Cause, bytes]]:
        found = [action for action in self.done[one.me.key] if isinstance(action, Abandoned)]
        return [(action.cause, action.key) for action in found]


def lacks(one: Lobby) -> set[Lack]:
    return {obstacle.lack for obstacle in one.obstacles()}


# -- records -------------------------------------------------------------------------------------------


def test_a_record_survives_its_encoding_in_the_lobby_and_sealed() -> None:
    a, b = lobby(0, addresses=("192.168.1.5:47701", "[fe80::1%eth0]:47701")), lobby(1)
    room = Room(a, b)
    assert open_here(sign_here(IDENTITIES[0], a.me)) == a.me
    room.ready(a, b)
    assert a.stage == Stage.SEALED
    assert open_here(sign_here(IDENTITIES[0], a.me)) == a.me
    assert unpack(Memory, pack(a.memory)) == a.memory


def test_the_largest_record_fits() -> None:
    members = tuple(
        Member(key, "n" * 40) for key in sorted(KEYS[:10], key=lambda key: seating_rank(bytes(16), key))
    )
    here = dataclasses.replace(
        lobby(0).me,
        name="n" * 40,
        addresses=("a" * 80,) * 8,
        table=bytes(16),
        seated=tuple(member.key for member in members),
        stage=Stage.PLAYING,
        ready=Ready.YES,
        members=members,
    )
    roster = here.roster()
    assert roster is not None
    here = dataclasses.replace(here, ready_signature=sign_ready(IDENTITIES[0], roster))
    data = sign_here(IDENTITIES[0], here)
    assert len(data) <= MAX_HERE
    assert open_here(data) == here


def sealed_pair() -> tuple[Lobby, Lobby]:
    a, b = lobby(0), lobby(1)
    Room(a, b).ready(a, b)
    return a, b


@pytest.mark.parametrize(
    "change",
    [
        {"name": "x\x1b[2J"},
        {"name": ""},
        {"terms": Terms(1, 11 - 1, TableRules(decks=1))},
        {"terms": Terms(1, 1, RULES)},
        {"terms": Terms(1, 4, TableRules(decks=0))},
        {"terms": Terms(1, 4, TableRules(games=0))},
        {"addresses": ("a b",)},
        {"addresses": ("\x1b[2J",)},
        {"addresses": ("ē",)},
        {"reached": 4},
        {"stage": 0},
        {"members": ()},
        {"ready": 0},
        {"ready_signature": bytes(64)},
        {"ready_signature": b""},
        {"round": 1},
        {"table": bytes(16)},
        {"seated": (KEYS[0], KEYS[0])},
        {"name": "Q0"},
        {"members": (Member(KEYS[0], "P0"),)},
        {"members": (Member(KEYS[1], "P1"), Member(KEYS[2], "P2"))},
    ],
    ids=str,
)
def test_a_record_that_says_what_no_honest_peer_says_is_refused(change: dict[str, Any]) -> None:
    me = sealed_pair()[0].me
    assert open_here(sign_here(IDENTITIES[0], me)) == me
    with pytest.raises(DecodeError):
        open_here(sign_here(IDENTITIES[0], dataclasses.replace(me, **change)))


def test_a_list_out_of_order_is_refused() -> None:
    me = sealed_pair()[0].me
    with pytest.raises(DecodeError):
        open_here(sign_here(IDENTITIES[0], dataclasses.replace(me, seated=me.seated[::-1])))


def test_only_its_author_signs_a_record() -> None:
    me = lobby(0).me
    with pytest.raises(DecodeError, match="signature"):
        open_here(sign_here(IDENTITIES[1], me))
    small_order = dataclasses.replace(me, key=bytes([1]) + bytes(31), seated=())
    with pytest.raises(DecodeError, match="signature"):
        open_here(pack(SignedHere(pack(small_order), bytes(64))))


def test_every_changed_byte_and_every_cut_is_noticed() -> None:
    data = sign_here(IDENTITIES[0], sealed_pair()[0].me)
    for place in range(len(data)):
        with pytest.raises(DecodeError):
            open_here(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(DecodeError):
            open_here(data[:place])
    choice = random.Random(7)
    for _ in range(300):
        with pytest.raises(DecodeError):
            open_here(choice.randbytes(choice.randint(0, 300)))
    with pytest.raises(DecodeError):
        open_here(data + bytes(MAX_HERE))


def test_another_version_is_named_and_never_seated() -> None:
    """Rule 6. A later version may add fields behind the first five."""
    content = encode((PROTOCOL_VERSION + 1, 1, KEYS[1], 5, "Newer", "whatever", (1, 2, 3)))
    signature = IDENTITIES[1].sign("here", content)
    other = open_here(pack(SignedHere(content, signature)))
    assert other == OtherVersion(PROTOCOL_VERSION + 1, 1, KEYS[1], 5, "Newer")
    one = lobby(0)
    one.on_link(KEYS[1])
    one.on_here(other)
    assert one.other_versions() == (other,)
    assert one.me.seated == (KEYS[0],)
    one.on_gone(KEYS[1])
    assert one.other_versions() == ()


def test_names() -> None:
    for good in ("Ann", "Ilze Bērziņa", "漢字", "❤️", "👨‍👩‍👧", "👍🏽", "1. šahists", "Jūlija 🂡", "นภา"):
        assert name_problem(good) is None, good
    for bad in (
        "", " Ann", "Ann ", "a\nb", "\x1b[31mX", "a\u202eb", "a\u2066b", "Ann\u200b", "Ann\u200d", "\u200dAnn",
        "Ann\ufe0f", "Ann\u3164", "\u2800", "Ann\u00ad", "A\u00a0B", "e\u0301", "a" + "\u0323\u0331\u0332\u0333" * 2,
        "\u0301a", "é" * 21, "x" * 41, "\ue000", "\ud800", "Ann\U000e0041", "a\u2028b",
    ):  # fmt: skip
        assert name_problem(bad) is not None, ascii(bad)


def test_terms() -> None:
    assert [most_players(decks) for decks in (1, 2, 3, 4)] == [5, 10, 10, 10]
    assert terms_problem(Terms(1, 5, TableRules(decks=1))) is None
    assert terms_problem(Terms(1, 6, TableRules(decks=1))) is not None


# -- one table for all ---------------------------------------------------------------------------------


def test_who_is_not_pinned_goes_to_the_smallest_table_where_all_of_its_table_fit() -> None:
    a, b, c = (lobby(number, seats=4) for number in range(3))
    Room(a, b, c)
    assert {one.me.table for one in (a, b, c)} == {bytes([1]) * 16}
    d, e = lobby(3, seats=4, table=bytes([9]) * 16), lobby(4, seats=4, table=bytes([9]) * 16)
    Room(d, e)
    Room(a, b, c, d, e)
    assert d.me.table == e.me.table == bytes([9]) * 16, "two do not part for one seat"
    assert set(d.me.seated) == {KEYS[3], KEYS[4]}


def test_a_chosen_table_attracts_and_keeps() -> None:
    a, b = lobby(0), lobby(1, pinned=True)
    room = Room(a, b)
    assert a.me.table == bytes([2]) * 16
    assert a.me.pinned
    room.do(a, a.join(bytes([7]) * 16))
    room.settle()
    assert (a.me.table, b.me.table) == (bytes([7]) * 16, bytes([2]) * 16)


def test_a_table_in_play_attracts_who_comes_late() -> None:
    a, b, late = lobby(1), lobby(2), lobby(0)
    room = Room(a, b)
    room.ready(a, b)
    room = Room(a, b, late)
    assert late.me.table == a.me.table
    assert set(late.me.seated) == {KEYS[0], KEYS[1], KEYS[2]}
    assert {(one.lack, one.key) for one in late.obstacles()} >= {
        (Lack.IN_GAME, KEYS[1]),
        (Lack.IN_GAME, KEYS[2]),
    }


def test_who_finds_a_full_table_opens_its_own_and_stays_away() -> None:
    a, b = lobby(0, seats=2), lobby(1, seats=2)
    room = Room(a, b)
    c = lobby(2, seats=2)
    c.join(a.me.table)
    room = Room(a, b, c)
    assert Moved(c.me.table, full=True) in room.done[KEYS[2]]
    assert c.me.table not in (a.me.table, bytes([3]) * 16)
    assert set(a.me.seated) == {KEYS[0], KEYS[1]}
    assert (c.me.seated, c.me.pinned, c.me.ready) == ((KEYS[2],), False, Ready.NO)


def test_who_was_in_stays_in_whoever_comes() -> None:
    table = bytes(16)

    def at(number: int, *listed: int) -> Here:
        return dataclasses.replace(
            lobby(number, table=table).me, seated=tuple(KEYS[one] for one in listed), reached=0
        )

    for incumbents in itertools.permutations(range(5), 3):
        records = [at(one, *incumbents) for one in incumbents]
        records += [at(other, other) for other in range(5) if other not in incumbents]
        assert set(seated(table, 3, records)) == {KEYS[one] for one in incumbents}
        assert set(seated(table, 4, records)) > {KEYS[one] for one in incumbents}


def test_terms_win_by_version_and_clear_ready() -> None:
    a, b = lobby(0), lobby(1)
    room = Room(a, b)
    room.do(b, b.set_rules(TableRules(games=3)))
    room.settle()
    room.ready(a)
    room.do(b, b.set_rules(TableRules(games=2)))
    room.settle()
    assert a.me.terms == b.me.terms
    assert (a.me.terms.version, a.me.terms.rules.games, a.me.ready) == (3, 2, Ready.NO)


def test_rules_that_cannot_be_are_refused_here() -> None:
    a = lobby(0)
    for rules, seats in ((TableRules(decks=5), None), (TableRules(decks=1), 6), (TableRules(games=0), None)):
        with pytest.raises(LocalError):
            a.set_rules(rules, seats)
    with pytest.raises(LocalError):
        lobby(0, seats=1)
    with pytest.raises(LocalError):
        Lobby(IDENTITIES[0], "a\nb", bytes(16), rules=RULES)
    b, c = lobby(1), lobby(2)
    Room(a, b, c)
    with pytest.raises(LocalError, match="sit here"):
        a.set_rules(RULES, 2)


# -- ready, seal, start --------------------------------------------------------------------------------


def test_two_friends_start() -> None:
    a, b = lobby(0), lobby(1)
    room = Room(a, b)
    assert lacks(lobby(2)) == {Lack.ALONE}
    assert lacks(a) == {Lack.NOT_READY}
    room.ready(a)
    assert [(one.lack, one.key) for one in a.obstacles()] == [(Lack.NOT_READY, KEYS[1])]
    room.ready(b)
    assert a.stage == b.stage == Stage.SEALED
    start = room.started(a)
    assert start == room.started(b)
    check_start(start)
    assert [member.key for member in start.roster.members] == list(a.me.seated)
    room.reach(Stage.KEYS, a)
    assert not a.may_reach(Stage.DEALT), "b has not begun with its keys"
    with pytest.raises(LocalError):
        a.reached(Stage.DEALT)
    room.reach(Stage.KEYS, b)
    room.reach(Stage.DEALT, a)
    room.reach(Stage.DEALT, b)
    room.reach(Stage.PLAYING, a, b)
    assert a.stage == b.stage == Stage.PLAYING


def test_a_start_without_one_signature_or_with_another_roster_is_refused() -> None:
    a, b = lobby(0), lobby(1)
    room = Room(a, b)
    room.ready(a, b)
    start = room.started(a)
    for bad in (
        dataclasses.replace(start, signatures=start.signatures[:1]),
        dataclasses.replace(start, signatures=start.signatures[::-1]),
        dataclasses.replace(start, roster=dataclasses.replace(start.roster, round=start.roster.round + 1)),
        dataclasses.replace(start, roster=dataclasses.replace(start.roster, rules=TableRules(games=2))),
        dataclasses.replace(start, roster=dataclasses.replace(start.roster, protocol=PROTOCOL_VERSION + 1)),
    ):
        with pytest.raises(DecodeError):
            check_start(bad)
    lonely = Roster(1, 1, bytes(16), 0, RULES, (Member(KEYS[0], "P0"),))
    with pytest.raises(DecodeError):
        check_roster(lonely)


def test_who_is_not_ready_is_left_out_only_when_all_others_say_so() -> None:
    a, b, slow = lobby(0), lobby(1), lobby(2)
    room = Room(a, b, slow)
    room.ready(a, b)
    assert {one.key for one in a.obstacles()} == {KEYS[2]}
    room.ready(a, how=Ready.WITHOUT)
    assert [(one.lack, one.key) for one in a.obstacles()] == [(Lack.NO_CONSENT, KEYS[1])]
    room.ready(b, how=Ready.WITHOUT)
    assert {member.key for member in room.started(a).roster.members} == {KEYS[0], KEYS[1]}
    assert {(one.lack, one.key) for one in slow.obstacles()} >= {
        (Lack.IN_GAME, KEYS[0]),
        (Lack.IN_GAME, KEYS[1]),
    }


def test_consent_to_leave_somebody_out_does_not_hold_for_who_comes_later() -> None:
    a, b, slow = lobby(0), lobby(1), lobby(2)
    room = Room(a, b, slow)
    room.ready(a, how=Ready.WITHOUT)
    Room(a, b, slow, lobby(3))
    assert a.me.ready == Ready.YES


def test_built_in_players_alone_leave_nobody_out() -> None:
    person, one, two = lobby(0), lobby(1, automatic=2), lobby(2, automatic=2)
    Room(person, one, two)
    assert one.me.ready == two.me.ready == Ready.YES
    assert one.stage == two.stage == Stage.LOBBY


def test_nobody_seals_while_it_holds_but_it_follows_who_has_sealed() -> None:
    a, b = lobby(0, hold=True), lobby(1, hold=True)
    room = Room(a, b)
    room.ready(a, b)
    roster = a.can_seal()
    assert roster is not None
    assert a.stage == b.stage == Stage.LOBBY
    room.do(a, a.seal())
    room.settle()
    assert a.stage == b.stage == Stage.SEALED
    assert room.started(b).roster == roster


def test_a_missing_link_is_named_and_prevents_the_start_unless_both_accept_to_be_relayed() -> None:
    for indirect in (False, True):
        a, b, between = (lobby(number, indirect=indirect) for number in range(3))
        room = Room(a, b, between)
        room.cut(a, b)
        assert set(a.me.seated) == {KEYS[0], KEYS[1], KEYS[2]}, "heard of through the third"
        room.ready(a, b, between)
        if indirect:
            assert room.started(a) == room.started(b) == room.started(between)
        else:
            pairs = {frozenset((one.key, one.other)) for one in between.obstacles()}
            assert lacks(between) == {Lack.CANNOT_REACH}
            assert pairs == {frozenset((KEYS[0], KEYS[1]))}


def test_a_withdrawal_ends_the_attempt_for_all_and_the_round_is_used_up() -> None:
    a, b = sealed_pair()
    room = Room(a, b)
    room.do(b, b.set_ready(Ready.NO))
    room.settle()
    assert (a.stage, b.stage) == (Stage.LOBBY, Stage.LOBBY)
    assert (a.me.round, b.me.round) == (1, 1)
    assert room.abandoned(a) == [(Cause.WITHDRAWN, KEYS[1])]
    assert a.me.ready == Ready.YES
    room.ready(b)
    assert room.started(a).roster.round == 1


def test_silence_ends_an_attempt_but_not_for_who_has_dealt() -> None:
    a, b = sealed_pair()
    room = Room(a, b)
    room.reach(Stage.KEYS, a, b)
    room.reach(Stage.DEALT, a)
    room.cut(a, b)
    assert room.abandoned(b) == [(Cause.SILENT, KEYS[0])]
    assert a.stage == Stage.DEALT
    assert a.abandon(KEYS[1]) == ()
    with pytest.raises(LocalError):
        a.set_ready(Ready.NO)
    with pytest.raises(LocalError):
        a.join(bytes(16))


def test_a_bound_peer_is_let_go_when_the_others_have_signed_that_they_are_not_bound() -> None:
    a, b = sealed_pair()
    room = Room(a, b)
    room.reach(Stage.KEYS, a, b)
    room.reach(Stage.DEALT, a)
    room.do(b, b.set_ready(Ready.NO))
    room.settle()
    assert room.abandoned(a) == [(Cause.WITHDRAWN, KEYS[1])]
    assert (a.stage, a.me.round) == (Stage.LOBBY, 1)


def test_a_bound_peer_stays_as_long_as_there_is_a_quorum() -> None:
    a, b, c = (lobby(number) for number in range(3))
    room = Room(a, b, c)
    room.ready(a, b, c)
    room.reach(Stage.KEYS, a, b, c)
    room.reach(Stage.DEALT, a, b)
    room.do(c, c.set_ready(Ready.NO))
    room.settle()
    assert (a.stage, b.stage, c.stage) == (Stage.DEALT, Stage.DEALT, Stage.LOBBY)
    room.cut(a, b)
    room.cut(a, c)
    assert a.stage == Stage.LOBBY, "c has gone on, b is silent: nobody can go on without both"


def test_a_silent_session_is_given_up_by_the_driver() -> None:
    a, b = sealed_pair()
    room = Room(a, b)
    room.do(a, a.abandon(KEYS[1]))
    room.settle()
    assert room.abandoned(a) == [(Cause.SILENT, KEYS[1])]
    assert (a.me.round, b.me.round) == (1, 1)


# -- crashes and the next game -------------------------------------------------------------------------


def test_a_restart_ends_an_attempt_and_never_signs_in_its_round_again() -> None:
    a, b = sealed_pair()
    memory = unpack(Memory, pack(a.memory))
    again = Lobby(IDENTITIES[0], "P0", bytes([99]) * 16, rules=RULES)
    actions = again.restore(memory)
    assert isinstance(actions[0], Abandoned)
    assert (again.stage, again.me.table, again.me.round) == (Stage.LOBBY, a.me.table, 1)
    assert again.me.counter > memory.here.counter
    room = Room(again, b)
    room.ready(again, b)
    assert room.started(again).roster.round >= 1


def test_a_restart_keeps_who_is_bound_in_its_game() -> None:
    a, b = sealed_pair()
    room = Room(a, b)
    room.reach(Stage.KEYS, a, b)
    room.reach(Stage.DEALT, a)
    again = Lobby(IDENTITIES[0], "P0", bytes([99]) * 16, rules=RULES)
    again.restore(a.memory)
    assert (again.stage, again.roster) == (Stage.DEALT, a.roster)
    with pytest.raises(LocalError):
        Lobby(IDENTITIES[1], "P1", bytes(16), rules=RULES).restore(a.memory)


def test_who_comes_back_to_a_table_where_it_signed_needs_a_new_round() -> None:
    a, b = sealed_pair()
    table = a.me.table
    a.join(bytes([200]) * 16)
    a.join(table)
    assert (a.me.table, a.me.round) == (table, 1)
    assert b.me.round == 0


def test_a_rematch_is_the_next_round_of_the_same_table_and_seats_are_free() -> None:
    a, b, late = lobby(0), lobby(1), lobby(2)
    room = Room(a, b)
    room.ready(a, b)
    for stage in (Stage.KEYS, Stage.DEALT, Stage.PLAYING):
        room.reach(stage, a, b)
    room = Room(a, b, late)
    for one in (a, b):
        room.do(one, one.finished())
    room.settle()
    assert {one.me.round for one in (a, b, late)} == {1}
    assert a.me.pinned
    assert a.me.ready == Ready.NO
    room.ready(a, b, late)
    assert len(room.started(late).roster.members) == 3


# -- strangers -----------------------------------------------------------------------------------------


def test_a_table_whose_rounds_somebody_used_up_is_left() -> None:
    a, b = lobby(0), lobby(1)
    room = Room(a, b)
    hostile = dataclasses.replace(b.me, counter=1000, round=MAX_COUNT)
    a.on_here(open_here(sign_here(IDENTITIES[1], hostile)))
    assert a.me.round == MAX_COUNT
    room.ready(a)
    both = dataclasses.replace(a.me, key=KEYS[1], name="P1", counter=1001)
    a.on_here(open_here(sign_here(IDENTITIES[1], both)))
    assert a.stage == Stage.SEALED
    table = a.me.table
    a.abandon()
    assert a.me.table != table
    assert a.me.round == 0


def test_a_crowd_of_strangers_takes_a_bounded_memory_and_no_seat_of_who_is_linked() -> None:
    a, b = lobby(0), lobby(1)
    Room(a, b)
    for number in range(3 * MAX_PEERS):
        identity = IdentityKey.generate(Drbg(number.to_bytes(4, "big")))
        stranger = Lobby(identity, "Stranger", a.me.table, rules=RULES)
        stranger.announce()
        a.on_here(stranger.me)
    assert set(a.records()) == {KEYS[0], KEYS[1]}
    c = lobby(2)
    a.on_link(KEYS[2])
    a.on_here(c.me)
    assert KEYS[2] in a.records()


def test_an_old_record_changes_nothing() -> None:
    a, b = lobby(0), lobby(1)
    Room(a, b)
    old = b.me
    b.set_ready(Ready.YES)
    a.on_here(b.me)
    assert a.on_here(old) == ()
    assert a.records()[KEYS[1]].ready == Ready.YES
    assert a.on_here(dataclasses.replace(a.me, counter=10**6)) == ()


# -- who broke a rule ----------------------------------------------------------------------------------


def test_a_shunned_peer_never_sits_there_again_and_the_others_start_without_it() -> None:
    a, b, c = lobby(0), lobby(1), lobby(2)
    room = Room(a, b, c)
    room.ready(a, b, c)
    assert a.stage == b.stage == c.stage == Stage.SEALED
    for one in (a, b):
        room.do(one, one.shun(c.me.key))
    room.settle()
    assert room.abandoned(a)[-1] == (Cause.SILENT, c.me.key)
    room.ready(a, b, c)
    assert set(a.me.seated) == set(b.me.seated) == {a.me.key, b.me.key}
    assert [len(room.started(one).roster.members) for one in (a, b)] == [2, 2]
    room.cut(a, c)
    room.link(a, c)
    assert c.me.key not in a.records()


def test_a_shunned_peer_is_not_there_by_way_of_another_one_either() -> None:
    a, b, c = lobby(0), lobby(1), lobby(2)
    room = Room(a, b, c)
    assert len(a.me.seated) == 3
    room.do(a, a.shun(c.me.key))
    room.settle()
    assert c.me.key not in a.me.seated
    assert c.me.key in b.records()
    assert a.private() != b.private()
