"""The lobby without a host: from HERE records to one table, one roster and its START certificate.

Events go in (a record, a link made or lost, what the person wants), actions come out, in the order in which
they have to be done. No clock and no sockets: the driver counts down, waits, sends and stores.
docs/protocol.md tells the rules; tests/protocol/test_lobby_model.py explores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Self

from otto_protocol.errors import LocalError
from otto_protocol.hashing import tagged_hash
from otto_protocol.limits import MAX_SEATS
from otto_protocol.lobby.actions import (
    MAX_SPENT,
    Abandoned,
    Action,
    Cause,
    Memory,
    Moved,
    Publish,
    Spent,
    Started,
)
from otto_protocol.lobby.names import name_problem
from otto_protocol.lobby.neighbours import Neighbours
from otto_protocol.lobby.record import (
    MAX_COUNT,
    Here,
    OtherVersion,
    Ready,
    Signer,
    Stage,
    Terms,
    sign_ready,
    terms_problem,
)
from otto_protocol.lobby.seating import (
    Obstacle,
    agreed_terms,
    all_have,
    attempt_is_over,
    better_table,
    certificate,
    game_is_lost,
    is_full_without,
    obstacles,
    ready_here,
    seated,
    would_seal,
)
from otto_protocol.roster import PROTOCOL_VERSION, RULES_VERSION, Roster, TableRules
from otto_protocol.rules import most_players


class Lobby:
    """One peer's lobby. Every method that changes something returns the actions that follow from it.

    `table` is 16 fresh random bytes. `automatic` is 0 for a person; a built-in player has the number of
    people (itself included) that must sit before it is ready. With `hold` the peer does not seal by itself
    but waits for `seal()`, so that the driver can count down; it follows others that have sealed. `owner` is
    the key of the person that a built-in player goes with: to its table, and into no game without it.
    """

    def __init__(
        self,
        identity: Signer,
        name: str,
        table: bytes,
        *,
        rules: TableRules,
        seats: int | None = None,
        addresses: tuple[str, ...] = (),
        pinned: bool = False,
        indirect: bool = False,
        automatic: int = 0,
        hold: bool = False,
        owner: bytes = b"",
    ) -> None:
        """Sits down at a table of its own. Raises LocalError for a name or terms that are not possible."""
        if (problem := name_problem(name)) is not None:
            raise LocalError(f"the name {name!r} cannot be used: {problem}")
        if seats is None:
            seats = most_players(rules.decks) if rules.decks >= 1 else MAX_SEATS
        terms = Terms(1, seats, rules)
        if (problem := terms_problem(terms)) is not None:
            raise LocalError(problem)
        self._identity = identity
        self._seed = table
        self._made = 0  # tables opened because another one was full
        self._hold = hold
        self._automatic = automatic
        self._owner = owner
        self._resting = False
        self._started = False
        self._published: Here | None = None
        self.neighbours = Neighbours(identity.public)
        self._full: frozenset[bytes] = frozenset()
        self._spent: dict[bytes, int] = {}
        self._me = Here(
            PROTOCOL_VERSION,
            RULES_VERSION,
            identity.public,
            0,
            name,
            addresses,
            table,
            pinned,
            terms,
            round=0,
            seated=(identity.public,),
            reached=1,
            indirect=indirect,
            automatic=automatic > 0,
            ready=Ready.NO,
            stage=Stage.LOBBY,
            members=(),
            ready_signature=b"",
        )

    def announce(self) -> tuple[Action, ...]:
        """Publish this peer's record for the first time (not after `restore`, which does)."""
        return self._settle()

    def restore(self, memory: Memory) -> tuple[Action, ...]:
        """Go on after a crash from what was last stored; to be called first.

        A peer that was in a game (its DEAL may be out) is still bound to it: the driver resumes the session or
        calls `finished`. An attempt before that is over. Otherwise only the counters are taken over.
        """
        if memory.here.key != self._me.key:
            raise LocalError("this memory belongs to another identity key")
        self._spent = {spent.table: spent.round for spent in memory.spent}
        old = memory.here
        self._me = replace(self._me, counter=old.counter)
        if old.stage == Stage.LOBBY:
            return self._settle(always=True)
        self._me = replace(
            old,
            addresses=self._me.addresses,
            indirect=self._me.indirect,
            automatic=self._me.automatic,
            seated=(old.key,),
            reached=1,
        )
        self._started = old.stage >= Stage.KEYS
        if old.stage >= Stage.DEALT:
            return self._settle(always=True)
        return (*self._give_up(Cause.RESTARTED), *self._settle())

    @property
    def links(self) -> frozenset[bytes]:
        """The keys of the peers that this one has a link to."""
        return self.neighbours.links

    def private(self) -> tuple[object, ...]:
        """What its record does not show but its behaviour depends on (for telling states apart)."""
        spent = tuple(self._spent.items())
        shunned = self.neighbours.shunned
        return (self._started, self._made, self._full, self._automatic, self._resting, spent, shunned)

    def copy(self) -> Self:
        """An independent lobby in the same state (for exploring what may happen)."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.neighbours, other._spent = self.neighbours.copy(), dict(self._spent)
        return other

    # What the driver and the screen ask

    @property
    def me(self) -> Here:
        """This peer's own record, as it was last published."""
        return self._me

    @property
    def memory(self) -> Memory:
        """What to store now."""
        return Memory(self._me, tuple(Spent(table, number) for table, number in self._spent.items()))

    @property
    def stage(self) -> Stage:
        """How far this peer is."""
        return self._me.stage

    @property
    def roster(self) -> Roster | None:
        """The roster of the attempt or of the game, or None in the lobby."""
        return self._me.roster()

    def records(self) -> dict[bytes, Here]:
        """The newest record of every peer that is there, this one included.

        A peer is there when this one has a link to it, or somebody that this one has a link to says so.
        """
        return {**self.neighbours.there(), self._me.key: self._me}

    def other_versions(self) -> tuple[OtherVersion, ...]:
        """The linked peers that play another version: shown, never seated."""
        return self.neighbours.other_versions()

    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the start waits for; empty when this peer can seal, or has sealed."""
        return () if self._me.stage != Stage.LOBBY else obstacles(self._me, self.records())

    def can_seal(self) -> Roster | None:
        """The roster that `seal` would sign now, or None: when this appears, the driver counts down."""
        if self._me.stage != Stage.LOBBY or self.obstacles():
            return None
        return would_seal(self._me, self.records())

    def has_gone_on(self, roster: Roster, key: bytes) -> bool:
        """Whether somebody has signed that it is past this roster: it never speaks in that match again."""
        record = self._me if key == self._me.key else self.neighbours.newest(key)
        return record is not None and (record.table != roster.table or record.round > roster.round)

    def may_reach(self, stage: Stage) -> bool:
        """Whether `stage` is the next one, and all of the roster have the stage before it.

        For PLAYING the complete DEAL step itself shows that, so nothing else is waited for.
        """
        roster = self.roster
        if roster is None or stage != self._me.stage + 1 or not self._started:
            return False
        return stage == Stage.PLAYING or all_have(Stage(stage - 1), roster, self.records())

    def relay_to(self, key: bytes) -> tuple[bytes, ...]:
        """To whom to pass on the newest record of `key`: linked peers at its table that it does not reach."""
        return self.neighbours.relay_to(key)

    # What happens

    def on_link(self, key: bytes) -> tuple[Action, ...]:
        """A link to this peer is up (its identity is proven). The driver sends it this peer's record."""
        if key == self._me.key:
            return ()
        self.neighbours.link(key)
        return self._settle()

    def on_gone(self, key: bytes) -> tuple[Action, ...]:
        """The link to this peer is down, or silent for too long."""
        self.neighbours.unlink(key)
        return self._settle()

    def on_here(self, record: Here | OtherVersion) -> tuple[Action, ...]:
        """A record that `open_here` accepted, from its author or relayed; an old one changes nothing.

        Those who are not in a running game cost it nothing: what they say is looked at when it is over.
        """
        if not self.neighbours.take(record):
            return ()
        return () if self.stage is Stage.PLAYING and not self._plays(record.key) else self._settle()

    # What the person wants

    def join(self, table: bytes) -> tuple[Action, ...]:
        """Sit down at this table because somebody chose it. Raises LocalError in a game."""
        self._require_free()
        done = self._give_up(Cause.OWN_WISH)
        if table != self._me.table:
            self._full -= {table}
            done = (*done, *self._move(table, full=False))
        self._me = replace(self._me, pinned=True)
        return (*done, *self._settle())

    def set_ready(self, ready: Ready) -> tuple[Action, ...]:
        """Say whether to start; NO withdraws from an attempt. Raises LocalError in a game."""
        self._require_free()
        if ready != Ready.NO and self._me.stage != Stage.LOBBY:
            return ()
        done = self._give_up(Cause.OWN_WISH)
        self._me = replace(self._me, ready=ready)
        return (*done, *self._settle())

    def set_rules(self, rules: TableRules, seats: int | None = None) -> tuple[Action, ...]:
        """Propose other rules for the table; everybody's `ready` is cleared, for they must have seen them.

        Raises LocalError in a game, for impossible rules, or for fewer seats than are taken.
        """
        self._require_free()
        if seats is None:
            seats = min(self._me.terms.seats, most_players(rules.decks))
        terms = Terms(self._me.terms.version + 1, seats, rules)
        if (problem := terms_problem(terms)) is not None:
            raise LocalError(problem)
        if seats < len(self._me.seated):
            raise LocalError(f"{len(self._me.seated)} people sit here already")
        if terms.version > MAX_COUNT:
            raise LocalError("the rules of this table were changed too often; open another one")
        done = self._give_up(Cause.OWN_WISH)
        self._me = replace(self._me, terms=terms, ready=Ready.NO)
        return (*done, *self._settle())

    def set_addresses(self, addresses: tuple[str, ...]) -> tuple[Action, ...]:
        """Where others can reach this peer now, `host:port` each."""
        self._me = replace(self._me, addresses=addresses)
        return self._settle(always=True)

    def set_automatic(self, players: int) -> tuple[Action, ...]:
        """Be ready by itself as soon as that many sit at the table; 0: wait for `set_ready`."""
        self._automatic = players
        self._me = replace(self._me, automatic=players > 0)
        return self._settle(always=True)

    def rest(self) -> tuple[Action, ...]:
        """Into no game from now on, not even a built-in player (its person is about to leave)."""
        self._resting = True
        done = self._give_up(Cause.OWN_WISH)
        if self._me.stage == Stage.LOBBY:
            self._me = replace(self._me, ready=Ready.NO)
        return (*done, *self._settle())

    def wake(self) -> tuple[Action, ...]:
        """The end of what `rest` and `finished` begin: a built-in player is ready by itself again."""
        self._resting = False
        return self._settle()

    # The way into the game

    def seal(self) -> tuple[Action, ...]:
        """Sign the roster that `can_seal` shows; nothing happens when there is none (any more)."""
        return self._settle(seal=True)

    def reached(self, stage: Stage) -> tuple[Action, ...]:
        """The session goes on: KEYS when it begins, DEALT just before its own DEAL is sent, PLAYING after it.

        The Publish that comes back is stored before the DEAL is. Raises LocalError when `may_reach` is False.
        """
        if not self.may_reach(stage):
            raise LocalError(f"not all of the roster are ready for the stage {stage.name}")
        self._me = replace(self._me, stage=stage)
        return self._settle(always=True)

    def abandon(self, key: bytes = b"") -> tuple[Action, ...]:
        """End the attempt because `key` is silent; nothing happens in the lobby or once bound."""
        if self._me.stage not in (Stage.SEALED, Stage.KEYS):
            return ()
        return (*self._give_up(Cause.SILENT, key), *self._settle())

    def shun(self, key: bytes) -> tuple[Action, ...]:
        """Never sit down with `key` again, which broke a rule; an attempt with it that binds nobody is over."""
        if key in self.neighbours.shunned:
            return ()
        self.neighbours.shun(key)
        return self._settle()

    def finished(self) -> tuple[Action, ...]:
        """The game is over for this peer (played, left, or dropped): back to the lobby of the same table.

        A built-in player rests until `wake`: people want to look at the result, or leave.
        """
        self._resting = self._automatic > 0
        if self._me.stage != Stage.LOBBY:
            self._me = replace(self._to_lobby(), ready=Ready.NO, pinned=True)
        return self._settle()

    # Inside

    def _plays(self, key: bytes) -> bool:
        """Whether this key is in the roster that is sealed."""
        return any(member.key == key for member in self._me.members)

    def _settle(self, *, seal: bool = False, always: bool = False) -> tuple[Action, ...]:
        """Apply the rules until nothing changes, and publish what changed."""
        done: list[Action] = []
        started: list[Action] = []
        before = None
        while before != self._me:
            before = self._me
            self._take_seats()
            done += self._end_attempt()
            done += self._agree()
            if seal or not self._hold or self._somebody_sealed():
                self._sign()
            started += self._complete()
        if always or self._published is None or self._me != self._published:
            self._me = self._published = replace(self._me, counter=self._me.counter + 1)
            done.append(Publish(self.memory))
        return (*done, *started)

    def _take_seats(self) -> None:
        """Who sits here, which of them I reach; whoever said "without" is asked again about somebody new."""
        me, there = self._me, self.records()
        listed = seated(me.table, me.terms.seats, there.values())
        linked = self.neighbours.links | {me.key}
        reached = sum(1 << place for place, key in enumerate(listed) if key in linked)
        ready = me.ready
        if me.stage == Stage.LOBBY:
            if self._automatic:
                ready = Ready.YES if self._wants_to_play(listed, there) else Ready.NO
            elif ready == Ready.WITHOUT and not set(listed) <= set(me.seated):
                ready = Ready.YES
        self._me = replace(me, seated=listed, reached=reached, ready=ready)

    def _wants_to_play(self, listed: tuple[bytes, ...], there: Mapping[bytes, Here]) -> bool:
        """Whether a built-in player is ready: enough people sit here, its owner is not to be left out."""
        if self._resting or self._me.key not in listed or len(listed) < self._automatic:
            return False
        if not self._owner:
            return True
        owner = there.get(self._owner) if self._owner in listed else None
        if owner is None:
            return False
        unasked = all(there[key].ready != Ready.WITHOUT for key in listed if key in there)
        return unasked or ready_here(self._me, owner)

    def _end_attempt(self) -> tuple[Action, ...]:
        """Give an attempt up as soon as somebody of the roster has, or can no longer be part of it."""
        me, roster = self._me, self.roster
        if roster is None or me.stage == Stage.PLAYING:
            return ()
        there = self.records()
        if me.stage == Stage.DEALT:
            newest = [self.neighbours.newest(member.key) or me for member in roster.members]
            if (left := game_is_lost(me, newest, there)) is None:
                return ()
            self._me = self._to_lobby()
            return (Abandoned(roster, Cause.WITHDRAWN, left),)
        ended = attempt_is_over(me, roster, there, complete=self._started)
        return () if ended is None else self._give_up(*ended)

    def _agree(self) -> tuple[Action, ...]:
        """In the lobby: find the table, and take over its terms and its round."""
        me, there = self._me, self.records()
        if me.stage != Stage.LOBBY:
            return ()
        worn_out = self._spent.get(me.table, -1) >= MAX_COUNT  # somebody has used up its rounds
        if worn_out or is_full_without(me.key, me.terms.seats, me.seated, there):
            self._made += 1
            return self._move(tagged_hash("table", self._seed, self._made.to_bytes(8, "big"))[:16], full=True)
        if (table := self._wanted_table(there)) is not None:
            return self._move(table, full=False)
        people = [there[key] for key in {*me.seated, me.key} if key in there]
        terms = agreed_terms(me.terms, [record.terms for record in people])
        self._me = replace(
            me,
            pinned=any(record.pinned for record in people),
            terms=terms,
            round=max(self._spent.get(me.table, -1) + 1, *(record.round for record in people), 0),
            ready=me.ready if terms.value() == me.terms.value() else Ready.NO,
        )
        return ()

    def _wanted_table(self, there: Mapping[bytes, Here]) -> bytes | None:
        """The table to move to, or None: the owner's if it has one, else the best for all of this table."""
        owner = there.get(self._owner)
        if owner is not None:
            away = owner.table != self._me.table and owner.table not in self._full
            return owner.table if away else None
        return None if self._me.pinned else better_table(self._me, there.values(), self._full)

    def _move(self, table: bytes, *, full: bool) -> tuple[Action, ...]:
        me = self._me
        if full:
            self._full |= {me.table}
        people = [record for record in self.records().values() if record.table == table]
        unknown = Terms(1 if full else 0, me.terms.seats, me.terms.rules)
        terms = agreed_terms(unknown, [record.terms for record in people])
        keeps = not full and terms.value() == me.terms.value()
        self._me = replace(
            me,
            table=table,
            pinned=False,
            terms=terms,
            round=0,
            seated=(),
            reached=0,
            ready=me.ready if keeps else Ready.NO,
        )
        return (Moved(table, full),)

    def _somebody_sealed(self) -> bool:
        roster = self.can_seal()
        there = self.records()
        return roster is not None and any(there[member.key].members for member in roster.members)

    def _sign(self) -> None:
        roster = self.can_seal()
        if roster is None:
            return
        self._spent[roster.table] = roster.round
        while len(self._spent) > MAX_SPENT:
            del self._spent[next(iter(self._spent))]
        self._me = replace(
            self._me,
            stage=Stage.SEALED,
            members=roster.members,
            ready_signature=sign_ready(self._identity, roster),
        )

    def _complete(self) -> tuple[Action, ...]:
        """The START certificate, once, when all have signed the same roster."""
        roster, there = self.roster, self.records()
        if roster is None or self._started or self._me.stage != Stage.SEALED:
            return ()
        start = certificate(roster, there)
        if start is None:
            return ()
        self._started = True
        return (Started(start),)

    def _give_up(self, cause: Cause, key: bytes = b"") -> tuple[Action, ...]:
        roster = self.roster
        if roster is None or self._me.stage not in (Stage.SEALED, Stage.KEYS):
            return ()
        self._me = self._to_lobby()
        return (Abandoned(roster, cause, key),)

    def _to_lobby(self) -> Here:
        self._started = False
        return replace(
            self._me,
            round=min(self._me.round + 1, MAX_COUNT),
            stage=Stage.LOBBY,
            members=(),
            ready_signature=b"",
        )

    def _require_free(self) -> None:
        if self._me.stage >= Stage.DEALT:
            raise LocalError("a game is running; leave it first")
