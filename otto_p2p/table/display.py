"""What the screen is shown of one match: how it stands, who is away, which proofs were checked here."""

from __future__ import annotations

from dataclasses import replace

import trio

from otto_p2p.lookalikes import told_apart
from otto_p2p.table.absences import Absences
from otto_p2p.table.context import Context
from otto_p2p.table.snapshots import Standing
from otto_p2p.updates import GameUpdate, News, ShuffleVerified
from otto_protocol.match.phases import BEFORE_DEAL, PROOFS
from otto_protocol.match.replica import Replica
from otto_protocol.roster import Roster
from otto_protocol.rules import moves
from otto_protocol.rules.end import Outcome


class Display:
    """The updates of one match. Notices go behind the update that shows what they speak of."""

    def __init__(self, context: Context, roster: Roster, seat: int, absences: Absences) -> None:
        self.shown: GameUpdate | None = None  # the last update
        self._context = context
        self._names = names(roster)
        self._members = [member.key for member in roster.members]
        self._seat = seat
        self._absences = absences
        self._verified: ShuffleVerified | None = None  # the last shuffle whose proofs were checked here

    def name(self, seat: int) -> str:
        """The player, as notices call it."""
        return self._names[self._members[seat]]

    def resumed(self, standing: Standing) -> None:
        """This seat is back after a restart; that has checked all proofs again."""
        if standing.phase not in BEFORE_DEAL:
            self._verified = ShuffleVerified(self._context.wall(), standing.live)
        self.show(standing)
        self._context.notify(News.RESUMED)

    def step_done(self, before: Replica) -> None:
        """When the proofs of a shuffle were checked here, and who has signed something on top of them since."""
        if before.phase in PROOFS:
            self._verified = ShuffleVerified(self._context.wall(), (self._seat,))
        elif self._verified is not None and not set(before.live) <= set(self._verified.seats):
            seats = tuple(sorted({*self._verified.seats, *before.live}))
            self._verified = replace(self._verified, seats=seats)

    def view_opened(self) -> None:
        """A shuffle that nobody else has signed anything on top of counts no more."""
        if self._verified is not None and len(self._verified.seats) == 1:
            self._verified = None

    def show(
        self, standing: Standing, happened: tuple[moves.Move, ...] = (), outcome: Outcome | None = None
    ) -> None:
        """Tell the screen how the game stands, and what has just happened."""
        away, since = self._who_is_away()
        self.shown = replace(
            standing.game,
            happened=happened,
            outcome=outcome,
            away=away,
            away_since=since,
            verified=self._verified,
        )
        self._context.tell(self.shown)

    def show_away(self, news: News, key: bytes) -> None:
        """Somebody went or came, and nothing else has happened."""
        if self.shown is not None:
            away, since = self._who_is_away()
            self.shown = replace(self.shown, happened=(), outcome=None, away=away, away_since=since)
            self._context.tell(self.shown)
        self._context.notify(news, self._names[key])

    def show_indirect(self, key: bytes) -> None:
        """Somebody without a link is heard through others."""
        self._context.notify(News.ROUND_ABOUT, self._names[key])

    def _who_is_away(self) -> tuple[dict[int, str], dict[int, float]]:
        """By seat: why somebody is not here, and since when (Unix seconds)."""
        away = self._absences.away()
        seats = {seat: away[key] for seat, key in enumerate(self._members) if key in away}
        shift = self._context.wall() - trio.current_time()
        return (
            {seat: why for seat, (why, _) in seats.items()},
            {seat: since + shift for seat, (_, since) in seats.items()},
        )


def names(roster: Roster) -> dict[bytes, str]:
    """The players by key, as notices call them."""
    told = told_apart(roster.members)
    return {member.key: name for member, name in zip(roster.members, told, strict=True)}
