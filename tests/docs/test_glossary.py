"""The classes and tables that the glossary names exist, so that each word leads to its code."""

import ast
import re
from pathlib import Path

from strongroom.assembly.features import import_models
from strongroom.foundation.database.metadata import metadata

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line[1:-1].split("|")]
    for line in (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| word ")
]
CLASSES = [found for row in ROWS for found in re.findall(r"`(\w+)` \(`([\w/]+\.py)`\)", row[2])]
TABLES = [name.strip("`") for row in ROWS for name in re.findall(r"`[\w.]+`", row[3])]


def is_defined(name: str, path: str) -> bool:
    """Return whether a module of the core defines a class."""
    source = (ROOT / "core/src/strongroom" / path).read_text(encoding="utf-8")
    return name in {getattr(statement, "name", None) for statement in ast.parse(source).body}


def test_each_class_is_defined_in_its_file() -> None:
    assert CLASSES
    assert [row for row in CLASSES if not is_defined(*row)] == []


def test_each_table_or_column_exists() -> None:
    import_models()
    known = {*metadata.tables}
    known |= {f"{table}.{column.name}" for table in known for column in metadata.tables[table].c}
    assert TABLES
    assert set(TABLES) - known == set()


def test_each_word_has_its_meaning_and_stands_once() -> None:
    words = [row[0] for row in ROWS]
    assert len(words) == len(set(words)) >= 60
    assert all(len(row) == 4 and row[1] for row in ROWS)
