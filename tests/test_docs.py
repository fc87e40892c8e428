"""The documents are in step with the code: generated blocks, tags, numbered rules, links, commands."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest

from otto_p2p import cli
from otto_protocol.crypto.group import LAMBDA
from otto_protocol.crypto.shuffle_proof import proof_bytes
from otto_protocol.faults import PROTOCOL_RULES
from otto_protocol.match.effects import Purpose
from otto_protocol.match.messages import KINDS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("protocol/*.md")])
SOURCES = sorted([*ROOT.glob("protocol/otto_protocol/**/*.py"), *ROOT.glob("otto_p2p/**/*.py")])
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
RULES = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def script(name: str) -> ModuleType:
    """A script of the docs folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- generated blocks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["generate_rules", "generate_reference"])
def test_generated_pages_are_what_the_code_makes(name: str) -> None:
    said = io.StringIO()
    with redirect_stdout(said):
        status = script(name).main(["--check"])
    assert (status, said.getvalue()) == (0, ""), f"run: python docs/{name}.py"


def test_every_block_that_can_be_made_is_in_a_page() -> None:
    reference = script("generate_reference")
    text = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in reference.PAGES)
    assert sorted(found[2] for found in reference.BLOCK.finditer(text)) == sorted(reference.BLOCKS)


def test_a_stale_block_is_noticed() -> None:
    reference = script("generate_reference")
    stale = "<!-- generated: rules -->\n| P1 | nothing |\n<!-- end -->"
    assert reference.filled(stale) != stale
    with pytest.raises(LookupError):
        reference.filled("<!-- generated: nothing-of-the-kind -->\n<!-- end -->")


def test_every_message_is_in_the_table() -> None:
    for number, kind in enumerate(KINDS):
        assert f"| {number} | `{kind.__name__}` |" in PROTOCOL


# -- tags, contexts, constants -------------------------------------------------------------------------


def literals(node: ast.Call) -> Iterator[str]:
    """The string that a call begins with, if it is a literal one, or begins with a literal."""
    match node.args[:1]:
        case [ast.Constant(value=str(text))]:
            yield text
        case [ast.BinOp(left=ast.Constant(value=str(text)))]:
            yield text
        case _:
            return


def used(*functions: str) -> set[str]:
    """The literal first arguments of all calls of these functions or methods."""
    found: set[str] = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in functions:
                    found |= set(literals(node))
    return found


def test_every_hash_tag_is_documented() -> None:
    tags = {tag for tag in used("tagged_hash") if not tag.endswith("/")}
    tags |= {f"hash-to-group/{tag}" for tag in used("hash_to_group")}
    tags |= {f"nonce/{tag}" for tag in used("hedged")}
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        tags |= set(re.findall(r'^(?:[A-Z_]+_TAG|_CLIENT|_SERVER) = "([^"]+)"', text, re.MULTILINE))
    assert len(tags) > 30
    listed = PROTOCOL[PROTOCOL.index("### Tags") : PROTOCOL.index("## 3.")]
    assert {tag for tag in tags if f"`{tag}`" not in listed} == set()


def test_every_context_is_documented() -> None:
    listed = PROTOCOL[PROTOCOL.index("| purpose |") : PROTOCOL.index("| commitment |")]
    assert [purpose for purpose in Purpose if f"`{purpose.value}`" not in listed] == []


def test_numbers_in_the_text() -> None:
    assert f"`{LAMBDA:064x}`" in PROTOCOL
    assert f"{proof_bytes(152):,} for 152 cards" in PROTOCOL


# -- numbered rules ------------------------------------------------------------------------------------


def raised() -> set[str]:
    """Every rule number that the code of the protocol names."""
    text = "".join(
        source.read_text(encoding="utf-8") for source in ROOT.glob("protocol/otto_protocol/**/*.py")
    )
    return set(re.findall(r'"([TRP]\d+)"', text))


def test_every_rule_that_can_be_broken_is_written_down() -> None:
    for rule in raised():
        assert f"| {rule} |" in PROTOCOL if rule[0] == "P" else f"**{rule}.**" in RULES, rule


def test_rules_are_numbered_without_a_gap() -> None:
    for letter, last in (("T", 17), ("R", 20)):
        numbers = {int(number) for number in re.findall(rf"\*\*{letter}(\d+)\.\*\*", RULES)}
        assert numbers == set(range(1, last + 1))
    assert [int(rule[1:]) for rule in PROTOCOL_RULES] == list(range(1, len(PROTOCOL_RULES) + 1))


def test_every_rule_has_a_test_that_names_it() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    named = set(re.findall(r"def test_([tr]\d\d|p\d\d)_", text))
    rules = {f"{rule[0].lower()}{int(rule[1:]):02}" for rule in PROTOCOL_RULES}
    rules |= {f"{letter.lower()}{int(n):02}" for letter, n in re.findall(r"\*\*([TR])(\d+)\.\*\*", RULES)}
    assert rules - named == set()


# -- links, commands, dependencies ---------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_the_readme_has_both_commands_in_one_line_each() -> None:
    lines = [line for line in README.splitlines() if line.startswith("python3 -m venv")]
    play, test = lines
    assert play.endswith("otto-p2p join --bots 3")
    assert test.endswith("pytest -q")
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_options_in_the_readme_exist() -> None:
    said = io.StringIO()
    with redirect_stdout(said), pytest.raises(SystemExit):
        cli.main(["join", "--help"])
    options = set(re.findall(r"`[^`]*?(--[a-z-]+)[^`]*`", README)) | {"--bots", "--auto", "--plain"}
    assert {option for option in options if option not in said.getvalue() + "--help"} == set()


def test_every_dependency_says_why_it_is_here() -> None:
    project = PROJECT["project"]
    names = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    reasons = text[text.index("## Dependencies") :]
    for name in (re.split(r"[<>=~! \[]", entry)[0] for entry in names):
        assert f"`{name}`" in reasons, name
