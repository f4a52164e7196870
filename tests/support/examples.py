"""The plugins of ``examples``, installed as their users would, and the brand of a company."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"


def install(*names: str, target: Path) -> Path:
    """Install plugins into a folder, which contains nothing else, and return it."""
    options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target))
    _succeed("pip", "install", *options, *(str(EXAMPLES / name) for name in names))
    return target


def run_tests(name: str) -> None:
    """Run a plugin's own tests."""
    _succeed("pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLES / name))


def _succeed(module: str, *arguments: str) -> None:
    command = [sys.executable, "-m", module, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def brand() -> dict[str, Any]:
    """Return the table of the example of a brand, with the paths of its files."""
    folder = EXAMPLES / "brand"
    table: dict[str, Any] = tomllib.loads((folder / "strongroom.toml").read_text())["pages"]
    return table | {
        key: str(folder / table[key]) for key in ("logo", "logo_dark", "favicon", "css_file")
    }
