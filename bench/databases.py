"""SQLite and PostgreSQL, for the benches that call the services in this process."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.databases import PostgresqlDatabases, SqliteDatabases

from bench.harness import Plan, Row

CONFIG: Final = """
[server]
data_dir = "{folder}/data"
[database]
url = "{url}"
# Planting a million rows, and building an index of them, are single statements on PostgreSQL.
timeout_seconds = 600
[plugins]
enabled = ["storage_local"]
[storages.main]
backend = "local"
root = "{folder}/files"
[login]
methods = ["password"]
"""
"""The configuration of a server, with ``folder`` and ``url`` to fill in."""

Databases = SqliteDatabases | PostgresqlDatabases

Measure = Callable[[str, Databases, Path, Plan], Sequence[Row]]
"""Returns the rows of one kind of database, whose name it gets, with a folder for its files."""


def on_both_databases(measure: Measure, plan: Plan) -> list[Row]:
    """Return the rows of SQLite, then those of PostgreSQL."""
    # Not below a folder of ours: run as root, PostgreSQL is another user's.
    with TemporaryDirectory(prefix="strongroom-bench-") as name:
        folder = Path(name)
        postgresql, sqlite = PostgresqlDatabases(folder), SqliteDatabases(folder)
        try:
            return [
                row
                for kind, databases in (("SQLite", sqlite), ("PostgreSQL", postgresql))
                for row in measure(kind, databases, folder, plan)
            ]
        finally:
            postgresql.stop()
