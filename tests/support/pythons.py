"""The versions of Python that the server supports, where the machine has them."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

SUPPORTED = ("3.11", "3.12", "3.13")


def python_of(version: str) -> Path:
    """Return an interpreter of this version; skips the test where there is none."""
    for path in _candidates(version):
        result = subprocess.run([path, "-c", "import ssl, venv"], capture_output=True, check=False)
        if result.returncode == 0:
            return path
    pytest.skip(f"Python {version} is not on this machine")


def _candidates(version: str) -> Iterator[Path]:
    if found := shutil.which(f"python{version}"):
        yield Path(found)
    # pyenv's commands run only the versions that it is configured for.
    for folder in sorted(Path.home().glob(f".pyenv/versions/{version}.*")):
        yield folder / "bin/python"
