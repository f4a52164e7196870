"""The order of the test modules, by which the processes of a run end together."""

import json
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.collection import put_longest_first
from tests.support.durations import FILE


def ordered(tests: Iterable[str], seconds: dict[str, float]) -> list[str]:
    """Return the modules in their order, each once."""
    items: Any = [SimpleNamespace(nodeid=test) for test in tests]
    put_longest_first(cast("list[pytest.Item]", items), seconds)
    return list(dict.fromkeys(item.nodeid.partition("::")[0] for item in items))


def test_the_longest_module_is_the_first() -> None:
    tests = ["tests/rest/test_a.py::test", "tests/rest/test_b.py::test", "tests/rest/test_b.py::test_2"]
    measured = {"tests/rest/test_a.py": 9.0, "tests/rest/test_b.py": 2.0}
    assert ordered(tests, measured) == ["tests/rest/test_a.py", "tests/rest/test_b.py"]


def test_a_new_module_with_servers_is_not_among_the_last() -> None:
    new = "tests/e2e/test_new.py"
    measured = {f"tests/e2e/test_{name}.py": 9.0 for name in "abcdef"}
    tests = [f"{module}::test" for module in measured] + [f"{new}::test_{n}" for n in range(2)]
    assert ordered(tests, measured)[0] == new


@pytest.mark.parametrize("run", ["not extended and not second_run", "extended"])
def test_most_modules_are_measured(run: str) -> None:
    assert len(json.loads(FILE.read_text())[run]) > 200
