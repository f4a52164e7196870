"""The details of one file on PostgreSQL, with one process per core, compared with one process."""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.support.databases import PostgresqlDatabases

from bench.client import Client
from bench.details import CLIENTS, details_request
from bench.harness import Plan, Row
from bench.load import Contender, side_by_side
from bench.servers import strongroom

CORES: Final = os.cpu_count() or 1


def measure(plan: Plan) -> list[Row]:
    """Measure responses per second, which includes the work of the load generator and the database."""
    # Not below a folder of ours: run as root, PostgreSQL is another user's.
    with tempfile.TemporaryDirectory(prefix="strongroom-bench-") as name, ExitStack() as stack:
        databases = PostgresqlDatabases(Path(name))
        stack.callback(databases.stop)
        one, many = (_contender(stack, databases, count) for count in (1, CORES))
        title = f"details of a file, {CLIENTS} clients, PostgreSQL, {CORES} processes"
        return side_by_side(plan, title, CLIENTS, many, one)


def _contender(stack: ExitStack, databases: PostgresqlDatabases, workers: int) -> Contender:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    url = stack.enter_context(databases.create())
    database = f'[database]\nurl = "{url}"\n'
    server = stack.enter_context(strongroom(folder, database, workers=workers))
    return Contender(f"{workers} process", server, details_request(Client(server)))
