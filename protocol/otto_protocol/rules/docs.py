"""The phases of a game as text, made from the transition table: docs/rules.md has it."""

from __future__ import annotations

from otto_protocol.rules.moves import Move
from otto_protocol.rules.phases import GAME_STEPS, GameEvent, GamePhase


def phase_table() -> str:
    """The whole transition table in Markdown, one row for each phase."""
    lines = ["| phase | what can happen, and the phase that follows |", "|---|---|"]
    for phase in GamePhase:
        steps = [
            f"{_cause(cause)} → {after.value}"
            for (before, cause), after in GAME_STEPS.items()
            if before is phase
        ]
        lines.append(f"| **{phase.value}** | {'; '.join(steps) or 'the game is over'} |")
    return "\n".join(lines) + "\n"


def _cause(cause: type[Move] | GameEvent) -> str:
    return cause.value if isinstance(cause, GameEvent) else f"`{cause.__name__}`"
