"""The phases of a game as text, made from the transition table: docs/rules.md has it."""

from __future__ import annotations

from otto_protocol.rules.moves import Move
from otto_protocol.rules.phases import TABLE, Event, Phase


def phase_table() -> str:
    """The whole transition table in Markdown, one row for each phase."""
    lines = ["| phase | what can happen, and the phase that follows |", "|---|---|"]
    for phase in Phase:
        steps = [
            f"{_cause(cause)} → {after.value}" for (before, cause), after in TABLE.items() if before is phase
        ]
        lines.append(f"| **{phase.value}** | {'; '.join(steps) or 'the game is over'} |")
    return "\n".join(lines) + "\n"


def _cause(cause: type[Move] | Event) -> str:
    return cause.value if isinstance(cause, Event) else f"`{cause.__name__}`"
