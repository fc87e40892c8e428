"""Notices, the state of the lobby and the phases of a match, in words."""

from __future__ import annotations

import time
from collections.abc import Mapping

from otto_p2p.i18n import N_, _, ngettext
from otto_p2p.texts.people import People
from otto_p2p.texts.safe import safe
from otto_p2p.updates import GameUpdate, News, Notice, OpenTable
from otto_protocol.lobby.actions import Cause
from otto_protocol.lobby.seating import Lack, Obstacle
from otto_protocol.match.phases import PROOFS, MatchPhase
from otto_protocol.roster import PROTOCOL_VERSION, TableRules

_NEWS: dict[News, str] = {
    News.LINK_LOST: N_("The connection to {0} is lost; trying to get it back."),
    News.LINK_BACK: N_("{0} is back."),
    News.ROUND_ABOUT: N_("What {0} says comes through the others; the game goes on."),
    News.SILENT: N_("Nothing is heard from {0}."),
    News.LEFT: N_("{0} has left."),
    News.WANTS_ON: N_("{0} wants to go on without {1}."),
    News.REMOVED: N_("The table goes on without {0}."),
    News.PUT_OUT: N_("The others have gone on without you: this game is over for you."),
    News.TOO_FEW: N_(
        "The game waits: too few of its players are here to go on without the others. "
        "If they do not come back, you can leave."
    ),
    News.PLAYED_FOR_YOU: N_("Your time was up: the built-in player has decided for you."),
    News.HEALED: N_("The cards of those who are gone are back in the draw pile."),
    News.CHEAT: N_("{0} broke rule {1}: {2}"),
    News.UNREACHABLE: N_("{0} cannot be reached: {1}"),
    News.OTHER_VERSION: N_("{0} plays another version ({1}) and cannot sit here."),
    News.TABLE_FULL: N_("That table is full; you sit at a table of your own: {0}."),
    News.MOVED: N_("You sit at the table {0} now."),
    News.NOT_MADE: N_("That was not done: {0}"),
    News.RESUMED: N_("You are back at your seat, with your hand."),
    News.NO_MULTICAST: N_(
        "Nobody was found yet. If others are there: a firewall, a VPN or a guest Wi-Fi that keeps devices "
        "apart may be the reason. Type on another machine: {0}. `otto-p2p doctor` finds out more."
    ),
    News.STORED: N_("The transcript is in {0}"),
    News.WARNING: N_("Careful: {0}"),
}
_CHEAT_SHOWN = N_("{0} broke rule {1}: {2}. The evidence is in {3}")

_CAUSES: dict[str, str] = {
    Cause.OWN_WISH.value: N_("The start was stopped."),
    Cause.WITHDRAWN.value: N_("The game did not start: {name} is not ready any more."),
    Cause.SILENT.value: N_("The game did not start: nothing is heard from {name}."),
    Cause.CHANGED.value: N_("The game did not start: the table has changed."),
    Cause.RESTARTED.value: N_("The game had not started yet."),
}
_NOT_STARTED = N_("The game did not start.")

_LACKS: dict[Lack, str] = {
    Lack.ALONE: N_("Nobody else sits here yet."),
    Lack.NO_SEAT: N_("You have no seat at this table yet."),
    Lack.NOT_READY: N_("{name} is not ready."),
    Lack.IN_GAME: N_("{name} is still in a game."),
    Lack.NO_CONSENT: N_("{name} has not agreed to start without the others."),
    Lack.LIST_DIFFERS: N_("{name} does not see everybody at this table yet."),
    Lack.ROUND_DIFFERS: N_("{name} is not back at the table yet."),
    Lack.TERMS_DIFFER: N_("{name} does not know the rules of this table yet."),
    Lack.ROSTER_DIFFERS: N_("{name} is starting with other players."),
    Lack.CANNOT_REACH: N_(
        "{name} and {other} cannot reach each other; with `join --relay` both play through the others."
    ),
    Lack.TOO_MANY: N_("There are not enough cards for so many players."),
}

_PHASES: dict[MatchPhase, str] = {
    MatchPhase.KEY_COMMIT: N_("Everybody makes a secret key for this game."),
    MatchPhase.SHUFFLE: N_("The cards are shuffled by everybody in turn."),
    MatchPhase.PROVE: N_("Everybody checks all the shuffles."),
    MatchPhase.DEAL: N_("All shuffles are right. The cards are dealt."),
    MatchPhase.HEAL_SHUFFLE: N_("The cards are put in order again without those who are gone."),
}

