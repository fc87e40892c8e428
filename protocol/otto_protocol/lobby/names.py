"""Which names are taken: what a name may not do to anybody's screen."""

from __future__ import annotations

import unicodedata

from otto_protocol.roster import MAX_NAME

MAX_MARKS = 3  # combining marks on one letter

_EMOJI_PART = ("So", "Sk")
_EMOJI_STYLE = "\ufe0f"  # variation selector 16
_ZERO_WIDTH_JOINER = "\u200d"
# Characters that show nothing although their category is a letter, a mark, a symbol or "unassigned" (Unicode:
# Default_Ignorable_Code_Point, and the blank Braille pattern). Other unassigned ones are taken: which are
# unassigned depends on the Unicode tables of each peer.
INVISIBLE = (
    frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2065\u2800\u3164\uffa0")
    | frozenset(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9))))
    | frozenset(map(chr, range(0xE0000, 0xE1000)))
)


def name_problem(name: str) -> str | None:
    """Why a name is refused, in words, or None.

    Refused is what could move the cursor, turn the writing direction, hide, or stack up on a screen. A
    zero-width joiner is taken inside an emoji only. Names that merely look alike are told apart by the key.
    """
    if not name or name.strip() != name:
        return "it is empty, or begins or ends with a space"
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME:
        return f"it is longer than {MAX_NAME} bytes"
    marks = 0
    for place, char in enumerate(name):
        category = unicodedata.category(char)
        if char in (_ZERO_WIDTH_JOINER, _EMOJI_STYLE) and in_emoji(name, place):
            continue
        if (
            category in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
            or char in INVISIBLE
            or (category == "Zs" and char != " ")
        ):
            return f"it has a control or invisible character (U+{ord(char):04X})"
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks > MAX_MARKS or (marks and place == 0):
            return "it has too many combining marks"
    if unicodedata.normalize("NFC", name) != name:
        return "it is not in Unicode normal form C"
    return None


def in_emoji(name: str, place: int) -> bool:
    """Whether the joiner or selector at `place` stands where an emoji has one."""
    before = name[place - 1] if place else " "
    if name[place] == _EMOJI_STYLE:
        return unicodedata.category(before) in _EMOJI_PART
    after = name[place + 1 : place + 2] or " "
    return unicodedata.category(after) == "So" and (
        before == _EMOJI_STYLE or unicodedata.category(before) in _EMOJI_PART
    )
