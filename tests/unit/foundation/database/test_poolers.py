"""Databases behind a real pgbouncer, which hands each transaction to another session of the server."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psycopg
import pytest
from sqlalchemy import bindparam, func, insert, select, text
from tests.support.counters import counters
from tests.support.databases import PostgresqlDatabases, pooled_database
from tests.support.poolers import Mode, Pooler, needs_pgbouncer

from strongroom.foundation.database import Database
from strongroom.foundation.database.engine import long_statements
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Unavailable

pytestmark = needs_pgbouncer

ADD = Statement(insert(counters))
TOTAL = Statement(select(func.count()).select_from(counters))
OF = Statement(select(counters.c.count).where(counters.c.subject == bindparam("wanted")))
LIMIT = Statement(select(func.current_setting("statement_timeout")))
IGNORED = "extra_float_digits,options"


@pytest.fixture(scope="module", params=["transaction", "session"])
def mode(request: pytest.FixtureRequest) -> Mode:
    value: Mode = request.param
    return value


@pytest.fixture(scope="module", params=["extra_float_digits", IGNORED], ids=["refused", "ignored"])
def pooler(
    request: pytest.FixtureRequest, mode: Mode, postgresql_databases: PostgresqlDatabases
) -> Iterator[Pooler]:
    # In session mode each connection keeps a session.
    size = 2 if mode == "transaction" else 40
    url = postgresql_databases.server_url
    with Pooler.serving(url, mode, size=size, ignored=request.param) as pooler:
        yield pooler


@pytest.fixture
def url(pooler: Pooler, postgresql_databases: PostgresqlDatabases) -> Iterator[str]:
    with pooled_database(postgresql_databases, pooler) as url:
        yield url


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url, timeout_seconds=10)
    yield database
    database.close()


def add(database: Database, subject: str, *, durable: bool = True) -> None:
    with database.write(durable=durable) as connection:
        ADD.execute(connection, {"subject": subject, "count": 1, "expires_at": 1})


def count(database: Database, subject: str) -> int | None:
    with database.read() as connection:
        found: int | None = OF.scalar(connection, {"wanted": subject})
    return found


def test_threads_read_and_write_at_once(database: Database) -> None:
    def work(number: int) -> int | None:
        add(database, str(number), durable=number % 2 == 0)
        with database.snapshot() as connection:
            TOTAL.scalar(connection)
        return count(database, str(number))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(120))) == [1] * 120
    with database.read() as connection:
        assert TOTAL.scalar(connection) == 120


def test_no_setting_stays_in_a_session(database: Database, url: str) -> None:
    for number in range(12):
        add(database, str(number), durable=False)
        count(database, str(number))
    names = ("default_transaction_read_only", "statement_timeout", "synchronous_commit")
    query = f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}"
    with ExitStack() as stack:
        # At once, and in transactions, so that each has a session of its own.
        others = [stack.enter_context(psycopg.connect(url.replace("+psycopg", ""))) for _ in range(2)]
        states = [connection.execute(query.encode()).fetchone() for connection in others]
    assert states == [("off", "0", "on")] * 2


def test_no_statement_is_prepared(database: Database) -> None:
    for number in range(20):
        add(database, str(number))
    with database.write() as connection:
        prepared = connection.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar()
    assert prepared == 0


def test_reads_refuse_to_write(database: Database) -> None:
    with pytest.raises(Unavailable), database.read() as connection:
        ADD.execute(connection, {"subject": "a", "count": 1, "expires_at": 1})
    assert count(database, "a") is None


def test_each_transaction_has_the_time_limit(database: Database) -> None:
    for transaction in (database.read, database.write, database.snapshot):
        with transaction() as connection:
            assert LIMIT.scalar(connection) == "9500ms"
    with database.write() as connection:
        with long_statements(connection):
            assert LIMIT.scalar(connection) == "10min"
        assert LIMIT.scalar(connection) == "9500ms"


def test_a_database_that_is_opened_for_reading_refuses_to_write(url: str) -> None:
    database = Database(url, read_only=True)
    with database.snapshot() as connection:
        assert TOTAL.scalar(connection) == 0
    for _ in range(2):
        with pytest.raises(Unavailable):
            add(database, "a")
    database.close()


def test_connections_that_the_pooler_has_closed_are_replaced(
    postgresql_databases: PostgresqlDatabases, mode: Mode
) -> None:
    with (
        postgresql_databases.create(reusable=False) as direct,
        Pooler.serving(postgresql_databases.server_url, mode) as pooler,
    ):
        database = Database(pooler.url(direct), timeout_seconds=10)
        add(database, "a")
        assert count(database, "a") == 1
        with psycopg.connect(direct.replace("+psycopg", "")) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert count(database, "a") == 1
        add(database, "b")
        database.close()