_AWAY = {
    "silent": N_("{name} (nothing is heard)"),
    "left": N_("{name} (has left)"),
    "lost": N_("{name} (connection lost)"),
    "unlinked": N_("{name} (not connected)"),
}
_AWAY_SOMEHOW = N_("{name} (away)")


def news(notice: Notice) -> str:
    """A notice as one line."""
    words = [safe(word) for word in notice.words]
    if notice.news is News.NOT_STARTED:
        cause, name = (*words, "", "")[:2]
        return _(_CAUSES.get(cause, _NOT_STARTED)).format(name=name)
    if notice.news is News.CHEAT and len(words) > 3 and words[3]:
        return _(_CHEAT_SHOWN).format(*words)
    return _(_NEWS[notice.news]).format(*words, *[""] * 4).rstrip()


def obstacle(lacking: Obstacle, names: Mapping[bytes, str], me: bytes) -> str:
    """Why the table has not started, as one sentence; `names` are fit for a screen."""
    if lacking.lack is Lack.NOT_READY and lacking.key == me:
        return _("You are not ready.")
    if lacking.lack is Lack.NO_CONSENT and lacking.key == me:
        return _("You have not agreed to start without the others.")
    name, other = names.get(lacking.key, _("somebody")), names.get(lacking.other, _("somebody"))
    return _(_LACKS[lacking.lack]).format(name=name, other=other)


def rules_line(rules: TableRules) -> str:
    """The table rules in one line."""
    parts = [
        ngettext("{n} deck", "{n} decks", rules.decks).format(n=rules.decks),
        ngettext("{n} game", "{n} games", rules.games).format(n=rules.games),
        ngettext("{n} second for each move", "{n} seconds for each move", rules.turn_seconds).format(
            n=rules.turn_seconds
        )
        if rules.turn_seconds
        else _("no turn clock"),
    ]
    if not rules.memory_aid:
        parts.append(_("no memory aid"))
    return ", ".join(parts)


def open_table(table: OpenTable) -> str:
    """Another table as one line."""
    people = ", ".join(safe(name) for name in table.people)
    if table.version != PROTOCOL_VERSION:
        return _("{table}: {people} (plays version {version}; this is {own})").format(
            table=safe(table.name), people=people, version=table.version, own=PROTOCOL_VERSION
        )
    if table.playing:
        free = _("playing")
    elif table.seats_free == 0:
        free = _("full")
    else:
        free = ngettext("{n} seat free", "{n} seats free", table.seats_free).format(n=table.seats_free)
    return _("{table}: {people} ({free}; {rules})").format(
        table=safe(table.name), people=people, free=free, rules=rules_line(table.rules)
    )


def phase_line(update: GameUpdate) -> str | None:
    """What the table does now, for the phases that are worth a line."""
    text = _PHASES.get(update.phase)
    return None if text is None else _(text)


def progress_line(update: GameUpdate) -> str | None:
    """How far the shuffles and their checks are: "2 of 4"."""
    done, total = update.progress
    if not total:
        return None
    if update.phase in PROOFS:
        return _("{done} of {total} shuffles verified").format(done=done, total=total)
    return _("{done} of {total} shuffles done").format(done=done, total=total)


def verified_line(update: GameUpdate, people: People) -> str | None:
    """When a shuffle was verified, and by whom; None as long as nobody but this peer has said so."""
    verified = update.verified
    if verified is None or not set(update.live) <= set(verified.seats):
        return None
    when = time.strftime("%H:%M:%S", time.localtime(verified.when))
    return _("The shuffle was verified at {time} by {names}.").format(
        time=when, names=people.list(verified.seats)
    )


def awaited_name(name: str, away: str | None, since: float | None = None) -> str:
    """Somebody who is waited for; why it takes long, and since when (Unix seconds), if that is known."""
    if away is None:
        return name
    why = _(_AWAY.get(away, _AWAY_SOMEHOW)).format(name=name)
    if since is None:
        return why
    return _("{why} since {time}").format(why=why, time=time.strftime("%H:%M:%S", time.localtime(since)))
