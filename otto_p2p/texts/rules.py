"""The rules of Otto in the language spoken."""

from __future__ import annotations

from pathlib import Path

from otto_p2p.i18n import language


def rules_text() -> str:
    """What the command `rules` prints and the help page shows."""
    return Path(__file__).with_name(f"rules_{language()}.md").read_text(encoding="utf-8")
