"""Class names are unique within the core, so that a name in a traceback or a search has one meaning."""

import ast
from collections import Counter
from pathlib import Path

import strongroom

# Pairs of a class of the core and the class of the plugin API that it implements or raises.
SHARED = {"Blueprint", "Clock", "StorageFull"}


def test_public_class_names_are_unique_within_the_core() -> None:
    modules = Path(strongroom.__file__).parent.rglob("*.py")
    counts = Counter(
        statement.name
        for module in modules
        for statement in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_")
    )
    assert {name for name, count in counts.items() if count > 1} <= SHARED
