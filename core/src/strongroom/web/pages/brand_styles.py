"""The style sheet of a brand: the tokens of the design that it replaces."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from strongroom.foundation.colors import Color, label_on, parse_color, readable_on
from strongroom.foundation.config.page_settings import PagesSettings

# The colours of tokens.css that others must contrast with.
_PAPER: Final = parse_color("#f7f8fa")
_RAISE: Final = parse_color("#ffffff")
_HINT: Final = parse_color("#626a77")
_DARK_PAPER: Final = parse_color("#15181d")
_DARK_RAISE: Final = parse_color("#1a1e24")
_DARK_HINT: Final = parse_color("#949dab")
_SOFT: Final = 0.08
"""The share of the accent in the background of what is selected."""

_DARK_SOFT: Final = 0.14
_FONTS: Final = 'system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'
# Text needs a plain background, so with a picture the header, the footer and plain pages have one.
_BARS: Final = (
    "body > header, body > footer, main:not(:has(.card)) { background: var(--paper); } "
    "body > header, body > footer { margin-inline: calc(-1 * clamp(1rem, 4vw, 2rem)); "
    "padding-inline: clamp(1rem, 4vw, 2rem); }"
)


def brand_sheet(brand: PagesSettings, *, font: str | None = None, picture: str | None = None) -> str:
    """Return the style sheet of a brand.

    Args:
        font: the name of the font's file.
        picture: the name of the background's file.
    """
    face = f'@font-face {{ font-family: brand; src: url("{font}"); font-display: swap; }}'
    light, dark = _light(brand), _dark(brand)
    colors = " ".join(f"--{name}: light-dark({light[name]}, {dark[name]});" for name in light)
    root = f":root {{ {colors} --r: {brand.radius}px; {_font(brand, font)} }}"
    behind = f'body {{ background: var(--paper) url("{picture}") center / cover fixed; }} {_BARS}'
    return " ".join([*[face] * bool(font), root, *[behind] * bool(picture)])


def accent_sheet(brand: PagesSettings, accent: str) -> str:
    """Return the style sheet of an accent on the surfaces of a brand, as readable as the brand's own."""
    accent_brand = replace(brand, primary=accent, primary_dark=None)
    light, dark = _light(accent_brand), _dark(accent_brand)
    names = [name for name in light if name != "paper"]
    colors = " ".join(f"--{name}: light-dark({light[name]}, {dark[name]});" for name in names)
    return f":root {{ {colors} }}"


def _light(brand: PagesSettings) -> Mapping[str, Color]:
    # Dark enough text needs a background that is light enough.
    paper = readable_on(_HINT, parse_color(brand.background)) if brand.background else _PAPER
    soft = _RAISE.mixed(brand.primary_color, _SOFT)
    darkest = min(paper, _RAISE, soft, key=lambda color: color.luminance)
    return _tokens(brand.primary_color, readable_on(darkest, brand.primary_color), paper, soft)


def _dark(brand: PagesSettings) -> Mapping[str, Color]:
    own = brand.background_dark
    paper = readable_on(_DARK_HINT, parse_color(own)) if own else _DARK_PAPER
    shade = parse_color(brand.primary_dark or brand.primary)
    soft = _DARK_RAISE.mixed(shade, _DARK_SOFT)
    lightest = max(paper, _DARK_RAISE, soft, key=lambda color: color.luminance)
    link = readable_on(lightest, shade)
    accent = parse_color(brand.primary_dark) if brand.primary_dark else link
    return _tokens(accent, link, paper, soft)


def _tokens(accent: Color, link: Color, paper: Color, soft: Color) -> Mapping[str, Color]:
    label = label_on(accent)
    return {"accent": accent, "accent-ink": label, "accent-soft": soft, "link": link, "paper": paper}


def _font(brand: PagesSettings, font: str | None) -> str:
    families = [f'"{family.strip()}"' for family in (brand.font or "").split(",") if family.strip()]
    own = ["brand"] * bool(font) + families
    return f"--font: {', '.join([*own, _FONTS])};" if own else ""
