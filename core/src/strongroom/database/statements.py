"""Statements that are compiled once, and handed to the driver as text.

To run a Core statement costs several times what the database takes to find a row by its key: the key
of a cache, a context, events, a result with rows of its own. What hot requests ask leaves that out. All
else stays Core, which says more when something is wrong.
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
    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **_: Any) -> str:
        return "JSON"


SPELLED_JSON: Final = _SpelledJson()
"""The type of a parameter for a column of JSON that is given as the text it is."""


class Compiled:
    """A statement in the words of one database.

    Args:
        text: with parameters by name, as the driver takes them.
        fixed: the values of those that are always the same.
    """

    def __init__(self, text: str, fixed: Parameters) -> None:
        self.text = text
        self._fixed = dict(fixed)

    def run_on(self, connection: Any, parameters: Parameters) -> Any:
        """Return the cursor of running it on a connection of the driver, with some parameters more."""
        return connection.execute(self.text, {**self._fixed, **parameters})


class Statement:
    """A statement that is run often, within the transactions of :class:`~strongroom.database.Database`.

    Args:
        statement: what is run, or what is run on each dialect by its name. All that differs from one
            time to the next is a named parameter; parameters and columns are texts and whole numbers.
            An INSERT without values takes all columns of its table.
    """

    def __init__(self, statement: SelectBase | Executable | Mapping[str, Executable]) -> None:
        self._statement = statement
        self._compiled: dict[str, Compiled] = {}

    def all(self, connection: Connection, parameters: Parameters) -> list[Row]:
        """Return the rows."""
        rows: list[Row] = self._execute(connection, parameters).fetchall()
        return rows

    def first(self, connection: Connection, parameters: Parameters) -> Row | None:
        """Return the first row, or ``None``."""
        rows = self.all(connection, parameters)
        return rows[0] if rows else None

    def scalar(self, connection: Connection, parameters: Parameters) -> Any:
        """Return the first column of the first row, or ``None``."""
        row = self.first(connection, parameters)
        return row[0] if row else None

    def change(self, connection: Connection, parameters: Parameters) -> int:
        """Return how many rows were changed."""
        count: int = self._execute(connection, parameters).rowcount
        return count

    def compiled(self, dialect: Dialect) -> Compiled:
        """Return it in the words of a database.

        Raises:
            TypeError: a value would have to be converted.
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
    # SQLAlchemy gives SQLite parameters by their place, which differs from what is at hand.
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
    given = [kind.dialect_impl(dialect).bind_processor(dialect) for kind in parameters]
    found = [kind.dialect_impl(dialect).result_processor(dialect, None) for kind in columns]
    if any(given) or any(found):
        raise TypeError("the driver is given texts and whole numbers alone")


def _as_sqlalchemy_does(connection: Connection, text: str, error: Exception) -> BaseException:
    """Return a driver's error as SQLAlchemy raises it, having given up a connection that is lost."""
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
