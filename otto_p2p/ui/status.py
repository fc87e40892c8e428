"""The whole table and the memory aid in lines: what a glance at the cards on a real table would show."""

from __future__ import annotations

from otto_p2p.i18n import _, ngettext
from otto_p2p.texts.cards import by_colour, codes
from otto_p2p.texts.news import awaited_name, verified_line
from otto_p2p.texts.people import People
from otto_p2p.texts.results import points
from otto_p2p.updates import GameUpdate
from otto_protocol.rules import SAT_OUT, SeatView, clockwise
from otto_protocol.rules.cards import LETTERS, NUMBERS


def dealt(view: SeatView) -> bool:
    """Whether the seat knows its cards: not before all shares of the deal are here."""
    own = (*view.state.hands[view.seat], *view.state.collections[view.seat])
    return all(slot in view.secret.cards for slot in own)


def own_cards(view: SeatView) -> list[str]:
    """The own hand, and the own collection with its number."""
    if not dealt(view):
        return [_("The cards are not dealt yet.")]
    lines = [_("Your hand: {cards}").format(cards=by_colour(card for _slot, card in view.hand))]
    if view.secret.number is not None:
        collected = [card for _slot, card in view.collection]
        lines.append(
            ngettext(
                "You collect the number {number}: {n} card ({cards})",
                "You collect the number {number}: {n} cards ({cards})",
                len(collected),
            ).format(number=view.secret.number, n=len(collected), cards=codes(collected) or "-")
        )
    return lines


def table(update: GameUpdate, people: People) -> list[str]:
    """Everybody clockwise from me: cards, collection, what was seen; then the piles and who is awaited."""
    lines = []
    view = update.view
    if view is not None:
        state = view.state
        for seat in (*clockwise(state.order, state.live, update.seat), update.seat):
            lines.append(_seat(update, view, seat, people))
        piles = _("Draw pile: {pile}, spent pile: {spent}.").format(
            pile=len(state.pile), spent=len(state.spent)
        )
        lines.append(piles)
        if state.said is not None:
            lines.append(_("The leader said: {number}.").format(number=state.said))
    if (verified := verified_line(update, people)) is not None:
        lines.append(verified)
    if (waiting := waited_for(update, people)) is not None:
        lines.append(waiting)
    return lines


def _seat(update: GameUpdate, view: SeatView, seat: int, people: People) -> str:
    state = view.state
    parts = [
        ngettext("{n} card in the hand", "{n} cards in the hand", len(state.hands[seat])).format(
            n=len(state.hands[seat])
        ),
        ngettext("{n} collected", "{n} collected", len(state.collections[seat])).format(
            n=len(state.collections[seat])
        ),
    ]
    seen = view.seen(seat) if update.memory_aid else ()
    if seen and seat != update.seat:
        parts.append(_("seen: {cards}").format(cards=codes(seen)))
    laid = state.lead if seat == state.leader else state.answers[seat]
    if laid == SAT_OUT:
        parts.append(_("sits out"))
    elif laid is not None and laid in state.known:
        # Not when it was exchanged: then it lies on the spent pile.
        parts.append(_("on the table: {card}").format(card=codes((state.known[laid],))))
    if update.games > 1:
        parts.append(points(update.totals[seat]))
    text = _("{name} (leads): {parts}") if seat == state.leader else _("{name}: {parts}")
    name = _("{name} (you)").format(name=people.names[seat]) if seat == update.seat else people.names[seat]
    return text.format(name=name, parts=", ".join(parts))


def waited_for(update: GameUpdate, people: People) -> str | None:
    """Whom the table waits for, and why; None when it is nobody else."""
    others = [seat for seat in update.awaited if seat != update.seat]
    if not others or update.over:
        return None
    names = (
        awaited_name(people.names[seat], update.away.get(seat), update.away_since.get(seat))
        for seat in others
    )
    return _("Waiting for {names}.").format(names=", ".join(names))


def no_memory_aid() -> str:
    """What is said when the memory aid is asked for at a table that plays without it."""
    return _("The memory aid is switched off at this table.")


def unseen(view: SeatView) -> list[str]:
    """The cards that the seat has not seen, a line a number: "3: R2 Y1 B2" (so many of each colour)."""
    if not dealt(view):
        return [_("The cards are not dealt yet.")]
    lines = [_("Cards that you have not seen, by number (how many of each colour):")]
    left = view.faces_left()
    for own in NUMBERS:
        shown = " ".join(f"{LETTERS[hue]}{count}" for hue, count in enumerate(left[own]) if count)
        lines.append(f"{own}: {shown or '-'}")
    return lines
