"""docs/security.md and the adversary suite say the same: every cheat, its rule, its test."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from otto_protocol.faults import PROTOCOL_RULES
from tests.adversary.harness import ALL, Verdict, play
from tests.adversary.test_cheats import CHEATS
from tests.adversary.test_lobby_cheats import LOBBY

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
RULES = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
CATALOGUE = 64  # cheats that were listed before there was a program
OWN = 20  # at least so many more


def test_the_table_is_what_the_suite_is() -> None:
    spec = importlib.util.spec_from_file_location("generate_cheats", ROOT / "docs" / "generate_cheats.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main(["--check"]) == 0, "run: python docs/generate_cheats.py"


def test_every_cheat_of_the_catalogue_is_there_and_more() -> None:
    numbers = {*CHEATS, *LOBBY}
    assert {str(number) for number in range(1, CATALOGUE + 1)} <= numbers
    assert len([number for number in numbers if number.startswith("x")]) >= OWN


def test_every_rule_in_the_table_exists() -> None:
    for told in CHEATS.values():
        assert bool(told.rules) == (told.verdict is Verdict.CONVICTED), told.name
        for rule in told.rules:
            assert rule in PROTOCOL_RULES or f"**{rule}.**" in RULES, (told.name, rule)


def test_every_protocol_rule_has_a_cheat() -> None:
    broken = {rule for told in CHEATS.values() for rule in told.rules}
    assert set(PROTOCOL_RULES) <= broken


def test_every_test_that_the_page_names_exists() -> None:
    suite = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py"))
    for name in re.findall(r"`(test_\w+)`", PAGE):
        assert f"def {name}(" in suite, name
    for path in re.findall(r"`((?:tests|fuzz|docs)/[\w/.]+)`", PAGE):
        assert (ROOT / path).exists(), path


def test_the_example_of_the_page_is_a_cheat_that_is_convicted() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    try:
        exec(compile(example, "docs/security.md", "exec"), {})  # noqa: S102  # our own page
        play(ALL["x99"])
    finally:
        ALL.pop("x99", None)
