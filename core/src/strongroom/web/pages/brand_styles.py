"""The style sheet of a brand: the tokens of the design that it replaces."""

from typing import Final

from strongroom.foundation.colors import Color, label_on, parse_color, readable_on
from strongroom.foundation.config.page_settings import PagesSettings

# The colours of pages.css that others must contrast with.
_PAPER: Final = parse_color("#f1f3f6")
_CARD: Final = parse_color("#ffffff")
_MUTED: Final = parse_color("#56606b")
_DARK_PAPER: Final = parse_color("#121518")
_DARK_CARD: Final = parse_color("#1d2227")
_DARK_MUTED: Final = parse_color("#a9b3bd")
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
    light = f":root {{ {_light(brand)} --radius: {brand.radius}px; {_font(brand, font)} }}"
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {_dark(brand)} }} }}"
    behind = f'body {{ background: var(--paper) url("{picture}") center / cover fixed; }} {_BARS}'
    return " ".join([*[face] * bool(font), light, dark, *[behind] * bool(picture)])


def _light(brand: PagesSettings) -> str:
    # Dark enough text needs a background that is light enough.
    paper = readable_on(_MUTED, parse_color(brand.background)) if brand.background else _PAPER
    darker = min(paper, _CARD, key=lambda color: color.luminance)
    return _tokens(brand.primary_color, readable_on(darker, brand.primary_color), paper)


def _dark(brand: PagesSettings) -> str:
    own = brand.background_dark
    paper = readable_on(_DARK_MUTED, parse_color(own)) if own else _DARK_PAPER
    lighter = max(paper, _DARK_CARD, key=lambda color: color.luminance)
    link = readable_on(lighter, parse_color(brand.primary_dark or brand.primary))
    accent = parse_color(brand.primary_dark) if brand.primary_dark else link
    return _tokens(accent, link, paper)


def _tokens(accent: Color, link: Color, paper: Color) -> str:
    label = label_on(accent)
    return f"--accent: {accent}; --on-accent: {label}; --link: {link}; --paper: {paper};"


def _font(brand: PagesSettings, font: str | None) -> str:
    families = [f'"{family.strip()}"' for family in (brand.font or "").split(",") if family.strip()]
    own = ["brand"] * bool(font) + families
    return f"--font: {', '.join([*own, _FONTS])};" if own else ""
