"""Write the generated blocks of docs/protocol.md and docs/architecture.md: tables from the code itself.

A block stands between `<!-- generated: NAME -->` and `<!-- end -->`; everything else is written by hand.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from otto_p2p.net import frames, handshake
from otto_protocol import encoding, errors, faults, roster
from otto_protocol.lobby import actions as lobby_actions
from otto_protocol.lobby import record as here
from otto_protocol.match import audit, messages, phases
from otto_protocol.match import transcript as transcripts

DOCS = Path(__file__).parent
PAGES = ("protocol.md", "architecture.md")
BLOCK = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
BOX = 100  # columns of the picture


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def meaning(cls: type[Any]) -> str:
    """The docstring of a class in one line."""
    return " ".join((inspect.getdoc(cls) or "").split())


def layout(cls: type[Any]) -> str:
    """The fields of a record in wire order."""
    return "<br>".join(f"`{name}` {text}" for name, text in encoding.describe(cls)) or "(none)"


def records(classes: Iterable[type[Any]]) -> str:
    """A table of records."""
    return table(
        ("record", "what it is", "fields in wire order"),
        ((f"`{cls.__name__}`", meaning(cls), layout(cls)) for cls in classes),
    )


def message_table() -> str:
    """Every kind of message with its number."""
    return table(
        ("kind", "message", "what it says", "fields in wire order"),
        (
            (str(number), f"`{cls.__name__}`", meaning(cls), layout(cls))
            for number, cls in enumerate(messages.KINDS)
        ),
    )


def phase_table() -> str:
    """Every phase: who speaks, with what, and what follows."""

    def follows(phase: phases.MatchPhase, loss: bool) -> str:
        steps = [
            f"{event.value} → **{after.value}**"
            for (before, event), after in phases.TRANSITIONS.items()
            if before is phase and (event in phases.LOSS) == loss
        ]
        return "<br>".join(steps) or "-"

    return table(
        ("phase", "who must speak", "messages", "then", "when a new view opens in it"),
        (
            (
                f"**{phase.value}**",
                row.who.value,
                " ".join(f"`{kind.__name__}`" for kind in row.messages) or "-",
                follows(phase, loss=False),
                follows(phase, loss=True),
            )
            for phase, row in phases.SPEAKERS.items()
        ),
    )


def frame_table() -> str:
    """Every kind of frame with its number."""
    return table(
        ("kind", "frame", "what it says", "fields in wire order"),
        (
            (str(number), f"`{cls.__name__}`", meaning(cls), layout(cls))
            for number, cls in frames.KINDS.items()
        ),
    )


def reason_table() -> str:
    """The reasons that are sent in `Bye` and `Verdict`."""
    source = inspect.getsource(frames.CloseReason)
    said = dict(re.findall(r"(\w+) = \d+  # (.+)", source))
    return table(
        ("number", "reason", "meaning"),
        (
            (str(int(reason)), f"`{reason.name}`", said.get(reason.name, "wanted"))
            for reason in frames.CloseReason
            if reason < 16
        ),
    )


def fault_table() -> str:
    """The P rules."""
    return table(("rule", "what no honest peer breaks"), faults.PROTOCOL_RULES.items())


def error_table() -> str:
    """The errors of `otto_protocol`."""
    found = [value for value in vars(errors).values() if inspect.isclass(value)]
    found.append(transcripts.UnknownVersion)
    return table(
        ("error", "is a", "meaning"),
        (
            (
                f"`{cls.__name__}`",
                f"`{cls.__bases__[0].__name__}`",
                (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " "),
            )
            for cls in found
        ),
    )


def limit_table() -> str:
    """Bounds that a decoder keeps."""
    rows = [
        ("protocol version", roster.PROTOCOL_VERSION),
        ("rules version", roster.RULES_VERSION),
        ("bytes of a frame", frames.MAX_FRAME),
        ("bytes of a hello", handshake.MAX_HELLO),
        ("bytes of a HERE record", here.MAX_HERE),
        ("bytes of the content of a message", messages.MAX_MESSAGE),
        ("bytes of a transcript", transcripts.MAX_TRANSCRIPT),
        ("bytes of a name (UTF-8)", roster.MAX_NAME),
        ("levels of nested arrays", encoding.MAX_DEPTH),
    ]
    return table(("bound", "value"), ((name, f"{value:,}") for name, value in rows))


def layers(package: str) -> list[list[str]]:
    """The layers of a package, top first, from the import contract."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        if contract.get("containers") == [package]:
            return [[name.strip("()") for name in re.split(r" [:|] ", layer)] for layer in contract["layers"]]
    raise LookupError(package)


