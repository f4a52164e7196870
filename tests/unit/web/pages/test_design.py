"""The style sheets of the design."""

import re
from importlib.resources import files

import pytest

from strongroom.foundation.colors import TEXT_CONTRAST, contrast, parse_color
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.web.pages.brand_styles import brand_sheet
from strongroom.web.pages.compact_files import compact_file, minified

STATIC = files("strongroom.web.pages") / "static"
SHEETS = [path.read_text("utf-8") for path in STATIC.iterdir() if path.name.endswith(".css")]
TOKEN = re.compile(r"--([a-z0-9-]+): (?:light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\)|(#[0-9a-f]+));")
SURFACES = ("bg", "paper", "raise", "hover")


def tokens(sheet: str) -> list[dict[str, str]]:
    """The colours of a sheet: light ones, then dark ones."""
    found = TOKEN.findall(sheet)
    return [{token[0]: token[mode] or token[3] for token in found} for mode in (1, 2)]


@pytest.mark.parametrize("primary", ["#000000", "#ffffff", "#ffe600", "#1456b8", "#07c160", "#777777"])
def test_labels_and_links_are_readable_whatever_the_brand(primary: str) -> None:
    own = tokens((STATIC / "tokens.css").read_text("utf-8"))
    brands = tokens(brand_sheet(PagesSettings(primary=primary)))
    for theme, brand in zip(own, brands, strict=True):
        colors = {name: parse_color(value) for name, value in (theme | brand).items()}
        pairs = [("accent", "accent-ink")]
        pairs += [("link", surface) for surface in ("bg", "raise", "paper", "accent-soft")]
        pairs += [(ink, surface) for ink in ("ink", "ink-2", "ink-3") for surface in SURFACES]
        pairs += [(tone, f"{tone}-soft") for tone in ("ok", "warn", "bad")]
        pairs += [(tone, surface) for tone in ("ok", "warn", "bad") for surface in SURFACES]
        for first, second in pairs:
            assert contrast(colors[first], colors[second]) >= TEXT_CONTRAST, (first, second)


def test_the_line_around_fields_is_seen() -> None:
    """WCAG 2.2, section 1.4.11."""
    for theme in tokens((STATIC / "tokens.css").read_text("utf-8")):
        colors = {name: parse_color(value) for name, value in theme.items()}
        assert all(
            contrast(colors["line-field"], colors[name]) >= 3 for name in ("bg", "raise", "paper")
        )


def test_sheets_are_sent_without_comments_and_needless_space() -> None:
    assert minified("/* a */\n:root { --a: b, c;\n  d: e; }\n.f > g { h: i }") == (
        ":root{--a:b,c;d:e}.f>g{h:i}"
    )


def test_scripts_are_sent_without_comments_and_indentation() -> None:
    script = b"// a\nif (b) {\n  // c\n  d(`//${e}`); // f\n}\n"
    assert compact_file("x.js", script) == b"if (b) {\nd(`//${e}`);\n}\n"
    assert compact_file("vendor/x.js", script) == script
    assert compact_file("x.svg", b"<svg>  </svg>") == b"<svg>  </svg>"


def test_sheets_name_no_other_server() -> None:
    assert len(SHEETS) > 2
    assert not any("url(" in sheet or "@import" in sheet for sheet in SHEETS)
