"""Bytes per row of the largest tables and of each of their indexes, on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from sqlalchemy import Connection, text
from tests.support.databases import PostgresqlDatabases

from bench import archive, people
from bench.databases import CONFIG
from bench.harness import Plan, Row
from strongroom.assembly.app import create_app, get_container
from strongroom.foundation.config import load

_SHARE: Final = 0.01
"""Tables with fewer bytes than this share of all are left out."""

# reltuples is exact after VACUUM ANALYZE of a table that nothing writes to.
_SIZES: Final = text(
    """
    SELECT tables.relname, parts.relname, parts.relkind = 'i', tables.reltuples::bigint,
           pg_table_size(parts.oid)
    FROM pg_class tables
    LEFT JOIN pg_index ON pg_index.indrelid = tables.oid
    JOIN pg_class parts ON parts.oid IN (tables.oid, pg_index.indexrelid)
    WHERE tables.relkind = 'r' AND tables.relnamespace = 'public'::regnamespace
      AND tables.reltuples > 0
    GROUP BY 1, 2, 3, 4, 5
    ORDER BY sum(pg_table_size(parts.oid)) OVER (PARTITION BY tables.relname) DESC, 3, 5 DESC
    """
)


class Part(NamedTuple):
    """A table without its indexes, or one of its indexes."""

    table: str
    name: str
    is_index: bool
    rows: int
    size: int


def measure(plan: Plan) -> list[Row]:
    """Measure the bytes per row after as many users and files were written."""
    # Not below a folder of ours: run as root, PostgreSQL is another user's.
    with TemporaryDirectory(prefix="strongroom-bench-") as name:
        folder = Path(name)
        databases = PostgresqlDatabases(folder)
        try:
            with databases.create() as url:
                return list(_rows(planted(url, folder, plan.files), plan.files))
        finally:
            databases.stop()


def planted(url: str, folder: Path, count: int) -> list[Part]:
    """Write so many users, and so many files of one tenant; return the parts of all tables."""
    config = folder / "strongroom.toml"
    config.write_text(CONFIG.format(folder=folder, url=url))
    container = get_container(create_app(load(config, {})))
    try:
        people.plant(container, count)
        archive.plant(container, count)
        with container.database.read() as connection:
            return parts(connection)
    finally:
        container.close()


def parts(connection: Connection) -> list[Part]:
    """Return the large tables with their indexes, the largest first."""
    everything = [Part(*row) for row in connection.execute(_SIZES)]
    least = _SHARE * sum(part.size for part in everything)
    totals: dict[str, int] = {}
    for part in everything:
        totals[part.table] = totals.get(part.table, 0) + part.size
    return [part for part in everything if totals[part.table] >= least]


def _rows(measured: list[Part], count: int) -> Iterator[Row]:
    for part in measured:
        kind = "index" if part.is_index else "table"
        name = f"{kind} {part.name}, {part.rows:,} rows"
        yield Row(name, "bytes per row", [part.size / part.rows], is_cost=True)
    for kind, is_index in (("tables", False), ("indexes", True)):
        total = sum(part.size for part in measured if part.is_index == is_index)
        name = f"all {kind}, {count:,} users and {count:,} files"
        yield Row(name, "bytes per user and file", [total / count], is_cost=True)
