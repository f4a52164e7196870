"""Connections that Database.read keeps, and their replacement."""

from collections.abc import Iterator

import pytest
from sqlalchemy import bindparam, func, insert, select, text
from sqlalchemy.exc import DBAPIError
from tests.support.counters import counters

from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, Unavailable

pytestmark = pytest.mark.both_databases

ADD = Statement(insert(counters))
TOTAL = Statement(select(func.count()).select_from(counters))
COUNT_OF = Statement(select(counters.c.count).where(counters.c.subject == bindparam("wanted")))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url, readers=1)
    yield database
    database.close()


def add(database: Database, subject: str) -> None:
    with database.write() as connection:
        ADD.execute(connection, {"subject": subject, "count": 1, "expires_at": 1})


def test_a_connection_is_kept_also_after_an_error_of_a_feature(database: Database) -> None:
    with database.read() as first:
        pass
    with pytest.raises(NotFound), database.read():
        raise NotFound
    with database.read() as second:
        assert second is first


def test_commits_are_visible_to_the_next_read(database: Database) -> None:
    for number in range(3):
        with database.read() as connection:
            assert TOTAL.scalar(connection) == number
        add(database, str(number))


def test_a_block_on_sqlite_sees_one_snapshot(database: Database) -> None:
    other = Database(database.engine.url.render_as_string(hide_password=False))
    with database.read() as connection:
        before = TOTAL.scalar(connection)
        # Another database object, because a thread has one transaction of each at a time.
        add(other, "a")
        after = TOTAL.scalar(connection)
    other.close()
    assert (before, after) == (0, 0 if database.engine.dialect.name == "sqlite" else 1)


def test_a_reader_refuses_to_write(database: Database) -> None:
    def write() -> None:
        with database.read() as connection:
            ADD.execute(connection, {"subject": "a", "count": 1, "expires_at": 1})

    with pytest.raises((DBAPIError, Unavailable)):
        write()
    with database.read() as connection:
        assert TOTAL.scalar(connection) == 0


def test_more_reads_than_readers_use_the_ordinary_connections(database: Database) -> None:
    taken = database._readers.acquire(in_transaction=True)
    assert taken is not None
    add(database, "a")
    with database.read() as connection:
        assert connection is not taken.connection
        assert COUNT_OF.scalar(connection, {"wanted": "a"}) == 1
    database._readers.release(taken, None)


def test_a_reader_that_breaks_is_replaced(database: Database) -> None:
    with database.read() as connection:
        broken = connection.connection.driver_connection
    assert broken is not None
    broken.close()
    if database.engine.dialect.name == "sqlite":
        with pytest.raises(Unavailable), database.read():
            pytest.fail("its transaction could not begin")
    with database.read() as connection:
        assert TOTAL.scalar(connection) == 0


def test_an_interrupt_closes_the_reader(database: Database) -> None:
    with database.read() as first:
        pass
    with pytest.raises(KeyboardInterrupt), database.read():
        raise KeyboardInterrupt
    with database.read() as second:
        assert second is not first


def test_a_statement_that_sqlalchemy_executes_leaves_no_transaction(database: Database) -> None:
    for _ in range(2):
        with database.read() as connection:
            assert connection.execute(text("SELECT 1")).scalar() == 1
    assert not connection.in_transaction()
