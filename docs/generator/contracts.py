"""Generates the page of contracts."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from generator.prose import code, prose
from generator.seams import SEAMS

CONTRACTS = """\
# Contracts

The contract tests in `strongroom.testing`, version {version}: the rules for every extension of a kind,
including the built-in ones. [Plugins](../tutorials/kit.md) explains how a plugin inherits them.
"""


def contracts_page() -> Iterator[str]:
    """Yield the pieces of the page of contracts."""
    testing = import_module("strongroom.testing")
    yield CONTRACTS.format(version=testing.CONTRACT_VERSION)
    for path in dict.fromkeys(seam.contract for seam in SEAMS):
        module, _, name = path.rpartition(".")
        contract = getattr(import_module(f"strongroom.testing.{module}"), name)
        yield f"\n## class `{contract.__name__}`\n\n`{contract.__module__}`. {prose(contract)}\n"
        yield from _contract(contract)


def _contract(contract: type[Any]) -> Iterator[str]:
    (suite,) = ast.parse(inspect.getsource(contract)).body
    functions = [item for item in getattr(suite, "body", []) if isinstance(item, ast.FunctionDef)]
    supplied = [item for item in functions if "NotImplementedError" in ast.unparse(item)]
    yield "\nFixtures to supply:\n\n"
    for fixture in supplied:
        summary = " ".join((ast.get_docstring(fixture) or "an empty one").rstrip(".").split())
        yield f"- `{fixture.name}`: {code(summary)}\n"
    yield "\nRules:\n\n"
    for test in functions:
        if test.name.startswith("test_"):
            yield f"- {test.name.removeprefix('test_').replace('_', ' ')}\n"
