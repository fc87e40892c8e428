"""Writes the table of cheats in docs/security.md from the adversary suite; with --check it only compares.

python docs/generate_cheats.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "protocol")]

from tests.adversary.harness import Told, Verdict  # noqa: E402
from tests.adversary.test_cheats import CHEATS  # noqa: E402
from tests.adversary.test_lobby_cheats import LOBBY  # noqa: E402
from tests.adversary.test_sockets import LONGER, SHORT  # noqa: E402

PAGE = ROOT / "docs" / "security.md"
BLOCK = re.compile(r"<!-- cheats -->\n.*?<!-- end -->", re.DOTALL)


def order(number: str) -> tuple[bool, int, str]:
    """The catalogue first, then the others, by number."""
    found = re.fullmatch(r"(x?)(\d+)(\w*)", number)
    assert found is not None
    return (bool(found[1]), int(found[2]), found[3])


def outcome(told: Told) -> str:
    """What must come of a cheat, in words."""
    match told.verdict:
        case Verdict.CONVICTED:
            return "convicted, " + " or ".join(told.rules)
        case Verdict.ABSENT:
            return "removed as absent"
        case Verdict.HARMLESS:
            return "without effect"


def rows() -> list[str]:
    """The lines of the table."""
    made = {
        number: f"| {number} | {title} | refused | - | `test_cheat_{number}_...` |"
        for number, title in LOBBY.items()
    }
    sockets = {told.number for told in (*SHORT, *LONGER)}
    for number, told in CHEATS.items():
        test = f"`[{told.name}]`" + ", sockets" * (number in sockets)
        made[number] = f"| {number} | {told.title} | {outcome(told)} | {told.players} | {test} |"
    return [made[number] for number in sorted(made, key=order)]


def table() -> str:
    """The whole block."""
    head = "| no. | cheat | what comes of it | seats | test |\n|---|---|---|---|---|\n"
    return "<!-- cheats -->\n" + head + "\n".join(rows()) + "\n<!-- end -->"


def main(arguments: list[str]) -> int:
    """0 if the page is (now) what the suite is."""
    old = PAGE.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda _: table(), old)
    if "--check" in arguments:
        if old != new:
            print(f"{PAGE.name} is stale: python docs/generate_cheats.py")
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
