"""The number of SQL statements of a login, which bounds its latency at a remote database."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import event
from tests.support.api import PASSWORD, Api

pytestmark = pytest.mark.both_databases

MOST = {"postgresql": 8, "sqlite": 9}
"""PostgreSQL stores the time of the login in the statement that takes the lock of the audit chain."""
CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA synchronous", "SET LOCAL", ";")
"""What begins and ends transactions; ``;`` is the connection pool's check of a connection."""


@contextmanager
def traced(api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the texts that the drivers execute, in all connections."""
    found: list[str] = []
    execute = psycopg.Cursor.execute

    def note(text: str) -> None:
        if not text.startswith(CONTROL):
            found.append(text)

    def note_and_execute(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        note(str(query))
        return execute(self, query, *arguments, **options)

    def trace(connection: Any, *_: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_trace_callback(note)

    database = api.container.database
    for engine in (*database.engines, database._readers.engine):
        event.listen(engine, "connect", trace)
    # Some connections stay open.
    database.close()
    monkeypatch.setattr(psycopg.Cursor, "execute", note_and_execute)
    yield found


def test_a_password_login_takes_few_statements(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = api.person()
    with traced(api, monkeypatch) as statements:
        # The first ones open connections and fill caches, such as the texts of statements.
        api.log_in(alice.email)
        statements.clear()
        assert api.log_in(alice.email, PASSWORD).status_code == 200
    assert 1 <= len(statements) <= MOST[api.container.database.engine.dialect.name], "\n".join(
        statements
    )
    # The trace records the statements of a login.
    for table in ("rate_events", "counters", "passwords", "authorizations", "audit_events"):
        assert any(table in statement for statement in statements), table
