"""Sphinx configuration; ``make docs`` builds the site and fails on any warning."""

from strongroom.version import __version__

project = "Strongroom"
author = "The Strongroom authors"
version = release = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = "Strongroom"
html_copy_source = False
html_show_copyright = False
