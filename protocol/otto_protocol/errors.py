"""Every error of the protocol: whose fault it is, and by which numbered rule.

There is one root, `OttoError`, and below it one class for each answer to "who is to blame?":

* `LocalError`: our own caller asked for something that cannot be done; nobody else is concerned.
* `DecodeError`: bytes that are no message of ours. Nobody signed them (yet), so nobody is blamed.
* `PeerFault`: a seat signed something that no honest peer signs. It names the seat and the rule.
"""

from __future__ import annotations


class OttoError(Exception):
    """The root of all errors that this package raises on purpose."""


class LocalError(OttoError):
    """The caller asked for something that is not possible now; the text says what to do."""


class DecodeError(OttoError):
    """Bytes that are not the canonical encoding of what was expected."""


class IllegalMove(LocalError):
    """A move that the rules of Otto do not allow.

    `rule` is the number of the rule in docs/rules.md ("T7", "R5"). Raised by the rules engine; the
    session turns it into a `PeerFault` when somebody else signed the move.
    """

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(f"{rule}: {text}")
        self.rule = rule
        self.text = text


class PeerFault(OttoError):
    """A seat broke a numbered rule, and its own signature proves it.

    `culprit` is a seat number; `rule` the number of a game rule (docs/rules.md) or of a protocol
    rule (docs/protocol.md, "P" numbers).
    """

    def __init__(self, culprit: int, rule: str, text: str) -> None:
        super().__init__(f"seat {culprit} broke {rule}: {text}")
        self.culprit = culprit
        self.rule = rule
        self.text = text
