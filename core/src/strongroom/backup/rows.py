"""Rows as JSON lines, in a format that does not depend on the kind of database.

So a backup of SQLite can be restored to PostgreSQL, and vice versa. The first line contains the column
names, each further line one row.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from sqlalchemy import Connection, Table, bindparam, insert, inspect, select, update

from strongroom.backup.archive import BackupError
from strongroom.database import metadata
from strongroom.database.statements import dynamic

EPHEMERAL: Final = frozenset(
    {
        "captchas",
        "verification_codes",
        "browser_states",
        "setup_links",
        "rate_events",
        "blob_holds",
    }
)
"""Tables with short-lived rows. Restoring them would revive codes that were used after the backup."""

OF_THE_DATABASE: Final = frozenset({"installation"})
"""Tables about the database itself and not its content, because a restored database is a new one."""

_BATCH: Final = 500
_MIGRATIONS: Final = "alembic_version"

Row = list[Any]


def kept_tables(connection: Connection) -> list[Table]:
    """Return the tables to back up, each after the tables that it refers to.

    Raises:
        BackupError: the database has a table that no model defines.
    """
    _import_models()
    found = set(inspect(connection).get_table_names()) - {_MIGRATIONS}
    if unknown := sorted(found - set(metadata.tables)):
        raise BackupError(f"the database has unknown tables: {', '.join(unknown)}")
    return [table for table in metadata.sorted_tables if table.name not in EPHEMERAL | OF_THE_DATABASE]


def dump_rows(connection: Connection, table: Table, file: IO[bytes]) -> int:
    """Write all rows of a table to a file, and return how many there are."""
    count = 0
    _write(file, [column.name for column in table.columns])
    query = select(table).order_by(*table.primary_key)
    for row in dynamic(query).stream(connection, batch=_BATCH):
        _write(file, list(row))
        count += 1
    return count


def load_rows(connection: Connection, table: Table, lines: Iterable[bytes]) -> int:
    """Insert the rows that :func:`dump_rows` wrote, and return how many there were.

    Columns that refer to the table itself are set after all inserts, because the referenced row may
    come later than the row that refers to it.
    """
    pieces = iter(lines)
    names = json.loads(next(pieces))
    inner = [
        column.name
        for column in table.columns
        if any(key.column.table is table for key in column.foreign_keys)
    ]
    count = 0
    late: list[dict[str, Any]] = []
    for batch in _batches(pieces):
        rows = [dict(zip(names, json.loads(line), strict=True)) for line in batch]
        late += [_key_and(row, table, inner) for row in rows if any(row[name] for name in inner)]
        # Self-references are NULL at first; _fill_in sets them.
        dynamic(insert(table)).execute(connection, [row | dict.fromkeys(inner) for row in rows])
        count += len(rows)
    if late:
        _fill_in(connection, table, inner, late)
    return count


def is_empty(connection: Connection, tables: Sequence[Table]) -> bool:
    """Return whether all tables are empty."""
    return not any(dynamic(select(table).limit(1)).first(connection) for table in tables)


def _import_models() -> None:
    # Tables register themselves in the metadata when their module is imported.
    core = find_spec("strongroom")
    for place in (core and core.submodule_search_locations) or ():
        for path in Path(place).rglob("models.py"):
            parts = path.relative_to(place).with_suffix("").parts
            import_module(".".join(["strongroom", *parts]))


def _write(file: IO[bytes], row: Row) -> None:
    file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _batches(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    while batch := list(islice(lines, _BATCH)):
        yield batch


def _key_and(row: dict[str, Any], table: Table, inner: Sequence[str]) -> dict[str, Any]:
    keys = {f"key_{column.name}": row[column.name] for column in table.primary_key}
    return keys | {f"new_{name}": row[name] for name in inner}


def _fill_in(
    connection: Connection, table: Table, inner: Sequence[str], late: Sequence[dict[str, Any]]
) -> None:
    statement = dynamic(
        update(table)
        .where(*(column == bindparam(f"key_{column.name}") for column in table.primary_key))
        .values({name: bindparam(f"new_{name}") for name in inner})
    )
    for start in range(0, len(late), _BATCH):
        statement.execute(connection, late[start : start + _BATCH])
