"""Every rule of the specification has a test of the REST API that is named after it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.rest.rules import RULES

ROOT = Path(__file__).parents[2]
TESTS = sorted([*ROOT.glob("tests/rest/**/*.py"), *ROOT.glob("plugins/*/tests/**/*.py")])


def marks(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the rules that a module's tests are marked with, each with the test."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.rule":
                    yield from ((ast.literal_eval(rule), node.name) for rule in mark.args)


def test_every_rule_has_a_test_and_every_mark_names_a_rule() -> None:
    marked = {rule for path in TESTS for rule, _ in marks(path)}
    assert marked == RULES.keys()
