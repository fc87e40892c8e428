"""Which names can be mistaken for each other, and the tags that tell them apart."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Sequence

from otto_protocol.crypto.identity import fingerprint
from otto_protocol.roster import Member

TAG = 4  # letters of a tag, if that is enough
BEGINNING = 12  # letters that are sure to be seen of a name

# Letters of other scripts that look like Latin ones (a part of Unicode's confusables; enough for names).
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһкмнтвгзАВЕЗКМНОРСТУХІЈЅԌԚԜҺαορνιυκχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧօհոս0134578ıł|",
    "aeopcyxijsdqwhkmhtbr3ABE3KMHOPCTYXIJSGQWHaopviukxyABEZHIKMNOPTYXohnuoieastbill",
)


def tag(key: bytes) -> str:
    """Four letters of a key's fingerprint: they tell equal names apart."""
    return fingerprint(key)[:TAG]


def tags(names: Sequence[str], keys: Sequence[bytes]) -> tuple[str, ...]:
    """For each of these people a tag, or "" for one who cannot be mistaken for another.

    A tag is given to names that look alike, to those that mix scripts (a Cyrillic А in "Аnna"), and to those
    that could pretend to have a tag. Names that begin alike count as alike: a narrow column shows no more.
    """
    shapes = [look(name)[:BEGINNING] for name in names]
    found = []
    for name, key, shape in zip(names, keys, shapes, strict=True):
        alike = [other for other, its in zip(keys, shapes, strict=True) if its == shape and other != key]
        found.append(_tag_among(key, alike) if alike or "#" in name or _mixes_scripts(name) else "")
    return tuple(found)


def _tag_among(key: bytes, others: Sequence[bytes]) -> str:
    """A tag that none of the others has, too: a key with a given tag is found in minutes of trying."""
    own, theirs = fingerprint(key), [fingerprint(other) for other in others]
    return next(
        (own[:size] for size in range(TAG, len(own)) if own[:size] not in [one[:size] for one in theirs]),
        own,
    )


def told_apart(people: Iterable[Member]) -> tuple[str, ...]:
    """The names of these people, with tags where they could be mistaken for each other."""
    known = tuple(people)
    marks = tags([one.name for one in known], [one.key for one in known])
    return tuple(tagged(one.name, mark) for one, mark in zip(known, marks, strict=True))


def tagged(name: str, name_tag: str) -> str:
    """A name with its tag, if it has one. It is not fit for a screen yet."""
    return f"{name} #{name_tag}" if name_tag else name


def look(name: str) -> str:
    """What a name looks like at a glance: equal for names that can be mistaken for each other."""
    plain = unicodedata.normalize("NFKD", name.translate(_LOOKALIKES))
    letters = (char for char in plain if unicodedata.category(char)[0] in "LNSP")
    return (
        "".join(letters)
        .casefold()
        .translate(_LOOKALIKES)
        .replace("l", "i")
        .replace("rn", "m")
        .replace("vv", "w")
    )


def _mixes_scripts(name: str) -> bool:
    scripts = {_script(char) for char in name if char.isalpha()}
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1


@functools.lru_cache(maxsize=1024)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]