def picture() -> str:
    """The layers of both packages as two boxes, the upper one using the lower one."""
    lines = []
    for package, caption in (
        ("otto_p2p", "the game as people use it: sockets, disk, threads, screen"),
        ("otto_protocol", "pure: no I/O, no clock, randomness as an argument"),
    ):
        title = f" {package}: {caption} "
        lines.append("┌─" + title + "─" * (BOX - len(title) - 3) + "┐")
        rows = layers(package)
        for place, modules in enumerate(rows):
            if place:
                lines.append("├" + "┄" * (BOX - 2) + "┤")
            lines += [f"│ {text:<{BOX - 4}} │" for text in wrapped(modules, BOX - 4)]
        lines.append("└" + "─" * (BOX - 2) + "┘")
        if package == "otto_p2p":
            lines += ["│".center(BOX).rstrip(), "▼".center(BOX).rstrip()]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def wrapped(words: Sequence[str], width: int) -> list[str]:
    """Words in lines of at most `width` columns, centred."""
    lines = [""]
    for word in words:
        longer = f"{lines[-1]}   {word}" if lines[-1] else word
        if len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line.center(width).rstrip() for line in lines]


BLOCKS: dict[str, Callable[[], str]] = {
    "limits": limit_table,
    "handshake": lambda: records(
        (handshake.ClientHello, handshake.ServerHello, handshake.ClientProof, handshake.Verdict)
    ),
    "frames": frame_table,
    "frame-parts": lambda: records((frames.Hears, frames.PeerHint)),
    "reasons": reason_table,
    "here": lambda: records((here.SignedHere, here.Here, here.Terms)),
    "roster": lambda: records((roster.TableRules, roster.Member, roster.Roster, roster.Start)),
    "lobby-memory": lambda: records((lobby_actions.Memory, lobby_actions.Spent)),
    "phases": phase_table,
    "envelope": lambda: records((messages.Signed, messages.Header, messages.Evidence)),
    "messages": message_table,
    "opening": lambda: records((messages.Opening, messages.Own)),
    "rules": fault_table,
    "errors": error_table,
    "transcript": lambda: records((transcripts.Transcript,)),
    "verdict": lambda: table(
        ("verdict", "meaning"),
        ((f"`{cls.__name__}`", meaning(cls)) for cls in (audit.Verified, audit.Unfinished, audit.Failed)),
    ),
    "layers": picture,
}


def filled(text: str) -> str:
    """A page with its generated blocks made anew. Raises LookupError for a block that nobody makes."""

    def block(found: re.Match[str]) -> str:
        if found[2] not in BLOCKS:
            raise LookupError(f"no such block: {found[2]}")
        return found[1] + BLOCKS[found[2]]() + found[3]

    return BLOCK.sub(block, text)


def main(arguments: list[str]) -> int:
    """Write the pages; with `--check` only compare, name what differs, and return 1 if any does."""
    stale = []
    for name in PAGES:
        page = DOCS / name
        text = page.read_text(encoding="utf-8")
        if "--check" not in arguments:
            page.write_text(filled(text), encoding="utf-8")
        elif filled(text) != text:
            stale.append(name)
    if stale:
        print("differ from what the code makes:", *stale)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
