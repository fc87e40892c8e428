"""The messages of the game: one frozen dataclass each, field order = wire order.

Every message travels as `Signed(seat, content, signature)`; the content is a header (match, view, step,
seat, previous digest), the kind of the message, and its fields. docs/protocol.md is made from this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from otto_protocol.crypto.group import POINT_BYTES
from otto_protocol.crypto.identity import IdentityKey, verify
from otto_protocol.encoding import (
    AtMost,
    Exactly,
    Max,
    Value,
    decode,
    encode,
    from_value,
    pack,
    to_value,
    unpack,
)
from otto_protocol.errors import DecodeError
from otto_protocol.hashing import tagged_hash
from otto_protocol.limits import MAX_CARDS, MAX_SEATS
from otto_protocol.roster import Digest, Signature

MAX_MESSAGE = 64 * 1024  # bytes of one signed message; a shuffle proof is the largest thing inside
MAX_EVIDENCE = 12 * (MAX_MESSAGE + 256)  # bytes: at most two accused messages and one of each seat

Seat = Annotated[int, Max(MAX_SEATS - 1)]
Slot = Annotated[int, Max(2**32 - 1)]
Slots = Annotated[tuple[Slot, ...], AtMost(MAX_CARDS)]
Nonce = Annotated[bytes, Exactly(32)]
MaybeNonce = Annotated[bytes, AtMost(32)]
Proof = Annotated[bytes, AtMost(256)]  # a Schnorr or Chaum-Pedersen proof
ShuffleProofBytes = Annotated[bytes, AtMost(60_000)]  # of a shuffle: about 50 kB for MAX_CARDS cards
Points = Annotated[bytes, AtMost(2 * MAX_CARDS * POINT_BYTES)]


@dataclass(frozen=True, slots=True)
class Opening:
    """The owner's decryption shares (33 bytes each, ascending slots) of cards not yet public, one proof for all.

    Both are empty when every card in question has been seen before.
    """

    shares: Points
    proof: Proof


@dataclass(frozen=True, slots=True)
class KeyCommit:
    """Commits to what `KeyOpen` will open, so that nobody chooses a key or the lot after seeing others'."""

    commitment: Digest


@dataclass(frozen=True, slots=True)
class KeyOpen:
    """Opens a seat's key for this game, with a Schnorr proof of possession, and its part in the lot."""

    nonce: Nonce
    key: Annotated[bytes, Exactly(POINT_BYTES)]
    possession: Proof

    def committed(self) -> bytes:
        """What the `KeyCommit` before it commits to, under `nonce`."""
        return self.key + self.possession


@dataclass(frozen=True, slots=True)
class Shuffle:
    """A re-encrypted permutation of the deck before it: N ciphertexts of 66 bytes."""

    deck: Points


@dataclass(frozen=True, slots=True)
class ShuffleProof:
    """A Terelius-Wikstroem proof that this seat's `Shuffle` is a shuffle of the deck before it."""

    proof: ShuffleProofBytes


@dataclass(frozen=True, slots=True)
class Shares:
    """Decryption shares of every card being dealt to others (33 bytes each, ascending slots), one proof."""

    shares: Points
    proof: Proof


@dataclass(frozen=True, slots=True)
class Choose:
    """T3: commits to the number to collect, and lays the collection face down."""

    commitment: Digest
    slots: Slots


@dataclass(frozen=True, slots=True)
class Challenge:
    """T11: the leader challenges a seat to a duel."""

    target: Seat


@dataclass(frozen=True, slots=True)
class LayDuel:
    """T12: the challenged seat lays a card face down (a commitment to its slot)."""

    commitment: Digest


@dataclass(frozen=True, slots=True)
class Guess:
    """T12: the challenger says the colour of the card."""

    colour: Annotated[int, Max(3)]


@dataclass(frozen=True, slots=True)
class OpenDuel:
    """R13: the duel card is opened, and goes back into the hand."""

    slot: Slot
    nonce: Nonce
    opening: Opening


@dataclass(frozen=True, slots=True)
class LoseCard:
    """T13: the loser of the duel puts one of its collection on the spent pile."""

    slot: Slot
    opening: Opening


@dataclass(frozen=True, slots=True)
class Lead:
    """T6: the leader says a number and lays a card face down (a commitment to its slot)."""

    number: Annotated[int, Max(9)]
    commitment: Digest


