"""Otto over mental poker, pure: no I/O, no clock, no hidden randomness.

The public names, which docs/library.md explains. The modules below have more; what is not listed here may
change without a word.
"""

from __future__ import annotations

from otto_protocol import rules
from otto_protocol.crypto.identity import IdentityKey
from otto_protocol.errors import DecodeError, IllegalMove, LocalError, OttoError, PeerFault
from otto_protocol.hashing import Drbg, Rng
from otto_protocol.lab import Chooser, Lab, make_start
from otto_protocol.lobby.lobby import Lobby
from otto_protocol.match import messages
from otto_protocol.match.audit import Failed, Proven, Unfinished, Verdict, Verified, audit, judge
from otto_protocol.match.events import (
    Convicted,
    Diverged,
    Heard,
    Record,
    Removed,
    SessionEvent,
    StepDone,
    ViewOpened,
    Voted,
)
from otto_protocol.match.log import Log
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica
from otto_protocol.match.session import Session
from otto_protocol.match.transcript import Transcript, UnknownVersion
from otto_protocol.match.transcript import dump as dump_transcript
from otto_protocol.match.transcript import load as load_transcript
from otto_protocol.match.views import Conviction
from otto_protocol.roster import Member, Roster, Start, TableRules
from otto_protocol.rules import GamePhase, Outcome, SeatView, State, moves
from otto_protocol.rules.game import Game
from otto_protocol.rules.positions import arrange

__all__ = [
    "Chooser",
    "Convicted",
    "Conviction",
    "DecodeError",
    "Diverged",
    "Drbg",
    "Failed",
    "Game",
    "GamePhase",
    "Heard",
    "IdentityKey",
    "IllegalMove",
    "Lab",
    "Lobby",
    "LocalError",
    "Log",
    "MatchPhase",
    "Member",
    "OttoError",
    "Outcome",
    "PeerFault",
    "Proven",
    "Record",
    "Removed",
    "Replica",
    "Rng",
    "Roster",
    "SeatView",
    "Session",
    "SessionEvent",
    "Start",
    "State",
    "StepDone",
    "TableRules",
    "Transcript",
    "Unfinished",
    "UnknownVersion",
    "Verdict",
    "Verified",
    "ViewOpened",
    "Voted",
    "arrange",
    "audit",
    "dump_transcript",
    "judge",
    "load_transcript",
    "make_start",
    "messages",
    "moves",
    "rules",
]
