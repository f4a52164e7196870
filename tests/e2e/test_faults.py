"""A part of ``make faults``: the two-machine layout loses nothing that it acknowledged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("unshare", "nsenter", "setpriv", "ip", "haproxy")
KINDS = "primary is killed and the standby|instances and the store"

pytestmark = pytest.mark.extended


def test_nothing_acknowledged_is_lost_or_doubled(tmp_path: Path) -> None:
    missing = [
        tool for tool in TOOLS if shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin") is None
    ]
    if os.geteuid() or missing:
        pytest.skip(f"NOT TESTED: needs root for network namespaces, and {', '.join(TOOLS)}")
    results = tmp_path / "results.json"
    command = [sys.executable, "-m", "tests.faults", "--layout", "two", "--only", KINDS]
    size = ["--rate", "15", "--users", "2", "--seconds", "3", "--calm", "1", "--json", str(results)]
    done = subprocess.run([*command, *size], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout[-4000:], done.stderr[-4000:])
    faults = json.loads(results.read_text())
    assert len(faults) == 2
    assert [fault["broken"] for fault in faults] == [[], []]
