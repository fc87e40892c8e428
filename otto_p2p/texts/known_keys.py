"""Who is who, in words: new, known from an earlier game, or not the one who had this name then."""

from __future__ import annotations

import time

from otto_p2p.i18n import _, ngettext
from otto_p2p.texts.safe import safe
from otto_p2p.updates import Acquaintance, Face

HOUR, DAY = 3600, 86400

MARKS = {Face.NEW: "+", Face.KNOWN: "=", Face.CHANGED: "!"}
"""For lists: what tells them apart without colours."""


def mark_name(face: Face) -> str:
    """What a mark stands for."""
    match face:
        case Face.NEW:
            return _("new")
        case Face.KNOWN:
            return _("known")
        case Face.CHANGED:
            return _("other key")


def who(name: str, found: Acquaintance, now: float | None = None) -> str:
    """Who somebody is, as one sentence or a few; `name` is fit for a screen."""
    if found.face is Face.NEW:
        return _("You have not played with {name} before.").format(name=name)
    when = ago((time.time() if now is None else now) - found.seen)
    before = safe(found.name)
    if found.face is Face.CHANGED:
        return _(
            "Careful: this {name} is not the {before} with whom you played {when}, but has another key. "
            "Ask aloud who it is, and compare the table words."
        ).format(name=name, before=before, when=when)
    if name.partition(" #")[0] == before:
        return _("You know {name}: you played together {when}.").format(name=name, when=when)
    return _("You know {name}, who was called {before} then: you played together {when}.").format(
        name=name, before=before, when=when
    )


def ago(seconds: float) -> str:
    """How long ago something was, roughly."""
    if seconds < HOUR:
        return _("less than an hour ago")
    if seconds < 2 * DAY:
        hours = int(seconds // HOUR)
        return ngettext("{n} hour ago", "{n} hours ago", hours).format(n=hours)
    days = int(seconds // DAY)
    return ngettext("{n} day ago", "{n} days ago", days).format(n=days)
