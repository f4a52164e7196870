"""The scripts of others are those that were published, with their licences."""

import json
import re
from hashlib import sha256
from pathlib import Path

import strongroom_console

FOLDER = Path(strongroom_console.__file__).parent / "static/vendor"
LIBRARIES = json.loads((FOLDER / "manifest.json").read_text())


def test_every_library_is_unchanged_and_has_its_licence() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"manifest.json"} | {
        library[member] for library in LIBRARIES for member in ("file", "licenseFile")
    }
    for library in LIBRARIES:
        assert sha256((FOLDER / library["file"]).read_bytes()).hexdigest() == library["sha256"]
        assert library["version"] in library["source"]
        assert f"{library['license']} License" in (FOLDER / library["licenseFile"]).read_text()


def test_no_library_makes_code_of_texts() -> None:
    """The Content-Security-Policy and Trusted Types would refuse it."""
    for library in LIBRARIES:
        source = (FOLDER / library["file"]).read_text()
        assert re.search(r"\b(?:eval|Function)\(|innerHTML|document\.write", source) is None
