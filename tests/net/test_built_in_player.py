"""The built-in player in place of a screen: it answers each question once."""

from __future__ import annotations

from dataclasses import replace

import trio
from trio.testing import wait_all_tasks_blocked

from otto_p2p.table.peer import play_by_itself
from otto_p2p.table.snapshots import game_update
from otto_p2p.updates import Closed, Controls, Update
from otto_protocol.hashing import Drbg
from otto_protocol.lab import Lab
from otto_protocol.rules import moves


class Asked(Controls):
    """Counts the answers."""

    def __init__(self) -> None:
        self.made: list[moves.Move] = []

    def act(self, move: moves.Move) -> None:
        self.made.append(move)


async def test_the_same_decisions_at_another_place_are_another_question() -> None:
    """Somebody who does not say Otto is asked again after a turn in which nobody had a card to lay."""
    lab = Lab(2, Drbg(b"asked twice"))
    assert lab.play_until(lambda: bool(lab.session(0).decisions()))
    update = game_update(lab.session(0))
    view, step = update.place
    asked = Asked()
    async with trio.open_nursery() as nursery:
        send, receive = trio.open_memory_channel[Update](10)
        nursery.start_soon(play_by_itself, asked, receive)
        for told, answers in (
            (update, 1),
            (replace(update, away={1: "silent"}), 1),
            (replace(update, place=(view, step + 1)), 2),
            (replace(update, place=(view + 1, step + 1)), 3),
            (replace(update, place=(view + 1, step + 1), decisions=()), 3),
            (replace(update, place=(view + 1, step + 1)), 4),
        ):
            await send.send(told)
            await wait_all_tasks_blocked()
            assert len(asked.made) == answers
        await send.send(Closed())
