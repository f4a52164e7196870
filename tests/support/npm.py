"""Packages of npm, for tests that drive programs written in JavaScript."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

NPM: Final = shutil.which("npm")


def install_packages(folder: Path, *packages: str, options: tuple[str, ...] = ()) -> None:
    """Install packages into a folder; skip the test if npm is missing or cannot.

    Args:
        options: further ones of npm, such as ``--ignore-scripts``.
    """
    if NPM is None:
        pytest.skip("npm is not on this machine")
    command = [NPM, "install", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", str(folder)]
    result = subprocess.run(
        [*command, *options, *packages], capture_output=True, text=True, check=False, timeout=600
    )
    if result.returncode != 0:
        pytest.skip(f"npm could not install {packages[0]}: {result.stderr.strip()[:200]}")
