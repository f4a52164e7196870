"""Listeners of SQLAlchemy's events see every statement, those of frequent reads too."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, insert, select, text
from sqlalchemy.exc import DBAPIError
from tests.support.counters import counters

from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement

ADD = Statement(insert(counters))
ALL = Statement(select(counters.c.subject))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


@contextmanager
def listening(database: Database, name: str, note: Any) -> Iterator[None]:
    for engine in database.engines:
        event.listen(engine, name, note)
    yield
    for engine in database.engines:
        event.remove(engine, name, note)


def work(database: Database) -> None:
    with database.write() as connection:
        ADD.execute(connection, {"subject": "a", "count": 1, "expires_at": 1})
        ADD.execute(connection, [{"subject": s, "count": 1, "expires_at": 1} for s in "bc"])
    with database.read() as connection:
        assert sorted(ALL.scalars(connection)) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["before_cursor_execute", "after_cursor_execute"])
def test_each_statement_is_seen_once_with_its_parameters(database: Database, name: str) -> None:
    seen: list[tuple[str, Any, bool]] = []

    def note(_: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        # Tracers keep their span in the context.
        context.span = object()
        assert cursor is not None
        seen.append((statement.split(maxsplit=1)[0], parameters, many))

    work(database)
    with database.write() as connection:
        connection.execute(text("DELETE FROM counters"))
    with listening(database, name, note):
        work(database)
    row = {"count": 1, "expires_at": 1}
    assert [entry for entry in seen if entry[0] not in ("BEGIN", "PRAGMA")] == [
        ("INSERT", {"subject": "a", **row}, False),
        ("INSERT", [{"subject": "b", **row}, {"subject": "c", **row}], True),
        ("SELECT", {}, False),
    ]
    assert len(seen) == 3 + (2 if database.engine.dialect.name == "sqlite" else 0)


def test_failures_reach_error_listeners(database: Database) -> None:
    failures: list[str] = []

    def note(context: Any) -> None:
        failures.append(context.statement)

    missing = Statement(text("SELECT * FROM missing"))
    event.listen(database.engine, "handle_error", note)
    with pytest.raises(DBAPIError), database.read() as connection:
        missing.all(connection)
    assert failures == ["SELECT * FROM missing"]


def test_the_log_of_sqlalchemy_shows_each_statement(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "sqlalchemy.engine"):
        work(database)
    text = caplog.text
    assert text.count("INSERT INTO counters") == 2
    assert text.count("SELECT counters.subject") == 1