@dataclass(frozen=True, slots=True)
class Answer:
    """T7: a card face up."""

    slot: Slot
    opening: Opening


@dataclass(frozen=True, slots=True)
class SitOut:
    """R5: the whole hand is opened, because every card of it has the number that was said."""

    opening: Opening


@dataclass(frozen=True, slots=True)
class OpenLead:
    """T8: the leader's card is opened."""

    slot: Slot
    nonce: Nonce
    opening: Opening


@dataclass(frozen=True, slots=True)
class Exchange:
    """T9, T10: whether a seat that may exchange its card does so."""

    take: bool


@dataclass(frozen=True, slots=True)
class Collect:
    """R9: who drew lays cards into the collection, face down (or none)."""

    slots: Slots


@dataclass(frozen=True, slots=True)
class OttoCommit:
    """R14: when several could say Otto, each commits to its decision first."""

    commitment: Digest


@dataclass(frozen=True, slots=True)
class Otto:
    """T14: Otto! Opens the number, the whole collection, and the hand cards that the bonus needs."""

    nonce: MaybeNonce
    number: Annotated[int, Max(9)]
    number_nonce: Nonce
    bonus: Slots
    opening: Opening


@dataclass(frozen=True, slots=True)
class GoOn:
    """T15: a seat with eight collected cards plays on."""

    nonce: MaybeNonce


@dataclass(frozen=True, slots=True)
class Score:
    """R16: at the end everybody opens number and collection."""

    number: Annotated[int, Max(9)]
    number_nonce: Nonce
    opening: Opening


@dataclass(frozen=True, slots=True)
class Result:
    """Countersigns the end of a game: the points of each seat (the header binds the final digest)."""

    points: Annotated[tuple[Annotated[int, Max(255)], ...], AtMost(MAX_SEATS)]


@dataclass(frozen=True, slots=True)
class HealProof:
    """A proof for this seat's shuffle of the hidden cards, and its fresh key S_k with proof of possession."""

    proof: ShuffleProofBytes
    key: Annotated[bytes, Exactly(POINT_BYTES)]
    possession: Proof


@dataclass(frozen=True, slots=True)
class Raise:
    """Every entry of the healed deck and every survivor's hidden card, raised to s_k; one proof for all."""

    pile: Points
    hidden: Points
    proof: Proof


@dataclass(frozen=True, slots=True)
class Tags:
    """x_k times the raised a: of every entry of the healed deck, and of this seat's own hidden cards."""

    pile: Points
    hidden: Points
    proof: Proof


@dataclass(frozen=True, slots=True)
class Ack:
    """This seat stands at this step too, where nothing is wanted from it: it has seen all before."""


@dataclass(frozen=True, slots=True)
class Own:
    """A seat that stays, and the content hash of its message for the step of a proposal."""

    seat: Seat
    content: Annotated[bytes, Exactly(32)]


@dataclass(frozen=True, slots=True)
class Vote:
    """Seals this view for its author, and votes to go on from the header's step and digest without `gone`.

    `excluded` are those of `gone` that left or are convicted; `owns` are the messages of that step that the author
    holds of seats that stay, by seat: they stand.
    """

    round: Annotated[int, Max(2**32 - 1)]
    gone: Annotated[tuple[Seat, ...], AtMost(MAX_SEATS)]
    excluded: Annotated[tuple[Seat, ...], AtMost(MAX_SEATS)]
    owns: Annotated[tuple[Own, ...], AtMost(MAX_SEATS)]


@dataclass(frozen=True, slots=True)
class Enter:
    """Its author is in the next view by the proposal that it voted for last, in `round`; `opens` is its digest."""

    round: Annotated[int, Max(2**32 - 1)]
    opens: Digest


@dataclass(frozen=True, slots=True)
class Leave:
    """The last thing that a seat signs in a match: it leaves, having voted last in this round (0: never)."""

    last_round: Annotated[int, Max(2**32 - 1)]


Body = (
    KeyCommit | KeyOpen | Shuffle | ShuffleProof | Shares | Choose | Challenge | LayDuel | Guess | OpenDuel
    | LoseCard | Lead | Answer | SitOut | OpenLead | Exchange | Collect | OttoCommit | Otto | GoOn | Score
    | Result | HealProof | Raise | Tags | Ack | Vote | Enter | Leave
)  # fmt: skip

