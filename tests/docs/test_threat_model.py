"""Each file, function and test that the threat model names exists."""

import re
from functools import reduce
from importlib import import_module
from typing import Any

from tests.support.source_tree import ROOT

PAGE = (ROOT / "docs/architecture/threat-model.md").read_text()
THREATS = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| `(\S+)\.py` `(\S+)` \| `(\S+\.py)` \|$", PAGE, re.MULTILINE
)


def is_answered(threat: str, module: str, name: str, test: str) -> bool:
    """Return whether the function and the tests that answer a threat exist."""
    path = module.replace("/", ".")
    is_elsewhere = path.startswith(("release.", "strongroom_"))
    found: Any = import_module(path if is_elsewhere else f"strongroom.{path}")
    function = reduce(lambda value, member: getattr(value, member, None), name.split("."), found)
    return callable(function) and "def test_" in (ROOT / test).read_text()


def test_the_answer_to_each_threat_exists() -> None:
    assert [row for row in THREATS if not is_answered(*row)] == []


def test_each_threat_has_code_and_a_test() -> None:
    tables = PAGE.partition("## Threats and answers")[2].partition("## What remains")[0]
    rows = [line for line in tables.splitlines() if line.startswith("| ") and "| code |" not in line]
    assert len(rows) == len(THREATS) >= 30
