"""Statements that the driver runs itself, within SQLAlchemy's transactions."""

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import (
    Boolean,
    Connection,
    PickleType,
    bindparam,
    delete,
    insert,
    literal,
    select,
    text,
    tuple_,
    type_coerce,
    update,
)
from sqlalchemy.exc import IntegrityError
from tests.support.counters import counters

from strongroom.foundation.database import Database
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.database.statements import Statement, dynamic, for_each_dialect
from strongroom.foundation.errors import Unavailable

pytestmark = pytest.mark.both_databases


@dataclass(frozen=True, slots=True)
class Counter:
    """A row of :data:`counters`."""

    subject: str
    count: int
    expires_at: int


COUNTER = RowMapper(Counter, counters)
ADD = Statement(insert(counters))
ADD_UNLESS_THERE = Statement(for_each_dialect(counters, lambda insert: insert.on_conflict_do_nothing()))
COUNT_OF = Statement(select(counters.c.count).where(counters.c.subject == bindparam("of_subject")))
ALL = Statement(select(counters.c.subject, counters.c.count).order_by(counters.c.subject))
RAISE = Statement(
    update(counters)
    .where(counters.c.subject == bindparam("of_subject"))
    .values(count=counters.c.count + 10)
)


def row(subject: str, count: int = 1) -> dict[str, object]:
    return {"subject": subject, "count": count, "expires_at": 1}


def test_written_rows_are_read_in_the_same_transaction(database: Database) -> None:
    with database.write() as connection:
        assert ADD.execute(connection, row("a")) == 1
        assert ADD_UNLESS_THERE.execute(connection, row("a", 5)) == 0
        assert ADD_UNLESS_THERE.execute(connection, row("b", 5)) == 1
        assert RAISE.execute(connection, {"of_subject": "b", "unknown": 1}) == 1
        assert RAISE.execute(connection, {"of_subject": "c"}) == 0
    with database.read() as connection:
        assert COUNT_OF.scalar(connection, {"of_subject": "b"}) == 15
        assert COUNT_OF.first(connection, {"of_subject": "c"}) is None
        assert COUNT_OF.scalar(connection, {"of_subject": "c"}) is None
        assert ALL.all(connection, {}) == [("a", 1), ("b", 15)]


def test_a_transaction_that_raises_leaves_nothing(database: Database) -> None:
    def write() -> None:
        with database.write() as connection:
            ADD.execute(connection, row("a"))
            raise LookupError

    with pytest.raises(LookupError):
        write()
    with database.read() as connection:
        assert ALL.all(connection, {}) == []


def test_an_error_is_the_one_that_core_raises_without_values(database: Database) -> None:
    def write() -> None:
        with database.write() as connection:
            ADD.execute(connection, row("secret"))
            ADD.execute(connection, row("secret"))

    with pytest.raises(IntegrityError) as raised:
        write()
    assert "INSERT INTO counters" in str(raised.value)
    assert "[parameters" not in str(raised.value)
    with database.read() as connection:
        assert ALL.all(connection, {}) == []


def test_a_savepoint_includes_rows_written_by_the_driver(database: Database) -> None:
    with database.write() as connection:
        ADD.execute(connection, row("a"))
        savepoint = connection.begin_nested()
        ADD.execute(connection, row("b"))
        savepoint.rollback()
    with database.read() as connection:
        assert ALL.all(connection, {}) == [("a", 1)]


def end_connections(database: Database, of: Connection) -> None:
    """End the server's side of a connection, as a restart does."""
    pid = of.execute(text("SELECT pg_backend_pid()")).scalar_one()
    other = Database(database.engine.url.render_as_string(hide_password=False))
    with other.read() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
    other.close()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_transaction_whose_connection_is_lost_raises_unavailable(database: Database) -> None:
    def write_and_lose() -> None:
        with database.write() as connection:
            end_connections(database, connection)
            ALL.all(connection, {})

    with pytest.raises(Unavailable):
        write_and_lose()
    with database.write() as connection:
        assert ALL.all(connection, {}) == []


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("query", [ALL, dynamic(select(counters.c.subject, counters.c.count))])
def test_a_read_whose_connection_is_lost_is_repeated(database: Database, query: Statement[Any]) -> None:
    with database.read() as connection:
        end_connections(database, connection)
    with database.read() as connection:
        assert query.all(connection) == []


