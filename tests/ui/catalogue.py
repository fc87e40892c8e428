"""Find the texts of the program, keep the catalogues up to date: `python -m tests.ui.catalogue`.

Babel reads the sources; translators edit `otto_p2p/locale/*/LC_MESSAGES/otto_p2p.po`; this writes the `.mo`.
"""

from __future__ import annotations

import io
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "otto_p2p"
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}


def template() -> Catalog:
    """All texts of the sources."""
    found = Catalog(project="otto-p2p", charset="utf-8")
    for name, _line, message, comments, context in extract_from_dir(
        PACKAGE, keywords=KEYWORDS, comment_tags=("Translators:",), strip_comment_tags=True
    ):
        # Places without line numbers: they would change with every edit.
        found.add(message, locations=[(f"otto_p2p/{name}", None)], auto_comments=comments, context=context)
    return found


def po_file(language: str) -> Path:
    """The catalogue of a language, as translators edit it."""
    return PACKAGE / "locale" / language / "LC_MESSAGES" / "otto_p2p.po"


def read(language: str) -> Catalog:
    """The catalogue of a language."""
    with po_file(language).open("rb") as file:
        return read_po(file, locale=language)


def compiled(catalog: Catalog) -> bytes:
    """The `.mo` of a catalogue; texts that are only guessed (fuzzy) are left out."""
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def update(language: str) -> list[str]:
    """Bring a catalogue up to date and compile it; the texts that have no translation."""
    path = po_file(language)
    catalog = (
        read(language) if path.exists() else Catalog(locale=language, project="otto-p2p", charset="utf-8")
    )
    catalog.update(template(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    with path.open("wb") as file:
        write_po(file, catalog, width=100, sort_output=True, include_lineno=False, omit_header=False)
    path.with_suffix(".mo").write_bytes(compiled(catalog))
    return untranslated(catalog)


def untranslated(catalog: Catalog) -> list[str]:
    """The texts without a translation, or with a plural form missing."""
    return [
        str(message.id)
        for message in catalog
        if message.id
        and not (all(message.string) if isinstance(message.string, tuple) else bool(message.string))
    ]


if __name__ == "__main__":
    for missing in update("lv"):
        print("not translated:", missing)
