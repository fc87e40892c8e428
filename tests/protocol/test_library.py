"""The library as docs/library.md shows it: its list is the list, and its blocks run."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import otto_protocol
from otto_protocol import Drbg, Lab, Session, TableRules, messages
from tests.protocol.lab_games import eager

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_public_name_is_explained_and_nothing_else() -> None:
    listed = re.findall(r"^\| `(\w+)` \| .+ \|$", PAGE, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert sorted(listed) == sorted(otto_protocol.__all__)
    assert all(hasattr(otto_protocol, name) for name in listed)


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[0] for block in BLOCKS])
def test_the_examples_run(block: str) -> None:
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(block, "docs/library.md", "exec"), {})  # noqa: S102  # our own page


def test_a_table_and_a_cheating_seat_are_short() -> None:
    for section in ("A table in memory", "A cheating seat"):
        block = PAGE[PAGE.index(f"## {section}") :].split("```")[1]
        assert len([line for line in block.splitlines()[1:] if line]) <= 15


def table(seed: bytes, players: int = 3) -> Lab:
    return Lab(players, Drbg(seed), TableRules(decks=1))


def test_an_honest_session_has_nothing_in_place_of_its_messages() -> None:
    assert all(session.instead is None for session in table(b"honest").sessions)


def test_what_a_seat_says_instead_is_what_it_believes_when_it_is_valid() -> None:
    lab, said = table(b"valid"), []

    def watch(body: messages.Body) -> messages.Body:
        said.append(body)
        return body

    lab.session(0).instead = watch
    assert lab.to_the_end(eager)
    own = [
        messages.parse_content(one)
        for one in map(messages.parse_signed, lab.transcript(1).items)
        if one.seat == 0
    ]
    assert [message.body for message in own] == said


def test_a_stopped_seat_is_voted_out_and_the_others_go_on() -> None:
    lab = table(b"stopped")
    lab.play_until(lambda: lab.session(0).replica.state is not None)
    lab.stop(2)
    assert lab.to_the_end(eager)
    assert lab.session(0).replica.live == (0, 1)
    assert not any(session.convicted for session in lab.sessions)


def test_a_seat_that_leaves_is_gone_without_a_vote_against_it() -> None:
    lab = table(b"leaves")
    lab.play_until(lambda: lab.session(0).replica.state is not None)
    lab.leave(1)
    assert lab.to_the_end(eager)
    assert lab.session(0).replica.live == (0, 2)


def test_of_two_seats_neither_can_go_on_without_the_other() -> None:
    lab = table(b"two", players=2)
    lab.stop(1)
    assert not lab.to_the_end()


def standing(session: Session) -> tuple[object, ...]:
    return session.replica.digest, session.transcript(), session.secret, session.log.view.ballots.all()


def test_a_copy_goes_its_own_way() -> None:
    lab = table(b"copied")
    lab.play_until(lambda: lab.session(0).replica.step >= 20)
    before = [standing(session) for session in lab.sessions]
    one, other = lab.copy(Drbg(b"one")), lab.copy(Drbg(b"other"))
    one.stop(2)
    assert one.to_the_end(eager)
    assert [standing(session) for session in lab.sessions] == before
    assert other.to_the_end(eager)
    assert other.session(0).replica.live == (0, 1, 2)
    assert one.session(0).replica.live == (0, 1)
    assert [standing(session) for session in lab.sessions] == before
    assert lab.to_the_end(eager)
