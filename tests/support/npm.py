"""Packages of npm, for tests that drive programs written in JavaScript."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

NPM: Final = shutil.which("npm")


def install_package(folder: Path, package: str) -> None:
    """Install a package into a folder; skip the test if npm cannot."""
    command = [str(NPM), "install", "--no-audit", "--no-fund", "--prefix", str(folder), package]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        pytest.skip(f"npm could not install {package}: {result.stderr.strip()[:200]}")
