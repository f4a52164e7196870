"""Each file, function and test that the threat model names exists."""

import re
from functools import reduce
from importlib import import_module

import pytest
from tests.support.source_tree import ROOT

PAGE = (ROOT / "docs/architecture/threat-model.md").read_text()
THREATS = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| `(\S+)\.py` `(\S+)` \| `(\S+\.py)` \|$", PAGE, re.MULTILINE
)


@pytest.mark.parametrize(("threat", "module", "name", "test"), THREATS, ids=lambda value: value[:40])
def test_the_answer_to_a_threat_exists(threat: str, module: str, name: str, test: str) -> None:
    path = module.replace("/", ".")
    is_elsewhere = path.startswith(("release.", "strongroom_"))
    found = import_module(path if is_elsewhere else f"strongroom.{path}")
    assert callable(reduce(getattr, name.split("."), found))
    assert "def test_" in (ROOT / test).read_text()


def test_each_threat_has_code_and_a_test() -> None:
    tables = PAGE.partition("## Threats and answers")[2].partition("## What remains")[0]
    rows = [line for line in tables.splitlines() if line.startswith("| ") and "| code |" not in line]
    assert len(rows) == len(THREATS) >= 30
