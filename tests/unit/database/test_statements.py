"""Statements that the driver runs itself, within SQLAlchemy's transactions."""

from collections.abc import Iterator

import pytest
from sqlalchemy import PickleType, bindparam, insert, select, text, type_coerce, update
from sqlalchemy.exc import IntegrityError

from strongroom.database import Database
from strongroom.database.statements import Statement
from strongroom.database.upsert import for_each_dialect
from strongroom.errors import Unavailable
from strongroom.limits.models import counters

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


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


def test_what_is_written_is_read_in_the_same_transaction(database: Database) -> None:
    with database.write() as connection:
        assert ADD.change(connection, row("a")) == 1
        assert ADD_UNLESS_THERE.change(connection, row("a", 5)) == 0
        assert ADD_UNLESS_THERE.change(connection, row("b", 5)) == 1
        assert RAISE.change(connection, {"of_subject": "b", "unknown": 1}) == 1
        assert RAISE.change(connection, {"of_subject": "c"}) == 0
    with database.read() as connection:
        assert COUNT_OF.scalar(connection, {"of_subject": "b"}) == 15
        assert COUNT_OF.first(connection, {"of_subject": "c"}) is None
        assert COUNT_OF.scalar(connection, {"of_subject": "c"}) is None
        assert ALL.all(connection, {}) == [("a", 1), ("b", 15)]


def test_a_transaction_that_raises_leaves_nothing(database: Database) -> None:
    def write() -> None:
        with database.write() as connection:
            ADD.change(connection, row("a"))
            raise LookupError

    with pytest.raises(LookupError):
        write()
    with database.read() as connection:
        assert ALL.all(connection, {}) == []


def test_an_error_is_the_one_that_core_raises_and_tells_no_value(database: Database) -> None:
    def write() -> None:
        with database.write() as connection:
            ADD.change(connection, row("secret"))
            ADD.change(connection, row("secret"))

    with pytest.raises(IntegrityError) as raised:
        write()
    assert "INSERT INTO counters" in str(raised.value)
    assert "[parameters" not in str(raised.value)
    with database.read() as connection:
        assert ALL.all(connection, {}) == []


def test_a_savepoint_holds_what_the_driver_wrote(database: Database) -> None:
    with database.write() as connection:
        ADD.change(connection, row("a"))
        savepoint = connection.begin_nested()
        ADD.change(connection, row("b"))
        savepoint.rollback()
    with database.read() as connection:
        assert ALL.all(connection, {}) == [("a", 1)]


def test_a_database_that_went_away_is_said_to_be_unavailable_and_asked_anew(database: Database) -> None:
    if database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has no server that could go")
    killer = text("SELECT pg_terminate_backend(:pid)")

    def read_while_it_dies() -> None:
        with database.read() as connection:
            pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            other = Database(database.engine.url.render_as_string(hide_password=False))
            with other.read() as killing:
                killing.execute(killer, {"pid": pid})
            other.close()
            ALL.all(connection, {})

    with pytest.raises(Unavailable):
        read_while_it_dies()
    with database.read() as connection:
        assert ALL.all(connection, {}) == []


def test_what_would_have_to_be_converted_is_refused(database: Database) -> None:
    statement = Statement(select(type_coerce(counters.c.subject, PickleType)))
    with database.read() as connection, pytest.raises(TypeError):
        statement.all(connection, {})
