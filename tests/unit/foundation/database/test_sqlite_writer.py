"""The connection that writes to an SQLite database."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, insert, select, text
from sqlalchemy.exc import DBAPIError
from tests.support.counters import counters

from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, StorageFull, Unavailable

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

ADD = Statement(insert(counters))
TOTAL = Statement(select(func.count()).select_from(counters))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


def add(connection: Connection, subject: str) -> None:
    ADD.execute(connection, {"subject": subject, "count": 1, "expires_at": 1})


def write_and_raise(database: Database, error: BaseException) -> None:
    with database.write() as connection:
        add(connection, "a")
        connection.execute(insert(counters).values(subject="b", count=1, expires_at=1))
        raise error


def total(database: Database) -> int:
    with database.read() as connection:
        count: int = TOTAL.scalar(connection)
    return count


def driver_of(database: Database) -> Any:
    with database.write() as connection:
        return connection.connection.driver_connection


@pytest.mark.parametrize("durable", [True, False])
def test_a_caller_may_roll_back(database: Database, durable: bool) -> None:
    with database.write(durable=durable) as connection:
        add(connection, "a")
        connection.rollback()
    assert total(database) == 0
    with database.write(durable=durable) as connection:
        add(connection, "b")
    assert total(database) == 1


def test_all_writes_use_one_connection_of_the_pool(database: Database) -> None:
    checkouts: list[object] = []
    for engine in database.engines:
        event.listen(engine, "checkout", lambda connection, *_: checkouts.append(connection))
    for number in range(5):
        with database.write(durable=number % 2 == 0) as connection:
            add(connection, str(number))
        database.write_together(partial(add, subject=f"b{number}"))
    assert len(checkouts) == 1
    assert total(database) == 10


def test_an_error_of_a_feature_keeps_the_connection_and_undoes_the_changes(database: Database) -> None:
    first = driver_of(database)
    with pytest.raises(NotFound):
        write_and_raise(database, NotFound())
    assert driver_of(database) is first
    assert total(database) == 0


def test_an_interrupt_closes_the_connection(database: Database) -> None:
    first = driver_of(database)
    with pytest.raises(KeyboardInterrupt):
        write_and_raise(database, KeyboardInterrupt())
    assert driver_of(database) is not first
    assert total(database) == 0


def test_statements_that_sqlalchemy_executes_are_of_the_same_transaction(database: Database) -> None:
    with database.write() as connection:
        add(connection, "a")
        savepoint = connection.begin_nested()
        add(connection, "b")
        savepoint.rollback()
        with connection.begin_nested():
            add(connection, "c")
    assert total(database) == 2
    assert not connection.in_transaction()


def test_after_its_connection_broke_no_statement_of_a_transaction_has_an_effect(
    database: Database,
) -> None:
    driver = driver_of(database)

    def write() -> None:
        with database.write() as connection:
            driver.close()
            # Not on a new connection, outside of the transaction.
            for subject in "ab":
                with suppress(DBAPIError):
                    add(connection, subject)

    with pytest.raises(Unavailable):
        write()
    assert total(database) == 0
    with database.write() as connection:
        add(connection, "c")
    assert total(database) == 1


def test_a_commit_that_fails_undoes_the_changes(database: Database) -> None:
    first = driver_of(database)

    class Full:
        """The driver's connection on a disk that is full when the log is written."""

        def __getattr__(self, name: str) -> Any:
            return getattr(first, name)

        def commit(self) -> None:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    assert database._sqlite_writer is not None
    database._sqlite_writer._driver = Full()
    with pytest.raises(StorageFull), database.write() as connection:
        add(connection, "a")
    assert total(database) == 0
    with database.write() as connection:
        add(connection, "b")
    assert total(database) == 1


def test_listeners_of_transactions_see_each_of_them(database: Database) -> None:
    seen: list[str] = []
    for engine in database.engines:
        for name in ("begin", "commit", "rollback"):
            event.listen(engine, name, lambda _connection, name=name: seen.append(name))
    with database.write() as connection:
        add(connection, "a")
    with pytest.raises(NotFound), database.write() as connection:
        raise NotFound
    assert seen == ["begin", "commit", "begin", "rollback"]


def test_the_connection_writes_again_after_close(database: Database) -> None:
    first = driver_of(database)
    database.close()
    with pytest.raises(sqlite3.ProgrammingError):
        first.execute("SELECT 1")
    with database.write(durable=False) as connection:
        connection.execute(text("DELETE FROM counters"))
    assert driver_of(database) is not first
