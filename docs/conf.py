"""Sphinx configuration; ``make docs`` builds the site and fails on any warning."""

import tomllib
from pathlib import Path
from typing import Any

from sphinx import addnodes
from sphinx.application import Sphinx

from strongroom.version import __version__

SITE = Path(__file__).parent / "_site"
NAVIGATION = SITE / "navigation.md"
SEARCH_WORDS = SITE / "search-words.toml"

project = "Strongroom"
author = "The Strongroom authors"
version = release = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build", "_site"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = "Strongroom"
html_copy_source = False
html_show_copyright = False
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
# Deferred scripts run after those of the theme, one of which defines the search.
html_js_files = ["copy.js", ("search.js", {"defer": "defer"})]
html_search_scorer = str(SITE / "search-scores.js")


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the navigation to the home page, which a code host shows without it."""
    if page == app.config.root_doc:
        app.env.note_dependency(NAVIGATION)
        source[0] += NAVIGATION.read_text(encoding="utf-8")


def add_search_words(app: Sphinx, document: Any) -> None:
    """Add the words by which readers search for a page to its index entries."""
    app.env.note_dependency(SEARCH_WORDS)
    pages = tomllib.loads(SEARCH_WORDS.read_text(encoding="utf-8"))
    words = pages.get(app.env.current_document.docname, [])
    document += addnodes.index(entries=[("single", word, "", "main", None) for word in words])


def setup(app: Sphinx) -> None:
    """Connect the functions of this module to the build."""
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", add_search_words)
