"""The numbered rules of the protocol: what no honest peer ever signs.

The rules of the game have T and R numbers (docs/rules.md), these have P numbers. Breaking one convicts the
seat whose signature is on the message; docs/protocol.md prints this table, and tests name the numbers.
"""

from __future__ import annotations

PROTOCOL_RULES: dict[str, str] = {
    "P1": "one content for one step: two different signed contents for the same view, step and seat convict",
    "P2": "a signed content is the canonical encoding of a message that exists, with its bounds kept",
    "P3": "a seat speaks as the phase wants it: with a message that it allows, or Ack where nothing is wanted",
    "P4": "an opening fits the commitment that it opens",
    "P5": "a key is a point of the group, and its proof of possession holds",
    "P6": "a shuffled deck has as many ciphertexts as the deck before it, all of them points",
    "P7": "a shuffle proof holds for the deck before, the deck after, and this very step",
    "P8": "shares are given for each card that is being dealt to others and for no other, all of them points",
    "P9": "the proof of a batch of shares holds under the key of the seat that gives them",
    "P10": "an opening has one share for each card not yet public, and its proof holds",
    "P11": "a result is the result that the log gives",
    "P12": "a fresh healing key is a point of the group, and its proof of possession holds",
    "P13": "the raised cards are as many as there are, and their proof holds",
    "P14": "the tags are as many as there are cards, and their proof holds",
    "P15": "a message that is signed for this match names this match in its header",
    "P16": "a vote can be meant, and is the only one of its seat in its round of the view",
    "P17": "one ENTER in a view, for what was voted for in the last round; no vote after it",
    "P18": "nothing but votes and ENTER after a vote, and nothing at all after the one LEAVE",
    "P19": "a vote names the message that its author has signed for that place in the log, if it stays",
}
