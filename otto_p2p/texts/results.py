"""How a game and a match ended: who won and why, the bonus, the points, and what did not add up."""

from __future__ import annotations

from otto_p2p.i18n import N_, _, ngettext
from otto_p2p.texts.people import People
from otto_p2p.updates import GameUpdate
from otto_protocol.match.phases import BEFORE_DEAL
from otto_protocol.rules import Bonus, EndReason, Outcome

_BONUS = {
    Bonus.THREE_MORE: N_("three more of the same number"),
    Bonus.FOUR_MORE: N_("four more of the same number"),
    Bonus.NEIGHBOURS: N_("two one lower and two one higher"),
    Bonus.ZEROS: N_("eight zeros"),
}

_NO_WINNER = {
    EndReason.DEAD_END: N_("Nobody can reach eight cards any more, so nobody wins."),
    EndReason.STALLED: N_("Nothing was collected for a long time, so nobody wins."),
    EndReason.LAST_SEAT: N_("All the others are gone."),
}
_NOBODY = N_("Nobody wins.")

_CHEATS = {
    "R16": N_("{name} had another number in the collection (rule R16): 0 points."),
    "T3": N_("{name} kept a card of the collected number in the first hand (rule T3): 0 points."),
}
_BROKE = N_("{name} broke rule {rule}: 0 points.")


def points(number: int) -> str:
    """A number of points in words."""
    return ngettext("{n} point", "{n} points", number).format(n=number)


def game_ended(update: GameUpdate) -> int:
    """Which game an outcome is of: the countersigned result may have begun the next one already."""
    return update.game - 1 if update.phase in BEFORE_DEAL else update.game


def game_over(outcome: Outcome, people: People, game: int, games: int) -> list[str]:
    """The end of a game, a sentence a line: the winner, bonuses, then everybody's points."""
    told = [_winner(outcome, people, game, games)]
    told += [
        _("Bonus: {what}, +{n}.").format(what=_(_BONUS[bonus]), n=bonus.points) for bonus in outcome.bonus
    ]
    told += [
        _(_CHEATS.get(cheat.rule, _BROKE)).format(name=people.names[cheat.seat], rule=cheat.rule)
        for cheat in outcome.cheats
    ]
    return [*told, *scoreboard(outcome, people)]


def _winner(outcome: Outcome, people: People, game: int, games: int) -> str:
    start = _("Game {game} of {games} is over.").format(game=game, games=games) + " "
    if outcome.winner is None:
        return start + _(_NO_WINNER.get(outcome.reason, _NOBODY))
    told = _(_NO_WINNER[EndReason.LAST_SEAT]) + " " if outcome.reason is EndReason.LAST_SEAT else ""
    if outcome.winner == people.me:
        return start + told + _("You win!")
    return start + told + _("The winner: {name}.").format(name=people.names[outcome.winner])


def scoreboard(outcome: Outcome, people: People) -> list[str]:
    """Everybody's points in this game, best first."""
    lines = []
    for seat in ranking(outcome.points):
        collected = outcome.numbers[seat]
        known = _("{name}: {points}, collected the number {number}")
        line = _("{name}: {points}") if collected is None else known
        lines.append(
            line.format(name=people.names[seat], points=points(outcome.points[seat]), number=collected)
        )
    return lines


def match_over(totals: tuple[int, ...], people: People, games: int) -> list[str]:
    """The points of the whole match, best first; nothing when it had one game."""
    if games == 1:
        return []
    shown = (
        _("{place}. {name}: {points}").format(
            place=place, name=people.names[seat], points=points(totals[seat])
        )
        for place, seat in enumerate(ranking(totals), 1)
    )
    return [_("The match is over. All points:"), *shown]


def ranking(totals: tuple[int, ...]) -> list[int]:
    """The seats, most points first."""
    return sorted(range(len(totals)), key=lambda seat: (-totals[seat], seat))
