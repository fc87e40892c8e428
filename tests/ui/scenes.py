"""Scenes of the screen, for snapshots and pictures: `python -m tests.ui.scenes` writes those of the README.

`python -m tests.ui.scenes --text` renews the snapshots, `--all FOLDER` draws every scene in both languages.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from otto_p2p import i18n
from otto_p2p.screen.app import OttoApp
from otto_p2p.screen.desk import Desk
from otto_p2p.screen.paint_pages import paint
from otto_p2p.ui.questions import Kind
from otto_p2p.updates import News, Notice
from otto_protocol.match.phases import MatchPhase
from tests.ui.played import Played

SMALL, WIDE = (80, 24), (140, 40)
ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).with_name("snapshots")
README = {"screen-game": "game-wide", "screen-lobby": "lobby"}
FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"


def lobby() -> Desk:
    played = Played(4)
    played.table.others = (played.table.other_table(1), played.table.other_table(2, playing=True))
    played.table.lobby()
    return played.desk


def ceremony() -> Desk:
    played = Played(4)
    played.table.number = 1
    played.desk.show(played.table.update(phase=MatchPhase.PROVE, progress=(2, 4)), 0.0)
    return played.desk


def hand() -> Desk:
    played = Played(4)
    played.until(Kind.LEAD)
    return played.desk


def tip() -> Desk:
    played = Played(4, tips=True)
    played.until(Kind.ANSWER)
    return played.desk


def bare() -> Desk:
    desk = hand()
    desk.options.colour = False
    return desk


def ascii_only() -> Desk:
    desk = hand()
    desk.options.ascii_only = True
    return desk


def light() -> Desk:
    desk = hand()
    desk.options.light = True
    return desk


def memory() -> Desk:
    played = Played(4)
    played.until(Kind.ANSWER)
    played.key("m")
    return played.desk


def hint() -> Desk:
    played = Played(4)
    played.until(Kind.LEAD)
    played.key("h")
    return played.desk


def game() -> Desk:
    played = Played(10, b"ten")
    for _ in range(60):
        played.key("enter")
    played.until(Kind.ANSWER)
    return played.desk


def duel() -> Desk:
    played = Played(4, b"duel")
    played.until(Kind.GUESS)
    return played.desk


def duel_lost() -> Desk:
    played = Played(4, b"duel")
    played.until(Kind.LOSE_CARD)
    return played.desk


def lost_player() -> Desk:
    played = Played(4)
    played.until(Kind.LEAD)
    played.table.lose(2, "lost")
    played.table.note(Notice(News.LINK_LOST, ("Centis",)))
    played.table.hold = True
    played.key("enter")
    return played.desk


def cheat() -> Desk:
    played = Played(4)
    played.until(Kind.LEAD)
    played.table.note(Notice(News.CHEAT, ("Berta", "S4", "a false share", "/home/anna/evidence.otto")))
    return played.desk


def result() -> Desk:
    played = Played(4, games=3)
    while played.desk.game is None or not played.game.results:
        played.key("enter")
    played.wait(8)
    return played.desk


def otto() -> Desk:
    played = Played(4)
    while played.desk.ended is None:
        played.key("enter")
    return played.desk


def match() -> Desk:
    played = Played(4)
    while played.desk.ended is None:
        played.key("enter")
    played.wait(8)
    return played.desk


def rematch() -> Desk:
    played = Played(4)
    while played.desk.ended is None:
        played.key("enter")
    played.wait(8)
    played.key("enter")
    return played.desk


SCENES: dict[str, tuple[Callable[[], Desk], tuple[int, int]]] = {
    "lobby": (lobby, SMALL),
    "ceremony": (ceremony, SMALL),
    "hand": (hand, SMALL),
    "tip": (tip, SMALL),
    "hand-bare": (bare, SMALL),
    "hand-ascii": (ascii_only, SMALL),
    "hand-light": (light, (100, 30)),
    "memory": (memory, SMALL),
    "hint": (hint, SMALL),
    "game-wide": (game, WIDE),
    "game-small": (game, SMALL),
    "duel": (duel, SMALL),
    "duel-lost": (duel_lost, SMALL),
    "lost-player": (lost_player, SMALL),
    "cheat": (cheat, WIDE),
    "result": (result, SMALL),
    "otto": (otto, SMALL),
    "match": (match, SMALL),
    "rematch": (rematch, SMALL),
}


def as_text(name: str, language: str) -> str:
    """A scene as lines of text, without looks."""
    i18n.use(language)
    make, size = SCENES[name]
    return paint(make(), *size).text() + "\n"


async def as_svg(name: str, language: str) -> str:
    """A scene as a picture that needs no font from elsewhere."""
    i18n.use(language)
    make, size = SCENES[name]
    desk = make()

    def start(app: OttoApp) -> None:
        app.desk = desk

    app = OttoApp(desk.options, start)
    async with app.run_test(size=size) as pilot:
        app.repaint()
        await pilot.pause()
        svg = app.export_screenshot(title="otto-p2p")
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family: (Fira Code|arial)[^;]*;", f"font-family: {FONT};", svg)


def main() -> None:
    """Write pictures or snapshots."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--all", type=Path)
    wanted = parser.parse_args()
    if wanted.text:
        SNAPSHOTS.mkdir(exist_ok=True)
        for name in SCENES:
            for language in ("en", "lv"):
                (SNAPSHOTS / f"{name}-{language}.txt").write_text(as_text(name, language), encoding="utf-8")
    elif wanted.all:
        wanted.all.mkdir(exist_ok=True)
        for name in SCENES:
            for language in ("en", "lv"):
                (wanted.all / f"{name}-{language}.svg").write_text(asyncio.run(as_svg(name, language)))
    else:
        for file, name in README.items():
            (ROOT / "docs" / f"{file}.svg").write_text(asyncio.run(as_svg(name, "en")), encoding="utf-8")


if __name__ == "__main__":
    main()
