"""Work that is written together is done as if each were alone."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event, Lock
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DBAPIError
from tests.support.databases import on_postgresql
from tests.support.timing import TickingClock
from tests.support.waiting import wait_until

from strongroom.foundation.database import Database
from strongroom.foundation.errors import Forbidden, Unavailable

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


def gathered(
    database: Database,
    works: list[Work],
    key: str | None = None,
    then: Callable[[], None] = lambda: None,
) -> list[Future[Any]]:
    """Let the works come while another has the turn, so that they share a transaction.

    On PostgreSQL only those of a key do. ``then`` is called while all of them wait.
    """
    with ThreadPoolExecutor(len(works) + 1) as pool:
        entered, leave = Event(), Event()

        def hold(_: Connection) -> None:
            entered.set()
            leave.wait(60)

        pool.submit(database.write_together, hold, key=key)
        entered.wait(60)
        futures = [pool.submit(database.write_together, work, key=key) for work in works]
        queue = database._queues._queues.get(key or "")
        group_commit = queue.commit if queue else database._group_commit
        if group_commit is not None:
            wait_until(lambda: len(group_commit._waiting) == len(works) + 1)
        then()
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


def test_works_of_one_key_share_transactions_and_their_errors_are_their_own(
    database: Database,
) -> None:
    works = [insert(1), insert_and_fail(2), insert(1), *(insert(number) for number in range(3, 30))]
    waits: list[float] = []
    database.observe_queues(waits.append)
    with counted_commits(database) as commits:
        futures = gathered(database, works, "tenant")
    errors = [type(error) for future in futures if (error := future.exception(60)) is not None]
    assert len(errors) == 2
    assert Forbidden in errors
    assert written(database) == {1, *range(3, 30)}
    if database.engine.dialect.name == "postgresql":
        # One of who had the turn, and each 16 of the others, because other processes wait as well.
        assert len(commits) == 3
        assert len(waits) == len(works) + 1
        assert database._queues._queues == {}


@on_postgresql
def test_works_of_other_keys_do_not_wait(database: Database) -> None:
    def write_by_another_key() -> None:
        database.write_together(insert(2), key="other")
        assert written(database) == {2}

    gathered(database, [insert(1)], "tenant", write_by_another_key)
    assert written(database) == {1, 2}


@on_postgresql
def test_a_queue_that_has_waited_for_half_of_the_limit_takes_no_more(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = []

    def ask() -> None:
        database.require_short_queue("tenant")
        monkeypatch.setattr(database, "_crowded_seconds", 0)
        database.require_short_queue("other")
        try:
            database.require_short_queue("tenant")
        except Unavailable as error:
            refused.append(error)

    gathered(database, [insert(1)], "tenant", ask)
    assert len(refused) == 1
    database.require_short_queue("tenant")


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


def test_each_work_of_a_shared_transaction_has_a_time_of_its_own(database: Database) -> None:
    clock = database.transaction_clock(TickingClock(0))
    works: list[Work] = [lambda _: (clock.now(), clock.now())] * 3
    with counted_commits(database) as commits:
        futures = gathered(database, works, key="tenant")
    assert len(commits) == 2
    assert sorted(future.result(60) for future in futures) == [(1, 1), (2, 2), (3, 3)]


@on_postgresql
def test_works_that_share_a_lost_connection_are_refused_for_a_while(database: Database) -> None:
    def lose(connection: Connection) -> None:
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    futures = gathered(database, [insert(1), lose, insert(2)], "tenant")
    assert [type(future.exception(60)) for future in futures] == [Unavailable] * 3
    assert database.write_together(insert(3), key="tenant") == 3
    assert written(database) == {3}


@on_postgresql
def test_work_that_continues_on_a_lost_connection_is_refused_for_a_while(database: Database) -> None:
    def lose_and_continue(connection: Connection) -> None:
        with suppress(DBAPIError):
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        insert(1)(connection)

    with pytest.raises(Unavailable), database.write() as connection:
        lose_and_continue(connection)
    with pytest.raises(Unavailable):
        database.write_together(lose_and_continue, key="tenant")
    assert written(database) == set()