KINDS: tuple[type[Body], ...] = (
    KeyCommit, KeyOpen, Shuffle, ShuffleProof, Shares, Choose, Challenge, LayDuel, Guess, OpenDuel, LoseCard,
    Lead, Answer, SitOut, OpenLead, Exchange, Collect, OttoCommit, Otto, GoOn, Score, Result,
    HealProof, Raise, Tags, Ack, Vote, Enter, Leave,
)  # fmt: skip
"""The kind number on the wire is the place in this tuple."""

MOVES: tuple[type[Body], ...] = (
    Choose, Challenge, LayDuel, Guess, OpenDuel, LoseCard, Lead, Answer, SitOut, OpenLead, Exchange, Collect,
    Otto, GoOn, Score,
)  # fmt: skip
"""The moves of the game, which `otto` translates."""

BALLOTS = (Vote, Enter, Leave)
"""These are about the table itself: they belong to a view, not to a step."""

_NUMBER = {cls: number for number, cls in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Header:
    """Where a message belongs: match (32 bytes), view, step, seat, and the digest of all before it."""

    match: Digest
    view: Annotated[int, Max(2**32 - 1)]
    step: Annotated[int, Max(2**32 - 1)]
    seat: Seat
    previous: Digest


@dataclass(frozen=True, slots=True)
class Signed:
    """A message on the wire: who says it, its canonical content, an Ed25519 signature over match and content."""

    seat: Seat
    content: Annotated[bytes, AtMost(MAX_MESSAGE)]
    signature: Signature


@dataclass(frozen=True, slots=True)
class Evidence:
    """What convicts a seat, for everybody who has the log up to it.

    `accused` are two messages of one seat that contradict each other, or one that breaks a rule by itself or on top
    of `before`: all messages of the step before it (none at the first step of a view).
    """

    accused: Annotated[tuple[Signed, ...], AtMost(2)]
    before: Annotated[tuple[Signed, ...], AtMost(MAX_SEATS)] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A decoded message together with the bytes that were signed."""

    header: Header
    body: Body
    signed: Signed

    def content_hash(self) -> bytes:
        """32 bytes that stand for the content in digests and ballots (the signature is not part of it)."""
        return content_hash(self.signed)


def content_hash(signed: Signed) -> bytes:
    """32 bytes: `Message.content_hash` of what may be no message at all."""
    return tagged_hash("content", signed.content)


SIGNATURE_TAG = "message"


def content_of(header: Header, body: Body) -> bytes:
    """The canonical bytes of a message: what is signed."""
    return encode((to_value(header), _NUMBER[type(body)], to_value(body)))


def sign(identity: IdentityKey, header: Header, body: Body) -> Message:
    """Make and sign a message."""
    content = content_of(header, body)
    signature = identity.sign(SIGNATURE_TAG, header.match, content)
    return Message(header, body, Signed(header.seat, content, signature))


def signature_valid(signed: Signed, key: bytes, match: bytes) -> bool:
    """Whether `key` signed this content for this match."""
    return verify(key, signed.signature, SIGNATURE_TAG, match, signed.content)


def parse_signed(data: bytes) -> Signed:
    """The outer layer of a message; raises DecodeError. Says nothing about who made it."""
    return unpack(Signed, data, MAX_MESSAGE + 256)


def parse(data: bytes) -> Signed | Evidence:
    """What a peer passes on: a message or evidence; raises DecodeError. Says nothing about who made it."""
    value = decode(data, MAX_EVIDENCE)
    if type(value) is tuple and len(value) == 2:
        return from_value(Evidence, value)
    if len(data) > MAX_MESSAGE + 256:
        raise DecodeError("a message that is too long")
    return from_value(Signed, value)


def parse_content(signed: Signed) -> Message:
    """The header and the body; raises DecodeError (P2 for whoever signed it)."""
    value = decode(signed.content, MAX_MESSAGE)
    if type(value) is not tuple or len(value) != 3:
        raise DecodeError("a message is a header, a kind and a body")
    header = from_value(Header, value[0])
    kind: Value = value[1]
    if type(kind) is not int or kind >= len(KINDS):
        raise DecodeError("a kind of message that does not exist")
    if header.seat != signed.seat:
        raise DecodeError("the seat inside is not the seat outside")
    body: Any = from_value(KINDS[kind], value[2])
    return Message(header, body, signed)


def wire(message: Message) -> bytes:
    """The bytes of a message as they are sent and stored."""
    return pack(message.signed)
