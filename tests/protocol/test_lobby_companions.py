"""Built-in players in the lobby: they go with their owner, into no game without it, and rest after one."""

from __future__ import annotations

from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.hashing import Drbg
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.lobby.record import Ready, Stage
from otto_protocol.roster import TableRules


class Room:
    """Lobbies that all have links to each other; everything arrives at once."""

    def __init__(self) -> None:
        self.lobbies: list[Lobby] = []

    def add(self, name: str, *, owner: bytes = b"", automatic: int = 0) -> Lobby:
        number = len(self.lobbies)
        identity = IdentityKey.generate(Drbg(name.encode()))
        table = bytes([9 - number]) * 16  # who comes later has the more attractive table
        one = Lobby(identity, name, table, rules=TableRules(), owner=owner, automatic=automatic)
        one.announce()
        for other in self.lobbies:
            one.on_link(other.me.key)
            other.on_link(one.me.key)
        self.lobbies.append(one)
        self.settle()
        return one

    def settle(self) -> None:
        """Pass records on until nothing changes."""
        for _ in range(50):
            before = [lobby.me for lobby in self.lobbies]
            for one in self.lobbies:
                for other in self.lobbies:
                    if one is not other:
                        other.on_here(one.me)
            if before == [lobby.me for lobby in self.lobbies]:
                return
        raise AssertionError("the lobby does not come to rest")


def test_a_built_in_player_follows_and_does_not_pin() -> None:
    room = Room()
    anna = room.add("anna")
    bot = room.add("bot", owner=anna.me.key, automatic=2)
    assert bot.me.table == anna.me.table
    assert not anna.me.pinned
    bert = room.add("bert")
    assert {lobby.me.table for lobby in room.lobbies} == {bert.me.table}
    anna.join(b"\xaa" * 16)
    room.settle()
    assert bot.me.table == anna.me.table == b"\xaa" * 16
    assert bot.me.ready == Ready.YES


def test_no_game_with_strangers() -> None:
    room = Room()
    anna = room.add("anna")
    bot = room.add("bot", owner=anna.me.key, automatic=2)
    bert = room.add("bert")
    room.add("carl")
    assert bot.me.ready == Ready.YES
    for lobby in room.lobbies[2:]:
        lobby.set_ready(Ready.WITHOUT)
    room.settle()
    # Bert and Carl start without Anna: her built-in player is left out with her.
    assert bot.me.ready == Ready.NO
    assert bot.me.stage == Stage.LOBBY
    assert bert.me.stage != Stage.LOBBY
    assert {member.name for member in bert.me.members} == {"bert", "carl"}


def test_resting() -> None:
    room = Room()
    bot, other = room.add("bot", automatic=2), room.add("other", automatic=3)
    assert bot.me.ready == Ready.YES
    bot.rest()
    assert bot.me.ready == Ready.NO
    bot.wake()
    assert bot.me.ready == Ready.YES
    bot.finished()
    room.settle()
    assert bot.me.ready == Ready.NO
    assert other.me.stage == Stage.LOBBY
    bot.wake()
    assert bot.me.ready == Ready.YES
