"""Runs SQL: the only way in which features execute statements.

A :class:`Statement` is written with SQLAlchemy Core, compiled once per dialect, and named by its module
and constant in logs, metrics and traces; see :mod:`strongroom.foundation.database.compiled` for its
execution.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import FrameType, ModuleType
from typing import Any, Final, Generic, TypeVar, overload

from sqlalchemy import Connection, Dialect, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.base import Executable

from strongroom.foundation.database.compiled import Compiled, Parameters, fetchall, prepare_repetition
from strongroom.foundation.database.observers import observed
from strongroom.foundation.database.rows import Row, RowMapper

T = TypeVar("T")

Source = Executable | Callable[[str], Executable]
"""A Core statement, or a function that returns the one of a dialect by the dialect's name."""

_NO_PARAMETERS: Final[Parameters] = {}
_rowcount: Final = attrgetter("rowcount")
_lastrowid: Final = attrgetter("lastrowid")


class Statement(Generic[T]):
    """A statement that is compiled once, for transactions of a :class:`Database`.

    Args:
        statement: the Core statement, or a function that returns it (see :func:`for_each_dialect`).
            Every variable value is a named parameter; ``bindparam("ids", expanding=True)`` takes a list.
            An INSERT without values has a parameter for each column of its table.
        row: makes a record of a row: a dataclass with the same fields as the statement's columns, a
            :class:`RowMapper`, ``tuple``, or a function. By default the values of a row are its
            attributes.

    Raises:
        TypeError: the dataclass has other fields than the statement's columns.

    All methods raise :class:`sqlalchemy.exc.DBAPIError`, which the transaction translates.
    """

    @overload
    def __init__(self: "Statement[Any]", statement: Source) -> None: ...

    @overload
    def __init__(
        self,
        statement: Source,
        row: type[T] | Callable[[Any], T],
    ) -> None: ...

    def __init__(
        self,
        statement: Source,
        row: Callable[..., T] | None = None,
    ) -> None:
        self._source = statement
        self._make = _maker(row, statement)
        self._compiled: dict[str, Compiled] = {}
        self._module, self._function = _origin(sys._getframe(1))  # noqa: SLF001  the documented way

    def all(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> list[T]:
        """Execute the statement and return all rows."""
        compiled = self._compiled.get(connection.dialect.name) or self.compiled(connection.dialect)
        return [*map(compiled.make, compiled.run(connection, parameters, compiled.read))]

    def first(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> T | None:
        """Execute the statement and return the first row, or ``None``."""
        compiled = self._compiled.get(connection.dialect.name) or self.compiled(connection.dialect)
        rows = compiled.run(connection, parameters, compiled.read)
        return compiled.make(rows[0]) if rows else None

    def scalar(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> Any:
        """Execute the statement and return the first column of the first row, or ``None``."""
        compiled = self._compiled.get(connection.dialect.name) or self.compiled(connection.dialect)
        rows = compiled.run(connection, parameters, compiled.read)
        return rows[0][0] if rows else None

    def scalars(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> list[Any]:
        """Execute the statement and return the first column of all rows."""
        compiled = self._compiled.get(connection.dialect.name) or self.compiled(connection.dialect)
        return [row[0] for row in compiled.run(connection, parameters, compiled.read)]

    def execute(
        self, connection: Connection, parameters: Parameters | Sequence[Parameters] = _NO_PARAMETERS
    ) -> int:
        """Execute the statement and return the number of affected rows.

        Several sets of parameters execute it once for each.
        """
        compiled = self._compiled.get(connection.dialect.name) or self.compiled(connection.dialect)
        count: int = compiled.run(connection, parameters, _rowcount)
        return count

    def insert(self, connection: Connection, parameters: Parameters) -> int:
        """Execute an INSERT of one row, and return its row id; on SQLite only.

        RETURNING takes SQLite as long as the INSERT itself.
        """
        compiled = self._compiled.get(connection.dialect.name) or self.compiled(connection.dialect)
        row_id: int = compiled.run(connection, parameters, _lastrowid)
        return row_id

    def stream(
        self, connection: Connection, parameters: Parameters = _NO_PARAMETERS, *, batch: int
    ) -> Iterator[T]:
        """Execute the statement and yield its rows; at most ``batch`` of them are in memory.

        The connection must be of a snapshot or a writing transaction, because PostgreSQL's cursors end
        with their transaction. SQLAlchemy executes it: it knows how each driver makes cursors.
        """
        with connection.execute(
            self._of_dialect(connection.dialect), parameters, execution_options={"yield_per": batch}
        ) as rows:
            yield from map(self._make or _same, rows)

    def compiled(self, dialect: Dialect) -> Compiled:
        """Return the statement compiled for a dialect; compiles it on first use."""
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = self._compile(dialect)
        return compiled

    @property
    def name(self) -> str:
        """The name for logs, metrics and traces; see :class:`Named`."""
        # Found when it is first needed: a constant has its name only after it was created.
        name = self._constant() if self._function == _AT_IMPORT else self._function
        return f"{_WING.sub('', self._module['__name__'])}.{name.strip('_').lower()}"

    def _constant(self) -> str:
        """Return the name of the module's constant that is or contains this statement."""
        names = (name for name, value in [*self._module.items()] if _contains(value, self))
        return next(names, _UNNAMED)

    def _compile(self, dialect: Dialect) -> Compiled:
        return Compiled(self._of_dialect(dialect), dialect, self._make, lambda: self.name)

    def _of_dialect(self, dialect: Dialect) -> Any:
        return self._source if isinstance(self._source, Executable) else self._source(dialect.name)


class _Delegated(Compiled):
    """A statement that SQLAlchemy executes: its cache finds the compiled form by the structure.

    It converts the values, and returns rows whose values are attributes.
    """

    def __init__(self, statement: Any, make: Callable[[Row], Any] | None, name: str) -> None:
        # Without a reference to the Statement, which would be a cycle per call.
        self._name = lambda: name
        self._statement = statement
        self._make = make or _same
        self.read = fetchall

    def run(
        self,
        connection: Connection,
        parameters: Parameters | Sequence[Parameters],
        result: Callable[[Any], Any],
        *,
        reports: bool = True,
    ) -> Any:
        if reports:
            run = partial(self.run, connection, parameters, result, reports=False)
            return observed(connection, self, run)
        try:
            return result(connection.execute(self._statement, parameters))
        except DBAPIError as error:
            prepare_repetition(connection, error)
        return result(connection.execute(self._statement, parameters))


class _Dynamic(Statement[T]):
    def _compile(self, dialect: Dialect) -> Compiled:
        return _Delegated(self._of_dialect(dialect), self._make, self.name)


@overload
def dynamic(statement: Executable) -> Statement[Any]: ...


@overload
def dynamic(statement: Executable, row: type[T] | Callable[[Any], T]) -> Statement[T]: ...


def dynamic(statement: Executable, row: Callable[..., Any] | None = None) -> Statement[Any]:
    """Return a statement whose text depends on the call, such as a search with optional filters.

    It is executed by SQLAlchemy, which compiles each structure once. Statements whose text is always the
    same are module constants of :class:`Statement`.
    """
    return _Dynamic(statement, row) if row else _Dynamic(statement)


def for_each_dialect(table: Table, finish: Callable[[Any], Executable]) -> Callable[[str], Executable]:
    """Return an INSERT ... ON CONFLICT per dialect; SQLAlchemy has a separate construct for each.

    ``finish`` receives the dialect's INSERT and adds its values and its ON CONFLICT clause.
    """
    return lambda dialect: finish(_make_insert(dialect, table))


def _make_insert(dialect: str, table: Table) -> Any:
    if dialect != "postgresql":
        return sqlite.insert(table)
    # Imported here, because importing the dialects of a database that is not used takes time.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


_AT_IMPORT: Final = "<module>"
# The names of packages are unique, so the wing says no more.
_WING: Final = re.compile(r"^strongroom\.\w+\.")
_UNNAMED: Final = "statement"
_CONSTRUCTORS: Final = frozenset({"__init__", "__post_init__", "<listcomp>", "<dictcomp>", "<genexpr>"})


def _origin(frame: FrameType | None) -> tuple[dict[str, Any], str]:
    """Return the globals of the module that creates a statement, and the function that does it.

    Constructors are skipped: an object with statements is named by the constant that it is.
    """
    while frame is not None and (frame.f_globals is globals() or frame.f_code.co_name in _CONSTRUCTORS):
        frame = frame.f_back
    # Comprehensions and lambdas have names in angle brackets, as the import of a module does.
    function = frame.f_code.co_name if frame else _AT_IMPORT
    return (frame.f_globals if frame else {}), (_AT_IMPORT if function[0] == "<" else function)


def _contains(value: Any, statement: Statement[Any]) -> bool:
    if isinstance(value, tuple):
        return any(item is statement for item in value)
    if isinstance(value, type | ModuleType):
        return False
    parts = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
    return value is statement or any(item is statement for item in parts.values())


def _maker(row: Callable[..., T] | None, statement: Source) -> Callable[[Row], T] | None:
    make: Any = row
    if isinstance(row, RowMapper):
        return row.make
    if not isinstance(row, type) or row is tuple:
        return make  # type: ignore[no-any-return]  # `tuple` has no type of one call
    one: Any = statement if isinstance(statement, Executable) else statement("sqlite")
    return RowMapper(row, one.exported_columns).make


def _same(row: Any) -> Any:
    return row
