"""Runs litmus, the tests of WebDAV servers, against a server."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

SECONDS: Final = 300

_SUMMARY = re.compile(r"summary for `(\w+)': of (\d+) tests run: (\d+) passed")

needs_litmus = pytest.mark.skipif(shutil.which("litmus") is None, reason="needs litmus")


def run_litmus(folder: Path, url: str, key: str, suites: str) -> dict[str, int]:
    """Return how many tests of each suite were run; all of them must pass.

    Args:
        folder: where litmus writes its logs.
        suites: their names, separated by spaces.
    """
    result = subprocess.run(
        ["litmus", "-k", url, "any", key],
        env={"TESTS": suites, "PATH": "/usr/bin:/bin"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    output = result.stdout.replace("\r", "\n") + result.stderr
    counts = {name: (int(total), int(passed)) for name, total, passed in _SUMMARY.findall(output)}
    assert "FAIL" not in output, output
    assert all(total == passed for total, passed in counts.values()), output
    return {name: total for name, (total, _) in counts.items()}
