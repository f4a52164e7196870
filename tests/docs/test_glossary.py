"""The classes and tables that the glossary names exist, so that each word leads to its code."""

import ast
import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("name", "path"), CLASSES, ids=str)
def test_a_class_is_defined_in_its_file(name: str, path: str) -> None:
    source = (ROOT / "core/src/strongroom" / path).read_text(encoding="utf-8")
    assert name in {getattr(statement, "name", None) for statement in ast.parse(source).body}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_or_column_exists(name: str) -> None:
    import_models()
    table, _, column = name.partition(".")
    assert table in metadata.tables
    assert not column or column in metadata.tables[table].c


def test_each_word_has_its_meaning_and_stands_once() -> None:
    words = [row[0] for row in ROWS]
    assert len(words) == len(set(words)) >= 60
    assert all(len(row) == 4 and row[1] for row in ROWS)
