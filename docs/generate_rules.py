"""Write docs/rules.md: the rules as players read them, and the engine's transition table."""

from __future__ import annotations

import sys
from pathlib import Path

from otto_protocol.rules.docs import phase_table

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "otto_p2p" / "texts" / "rules_en.md"

ABOUT = """
## The phases of the engine

For readers of the code. This table is made from `GAME_STEPS` in `otto_protocol/rules/phases.py`, and this page by
`docs/generate_rules.py` from it and from what `otto-p2p rules` prints. `Names` are moves; a step that is not
in the table is illegal. In choose, answer, exchange, collect, otto and score several players move, in any
order. Rules T1 to T17 translate the original; R1 to R17 are the rulings of the design; R18 to R20, and
what R3, R9, R14 and R16 say about T3 and lost cards, were added when the engine was built.

"""


def page() -> str:
    """The text of docs/rules.md."""
    return SOURCE.read_text(encoding="utf-8") + ABOUT + phase_table()


def main(arguments: list[str]) -> int:
    """Write the page; with `--check` only compare, and return 1 if it differs."""
    target = DOCS / "rules.md"
    if "--check" not in arguments:
        target.write_text(page(), encoding="utf-8")
    elif target.read_text(encoding="utf-8") != page():
        print(f"{target.name} differs from what the code makes")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
