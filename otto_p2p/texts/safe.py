"""The one place where text from elsewhere is made fit for a terminal.

Whatever comes from the network, from a file or from the command line goes through `safe` before it is shown:
nothing that comes out moves the cursor, colours, rings, hides, or turns the writing direction.
"""

from __future__ import annotations

import unicodedata

from otto_p2p.lookalikes import tagged
from otto_protocol.lobby.names import INVISIBLE, MAX_MARKS, in_emoji

MAX_SHOWN = 400  # characters of one piece of text from elsewhere

_NEVER = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_IN_EMOJI = "\u200d\ufe0f"  # joiner and style: shown as they are inside an emoji only


def safe(text: str) -> str:
    r"""`text` with everything that is not plainly visible written as an escape.

    >>> safe("\x1b[2J\x1b[31mX")
    '\\x1b[2J\\x1b[31mX'
    """
    shown = []
    marks = 0
    for place, char in enumerate(text[:MAX_SHOWN]):
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        visible = _visible(char) or (char in _IN_EMOJI and in_emoji(text, place))
        shown.append(char if visible and marks <= MAX_MARKS else _escape(char))
    return "".join(shown) + ("..." if len(text) > MAX_SHOWN else "")


def _visible(char: str) -> bool:
    if " " <= char <= "~":
        return True
    category = unicodedata.category(char)
    return category not in _NEVER and category != "Zs" and char not in INVISIBLE


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def with_tag(name: str, name_tag: str) -> str:
    """A person's name as it is shown."""
    return tagged(safe(name), name_tag)
