"""Every scene looks as it did, in both languages: `python -m tests.ui.scenes --text` renews them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from otto_p2p import i18n
from otto_p2p.screen.palette import palette
from tests.ui.scenes import ROOT, SCENES, SNAPSHOTS, as_svg, as_text


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    i18n.use("en")


@pytest.mark.parametrize("language", ["en", "lv"])
@pytest.mark.parametrize("name", list(SCENES))
def test_a_scene(name: str, language: str) -> None:
    assert as_text(name, language) == (SNAPSHOTS / f"{name}-{language}.txt").read_text(encoding="utf-8")


def test_the_pictures_of_the_readme_are_there_and_need_nothing_from_elsewhere() -> None:
    for name in ("screen-game", "screen-lobby"):
        svg = (ROOT / "docs" / f"{name}.svg").read_text(encoding="utf-8")
        assert "@font-face" not in svg
        assert svg.count("http") == svg.count("http://www.w3.org/")


def test_a_picture_has_the_colours_of_the_cards() -> None:
    svg = asyncio.run(as_svg("hand", "en")).lower()
    for colour in ("#d55e00", "#f0e442", "#009e73", "#0072b2"):
        assert colour in svg


def test_without_colour_no_look_has_one() -> None:
    for style in palette(colour=False, light=False).values():
        assert style.color is None
        assert style.bgcolor is None


@pytest.mark.parametrize("light", [False, True])
def test_text_can_be_read_on_its_ground(light: bool) -> None:
    """WCAG 2.1, contrast of at least 4.5 for text and 3 for what is large, bold or only drawn."""
    for name, style in palette(colour=True, light=light).items():
        assert style.color is not None
        assert style.bgcolor is not None
        ink, ground = (_luminance(c.get_truecolor()) for c in (style.color, style.bgcolor))
        contrast = (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05)
        least = 3.0 if style.bold or name in ("back", "border") or name.endswith("-off") else 4.5
        assert contrast >= least, f"{name}: {contrast:.1f}"


def _luminance(colour: tuple[int, int, int]) -> float:
    def linear(part: int) -> float:
        value = part / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
