"""Statements that are compiled once and passed to the driver as text.

Running an SQLAlchemy Core statement costs several times as much as finding a row by its key, because it
computes a cache key, creates an execution context, fires events and wraps the rows. Statements of hot
requests skip that. All others use Core, which gives better error messages.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Dialect, SelectBase
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.base import Executable
from sqlalchemy.types import TypeEngine, UserDefinedType

Row = tuple[Any, ...]
Rows = Sequence[Row]
Parameters = Mapping[str, Any]


class _SpelledJson(UserDefinedType[str]):
    # Renders an explicit cast to JSON, because the driver binds the value as a string.
    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **_: Any) -> str:
        return "JSON"


SPELLED_JSON: Final = _SpelledJson()
"""The type of a parameter for a JSON column whose value is serialized already."""


class Compiled:
    """A statement compiled for one dialect.

    Args:
        text: SQL with named parameters in the driver's style.
        fixed: the values of constant parameters.
    """

    def __init__(self, text: str, fixed: Parameters) -> None:
        self.text = text
        self._fixed = dict(fixed)

    def run_on(self, connection: Any, parameters: Parameters) -> Any:
        """Execute the statement on a driver connection and return the cursor."""
        return connection.execute(self.text, {**self._fixed, **parameters})


class Statement:
    """A frequently used statement, for transactions of :class:`~strongroom.database.Database`.

    Args:
        statement: the Core statement, or one per dialect name. Every variable value is a named
            parameter. Parameters and columns are text and integers. An INSERT without values has a
            parameter for each column of its table.
    """

    def __init__(self, statement: SelectBase | Executable | Mapping[str, Executable]) -> None:
        self._statement = statement
        self._compiled: dict[str, Compiled] = {}

    def all(self, connection: Connection, parameters: Parameters) -> list[Row]:
        """Execute the statement and return all rows."""
        rows: list[Row] = self._execute(connection, parameters).fetchall()
        return rows

    def first(self, connection: Connection, parameters: Parameters) -> Row | None:
        """Execute the statement and return the first row, or ``None``."""
        rows = self.all(connection, parameters)
        return rows[0] if rows else None

    def scalar(self, connection: Connection, parameters: Parameters) -> Any:
        """Execute the statement and return the first column of the first row, or ``None``."""
        row = self.first(connection, parameters)
        return row[0] if row else None

    def change(self, connection: Connection, parameters: Parameters) -> int:
        """Execute the statement and return the number of affected rows."""
        count: int = self._execute(connection, parameters).rowcount
        return count

    def compiled(self, dialect: Dialect) -> Compiled:
        """Return the statement compiled for a dialect; compiles it on first use.

        Raises:
            TypeError: a parameter or column needs a conversion.
        """
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = _compile(self._of_dialect(dialect), dialect)
        return compiled

    def _of_dialect(self, dialect: Dialect) -> Any:
        if isinstance(self._statement, Mapping):
            return self._statement[dialect.name]
        return self._statement

    def _execute(self, connection: Connection, parameters: Parameters) -> Any:
        compiled = self.compiled(connection.dialect)
        try:
            return compiled.run_on(connection.connection.driver_connection, parameters)
        except connection.dialect.loaded_dbapi.Error as error:
            raise _as_sqlalchemy_does(connection, compiled.text, error) from error


def _compile(statement: Any, dialect: Dialect) -> Compiled:
    # For SQLite, SQLAlchemy defaults to positional parameters, but callers pass mappings.
    named = sqlite.dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
    compiled = statement.compile(dialect=named)
    binds = {name: compiled.binds[name] for name in compiled.params}
    _refuse_conversions(named, [bind.type for bind in binds.values()], _columns(statement))
    fixed = {name: bind.value for name, bind in binds.items() if not bind.required}
    return Compiled(str(compiled), fixed)


def _columns(statement: Any) -> list[TypeEngine[Any]]:
    return [column.type for column in getattr(statement, "exported_columns", ())]


def _refuse_conversions(
    dialect: Dialect, parameters: list[TypeEngine[Any]], columns: list[TypeEngine[Any]]
) -> None:
    # Bypassing Core also bypasses its type conversion, so refuse every type that has one.
    given = [kind.dialect_impl(dialect).bind_processor(dialect) for kind in parameters]
    found = [kind.dialect_impl(dialect).result_processor(dialect, None) for kind in columns]
    if any(given) or any(found):
        raise TypeError("only text and integers can be passed to the driver")


def _as_sqlalchemy_does(connection: Connection, text: str, error: Exception) -> BaseException:
    """Return a driver's error as SQLAlchemy raises it; invalidates the connection if it is lost."""
    dialect = connection.dialect
    driver: Any = connection.connection.driver_connection
    is_lost = dialect.is_disconnect(error, driver, None)  # type: ignore[arg-type]  # the driver's own
    if is_lost:
        connection.invalidate(error)
    return DBAPIError.instance(
        text,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=is_lost,
        dialect=dialect,
    )
