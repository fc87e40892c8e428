"""Where keys, matches and transcripts are kept unless --data-dir says otherwise."""

from __future__ import annotations

from pathlib import Path


def data_folder(given: str | None) -> Path:
    """The folder that was asked for, or the user's own for this program."""
    if given is not None:
        return Path(given)
    from platformdirs import user_data_path

    return user_data_path("otto-p2p", appauthor=False)
