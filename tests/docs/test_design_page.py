"""The page about the design names what the design has."""

import re
from typing import Final

from tests.support.source_tree import ROOT

PAGE: Final = (ROOT / "docs/contributing/design.md").read_text()
PAGES: Final = ROOT / "core/src/strongroom/web/pages"
NAMED: Final = set(re.findall(r"`([a-z_]+)[(`]", PAGE))

INNER: Final = {
    "attributes",
    "option",
    "options",
    "hidden",
    "choice_search",
    "language_switch",
    "strength",
    "strength_path",
    "_revealed",
    "timeline_item",
}
"""Macros that others use, or that the frame uses."""


def test_it_lists_each_macro() -> None:
    templates = [PAGES / "templates/parts.html", *(PAGES / "templates/parts").glob("*.html")]
    macros = {name for path in templates for name in re.findall(r"{% macro (\w+)", path.read_text())}
    assert macros - NAMED == INNER
    assert len(macros) > 40


def test_it_lists_each_token() -> None:
    sheet = (PAGES / "static/tokens.css").read_text().partition("/* The names of the former")[0]
    tokens = set(re.findall(r"^\s*(--[a-z0-9-]+):|[;{] (--[a-z0-9-]+):", sheet, re.MULTILINE))
    names = {"".join(groups) for groups in tokens}
    listed = set(re.findall(r"`(--[a-z0-9-]+)`", PAGE))
    families = ("--face-", "--type-", "--ok-", "--warn-", "--bad-")
    assert {name for name in names - listed if not name.startswith(families)} == {
        "--font",
        "--leading",
        "--mono",
    }
