"""Changes that a writing transaction executes together, and the locks that it holds until its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from strongroom.foundation.database.compiled import Parameters
from strongroom.foundation.database.observers import observed
from strongroom.foundation.database.statements import Statement


class AdvisoryLock:
    """A lock of PostgreSQL that a writing transaction holds until it ends.

    On SQLite a writing transaction holds the only write lock already, so nothing is done.

    Args:
        key: one 64-bit number or two 32-bit numbers, of constants and parameters. Servers of different
            versions share a database, so a key must never change.
        shared: whether the lock only conflicts with those that are not shared.
        whole: the key of a lock of everything that this one locks a part of; it is shared first.
    """

    def __init__(
        self, *key: int | ColumnElement[int], shared: bool = False, whole: int | None = None
    ) -> None:
        lock = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        # Evaluated in this order.
        outer = [] if whole is None else [func.pg_advisory_xact_lock_shared(whole)]
        self._acquire = Statement(select(*outer, lock(*key)))

    def acquire(self, connection: Connection, **parameters: str) -> None:
        """Wait for the lock."""
        if connection.dialect.name == "postgresql":
            self._acquire.execute(connection, parameters)


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that changes rows and returns none, with its parameters."""

    statement: Statement[Any]
    parameters: Parameters


def execute_together(connection: Connection, changes: Sequence[Change]) -> None:
    """Execute changes of different tables.

    PostgreSQL executes them as one statement, so that a remote server costs one round trip. No change
    sees the effects of the others, and all of them see the rows as of the beginning; foreign keys are
    checked at the end. SQLite, which is in this process, executes them in order.
    """
    if connection.dialect.name == "postgresql":
        _execute_combined(connection, changes)
        return
    for change in changes:
        change.statement.execute(connection, change.parameters)


def _execute_combined(connection: Connection, changes: Sequence[Change]) -> None:
    sql, values = _combine(connection, changes)
    observed(connection, _Together(changes), lambda: connection.exec_driver_sql(sql, values))


@dataclass(slots=True, eq=False, repr=False)
class _Together:
    """The name of changes that are executed together."""

    _changes: Sequence[Change]

    @property
    def name(self) -> str:
        return "+".join(change.statement.name for change in self._changes)


def _combine(connection: Connection, changes: Sequence[Change]) -> tuple[str, dict[str, object]]:
    """Return the changes as common table expressions; each has its own names of parameters."""
    texts: list[str] = []
    values: dict[str, object] = {}
    for number, change in enumerate(changes):
        sql, parameters = change.statement.compiled(connection.dialect).render(change.parameters)
        texts.append(sql.replace("%(", f"%(c{number}_"))
        values |= {f"c{number}_{name}": value for name, value in parameters.items()}
    *first, last = texts
    parts = ", ".join(f"c{number} AS ({sql})" for number, sql in enumerate(first))
    return f"WITH {parts} {last}" if first else last, values
