"""Sphinx reads these pages as they lie here; ``make docs`` builds them, and any warning stops it."""

import shutil
from pathlib import Path

from strongroom.cli.plugins.kinds import KINDS
from strongroom.cli.plugins.new import write_plugin
from strongroom.version import __version__

project = "Strongroom"
author = "The Strongroom authors"
version = release = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build", "_kit"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = "Strongroom"
html_copy_source = False
html_show_copyright = False

# What the tutorials show is what the kit writes today.
_KIT = Path(__file__).parent / "_kit"
shutil.rmtree(_KIT, ignore_errors=True)
for _kind in KINDS:
    write_plugin(_kind, "drawer", _KIT / f"strongroom-{_kind.name}-drawer")
