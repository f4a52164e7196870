"""The style sheets of the design."""

import re
from importlib.resources import files

import pytest

from strongroom.foundation.colors import TEXT_CONTRAST, contrast, parse_color
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.web.pages.brand_styles import brand_sheet
from strongroom.web.pages.design import minified

PAGES = (files("strongroom.web.pages") / "static" / "pages.css").read_text("utf-8")


def tokens(sheet: str) -> list[dict[str, str]]:
    """The colours of a sheet: light ones, then dark ones."""
    roots = re.findall(r":root \{([^}]*)\}", sheet)
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", root)) for root in roots]


LIGHT, DARK = (theme for theme in tokens(PAGES) if "ink" in theme)


@pytest.mark.parametrize("primary", ["#000000", "#ffffff", "#ffe600", "#1456b8", "#07c160", "#777777"])
def test_labels_and_links_are_readable_whatever_the_brand(primary: str) -> None:
    for theme, brand in zip(
        (LIGHT, DARK), tokens(brand_sheet(PagesSettings(primary=primary))), strict=True
    ):
        colors = {name: parse_color(value) for name, value in (theme | brand).items()}
        pairs = [("accent", "on-accent"), ("link", "card"), ("link", "paper")]
        pairs += [("ink", "card"), ("ink", "paper"), ("muted", "card"), ("muted", "paper")]
        pairs += [("bad", "bad-paper"), ("bad", "card"), ("good", "good-paper")]
        for first, second in pairs:
            assert contrast(colors[first], colors[second]) >= TEXT_CONTRAST, (first, second)


def test_sheets_are_sent_without_comments_and_needless_space() -> None:
    assert minified("/* a */\n:root { --a: b, c;\n  d: e; }\n.f > g { h: i }") == (
        ":root{--a: b,c;d: e;}.f > g{h: i}"
    )


def test_sheets_name_no_other_server() -> None:
    assert "url(" not in PAGES
    assert "@import" not in PAGES