def test_types_are_converted_in_both_directions(database: Database) -> None:
    pickled = Statement(select(type_coerce(bindparam("value", type_=PickleType), PickleType)))
    truth = Statement(select(type_coerce(literal(1), Boolean).label("is_true"), literal(2).label("two")))
    with database.read() as connection:
        assert pickled.scalar(connection, {"value": ["a", 1]}) == ["a", 1]
        row = truth.first(connection)
    assert row is not None
    assert (row.is_true, row.two) == (True, 2)
    assert isinstance(row.is_true, bool)


def test_a_list_is_a_parameter_of_any_length(database: Database) -> None:
    pair = tuple_(counters.c.subject, counters.c.count)
    fixed = counters.c.expires_at.in_([1, 2])
    named = counters.c.subject.in_(bindparam("subjects", expanding=True))
    found = Statement(select(counters.c.subject).where(named, fixed).order_by(counters.c.subject))
    pairs = Statement(select(counters.c.subject).where(pair.in_(bindparam("pairs", expanding=True))))
    removal = Statement(delete(counters).where(named))
    subjects = [f"{number:03}" for number in range(100)]
    with database.write() as connection:
        assert ADD.execute(connection, [row(subject, 7) for subject in subjects]) == 100
        for length in (0, 1, 3, 4, 99):
            assert found.scalars(connection, {"subjects": subjects[:length]}) == subjects[:length]
        assert pairs.scalars(connection, {"pairs": [("001", 7), ("002", 8)]}) == ["001"]
        assert removal.execute(connection, {"subjects": subjects[:99]}) == 99
    assert len(found.compiled(database.engine.dialect)._expanded) == 4


def test_dynamic_statements_have_the_same_methods(database: Database) -> None:
    with database.write() as connection:
        dynamic(insert(counters)).execute(connection, [row("a"), row("b", 2)])
        query = dynamic(select(counters).where(counters.c.count > 1), Counter)
        assert query.all(connection) == [Counter("b", 2, 1)]
        assert query.first(connection) == Counter("b", 2, 1)
        assert (query.scalar(connection), query.scalars(connection)) == ("b", ["b"])
        assert list(query.stream(connection, batch=1)) == [Counter("b", 2, 1)]


def test_rows_are_records_of_a_dataclass_with_the_same_fields(database: Database) -> None:
    with database.write() as connection:
        ADD.execute(connection, COUNTER.values(Counter("a", 1, 2)))
        assert Statement(select(counters), Counter).first(connection) == Counter("a", 1, 2)
        named = Statement(select(counters)).all(connection)[0]
    assert (named.subject, named.count, named.expires_at) == ("a", 1, 2)
    assert COUNTER.split(("a", 1, 2, "more")) == (Counter("a", 1, 2), ("more",))
    with pytest.raises(TypeError, match="has the fields"):
        Statement(select(counters.c.count, counters.c.subject, counters.c.expires_at), Counter)
    with pytest.raises(TypeError, match="has the fields"):
        RowMapper(Counter, [counters.c.subject])


def test_a_statement_takes_two_calls(database: Database) -> None:
    depths: list[int] = []

    def note(frame: FrameType | None, event: str, _: object) -> None:
        if event == "call":
            depths.append(0)
            while frame is not None:
                depths[-1] += frame.f_code.co_filename.endswith(("/statements.py", "/compiled.py"))
                frame = frame.f_back

    with database.write() as connection:
        ADD.execute(connection, row("a"))
        # The first execution compiles the statement.
        COUNT_OF.scalar(connection, {"of_subject": "a"})
        sys.setprofile(note)
        try:
            count = COUNT_OF.scalar(connection, {"of_subject": "a"})
        finally:
            sys.setprofile(None)
    assert count == 1
    assert max(depths) == 2
