"""The release before this one, from the history of the repository, to test upgrades from it."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    Table,
    func,
    select,
    text,
)

from tests.support.server import STRONGROOM

COMMIT: Final = "c6f7f1a777b4505cc6074f2d8be5e2dfa881507c"
"""The last commit of the previous release."""

VERSION_BEFORE: Final = "608fb3f0"
"""The first commit whose plugins start with tables of later revisions."""

ROOT: Final = Path(__file__).parents[2]
FAR_FUTURE: Final = 2**42
"""Milliseconds since the Unix epoch, so that no row expires."""

Row = dict[str, Any]
Rows = dict[str, list[Row]]


@dataclass(frozen=True)
class Release:
    """The code of a release, which commands and servers run on request."""

    paths: Sequence[Path]

    @classmethod
    def extracted(cls, folder: Path, commit: str = COMMIT) -> "Release":
        """Return the code of a commit; skips the test without the history."""
        command = ["git", "-C", str(ROOT), "archive", commit, "core", "plugins"]
        found = subprocess.run(command, capture_output=True, check=False)
        if found.returncode != 0:
            pytest.skip(f"the commit {commit} is not in this copy of the repository")
        with tarfile.open(fileobj=BytesIO(found.stdout)) as archive:
            archive.extractall(folder, filter="data")
        return cls.in_folder(folder)

    @classmethod
    def copied(cls, folder: Path) -> "Release":
        """Return a copy of this code, which a test changes to that of a later release."""
        for source in [ROOT / "core/src", *ROOT.glob("plugins/*/src")]:
            shutil.copytree(source, folder / source.relative_to(ROOT))
        return cls.in_folder(folder)

    @classmethod
    def in_folder(cls, folder: Path) -> "Release":
        """Return the release whose sources are in a folder."""
        return cls([folder / "core" / "src", *sorted(folder.glob("plugins/*/src"))])

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Start processes on this release until the block ends."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", os.pathsep.join(map(str, self.paths)))
            yield


def command(
    config: Path, *arguments: str, stdin: str = "", check: bool = True
) -> "subprocess.CompletedProcess[str]":
    """Run a command of the release that is in use."""
    # A program and not a copy of this process, which has imported the current code.
    program = [str(STRONGROOM), "--config", str(config), *arguments]
    result = subprocess.run(program, input=stdin, capture_output=True, text=True, check=False)
    assert not check or result.returncode == 0, result.stdout + result.stderr
    return result


def drop_all(engine: Engine) -> None:
    """Make a database empty, without any tables."""
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.begin() as connection:
        metadata.drop_all(connection)


def rows_of(engine: Engine, columns: dict[str, list[str]] | None = None) -> Rows:
    """Return all rows of all tables, or of some columns of some tables."""
    metadata = MetaData()
    metadata.reflect(engine)
    wanted = columns or {name: [c.name for c in table.c] for name, table in metadata.tables.items()}
    with engine.connect() as connection:
        return {name: _rows(connection, metadata.tables[name], of) for name, of in wanted.items()}


def columns_of(rows: Rows) -> dict[str, list[str]]:
    """Return the columns of tables that have rows."""
    return {name: list(found[0]) for name, found in rows.items()}


def fill_empty_tables(engine: Engine) -> list[str]:
    """Insert one row into each table without rows; return the names of these tables."""
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.begin() as connection:
        return [table.name for table in metadata.sorted_tables if _fill(connection, table)]


def _rows(connection: Connection, table: Table, names: list[str]) -> list[Row]:
    columns = [table.c[name] for name in names]
    found = [dict(row._mapping) for row in connection.execute(select(*columns))]
    return sorted(found, key=repr)


def _fill(connection: Connection, table: Table) -> bool:
    if connection.execute(select(func.count()).select_from(table)).scalar():
        return False
    references = {
        key.parent.name: connection.execute(select(key.column)).scalar() for key in table.foreign_keys
    }
    values = {column.name: _value(column) for column in table.columns}
    connection.execute(table.insert().values({**values, **references}))
    return True


def _value(column: Column[Any]) -> Any:
    """Return a value of the column's type, or NULL if the column may have it."""
    if column.nullable and not column.foreign_keys:
        return None
    if isinstance(column.type, JSON):
        return []
    if isinstance(column.type, Boolean):
        return False
    if isinstance(column.type, BigInteger):
        return FAR_FUTURE
    if isinstance(column.type, Integer):
        return 1
    return f"row of {column.table.name}"[: getattr(column.type, "length", None) or 36]


def set_oldest_code(engine: Engine, revision: str) -> None:
    """Record, as a migration that contracts the schema would, which code can still serve it."""
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE installation SET value = :revision WHERE name = 'oldest_code'"),
            {"revision": revision},
        )
