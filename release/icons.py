"""Writes the sprite of the icons of pages from the published package (``make icons``).

The manifest next to the sprite has the version, and the names in the order of the sprite.
"""

import io
import json
import re
import subprocess
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "core/src/strongroom/web/pages/static/vendor"

_DRAWING: Final = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_SPACE: Final = re.compile(r"\s*\n\s*")


def main() -> None:
    """Download the package of the manifest, and write the sprite, its licence and its digest."""
    manifest = FOLDER / "manifest.json"
    [library] = json.loads(manifest.read_text())
    package = _download(f"{library['name']}@{library['version']}")
    sprite = _sprite(package, sorted(library["icons"]))
    (FOLDER / library["file"]).write_text(sprite)
    (FOLDER / library["licenseFile"]).write_bytes(package["package/LICENSE"])
    library |= {"icons": sorted(library["icons"]), "sha256": sha256(sprite.encode()).hexdigest()}
    manifest.write_text(json.dumps([library], indent=2) + "\n")


def _download(package: str) -> dict[str, bytes]:
    """Return the files of a package of npm by their paths."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", package]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        [archive] = Path(folder).glob("*.tgz")
        with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as members:
            files = ((member.name, members.extractfile(member)) for member in members)
            return {name: file.read() for name, file in files if file}


def _sprite(package: dict[str, bytes], names: list[str]) -> str:
    symbols = [_symbol(name, package[f"package/icons/{name}.svg"].decode()) for name in names]
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>\n'


def _symbol(name: str, icon: str) -> str:
    drawing = _DRAWING.search(icon)
    if drawing is None:
        raise ValueError(f"{name} is no drawing")
    lines = _SPACE.sub("", drawing[1]).replace(" />", "/>")
    return f'<symbol id="{name}" viewBox="0 0 24 24">{lines}</symbol>'


if __name__ == "__main__":
    main()
