"""The rows of an archive: a table's rows in the order of its primary key, divided into segments.

A segment ends after a row whose line hashes to a certain value, so a change of a row changes one segment
and no others. An incremental archive contains the segments that its base lacks. The database writes the
rows as JSON, because that is three times as fast as doing so here.
"""

import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from typing import IO, Any, Final

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Table,
    Text,
    bindparam,
    case,
    cast,
    func,
    insert,
    inspect,
    select,
    update,
)

from strongroom.extensions.backup.archive import BackupError
from strongroom.foundation.database import metadata
from strongroom.foundation.database.metadata import is_derived
from strongroom.foundation.database.plugin_tables import (
    AllTables,
    left_tables,
    sorted_tables,
    version_table,
)
from strongroom.foundation.database.statements import dynamic

EPHEMERAL: Final = frozenset(
    {
        "captchas",
        "verification_codes",
        "browser_states",
        "setup_links",
        "rate_events",
        "blob_holds",
        "jobs",
        "plugin_leases",
        "idempotency_keys",
        "key_ranges",
    }
)
"""Tables with short-lived rows. Restoring them would revive codes that were used after the backup."""

OF_THE_DATABASE: Final = frozenset({"installation"})
"""Tables about the database itself and not its content, because a restored database is a new one."""

_BATCH: Final = 500
_MIGRATIONS: Final = "alembic_version"

_END_MASK: Final = 0xFF
"""A segment has about 256 rows, so that a change of one row adds little to an incremental archive."""

_MAX_ROWS: Final = 4096


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive rows of a table.

    Args:
        digest: the SHA-256 of its lines.
        size: the number of bytes of its lines.
        is_included: whether the archive that lists it contains it.
    """

    digest: str
    rows: int
    size: int
    is_included: bool


def kept_tables(connection: Connection, plugins: AllTables) -> list[Table]:
    """Return the tables to back up, each after the tables that it refers to.

    The models of all features must have been imported.

    Args:
        plugins: the tables of the plugins whose rows are kept.

    Raises:
        BackupError: the database has a table that no model defines.
    """
    own = [table for table in metadata.sorted_tables if table.name not in EPHEMERAL | OF_THE_DATABASE]
    kept = [*own, *sorted_tables(plugins)]
    existing = {name for name in inspect(connection).get_table_names() if not is_derived(name)}
    existing -= {_MIGRATIONS}
    known = {*metadata.tables, *(table.name for table in kept), *map(version_table, plugins)}
    if unknown := sorted(existing - known - set(tables_left_out(connection, plugins))):
        raise BackupError(f"the database has unknown tables: {', '.join(unknown)}")
    return kept


def tables_left_out(connection: Connection, plugins: AllTables) -> list[str]:
    """Return the tables of plugins that are not enabled, so that no model defines them."""
    existing = set(inspect(connection).get_table_names()) - {_MIGRATIONS}
    return [name for names in left_tables(existing, plugins).values() for name in names]


def dump_rows(
    connection: Connection,
    table: Table,
    file: IO[bytes],
    listing: IO[bytes],
    omitted: Collection[str] = frozenset(),
) -> int:
    """Write the rows of a table to a file and the list of segments to another; return the row count.

    Args:
        omitted: the digests of segments that are only listed, because the base has them.
    """
    _write(file, [column.name for column in table.columns])
    count = 0
    for lines in _segments(_lines(connection, table)):
        content = b"".join(lines)
        digest = hashlib.sha256(content).hexdigest()
        segment = Segment(digest, len(lines), len(content), digest not in omitted)
        _write(listing, list(astuple(segment)))
        if segment.is_included:
            file.write(content)
        count += segment.rows
    return count


def parse_segments(listing: Iterable[bytes]) -> list[Segment]:
    """Parse the list of segments that :func:`dump_rows` wrote."""
    return [Segment(*json.loads(line)) for line in listing]


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    dialect = connection.dialect.name
    values = (_json_value(column, dialect) for column in table.columns)
    array = func.json_array if dialect == "sqlite" else func.json_build_array
    query = select(cast(array(*values), Text)).order_by(*table.primary_key)
    for (line,) in dynamic(query).stream(connection, batch=_BATCH):
        # PostgreSQL keeps the line breaks of a JSON column.
        text = line if "\n" not in line else json.dumps(json.loads(line), ensure_ascii=False)
        yield text.encode() + b"\n"


def _json_value(column: Column[Any], dialect: str) -> ColumnElement[Any]:
    if dialect != "sqlite":
        return column
    # SQLite stores booleans as numbers, and JSON as text.
    if isinstance(column.type, Boolean):
        return func.json(case((column, "true"), (~column, "false")))
    return func.json(cast(column, Text)) if isinstance(column.type, JSON) else column


def _segments(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    segment: list[bytes] = []
    for line in lines:
        segment.append(line)
        if not zlib.crc32(line) & _END_MASK or len(segment) == _MAX_ROWS:
            yield segment
            segment = []
    if segment:
        yield segment


def load_rows(connection: Connection, table: Table, lines: Iterable[bytes]) -> int:
    """Insert the rows that :func:`dump_rows` wrote, and return how many there were.

    Columns that refer to the table itself are set after all inserts, because the referenced row may
    come later than the row that refers to it.
    """
    pieces = iter(lines)
    names = json.loads(next(pieces))
    inner = self_references(table)
    count = 0
    late: list[dict[str, Any]] = []
    for batch in _batches(pieces):
        rows = [dict(zip(names, json.loads(line), strict=True)) for line in batch]
        late += [key_and(row, table, inner) for row in rows if any(row[name] for name in inner)]
        # Self-references are NULL at first; fill_in sets them.
        dynamic(insert(table)).execute(connection, [row | dict.fromkeys(inner) for row in rows])
        count += len(rows)
    if late:
        fill_in(connection, table, inner, late)
    return count


def self_references(table: Table) -> list[str]:
    """Return the columns of a table that refer to the table itself."""
    return [
        column.name
        for column in table.columns
        if any(key.column.table is table for key in column.foreign_keys)
    ]


def is_empty(connection: Connection, tables: Sequence[Table]) -> bool:
    """Return whether all tables are empty."""
    return not any(dynamic(select(table).limit(1)).first(connection) for table in tables)


def _write(file: IO[bytes], row: Sequence[Any]) -> None:
    file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _batches(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    while batch := list(islice(lines, _BATCH)):
        yield batch


def key_and(row: dict[str, Any], table: Table, inner: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of :func:`fill_in` for a row."""
    keys = {f"key_{column.name}": row[column.name] for column in table.primary_key}
    return keys | {f"new_{name}": row[name] for name in inner}


def fill_in(
    connection: Connection, table: Table, inner: Sequence[str], late: Sequence[dict[str, Any]]
) -> None:
    """Set the columns that refer to the table itself, once all its rows are inserted."""
    statement = dynamic(
        update(table)
        .where(*(column == bindparam(f"key_{column.name}") for column in table.primary_key))
        .values({name: bindparam(f"new_{name}") for name in inner})
    )
    for start in range(0, len(late), _BATCH):
        statement.execute(connection, late[start : start + _BATCH])
