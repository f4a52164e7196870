"""Work that is written together is done as if each were alone."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from tests.support.waiting import wait_until

from strongroom.database import Database
from strongroom.errors import Forbidden, Unavailable

Work = Callable[[Connection], Any]


@pytest.fixture(autouse=True)
def table(database: Database) -> Iterator[None]:
    """A table for the rows of the tests."""
    with database.write() as connection:
        connection.execute(text("CREATE TABLE written (number INTEGER PRIMARY KEY)"))
    yield
    with database.write() as connection:
        connection.execute(text("DROP TABLE written"))


def insert(number: int) -> Work:
    def work(connection: Connection) -> int:
        connection.execute(text("INSERT INTO written VALUES (:number)"), {"number": number})
        return number

    return work


def insert_and_fail(number: int) -> Work:
    def work(connection: Connection) -> None:
        insert(number)(connection)
        raise Forbidden

    return work


def written(database: Database) -> set[int]:
    with database.read() as connection:
        return set(connection.execute(text("SELECT number FROM written")).scalars())


def gathered(database: Database, works: list[Work]) -> list[Future[Any]]:
    """Let the works come while another holds the turn, so that SQLite does them in one transaction."""
    with ThreadPoolExecutor(len(works) + 1) as pool:
        entered, leave = Event(), Event()

        def hold(_: Connection) -> None:
            entered.set()
            leave.wait(60)

        pool.submit(database.write_together, hold)
        entered.wait(60)
        futures = [pool.submit(database.write_together, work) for work in works]
        group_commit = database._group_commit
        if group_commit is not None:
            wait_until(lambda: len(group_commit._waiting) == len(works) + 1)
        leave.set()
    return futures


@contextmanager
def counted_commits(database: Database) -> Iterator[list[int]]:
    commits: list[int] = []

    def count(_: Connection) -> None:
        commits.append(1)

    for engine in database.engines:
        event.listen(engine, "commit", count)
    yield commits
    for engine in database.engines:
        event.remove(engine, "commit", count)


def test_each_caller_gets_the_result_of_its_own_work(database: Database) -> None:
    futures = gathered(database, [insert(number) for number in range(6)])
    assert [future.result(60) for future in futures] == list(range(6))
    assert written(database) == set(range(6))


def test_work_that_raises_is_void_and_the_others_are_not(database: Database) -> None:
    futures = gathered(database, [insert(1), insert_and_fail(2), insert(3)])
    assert [type(future.exception(60)) for future in futures] == [type(None), Forbidden, type(None)]
    assert written(database) == {1, 3}


def test_work_that_breaks_a_rule_of_the_database_is_void_alone(database: Database) -> None:
    futures = gathered(database, [insert(1), insert(1), insert(2)])
    assert sum(future.exception(60) is not None for future in futures) == 1
    assert written(database) == {1, 2}


def test_on_sqlite_those_who_come_at_one_moment_share_a_transaction(database: Database) -> None:
    if database.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL groups commits itself")
    with counted_commits(database) as commits:
        gathered(database, [insert(number) for number in range(6)])
    # One of who held the turn, and one of all the others.
    assert len(commits) == 2


def test_a_transaction_that_cannot_be_committed_fails_for_all(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    if database.engine.dialect.name != "sqlite":
        pytest.skip("each has a transaction of its own")
    gate = Lock()
    real = database._writing

    @contextmanager
    def failing(durable: bool) -> Iterator[Connection]:
        with real(durable) as connection:
            yield connection
            if gate.locked():
                raise Unavailable(retry_after=1)

    assert database._group_commit is not None
    monkeypatch.setattr(database._group_commit, "_begin", failing)
    with gate:
        futures = gathered(database, [insert(1), insert_and_fail(2)])
        assert {type(future.exception(60)) for future in futures} == {Unavailable}
    assert written(database) == set()


def test_work_within_a_transaction_of_ones_own_is_refused(database: Database) -> None:
    with pytest.raises(RuntimeError, match="within another"), database.read():
        database.write_together(insert(1))


def test_what_need_not_be_durable_is_there_for_all(database: Database) -> None:
    assert database.write_together(insert(1), durable=False) == 1
    with database.write(durable=False) as connection:
        insert(2)(connection)
    insert_more = database.write_together(insert(3))
    assert (insert_more, written(database)) == (3, {1, 2, 3})
