"""The sprite of icons is made of the published package, and has what pages use."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Final

from strongroom.web.pages.icons import icon_names

ROOT: Final = Path(__file__).parents[4]
VENDOR: Final = ROOT / "core/src/strongroom/web/pages/static/vendor"
[LIBRARY] = json.loads((VENDOR / "manifest.json").read_text())

NAMED: Final = re.compile(r"""(?:\bicon\(|\bdraw\(|\bicon=)["']([a-z0-9-]+)["']""")
"""An icon that code names where it shows it."""


QUOTED: Final = re.compile(r"""["']([a-z0-9-]+)["']""")
"""A string that may be the name of an icon, such as an item of a table of icons."""


def sources() -> list[str]:
    files = [
        path for folder in ("core/src", "plugins", "examples") for path in (ROOT / folder).rglob("*")
    ]
    return [
        path.read_text()
        for path in files
        if path.suffix in {".html", ".py", ".js"}
        and not {"vendor", "node_modules", "tests"} & set(path.parts)
    ]


def test_the_sprite_is_unchanged_and_has_its_licence() -> None:
    assert {path.name for path in VENDOR.iterdir()} == {
        "manifest.json",
        LIBRARY["file"],
        LIBRARY["licenseFile"],
    }
    assert sha256((VENDOR / LIBRARY["file"]).read_bytes()).hexdigest() == LIBRARY["sha256"]
    assert LIBRARY["version"] in LIBRARY["source"]
    assert f"{LIBRARY['license']} License" in (VENDOR / LIBRARY["licenseFile"]).read_text()
    assert sorted(icon_names()) == LIBRARY["icons"]


def test_each_icon_that_pages_name_exists() -> None:
    named = {name for text in sources() for name in NAMED.findall(text)}
    assert len(named) > 5
    assert named <= icon_names()


def test_each_icon_of_the_sprite_is_named() -> None:
    named = {name for text in sources() for name in QUOTED.findall(text)}
    assert icon_names() - named == set()
