"""How fast games come about and run on networks of all kinds: `python -m tests.lan.measure_games --help`."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lan.lab import Host, Lan, problem
from tests.lan.players import HAND, Player, play_to_the_end, wait

LONG = bool(os.environ.get("OTTO_LONG"))
_ESTABLISHED = "01"


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds from the moment that the last of `count` programs was started."""

    count: int
    first_link: float
    full_mesh: float
    first_hand: float  # all have seen their cards
    end: float  # all programs have ended
    turns: int

    def __str__(self) -> str:
        return (
            f"{self.count} peers: first link {self.first_link:.2f} s, full mesh {self.full_mesh:.2f} s, "
            f"all hands {self.first_hand:.2f} s, {self.turns} turns, end {self.end:.1f} s"
        )


def linked(host: Host) -> set[str]:
    """The hosts that this one has a TCP connection with, as their number on the LAN."""
    found = set()
    with host.entered():
        for name in ("tcp", "tcp6"):
            for line in Path(f"/proc/thread-self/net/{name}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _ESTABLISHED:
                    found.add(_number(fields[2].partition(":")[0]))
    return found


def _number(address: str) -> str:
    # IPv4, also in IPv6, is written as one little-endian word; the last byte of our addresses is the number.
    return address[-8:-6]


def measured(lan: Lan, folder: Path, count: int, seconds: float, options: Sequence[str] = ()) -> Figures:
    """A whole game of `count` peers, one a host, found by mDNS alone; all transcripts are verified."""
    decks = "2" if count > 4 else "1"
    hosts = lan.hosts(count)
    players = [Player(host, folder, "--players", str(count), "--decks", decks, *options) for host in hosts]
    begin = time.monotonic()

    def wait_until(condition: Callable[[], bool]) -> None:
        def reached() -> bool:
            failed = [player.text for player in players if player.process.poll()]
            assert not failed, "\n\n".join(failed)
            return condition()

        wait(reached, seconds, players)

    wait_until(lambda: any(linked(host) for host in hosts))
    first = time.monotonic() - begin
    wait_until(lambda: all(len(linked(host)) >= count - 1 for host in hosts))
    mesh = time.monotonic() - begin
    wait_until(lambda: all(player.said_at(HAND) for player in players))
    hand = max(player.said_at(HAND) or 0.0 for player in players) - begin
    play_to_the_end(players, seconds)
    end = max(player.lines[-1][0] for player in players) - begin
    return Figures(count, first, mesh, hand, end, players[0].count(r"^Turn \d+: "))


def main() -> None:
    """One line of figures for each number of peers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", type=int, nargs="+", metavar="PEERS")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds")
    parser.add_argument("--jitter", type=float, default=0.0, help="seconds")
    parser.add_argument("--loss", type=float, default=0.0, help="share of 1")
    parser.add_argument("--seconds", type=float, default=3600.0, help="the longest that a game may take")
    options = parser.parse_args()
    reason = problem()
    if reason is not None:
        raise SystemExit(reason)
    for count in options.counts:
        lan = Lan()
        lan.conditions(delay=options.delay, jitter=options.jitter, loss=options.loss)
        try:
            with tempfile.TemporaryDirectory() as folder:
                print(measured(lan, Path(folder), count, options.seconds), flush=True)
        finally:
            lan.close()


if __name__ == "__main__":
    main()
