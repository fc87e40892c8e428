"""The lobby as lines: what has changed at the table since the last update, and what the start waits for."""

from __future__ import annotations

from collections.abc import Container

from otto_p2p.i18n import _
from otto_p2p.lookalikes import tag, tags
from otto_p2p.texts.known_keys import who
from otto_p2p.texts.news import obstacle, open_table, rules_line
from otto_p2p.texts.safe import safe, with_tag
from otto_p2p.updates import Face, LobbyUpdate, OpenTable, Person
from otto_protocol.lobby.seating import Lack


def names(update: LobbyUpdate) -> dict[bytes, str]:
    """The people of the table as they are shown, by key; who has somebody else's name has a tag, too."""
    seated = update.seated
    marks = tags([person.name for person in seated], [person.key for person in seated])
    return {
        person.key: with_tag(person.name, mark or (tag(person.key) if is_other(person) else ""))
        for person, mark in zip(seated, marks, strict=True)
    }


def is_other(person: Person) -> bool:
    """Whether somebody has a name that another key is known by."""
    return person.acquaintance is not None and person.acquaintance.face is Face.CHANGED


def careful(update: LobbyUpdate) -> list[str]:
    """A warning for everybody at the table who has a name that another key is known by."""
    shown = names(update)
    return [_who(person, shown[person.key])[0] for person in update.seated if is_other(person)]


def _who(person: Person, name: str) -> list[str]:
    return [] if person.acquaintance is None else [who(name, person.acquaintance)]


def me(update: LobbyUpdate) -> Person | None:
    """My own place at the table, if I have one."""
    return next((person for person in update.seated if person.me), None)


def whole(update: LobbyUpdate) -> list[str]:
    """The table, its people and the other tables, complete."""
    lines = [_("Your table: {table} ({rules}).").format(table=safe(update.table_name), rules=_rules(update))]
    shown = names(update)
    for person in update.seated:
        lines += [_person(person, shown[person.key]), *_who(person, shown[person.key])]
    lines += waiting(update, but=(Lack.NOT_READY,))  # that is said of each person already
    lines += other_tables(update.others)
    return lines


def changes(before: LobbyUpdate | None, now: LobbyUpdate) -> list[str]:
    """What is different now, a line each; everything when there was no update before."""
    if before is None or before.table_id != now.table_id:
        return whole(now)
    lines = []
    if before.rules != now.rules:
        lines.append(_("The table rules are now: {rules}.").format(rules=_rules(now)))
    old, new = names(before), names(now)
    earlier = {person.key: person for person in before.seated}
    for person in before.seated:
        if person.key not in new:
            lines.append(_("{name} has gone from the table.").format(name=old[person.key]))
    for person in now.seated:
        was = earlier.get(person.key)
        told = _person(person, new[person.key])
        if was is None or told != _person(was, old[person.key]):
            lines.append(told)
        if was is None or was.acquaintance != person.acquaintance:
            lines += _who(person, new[person.key])
    known = {table.table: table for table in before.others}
    for number, table in enumerate(now.others, 1):
        if known.get(table.table) != table:
            lines.append(_other(number, table))
    return lines


def _rules(update: LobbyUpdate) -> str:
    return rules_line(update.rules)


def _person(person: Person, name: str) -> str:
    if person.me:
        return _("You are ready.") if person.ready else _("You sit here as {name}.").format(name=name)
    if person.automatic:
        return _("{name} sits here (built-in player).").format(name=name)
    if not person.linked:
        return _("{name} sits here, but is not connected to you.").format(name=name)
    return (_("{name} is ready.") if person.ready else _("{name} sits here.")).format(name=name)


def waiting(update: LobbyUpdate, *, but: Container[Lack] = ()) -> list[str]:
    """Why the game has not started, a sentence a line, without what is in `but`."""
    mine = me(update)
    key = b"" if mine is None else mine.key
    shown = names(update)
    return [obstacle(lacking, shown, key) for lacking in update.obstacles if lacking.lack not in but]


def other_tables(others: tuple[OpenTable, ...]) -> list[str]:
    """The other tables, numbered from 1."""
    return [_other(number, table) for number, table in enumerate(others, 1)]


def _other(number: int, table: OpenTable) -> str:
    return _("Another table, {number}: {table}").format(number=number, table=open_table(table))
