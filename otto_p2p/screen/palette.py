"""What the names of looks mean in colours: dark, light, and without any. Card colours are Okabe and Ito's.

Okabe and Ito, "Color Universal Design" (2008): vermillion, yellow, bluish green and blue can be told apart
by people with any kind of colour vision; and every card has its letter and symbol as well.
"""

from __future__ import annotations

from rich.style import Style

VERMILLION, YELLOW, GREEN, BLUE = "#D55E00", "#F0E442", "#009E73", "#0072B2"
SKY, ORANGE = "#56B4E9", "#E69F00"

_CARDS = ((VERMILLION, "#000000"), (YELLOW, "#000000"), (GREEN, "#000000"), (BLUE, "#FFFFFF"))
# The same hues as ink, light enough on dark ground and dark enough on light ground.
_ON_DARK = ("#F5935A", YELLOW, "#4CC9A0", SKY)
_ON_LIGHT = ("#A33F00", "#6B5D00", "#00664A", "#00568A")


def _coloured(
    felt: str, ink: str, faint: str, dusk: str, head: str, accent: str, good: str
) -> dict[str, Style]:
    """`felt` is the ground and `ink` the text on it; `dusk` is behind cards that cannot be laid."""
    base = Style(color=ink, bgcolor=felt)
    looks = {
        "": base,
        "dim": Style(color=faint, bgcolor=felt),
        "bold": base + Style(bold=True),
        "title": Style(color=accent, bgcolor=felt, bold=True),
        "head": Style(color=ink, bgcolor=head, bold=True),
        "head-dim": Style(color=ink, bgcolor=head),
        "foot": Style(color=ink, bgcolor=head),
        "foot-key": Style(color=accent, bgcolor=head, bold=True),
        "border": Style(color=faint, bgcolor=felt),
        "ask": base,
        "ask-mine": Style(color="#000000", bgcolor=ORANGE, bold=True),
        "button": Style(color=ink, bgcolor=head),
        "button-on": Style(color="#000000", bgcolor=SKY, bold=True),
        "back": Style(color=accent, bgcolor=dusk),
        "pointer": Style(color=accent, bgcolor=felt, bold=True),
        "alert": Style(color="#000000", bgcolor=VERMILLION, bold=True),
        "good": Style(color=good, bgcolor=felt),
        "moment": Style(color="#000000", bgcolor=ORANGE, bold=True),
        "moment-2": Style(color="#000000", bgcolor=SKY, bold=True),
        "moment-ink": Style(color=ORANGE if felt == DARK_FELT else VERMILLION, bgcolor=felt, bold=True),
        "moment-2-ink": Style(color=SKY if felt == DARK_FELT else BLUE, bgcolor=felt, bold=True),
        "box": Style(color=ink, bgcolor=head),
        "box-title": Style(color=accent, bgcolor=head, bold=True),
        "box-dim": Style(color=faint, bgcolor=head),
        "me": base + Style(bold=True),
    }
    for hue, (paper, print_) in enumerate(_CARDS):
        looks[f"card{hue}"] = Style(color=print_, bgcolor=paper)
        looks[f"card{hue}-on"] = Style(color=print_, bgcolor=paper, bold=True)
        looks[f"card{hue}-off"] = Style(
            color=(_ON_DARK if felt == DARK_FELT else _ON_LIGHT)[hue], bgcolor=dusk
        )
    return looks


DARK_FELT = "#10241C"
DARK = _coloured(DARK_FELT, "#F2F2EC", "#A6BAB1", "#1C3A2E", "#1D4434", ORANGE, "#7FD6B5")
LIGHT = _coloured("#F6F4EA", "#1A1A1A", "#5F6660", "#DDD8C4", "#D9E6DC", "#8A4B00", "#00664A")

_PLAIN = Style()
_BOLD, _REVERSE = Style(bold=True), Style(reverse=True)
BARE: dict[str, Style] = {
    "title": _BOLD,
    "bold": _BOLD,
    "me": _BOLD,
    "head": _REVERSE,
    "head-dim": _REVERSE,
    "foot-key": _BOLD,
    "ask-mine": Style(bold=True, reverse=True),
    "button-on": _REVERSE,
    "pointer": _BOLD,
    "alert": Style(bold=True, reverse=True),
    "moment": Style(bold=True, reverse=True),
    "moment-2": _BOLD,
    "moment-ink": _BOLD,
    "moment-2-ink": _PLAIN,
    "box-title": _BOLD,
    **{f"card{hue}-on": _BOLD for hue in range(4)},
}
"""Without colour: bold and reverse say what colour says elsewhere, beside symbols and words."""


def palette(*, colour: bool, light: bool) -> dict[str, Style]:
    """The looks by name; what is not in it looks like ""."""
    if not colour:
        return {"": _PLAIN, **BARE}
    return LIGHT if light else DARK
