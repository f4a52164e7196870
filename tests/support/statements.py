"""The SQL statements that a block executes."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

# These control transactions; the rest reads or writes rows.
CONTROL = ("BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK", "PRAGMA", "SET")


class StatementFailed(Exception):
    """A statement that does not reach its database."""


@contextmanager
def failing_statement(number: int) -> Iterator[None]:
    """Let one statement fail, as a crash of the process at this place would end its transaction.

    Args:
        number: the number of the statement of this thread, from 0.
    """
    here, remaining = get_ident(), number

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        nonlocal remaining
        if get_ident() == here and not statement.startswith(CONTROL):
            remaining -= 1
            if remaining == -1:
                raise StatementFailed(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the statements of all engines.

    Those of other threads do not count: an application writes buffered events from time to time.
    """
    seen: list[str] = []
    here = get_ident()

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if get_ident() == here and not statement.startswith(CONTROL):
            seen.append(" ".join(statement.split()))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def plan_of(connection: Connection, statement: str, parameters: Any = None) -> list[str]:
    """Return the steps by which the database executes a statement.

    Args:
        parameters: its parameters; on SQLite, those of a statement that :func:`statements` has collected
            may be missing.
    """
    if connection.dialect.name == "postgresql":
        return list(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars())
    if parameters is None:
        # They are NULL, which changes no plan.
        names: dict[str, None] = dict.fromkeys(re.findall(r":(\w+)", statement))
        parameters = names or (None,) * statement.count("?")
    rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
    return [row[3] for row in rows]
