"""The language of everything that people read: English message ids, translations by gettext.

Texts are looked up when they are used, never when a module is imported: `_("...")` and `ngettext(...)` in
place, `N_("...")` where a table of texts is written down that is translated later.
"""

from __future__ import annotations

import gettext as _gettext
import os
from collections.abc import Mapping
from pathlib import Path

DOMAIN = "otto_p2p"
LOCALE_DIR = Path(__file__).parent / "locale"
LANGUAGES = ("en", "lv")

_texts: _gettext.NullTranslations = _gettext.NullTranslations()
_language = "en"


def from_environment(environment: Mapping[str, str]) -> str:
    """The language that a POSIX environment asks for (LANGUAGE, LC_ALL, LC_MESSAGES, LANG), else English."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        for wish in environment.get(name, "").split(":"):
            code = wish.partition(".")[0].partition("@")[0].partition("_")[0].lower()
            if code in LANGUAGES:
                return code
            if code in ("c", "posix") and name != "LANGUAGE":
                return "en"
    return "en"


def use(language: str | None) -> str:
    """Speak `language` ("en" or "lv") from now on, or what the environment asks for; the choice made."""
    global _texts, _language
    _language = language if language in LANGUAGES else from_environment(os.environ)
    _texts = _gettext.translation(DOMAIN, LOCALE_DIR, [_language], fallback=True)
    # argparse asks the gettext module, which asks the environment.
    os.environ["LANGUAGE"] = _language
    _gettext.bindtextdomain(DOMAIN, str(LOCALE_DIR))
    _gettext.textdomain(DOMAIN)
    return _language


def language() -> str:
    """The language that is spoken now."""
    return _language


def _(message: str) -> str:
    """The translation of a text."""
    return _texts.gettext(message)


def pgettext(context: str, message: str) -> str:
    """The translation of a text that means different things in different places."""
    return _texts.pgettext(context, message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """The translation of a text with a number in it, in the plural form that the number needs."""
    return _texts.ngettext(singular, plural, number)


def N_(message: str) -> str:
    """Mark a text for translation; it comes back as it is."""
    return message
