"""Prepared queries, on connections of their own."""

from collections.abc import Iterator

import pytest
from sqlalchemy import String, bindparam, func, insert, literal, select, text

from strongroom.database import Database
from strongroom.database.reader import Ask, Reader
from strongroom.database.statements import Rows
from strongroom.limits.models import counters

QUERY = select(func.coalesce(bindparam("one", type_=String), literal("nothing")), literal(2))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def reader(database: Database) -> Iterator[Reader]:
    reader = Reader(database, connections=2)
    yield reader
    reader.close()


def test_parameters_are_named_and_what_is_fixed_is_kept(reader: Reader) -> None:
    query = reader.prepare(QUERY)
    assert [*map(tuple, reader.run(query, {"one": "a", "unknown": 1}) or ())] == [("a", 2)]
    assert [*map(tuple, reader.run(query, {"one": None}) or ())] == [("nothing", 2)]


def test_a_query_may_rest_on_one_before(reader: Reader) -> None:
    one, two = reader.prepare(select(literal("one"))), reader.prepare(QUERY)

    def work(ask: Ask) -> Rows:
        return ask(two, {"one": ask(one, {})[0][0]})

    assert [*map(tuple, reader.read_transaction(work) or ())] == [("one", 2)]
    assert reader.read_transaction(lambda _: None) is None
    assert reader.run(one, {})


def test_what_others_have_committed_is_seen_at_once(reader: Reader, database: Database) -> None:
    query = reader.prepare(select(func.count()).select_from(counters))
    before = reader.run(query, {})
    with database.write() as connection:
        connection.execute(insert(counters).values(subject="a", count=1, expires_at=1))
    after = reader.run(query, {})
    assert (before and before[0][0], after and after[0][0]) == (0, 1)


def test_nothing_can_be_written(database: Database) -> None:
    connection = database.connect_reader()
    with pytest.raises(database.driver_error):
        connection.execute("CREATE TABLE forbidden (id INTEGER)")
    connection.close()


def test_a_database_that_went_away_is_asked_again_later(reader: Reader, database: Database) -> None:
    query = reader.prepare(QUERY)
    assert reader.run(query, {"one": "a"})
    _break_connections(reader, database)
    assert reader.run(query, {"one": "a"}) is None
    assert reader.run(query, {"one": "a"}) is None
    reader._paused_until = 0
    assert reader.run(query, {"one": "a"})


def _break_connections(reader: Reader, database: Database) -> None:
    if database.engine.dialect.name == "sqlite":
        reader._idle[0].close()
        return
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    with database.write() as connection:
        connection.execute(text(f"{others} AND datname = current_database()"))
