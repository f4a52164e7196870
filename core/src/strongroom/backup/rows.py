"""Rows as lines of JSON: the same from every database, so that another kind can take them.

The first line names the columns, each other one is a row.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from sqlalchemy import Connection, Table, bindparam, insert, inspect, select, update

from strongroom.backup.errors import BackupError
from strongroom.database import metadata

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
"""Tables whose rows live for minutes: restored, a code that was spent since could be spent again."""

OF_THE_DATABASE: Final = frozenset({"installation"})
"""Tables about a database and not about its content: a restored database is another one."""

_BATCH: Final = 500
_MIGRATIONS: Final = "alembic_version"

Row = list[Any]


def kept_tables(connection: Connection) -> list[Table]:
    """Return the tables that a backup holds, each after those that it refers to.

    Raises:
        BackupError: the database has tables that nothing here knows.
    """
    _import_models()
    found = set(inspect(connection).get_table_names()) - {_MIGRATIONS}
    if unknown := sorted(found - set(metadata.tables)):
        raise BackupError(f"the database has tables that are unknown here: {', '.join(unknown)}")
    return [table for table in metadata.sorted_tables if table.name not in EPHEMERAL | OF_THE_DATABASE]


def dump_rows(connection: Connection, table: Table, file: IO[bytes]) -> int:
    """Write all rows of a table, and return how many there are."""
    count = 0
    _write(file, [column.name for column in table.columns])
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=_BATCH)
    for row in connection.execute(query):
        _write(file, list(row))
        count += 1
    return count


def load_rows(connection: Connection, table: Table, lines: Iterable[bytes]) -> int:
    """Insert the rows that :func:`dump_rows` wrote, and return how many there were.

    A column that refers to the table itself is filled in afterwards: what it refers to may come later.
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
        connection.execute(insert(table), [row | dict.fromkeys(inner) for row in rows])
        count += len(rows)
    if late:
        _fill_in(connection, table, inner, late)
    return count


def is_empty(connection: Connection, tables: Sequence[Table]) -> bool:
    """Return whether no table has a row."""
    return not any(connection.execute(select(table).limit(1)).first() for table in tables)


def _import_models() -> None:
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
    statement = (
        update(table)
        .where(*(column == bindparam(f"key_{column.name}") for column in table.primary_key))
        .values({name: bindparam(f"new_{name}") for name in inner})
    )
    for start in range(0, len(late), _BATCH):
        connection.execute(statement, late[start : start + _BATCH])
