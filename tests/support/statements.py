"""The SQL statements that a block executes."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

# These control transactions; the rest reads or writes rows.
CONTROL = ("BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK", "PRAGMA", "SET")


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
