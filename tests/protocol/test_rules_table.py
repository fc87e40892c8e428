"""The transition table is the engine: every pair of phase and move, and the pages made from it."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from importlib import resources
from pathlib import Path

import pytest

from otto_protocol.errors import IllegalMove
from otto_protocol.hashing import Drbg
from otto_protocol.rules import GAME_STEPS, GameEvent, GamePhase, State, apply, awaited, check
from otto_protocol.rules.docs import phase_table
from otto_protocol.rules.game import Game
from otto_protocol.rules.moves import (
    MOVE_TYPES,
    Answer,
    Challenge,
    Choose,
    Collect,
    Drawn,
    Exchange,
    Guess,
    LayDuel,
    Lead,
    LoseCard,
    Move,
    OpenDuel,
    OpenLead,
    Reshuffled,
    Say,
    Score,
    SitOut,
    public,
)
from otto_protocol.rules.state import FIELDS, draft, freeze
from tests.protocol.rules_play import naive

ROOT = Path(__file__).parents[2]
RULE = re.compile(r"^- \*\*([TR])(\d+)\.\*\*", re.MULTILINE)


def numbers_in(text: str) -> list[str]:
    return [f"{letter}{int(number)}" for letter, number in RULE.findall(text)]


class Recorder(Game):
    """A game that remembers a state of each (phase, move type), and the move made there."""

    steps: dict[tuple[GamePhase, type[Move]], tuple[State, Move]]

    def _apply(self, move: Move) -> None:
        self.steps.setdefault((self.state.phase, type(move)), (self.state, move))
        super()._apply(move)


@pytest.fixture(scope="module")
def steps() -> dict[tuple[GamePhase, type[Move]], tuple[State, Move]]:
    """A state and a legal move for every pair of the table, out of random games."""
    found: dict[tuple[GamePhase, type[Move]], tuple[State, Move]] = {}
    wanted = {pair for pair in GAME_STEPS if not isinstance(pair[1], GameEvent)}
    for seed in range(60):
        rng = Drbg(seed.to_bytes(4, "big"))
        game = Recorder.deal(range(5), 1, rng)
        assert isinstance(game, Recorder)
        game.steps = found
        while game.outcome is None:
            game.play(naive(game, game.awaited[0], rng, duels=20))
        if wanted <= found.keys():
            return found
    raise AssertionError(f"never seen: {wanted - found.keys()}")


def some_move(kind: type[Move], seat: int, state: State) -> Move:
    """Any move of this kind by this seat."""
    slot = next(iter((*state.hands[seat], *state.collections[seat])), 0)
    samples: tuple[Move, ...] = (
        Choose(seat, ()),
        Challenge(seat, (seat + 1) % state.seats),
        LayDuel(seat),
        Guess(seat, 0),
        OpenDuel(seat, slot, 0),
        LoseCard(seat, slot, 0),
        Lead(seat, 0),
        Answer(seat, slot, 0),
        SitOut(seat, ()),
        OpenLead(seat, slot, 0),
        Exchange(seat, False),
        Collect(seat, ()),
        Say(seat, False),
        Score(seat, 0, ()),
        Reshuffled(),
        Drawn(),
    )
    return next(move for move in samples if type(move) is kind)


def test_every_move_is_in_the_table_or_illegal(
    steps: dict[tuple[GamePhase, type[Move]], tuple[State, Move]],
) -> None:
    rules = set(numbers_in((ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    states = {phase: state for (phase, _), (state, _) in steps.items()}
    ended, _ = steps[GamePhase.SCORE, Score]
    final = draft(ended)
    final.phase, final.waiting = GamePhase.END, ()
    states[GamePhase.END] = freeze(final)
    assert states.keys() == set(GamePhase)
    for phase, state in states.items():
        for kind in MOVE_TYPES:
            if (phase, kind) in GAME_STEPS:
                before, move = steps[phase, kind]
                check(before, move)
                continue
            with pytest.raises(IllegalMove) as caught:
                check(state, some_move(kind, next(iter(awaited(state)), 0), state))
            assert caught.value.rule in rules


def test_every_phase_can_be_left_and_reached() -> None:
    assert {before for before, _ in GAME_STEPS} == set(GamePhase) - {GamePhase.END}
    assert set(GAME_STEPS.values()) == set(GamePhase)


def test_no_move_may_be_made_by_somebody_who_is_not_awaited(
    steps: dict[tuple[GamePhase, type[Move]], tuple[State, Move]],
) -> None:
    for state, move in steps.values():
        if isinstance(move, (Reshuffled, Drawn)):
            continue
        for seat in set(range(state.seats)) - set(awaited(state)):
            with pytest.raises(IllegalMove):
                check(state, replace(move, seat=seat))


def test_private_fields_change_nothing_in_public(
    steps: dict[tuple[GamePhase, type[Move]], tuple[State, Move]],
) -> None:
    private = 0
    for state, move in steps.values():
        assert apply(state, move) == apply(state, public(move))
        private += public(move) != move
    assert private == 3  # Choose, Lead, LayDuel


def test_a_state_is_a_value(steps: dict[tuple[GamePhase, type[Move]], tuple[State, Move]]) -> None:
    state, move = steps[GamePhase.LEAD, Lead]
    copy = freeze(draft(state))
    assert copy == state
    assert copy is not state
    assert repr(copy) == repr(state)
    assert all(getattr(copy, name) is getattr(state, name) for name in FIELDS)
    with pytest.raises(AttributeError):
        state.turn = 5
    with pytest.raises(AttributeError):
        del state.turn
    before = repr(state)
    apply(state, move)
    assert repr(state) == before
    assert state != apply(state, move)


def test_each_move_names_a_rule_and_has_its_seat_first() -> None:
    for kind in MOVE_TYPES:
        names = [field.name for field in fields(kind)]
        assert names[:1] in (["seat"], [])
        assert re.fullmatch(r"[TR]\d+", kind.rule)


def test_every_rule_has_a_test_that_names_it() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    written = numbers_in(page)
    assert len(written) == len(set(written))
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_rules*.py"))
    tested = {f"{letter.upper()}{int(n)}" for letter, n in re.findall(r"def test_([tr])(\d\d)_", tests)}
    assert tested == set(written)


def test_the_engine_names_only_rules_that_are_written_down() -> None:
    rules = set(numbers_in((ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    sources = (ROOT / "protocol" / "otto_protocol" / "rules").glob("*.py")
    named = {
        name for path in sources for name in re.findall(r"\b[TR]\d+\b", path.read_text(encoding="utf-8"))
    }
    assert named <= rules


def test_both_languages_have_the_same_rules() -> None:
    texts = resources.files("otto_p2p") / "texts"
    english, latvian = ((texts / f"rules_{code}.md").read_text(encoding="utf-8") for code in ("en", "lv"))
    assert numbers_in(english) == numbers_in(latvian)
    assert len(numbers_in(english)) == 17 + 20


def test_the_page_of_rules_is_made_from_the_text_and_the_table() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    english = (ROOT / "otto_p2p" / "texts" / "rules_en.md").read_text(encoding="utf-8")
    assert page.startswith(english), "run docs/generate_rules.py"
    assert page.endswith(phase_table()), "run docs/generate_rules.py"
