"""Formats generated code as the rest of the source tree."""

import subprocess
import sys
from pathlib import Path

_CONFIG = Path(__file__).parents[3] / "pyproject.toml"
_RUFF = Path(sys.executable).with_name("ruff")


def formatted(folder: Path) -> None:
    """Remove unused imports from the modules in a folder, sort the others, and format the code."""
    options = ("--quiet", "--config", _CONFIG, "--no-cache")
    subprocess.run(
        [_RUFF, "check", "--select", "F401,I001,UP037", "--fix", *options, folder], check=True
    )
    subprocess.run([_RUFF, "format", *options, folder], check=True)


def formatted_texts(texts: dict[str, str], folder: Path) -> dict[str, str]:
    """Return modules by file name, formatted."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    formatted(folder)
    return {name: (folder / name).read_text() for name in texts}
