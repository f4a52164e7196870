"""Pages use the macros of ``strongroom/parts.html``, which have the labels, faults and roles."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[4]
PARTS: Final = "core/src/strongroom/web/pages/templates/parts"

RAW: Final = re.compile(r"<(table|dialog|select)\b")
RAW_TIME: Final = re.compile(r"""type=["'](date|datetime-local|time)\b""")

OWN: Final = {
    # A grid, whose roles are explicit.
    "plugins/console/src/strongroom_console/templates/my_files/nodes.html",
    # A matrix, whose rows are no records.
    "examples/grid_card/src/strongroom_grid_card/templates/card.html",
}
"""The templates with such an element of their own."""


def templates() -> list[Path]:
    folders = ("core/src", "plugins", "examples")
    return [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("templates/**/*.html")
        if "node_modules" not in path.parts
    ]


def test_pages_write_no_table_dialog_or_select_of_their_own() -> None:
    names = {str(path.relative_to(ROOT)): path.read_text() for path in templates()}
    raw = {name for name, text in names.items() if RAW.search(text)}
    parts = {name for name in raw if name.startswith(PARTS)}
    assert f"{PARTS}.html" in parts
    assert raw - parts == OWN


def test_pages_ask_for_times_by_the_macro_that_names_their_zone() -> None:
    raw = {
        str(path.relative_to(ROOT)) for path in templates() if RAW_TIME.search(path.read_text("utf-8"))
    }
    assert raw <= {f"{PARTS}.html"}
