"""The one place where text from elsewhere is made fit for a terminal, and equal names are told apart.

Whatever comes from the network, from a file or from the command line goes through `safe` before it is shown:
nothing that comes out moves the cursor, colours, rings, hides, or turns the writing direction.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence

from otto_protocol.identity import fingerprint

MAX_SHOWN = 400  # characters of one piece of text from elsewhere

_NEVER = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE0F), *range(0xE0100, 0xE01F0)))
)
_IN_EMOJI = "\u200d\ufe0f"  # joiner and style, between symbols
_MOST_MARKS = 3

# Letters of other scripts that look like Latin ones (a part of Unicode's confusables; enough for names).
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһкмнтвгзАВЕЗКМНОРСТУХІЈЅԌԚԜҺαορνιυκχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧօհոս0134578ıł|",
    "aeopcyxijsdqwhkmhtbr3ABE3KMHOPCTYXIJSGQWHaopviukxyABEZHIKMNOPTYXohnuoieastbill",
)


def safe(text: str) -> str:
    r"""`text` with everything that is not plainly visible written as an escape.

    >>> safe("\x1b[2J\x1b[31mX")
    '\\x1b[2J\\x1b[31mX'
    """
    shown = []
    marks = 0
    for place, char in enumerate(text[:MAX_SHOWN]):
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        visible = _visible(char) or (char in _IN_EMOJI and _between_symbols(text, place))
        shown.append(char if visible and marks <= _MOST_MARKS else _escape(char))
    return "".join(shown) + ("..." if len(text) > MAX_SHOWN else "")


def _visible(char: str) -> bool:
    if " " <= char <= "~":
        return True
    category = unicodedata.category(char)
    return category not in _NEVER and category != "Zs" and char not in _INVISIBLE


def _between_symbols(text: str, place: int) -> bool:
    before = text[place - 1] if place else " "
    if text[place] == "\ufe0f":
        return unicodedata.category(before) == "So"
    after = text[place + 1 : place + 2] or " "
    return unicodedata.category(after) == "So" and (
        before == "\ufe0f" or unicodedata.category(before) in ("So", "Sk")
    )


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def tag(key: bytes) -> str:
    """Four letters of a key's fingerprint: they tell equal names apart."""
    return fingerprint(key)[:4]


def tags(names: Sequence[str], keys: Sequence[bytes]) -> tuple[str, ...]:
    """For each of these people a tag, or "" for whom nobody could be mistaken.

    A tag is given to names that look alike, and to those that mix scripts (a Cyrillic А in "Аnna").
    """
    looks = [_look(name) for name in names]
    return tuple(
        tag(key) if looks.count(look) > 1 or _mixes_scripts(name) else ""
        for name, key, look in zip(names, keys, looks, strict=True)
    )


def with_tag(name: str, name_tag: str) -> str:
    """A person's name as it is shown."""
    return f"{safe(name)} #{name_tag}" if name_tag else safe(name)


def _look(name: str) -> str:
    """What a name looks like at a glance: equal for names that can be mistaken for each other."""
    plain = unicodedata.normalize("NFKD", name.translate(_LOOKALIKES))
    letters = (char for char in plain if unicodedata.category(char)[0] in "LNSP")
    return "".join(letters).casefold().translate(_LOOKALIKES).replace("l", "i").replace("rn", "m")


def _mixes_scripts(name: str) -> bool:
    scripts = {_script(char) for char in name if char.isalpha()}
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1


@functools.lru_cache(maxsize=1024)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]
