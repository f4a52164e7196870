"""An empty PostgreSQL database whose planner sees tables of 10^7 users, 10^8 nodes and 10^9 events.

The planner takes the density of rows from the catalog, and the number of pages from the size of the
files. So the files get holes, which take no space, and the catalog gets rows and distinct values.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg

USERS: Final = 10**7
NODES: Final = 10**8
EVENTS: Final = 10**9
TENANTS: Final = 10**5
SMALL: Final = 10**3
LARGE: Final = 10**6
"""A table with as many rows must not be read as a whole."""

SIZES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("nodes", "grants", "blobs", "search_names", "file_versions", "versions"), NODES),
    **dict.fromkeys(("audit_events", "file_events"), EVENTS),
    # At most one row per tenant.
    **dict.fromkeys(("tenants", "tenant_retention", "tenant_options"), TENANTS),
    # Rows of minutes: of requests, downloads and browsers in progress.
    **dict.fromkeys(("blob_holds", "bundles", "browser_states"), TENANTS),
    # One row per server, job, sink, import, or task.
    **dict.fromkeys(
        (
            *("installation", "alembic_version", "jobs", "instances", "key_ranges", "plugin_leases"),
            *("event_positions", "event_dead_letters", "retention_clock", "user_imports"),
            *("declared_resources", "setup_links"),
        ),
        SMALL,
    ),
}
"""The rows of each table; all others have a row per user."""

_BLOCK: Final = 8192
_BLOCKS_OF_FILE: Final = 131_072
_WIDTHS: Final = {"r": 200, "i": 60}
_PART: Final = 1000
"""A partial index has one of so many rows."""

_RELATIONS: Final = """
SELECT c.oid, c.relkind::text, coalesce(t.relname, c.relname), i.indpred IS NOT NULL,
  pg_relation_filepath(c.oid)
FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i')
"""
_COLUMNS: Final = """
SELECT a.attrelid, t.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
  EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique
    AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum AND i.indpred IS NULL)
FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid
WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND a.attnum > 0
  AND NOT a.attisdropped
"""
_SLOTS: Final = ", ".join(f"stakind{n}, staop{n}, stacoll{n}" for n in range(1, 6))
_STATISTIC: Final = f"""
INSERT INTO pg_statistic (starelid, staattnum, stainherit, stanullfrac, stawidth, stadistinct, {_SLOTS})
VALUES (%s, %s, false, %s, 20, %s, {", ".join(["0, 0, 0"] * 5)})
"""
# Most users are active ones of the type USER.
_FREQUENT: Final = """
UPDATE pg_statistic SET stakind1 = 1, staop1 = 98, stacoll1 = 100, stanumbers1 = '{0.9999, 0.0001}',
  stavalues1 = array_in(%s, 'text'::regtype, -1)
WHERE starelid = 'users'::regclass AND staattnum = (
  SELECT attnum FROM pg_attribute WHERE attrelid = 'users'::regclass AND attname = %s)
"""
_MOST: Final = {"type": "{USER,ADMIN}", "status": "{active,suspended}"}


class _TableColumn(NamedTuple):
    relation: int
    table: str
    number: int
    name: str
    type: str
    is_required: bool
    is_unique: bool

    @property
    def distinct(self) -> float:
        """The number of distinct values, or the negative of their share."""
        if self.is_unique:
            return -1
        if self.type == "bigint":
            return -0.5
        if self.type in ("integer", "smallint", "boolean"):
            return 4
        match = re.search(r"varying\((\d+)", self.type)
        length = int(match[1]) if match else 255
        if length <= 32:
            return 6
        return -0.05 if length == 36 else -0.3

    @property
    def nulls(self) -> float:
        """The share of NULL."""
        return 0.0 if self.is_required else 0.9


def size(table: str) -> int:
    """Return the number of rows of a table."""
    return SIZES.get(table, USERS)


def pretend_sizes(connection: "psycopg.Connection[Any]", data: Path) -> None:
    """Give the tables of a database, and their indexes, the sizes of :data:`SIZES`.

    No statement may read their rows from then on. The database has to be dropped.

    Args:
        connection: of a superuser, and not in a transaction.
        data: the folder of the server's data.
    """
    for oid, kind, table, is_partial, path in connection.execute(_RELATIONS).fetchall():
        rows = size(table) // _PART if is_partial else size(table)
        pages = rows * _WIDTHS[kind] // _BLOCK + 1
        _extend(data / path, pages)
        visible = pages if kind == "r" else 0
        connection.execute(
            "UPDATE pg_class SET reltuples = %s, relpages = %s, relallvisible = %s WHERE oid = %s",
            (rows, pages, visible, oid),
        )
        if kind == "r":
            # Autovacuum would count the rows.
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
    columns = [_TableColumn(*row) for row in connection.execute(_COLUMNS).fetchall()]
    connection.execute("DELETE FROM pg_statistic WHERE starelid = ANY(%s)", ([c[0] for c in columns],))
    for column in columns:
        values = (column.relation, column.number, column.nulls, column.distinct)
        connection.execute(_STATISTIC.encode(), values)
    for name, most in _MOST.items():
        connection.execute(_FREQUENT, (most, name))


def _extend(path: Path, pages: int) -> None:
    owner = path.stat()
    for number in range(pages // _BLOCKS_OF_FILE + 1):
        part = path.with_name(f"{path.name}.{number}") if number else path
        blocks = min(pages - number * _BLOCKS_OF_FILE, _BLOCKS_OF_FILE)
        with part.open("r+b" if part.exists() else "wb") as file:
            file.truncate(max(blocks * _BLOCK, os.fstat(file.fileno()).st_size))
        os.chown(part, owner.st_uid, owner.st_gid)
