"""Compatibility of code and schema: a migration that removes something must declare it."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from strongroom.foundation.database import upgrade
from strongroom.foundation.database.upgrade import SCHEMA_REVISION, Schema, find_oldest_code

FILES = sorted((Path(upgrade.__file__).parent / "migrations/versions").glob("0*.py"))
PLUGIN_FILES = sorted(Path(__file__).parents[4].glob("plugins/*/src/*/migrations/0*.py"))
CONTRACTING = re.compile(r"\.(drop_\w+|alter_column|rename_table)\(|\b(DROP|RENAME) ")
BEFORE, AFTER = f"{int(SCHEMA_REVISION) - 1:04}", f"{int(SCHEMA_REVISION) + 1:04}"


def script(revision: str, **declared: str) -> Any:
    return SimpleNamespace(revision=revision, module=SimpleNamespace(**declared))


def scripts(*newest_first: Any) -> Any:
    return SimpleNamespace(walk_revisions=lambda: iter(newest_first))


def test_plugins_have_migrations() -> None:
    assert {file.parts[-3] for file in PLUGIN_FILES} >= {"strongroom_webhooks", "strongroom_share_links"}


def test_each_migration_that_contracts_the_schema_says_which_code_it_leaves_behind() -> None:
    contracting = [file for file in (*FILES, *PLUGIN_FILES) if CONTRACTING.search(file.read_text())]
    stated = re.compile(r'^oldest_code = "\d{4}"$', re.MULTILINE)
    assert contracting
    assert [file.name for file in contracting if not stated.search(file.read_text())] == []


def test_revisions_are_numbered_without_a_gap() -> None:
    assert [file.name[:4] for file in FILES] == [f"{number + 1:04}" for number in range(len(FILES))]
    assert FILES[-1].name[:4] == SCHEMA_REVISION


def test_the_newest_migration_that_contracts_decides_which_code_may_serve() -> None:
    expanding = scripts(script("0003"), script("0002"), script("0001"))
    assert find_oldest_code(expanding) == "0001"
    contracting = scripts(
        script("0004"), script("0003", oldest_code="0002"), script("0002"), script("0001")
    )
    assert find_oldest_code(contracting) == "0002"


@pytest.mark.parametrize(
    ("revision", "oldest_code", "is_served"),
    [
        (None, None, False),
        (BEFORE, BEFORE, False),
        (SCHEMA_REVISION, None, True),
        (AFTER, SCHEMA_REVISION, True),
        (AFTER, "0001", True),
        (AFTER, AFTER, False),
        (AFTER, None, False),
    ],
)
def test_code_serves_its_own_schema_and_newer_ones_that_say_so(
    revision: str | None, oldest_code: str | None, is_served: bool
) -> None:
    assert Schema(revision, oldest_code).is_served is is_served
