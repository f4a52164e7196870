"""The plugins of ``examples``, installed as their users would."""

import subprocess
import sys
from pathlib import Path

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
