"""Games as people play them: the README's first command, and two people in two terminals."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.program import (
    COMMAND,
    PATIENCE,
    Terminal,
    address_of,
    environment,
    run,
    terminals,
    verified,
    wait_for_all,
)

ALONE = ("--plain", "--no-mdns", "--port", "0")


def transcript_in(text: str) -> Path:
    match = re.search(r"^Transcript: (.*\.otto)$", text, re.MULTILINE)
    assert match is not None, text[-2000:]
    return Path(match[1])


def test_the_first_command_of_the_readme(tmp_path: Path) -> None:
    """Issue A, 1: a game against three built-in players, to the end, checked afterwards."""
    begun = time.monotonic()
    played = run("join", "--bots", "3", "--auto", "--plain", "--no-mdns", "--data-dir", str(tmp_path))
    seconds = time.monotonic() - begun
    assert played.returncode == 0, played.stderr
    assert played.stderr == ""
    lines = played.stdout.splitlines()
    assert all(line.isprintable() for line in lines)
    assert any(re.fullmatch(r"Game 1 of 1 is over\. (You win!|The winner: \w+\.)", line) for line in lines)
    assert sum(bool(re.search(r": \d+ points?, collected the number \d", line)) for line in lines) == 4
    turns = max(int(number) for number in re.findall(r"^Turn (\d+):", played.stdout, re.MULTILINE))
    print(f"four built-in players: {turns} turns in {seconds:.1f} s")
    checked = run("verify", str(transcript_in(played.stdout)))
    assert checked.returncode == 0, checked.stderr
    assert re.search(r"^The transcript holds: \d+ steps", checked.stdout)


def press_enter_until(people: Sequence[Terminal], ending: str) -> int:
    """Let everybody take the usual choice until all have seen the ending; how many keys that took."""
    end = time.monotonic() + 3 * PATIENCE
    answered = [0] * len(people)
    presses = 0
    while not all(re.search(ending, person.text) for person in people):
        assert time.monotonic() < end, "\n\n".join(person.text[-1000:] for person in people)
        for place, person in enumerate(people):
            person.read(0.01)
            asked = len(re.findall(r"Enter = |^Press Enter when", person.text, re.MULTILINE))
            if asked > answered[place]:
                answered[place] = asked
                person.type("")
                presses += 1
    return presses


def test_two_people_in_two_terminals(tmp_path: Path) -> None:
    """Issue A, 3: found by address, made ready, played to the end by Enter alone; equal transcripts."""
    with terminals(("join", *ALONE, "--name", "Anna", "--data-dir", str(tmp_path / "a"))) as (anna,):
        peer = ("--peer", address_of(anna))
        with terminals(("join", *ALONE, *peer, "--name", "Bob", "--data-dir", str(tmp_path / "b"))) as (bob,):
            people = (anna, bob)
            anna.expect("Bob sits here")
            bob.expect("Anna sits here")
            press_enter_until(people, r"Transcript: \S+\.otto")
            for person in people:
                person.type("q")
                assert person.wait() == 0
                assert "\x1b" not in person.text
                assert person.settings == person.settings_before
            words = [re.search(r"Table words: ([a-z ]+)\.", person.text) for person in people]
            assert words[0] is not None
            assert words[1] is not None
            assert words[0][1] == words[1][1]
            for person, other in ((anna, "Bob"), (bob, "Anna")):
                assert f"You have not played with {other} before." in person.text
                assert re.search(rf"The shuffle was verified at [\d:]{{8}} by {other}, you\.", person.text)
                assert f"You know {other}: you played together less than an hour ago." in person.text
    assert len({verified(transcript_in(person.text)) for person in people}) == 1


def test_answers_out_of_a_pipe(tmp_path: Path) -> None:
    """Lines typed ahead wait for their questions: Enter to begin, a number, then the usual choice always."""
    shown = []
    with subprocess.Popen(
        [str(COMMAND), "join", *ALONE, "--bots", "1", "--data-dir", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("\n7\n" + "\n" * 2000)
        process.stdin.flush()
        for line in process.stdout:
            shown.append(line)
            if line.startswith("Transcript:"):
                process.terminate()  # it would go on with a rematch
        assert process.stderr.read() == ""
    assert process.returncode == 0
    assert all(line.removesuffix("\n").isprintable() for line in shown)
    text = "".join(shown)
    assert "Game 1 of 1 is over." in text
    assert re.search("collected the number 7$", text, re.MULTILINE)
    assert run("verify", str(transcript_in(text))).returncode == 0


def test_three_scripts_meet(tmp_path: Path) -> None:
    """`--players 3 --auto` starts by itself when three are there; all see the same end."""
    scripted = ("join", *ALONE, "--players", "3", "--auto")
    with terminals((*scripted, "--name", "A", "--data-dir", str(tmp_path / "a"))) as (first,):
        peer = ("--peer", address_of(first))
        others = [
            (*scripted, *peer, "--name", name, "--data-dir", str(tmp_path / name)) for name in ("B", "C")
        ]
        with terminals(*others) as rest:
            people = [first, *rest]
            assert wait_for_all(people) == [0, 0, 0]
    assert len({verified(transcript_in(person.text)) for person in people}) == 1


def test_latvian(tmp_path: Path) -> None:
    with terminals(
        ("join", *ALONE, "--bots", "1", "--name", "Zane", "--data-dir", str(tmp_path), "--lang", "lv")
    ) as (zane,):
        zane.expect("Spied Enter, kad esi gatavs")
        zane.type("")
        zane.expect("Kuru ciparu krāsi")
        zane.type("?")
        zane.expect("astoņas viena cipara kārtis")
        zane.type("q")
        zane.expect("Vai pamest spēli")
        zane.type("q")
        assert zane.wait() == 0
