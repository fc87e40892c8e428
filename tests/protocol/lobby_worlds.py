"""Worlds of lobbies: real `Lobby` objects, what is under way between them, and all that can happen next."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from otto_protocol.hashing import tagged_hash
from otto_protocol.lobby.actions import Abandoned, Action, Memory, Publish, Started
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.record import Here, Ready, Stage
from otto_protocol.lobby.seating import Lack
from otto_protocol.quorum import is_majority
from otto_protocol.roster import Roster, TableRules


class Stamp:
    """A signer for models: the lobby never checks signatures (`open_here` does), so they need not be real."""

    def __init__(self, number: int) -> None:
        self.public = tagged_hash("model", bytes([number]))

    def sign(self, tag: str, *parts: bytes) -> bytes:
        return 2 * tagged_hash(tag, self.public, *parts)


@dataclass(frozen=True)
class Case:
    """What may happen in a model: budgets, and the circumstances of each peer."""

    peers: int
    seats: int = 10
    automatic: int = 0  # all are built-in players that wait for so many
    waits_for: int = 2  # a person is ready when so many sit
    rules: tuple[TableRules, ...] = ()  # of each peer's own table
    tables: tuple[int, ...] = ()  # the first byte of each peer's own table
    pinned: tuple[int, ...] = ()
    holds: bool = False  # count down before sealing
    withdrawals: int = 0
    crashes: int = 0
    returns: bool = False  # who crashed comes back
    queue: bool = True  # links deliver every record; else a newer one replaces an older one under way
    cut: tuple[tuple[int, int], ...] = ()  # links that cannot be made
    indirect: bool = False
    linked: bool = False  # all links are there from the start
    last: Stage = Stage.PLAYING  # how far peers go
    rounds: int = 99  # worlds in which somebody is beyond this round are not explored further


@dataclass
class World:
    """One state of the model. Lobbies are shared between worlds and copied before they change."""

    case: Case
    lobbies: list[Lobby | None]
    memories: list[Memory | None]
    under_way: dict[tuple[int, int], tuple[Here, ...]]
    unlinked: frozenset[tuple[int, int]]  # pairs (low, high) whose link is still to come
    noticing: frozenset[tuple[int, int]]  # (who will notice, who crashed)
    withdrawals: int
    crashes: int
    dealt: frozenset[tuple[int, bytes]] = frozenset()
    started: tuple[Roster | None, ...] = ()

    def fork(self) -> World:
        return replace(
            self,
            lobbies=list(self.lobbies),
            memories=list(self.memories),
            under_way=dict(self.under_way),
        )


KEYS = {Stamp(number).public: number for number in range(16)}
MODEL_RULES = TableRules()


def opened(case: Case) -> World:
    """Everybody has just typed `join`; nobody has a link yet."""
    world = World(
        case,
        [],
        [None] * case.peers,
        {pair: () for pair in itertools.permutations(range(case.peers), 2)},
        frozenset(itertools.combinations(range(case.peers), 2)) - set(case.cut),
        frozenset(),
        case.withdrawals,
        case.crashes,
        started=(None,) * case.peers,
    )
    for number in range(case.peers):
        world.lobbies.append(new_lobby(case, number, number))
    for number, lobby in enumerate(world.lobbies):
        assert lobby is not None
        perform(world, number, lobby.announce())
    if case.linked:
        for one, other in sorted(world.unlinked):
            world = link(world, one, other)
    return world


def new_lobby(case: Case, number: int, table: int) -> Lobby:
    first = case.tables[table] if table < len(case.tables) else table + 1
    return Lobby(
        Stamp(number),
        f"P{number}",
        bytes([first]) * 16,
        rules=case.rules[number] if case.rules else MODEL_RULES,
        seats=case.seats,
        pinned=number in case.pinned,
        indirect=case.indirect,
        automatic=case.automatic,
        hold=case.holds,
    )


def perform(world: World, number: int, actions: tuple[Action, ...]) -> None:
    """Do what a driver does, and check what may never happen."""
    for action in actions:
        if isinstance(action, Publish):
            here = action.memory.here
            check_signed_once(world.memories[number], action.memory)
            world.memories[number] = action.memory
            lobby = world.lobbies[number]
            assert lobby is not None
            for other in range(world.case.peers):
                if other != number and has_link(world, number, other):
                    send(world, number, other, here)
        elif isinstance(action, Started):
            world.started = put(world.started, number, action.start.roster)
            assert len(action.start.signatures) == len(action.start.roster.members)
        elif isinstance(action, Abandoned):
            world.started = put(world.started, number, None)


def check_signed_once(before: Memory | None, after: Memory) -> None:
    """One READY for each round of a table: a new one is for a round that was never signed in."""
    roster = after.here.roster()
    if before is None or roster is None or before.here.roster() == roster:
        return
    used = {spent.table: spent.round for spent in before.spent}
    assert used.get(roster.table, -1) < roster.round, "two READYs in one round"


def put(values: tuple[Roster | None, ...], place: int, value: Roster | None) -> tuple[Roster | None, ...]:
    return (*values[:place], value, *values[place + 1 :])


def has_link(world: World, one: int, other: int) -> bool:
    lobby = world.lobbies[one]
    return lobby is not None and Stamp(other).public in lobby.links


def send(world: World, one: int, other: int, here: Here) -> None:
    before = world.under_way[one, other]
    if not world.case.queue:
        before = tuple(old for old in before if old.key != here.key)
    world.under_way[one, other] = (*before, here)


def moves(world: World) -> Iterator[tuple[str, Callable[[], World]]]:
    """Everything that can happen next, with a name."""
    case = world.case
    if beyond(world):
        return
    for (one, other), queue in world.under_way.items():
        if queue and world.lobbies[other] is not None and has_link(world, other, one):
            yield f"deliver {one}>{other}", lambda one=one, other=other: deliver(world, one, other)
    for one, other in sorted(world.unlinked):
        dead = world.lobbies[one] is None or world.lobbies[other] is None
        if not dead and not {(one, other), (other, one)} & world.noticing:
            yield f"link {one}-{other}", lambda one=one, other=other: link(world, one, other)
    for one, other in sorted(world.noticing):
        yield f"{one} notices {other}", lambda one=one, other=other: notice(world, one, other)
    for number, lobby in enumerate(world.lobbies):
        if lobby is None:
            if case.returns and not any(other == number for _, other in world.noticing):
                yield f"return {number}", lambda number=number: come_back(world, number)
            continue
        if world.crashes:
            yield f"crash {number}", lambda number=number: crash(world, number)
        yield from wishes(world, number, lobby)


def beyond(world: World) -> bool:
    return any(lobby is not None and lobby.me.round > world.case.rounds for lobby in world.lobbies)


def wishes(world: World, number: int, lobby: Lobby) -> Iterator[tuple[str, Callable[[], World]]]:
    case, me = world.case, lobby.me
    in_lobby = me.stage == Stage.LOBBY

    def change(act: Callable[[Lobby], tuple[Action, ...]]) -> Callable[[], World]:
        return lambda: changed(world, number, act)

    if not case.automatic:
        if in_lobby and me.ready == Ready.NO and len(me.seated) >= case.waits_for:
            yield f"ready {number}", change(lambda lobby: lobby.set_ready(Ready.YES))
        if world.withdrawals and me.ready != Ready.NO and me.stage < Stage.DEALT:
            yield f"withdraw {number}", lambda: withdraw(world, number)
    if case.holds and lobby.can_seal() is not None:
        yield f"seal {number}", change(lambda lobby: lobby.seal())
    if in_lobby or me.stage == case.last:
        return
    next_stage = Stage(me.stage + 1)
    if not lobby.may_reach(next_stage):
        return
    if next_stage == Stage.DEALT:
        yield f"deal {number}", lambda: deal(world, number)
    elif next_stage == Stage.KEYS or all_dealt(world, lobby):
        yield f"{next_stage.name} {number}", change(lambda lobby: lobby.reached(next_stage))


def all_dealt(world: World, lobby: Lobby) -> bool:
    roster = lobby.roster
    assert roster is not None
    return all((KEYS[member.key], roster.match_id()) in world.dealt for member in roster.members)


def changed(world: World, number: int, act: Callable[[Lobby], tuple[Action, ...]]) -> World:
    world = world.fork()
    before = world.lobbies[number]
    assert before is not None
    world.lobbies[number] = lobby = before.copy()
    perform(world, number, act(lobby))
    return world


def deliver(world: World, one: int, other: int) -> World:
    world = world.fork()
    here, *rest = world.under_way[one, other]
    world.under_way[one, other] = tuple(rest)
    known = world.lobbies[other]
    assert known is not None
    news = known.neighbours.newest(here.key)
    world = changed(world, other, lambda lobby: lobby.on_here(here))
    lobby = world.lobbies[other]
    assert lobby is not None
    if world.case.cut and lobby.neighbours.newest(here.key) is not news:
        for key in lobby.relay_to(here.key):
            send(world, other, KEYS[key], here)
    return world


def link(world: World, one: int, other: int) -> World:
    world = replace(world, unlinked=world.unlinked - {(one, other)})
    for near, far in ((one, other), (other, one)):
        world = changed(world, near, lambda lobby, far=far: lobby.on_link(Stamp(far).public))
    for near, far in ((one, other), (other, one)):
        lobby = world.lobbies[near]
        assert lobby is not None
        newest = world.under_way[near, far][-1:]
        if not newest or newest[0].counter != lobby.me.counter:
            send(world, near, far, lobby.me)
        for key in (
            lobby.records() if world.case.cut else ()
        ):  # what others said, for whom the new neighbour does not reach
            if key not in (Stamp(near).public, Stamp(far).public) and Stamp(far).public in lobby.relay_to(
                key
            ):
                newest_of = lobby.neighbours.newest(key)
                assert newest_of is not None
                send(world, near, far, newest_of)
    return world


def deal(world: World, number: int) -> World:
    world = changed(world, number, lambda lobby: lobby.reached(Stage.DEALT))
    lobby = world.lobbies[number]
    assert lobby is not None
    assert lobby.roster is not None
    return replace(world, dealt=world.dealt | {(number, lobby.roster.match_id())})


def withdraw(world: World, number: int) -> World:
    world = changed(world, number, lambda lobby: lobby.set_ready(Ready.NO))
    return replace(world, withdrawals=world.withdrawals - 1)


def crash(world: World, number: int) -> World:
    """What a dying peer has sent may still arrive until somebody notices; what was sent to it is lost."""
    world = world.fork()
    linked = [
        other for other in range(world.case.peers) if other != number and has_link(world, other, number)
    ]
    world.lobbies[number] = None
    world.started = put(world.started, number, None)
    for other in linked:
        world.under_way[other, number] = ()
    pairs = {(min(number, other), max(number, other)) for other in linked}
    return replace(
        world,
        noticing=world.noticing | {(other, number) for other in linked},
        unlinked=world.unlinked | pairs,
        crashes=world.crashes - 1,
    )


def notice(world: World, one: int, other: int) -> World:
    world = world.fork()
    world.under_way[other, one] = ()
    world.noticing -= {(one, other)}
    if world.lobbies[one] is None:
        return world
    return changed(world, one, lambda lobby: lobby.on_gone(Stamp(other).public))


def come_back(world: World, number: int) -> World:
    world = world.fork()
    memory = world.memories[number]
    assert memory is not None
    world.lobbies[number] = lobby = new_lobby(world.case, number, number + 8)
    perform(world, number, lobby.restore(memory))
    if lobby.stage >= Stage.DEALT:
        world.started = put(world.started, number, lobby.roster)
    return world


class Identifier:
    """Makes equal worlds equal: the counters of records count only in their order.

    Where nothing is relayed that order is given: what a peer knows is older than what is under way to it.
    """

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._here: dict[int, tuple[Here, int]] = {}
        self._lobby: dict[int, tuple[Lobby, int]] = {}

    def number(self, value: object) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def here(self, here: Here) -> int:
        seen = self._here.get(id(here))
        if seen is None:
            seen = self._here[id(here)] = (here, self.number(replace(here, counter=0)))
        return seen[1]

    def lobby(self, lobby: Lobby, peers: int) -> int:
        seen = self._lobby.get(id(lobby))
        if seen is None:
            known = [lobby.neighbours.newest(key) for key in itertools.islice(KEYS, peers)]
            key = (
                self.here(lobby.me),
                tuple(here and self.here(here) for here in known),
                lobby.links,
                lobby.private(),
            )
            seen = self._lobby[id(lobby)] = (lobby, self.number(key))
        return seen[1]

    def memory(self, memory: Memory | None) -> int:
        assert memory is not None
        return self.number((self.here(memory.here), memory.spent))

    def key(self, world: World) -> tuple[object, ...]:
        peers = world.case.peers
        return (
            tuple(
                self.memory(world.memories[number]) if lobby is None else self.lobby(lobby, peers)
                for number, lobby in enumerate(world.lobbies)
            ),
            tuple(tuple(map(self.here, queue)) for queue in world.under_way.values()),
            self.order(world) if world.case.cut else 0,
            self.number((world.unlinked, world.noticing, world.withdrawals, world.crashes)),
            self.number((world.dealt, world.started)),
        )

    def order(self, world: World) -> int:
        """Which records are newer than which, over all that is known and under way."""
        records = [here for queue in world.under_way.values() for here in queue]
        for lobby in alive(world):
            known = [lobby.neighbours.newest(key) for key in itertools.islice(KEYS, world.case.peers)]
            records += [lobby.me, *(here for here in known if here is not None)]
        everywhere: dict[bytes, set[int]] = {}
        for here in records:
            everywhere.setdefault(here.key, set()).add(here.counter)
        rank = {
            (key, counter): place
            for key, counters in everywhere.items()
            for place, counter in enumerate(sorted(counters))
        }
        return self.number(tuple(rank[here.key, here.counter] for here in records))


def explore(start: World, check_end: Callable[[World], str | None], limit: int) -> tuple[int, int]:
    """Visits every reachable world once, depth first; returns (worlds, ends). A circle or a bad end fails."""
    identifier = Identifier()
    done: dict[tuple[object, ...], bool] = {identifier.key(start): False}
    path: list[tuple[str, tuple[object, ...], Iterator[tuple[str, Callable[[], World]]], World]] = []
    path.append(("", next(iter(done)), moves(start), start))
    ends = 0
    while path:
        _, key, rest, world = path[-1]
        for name, go in rest:
            following = go()
            following_key = identifier.key(following)
            finished = done.get(following_key)
            assert finished is not False, f"a circle: {[step[0] for step in path]} {name}"
            if finished is None:
                done[following_key] = False
                assert len(done) <= limit, "larger than expected"
                path.append((name, following_key, moves(following), following))
                break
        else:
            if next(moves(world), None) is None and not beyond(world):
                ends += 1
                problem = check_end(world)
                assert problem is None, f"{problem}: {[step[0] for step in path]}"
            done[key] = True
            path.pop()
    return len(done), ends


def alive(world: World) -> list[Lobby]:
    return [lobby for lobby in world.lobbies if lobby is not None]


def all_in_one_game(world: World) -> str | None:
    """The end that most models must reach: everybody plays, with the same roster of all."""
    rosters = {lobby.roster for lobby in world.lobbies if lobby is not None}
    if len(rosters) != 1 or len(alive(world)) != world.case.peers:
        return f"{len(rosters)} rosters"
    if any(lobby.stage != Stage.PLAYING for lobby in alive(world)):
        return f"stages {[lobby.stage.name for lobby in alive(world)]}"
    roster = alive(world)[0].roster
    return None if roster is not None and len(roster.members) == world.case.peers else "not all play"


def nobody_is_stuck(world: World) -> str | None:
    """The general end: who is in a game can go on (by ballots); who waits, waits for people."""
    for number, lobby in enumerate(world.lobbies):
        if lobby is None:
            continue
        roster = lobby.roster
        if lobby.stage in (Stage.SEALED, Stage.KEYS) and lobby.stage != world.case.last:
            return f"{number} is stuck in {lobby.stage.name}"
        if roster is not None:
            bound = [KEYS[other.me.key] for other in alive(world) if other.roster == roster]
            places = [KEYS[member.key] for member in roster.members]
            seats = range(len(places))
            silent = all(world.lobbies[place] is None for place in places if place not in bound)
            if not silent and not is_majority([seat for seat in seats if places[seat] in bound], seats):
                return f"{number} is bound to a game that cannot go on"
            if len(bound) == len(places) and lobby.stage != world.case.last:
                return f"{number} does not play"
            continue
        lacks = {obstacle.lack for obstacle in lobby.obstacles()}
        if not lacks or not lacks <= {Lack.ALONE, Lack.IN_GAME, Lack.NOT_READY}:
            return f"{number} waits for {lacks}"
    waiting = [lobby for lobby in alive(world) if lobby.stage == Stage.LOBBY]
    tables = {lobby.me.table for lobby in alive(world)}
    if (
        world.case.seats >= world.case.peers
        and len(tables) > 1
        and not world.case.cut
        and not world.case.pinned
    ):
        return f"{len(tables)} tables"
    enough = len(waiting) >= max(2, world.case.automatic, world.case.waits_for)
    crowded = world.case.cut or world.case.seats < world.case.peers
    if enough and len(waiting) == len(alive(world)) and not crowded:
        return "everybody waits in the lobby"
    return None


def walk(start: World, seed: int, limit: int) -> World:
    """One random run to its end; every message that is under way arrives at last."""
    choice, world = random.Random(seed), start
    for _ in range(limit):
        possible = list(moves(world))
        if not possible:
            return world
        world = choice.choice(possible)[1]()
    raise AssertionError("this never ends")
