"""Numbers as words that people can say aloud: the name of a table, and the table words to compare."""

from __future__ import annotations

import functools

from otto_protocol.hashing import tagged_hash

BITS = 11  # of one word


@functools.cache
def _words() -> tuple[str, ...]:
    from mnemonic import Mnemonic  # only when a word is shown: it costs 30 ms to import

    return tuple(Mnemonic("english").wordlist)


def table_words(number: int) -> tuple[str, str, str]:
    """The table words: 33 bits as three words (of BIP 39's list of 2,048), to compare by voice.

    The same for everybody if nobody sits in between. They come from the opened keys of the first game.
    """
    words = _words()
    a, b, c = (words[number >> shift & (1 << BITS) - 1] for shift in (2 * BITS, BITS, 0))
    return a, b, c


def table_name(table: bytes) -> str:
    """What people call a table: two words from its random id."""
    number = int.from_bytes(tagged_hash("table name", table)[:3], "big")
    words = _words()
    return f"{words[number >> BITS & (1 << BITS) - 1]}-{words[number & (1 << BITS) - 1]}"
