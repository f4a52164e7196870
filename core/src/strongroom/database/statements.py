"""Runs SQL: the only way in which features execute statements.

A :class:`Statement` is written with SQLAlchemy Core, compiled once per dialect, and executed directly on
the driver's connection. Executing through Core costs several times as much as finding a row by its key,
because it computes a cache key, creates an execution context and wraps the rows.

Nothing is hidden from tools: while an engine has listeners for cursor events, or logs its statements,
SQLAlchemy itself executes the same text with the same parameters. So tracing, logging and error hooks
work as for any SQLAlchemy application.
"""

import logging
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter, methodcaller
from typing import Any, Final, Generic, TypeVar, overload

from sqlalchemy import Connection, Dialect, Engine, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.base import Executable

from strongroom.database.hanging import Hanging
from strongroom.database.rows import Row, RowMapper

T = TypeVar("T")

Rows = Sequence[Row]
Parameters = Mapping[str, Any]
Converter = Callable[[Any], Any]
Source = Executable | Callable[[str], Executable]
"""A Core statement, or a function that returns the one of a dialect by the dialect's name."""

REPEATABLE: Final = "strongroom_repeatable"
"""Execution option of a connection whose statements have no transaction and change nothing."""

_NO_PARAMETERS: Final[Parameters] = {}
_fetchall: Final = methodcaller("fetchall")
_rowcount: Final = attrgetter("rowcount")


class Compiled:
    """A statement compiled for one dialect.

    Args:
        statement: the Core statement.
        dialect: the dialect of the connections.
    """

    def __init__(self, statement: Any, dialect: Dialect) -> None:
        # For SQLite, SQLAlchemy defaults to positional parameters, but callers pass mappings.
        named = sqlite.dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
        self._compiled = statement.compile(dialect=named)
        self._text = str(self._compiled)
        binds = {name: self._compiled.binds[name] for name in self._compiled.params}
        # Parameters of IN lists: their number of values, and so the text, is known only at execution.
        self._lists = [self._compiled.bind_names[bind] for bind in self._compiled.post_compile_params]
        self._expanded: dict[tuple[int, ...], tuple[str, Mapping[str, list[str]]]] = {}
        self._bound = _converters(
            {
                name: bind.type.dialect_impl(dialect).bind_processor(dialect)
                for name, bind in binds.items()
            }
        )
        # Constants that are written in the statement are parameters, too. Their values are converted
        # once.
        fixed = {name: bind.effective_value for name, bind in binds.items() if not bind.required}
        self._fixed_lists = {name: fixed.pop(name) for name in self._lists if name in fixed}
        self._fixed = self._converted(fixed)
        columns = list(getattr(statement, "exported_columns", ()))
        self._results = _converters(
            {
                number: column.type.dialect_impl(dialect).result_processor(dialect, None)
                for number, column in enumerate(columns)
            }
        )
        self._names = [str(column.key) for column in columns]
        self._record: Any = None

    def render(self, parameters: Parameters) -> tuple[str, dict[str, Any]]:
        """Return the text with named parameters in the driver's style, and their values."""
        if self._lists:
            return self._expand(parameters)
        if self._bound:
            parameters = self._converted(dict(parameters))
        return self._text, {**self._fixed, **parameters}

    def convert(self, rows: list[Row]) -> list[Row]:
        """Convert the values of the driver's rows to those of the columns' types."""
        if not self._results:
            return rows
        return [self._convert(row) for row in rows]

    def named(self, row: Row) -> Any:
        """Return a row whose values are attributes, too."""
        # Created on first use, because most statements have a row type, and creating a class is slow.
        if self._record is None:
            self._record = _record_of(self._names)
        return self._record._make(row) if self._names else row

    def _convert(self, row: Row) -> Row:
        values = list(row)
        for number, converter in self._results.items():
            values[number] = converter(values[number])
        return values

    def _converted(self, values: dict[str, Any]) -> dict[str, Any]:
        # Only a few column types need a conversion, so the loop is over those and not over all values.
        for name in self._bound.keys() & values.keys():
            values[name] = self._bound[name](values[name])
        return values

    def _expand(self, parameters: Parameters) -> tuple[str, dict[str, Any]]:
        """Return the text in which each list parameter has one parameter per item.

        Lists are padded to a power of two with their last item, which changes no result of IN. So a
        statement has a few texts only, which are remembered here and prepared by the database.
        """
        values = {**self._fixed_lists, **parameters}
        lists = {name: _padded(values.pop(name)) for name in self._lists}
        lengths = tuple(map(len, lists.values()))
        if lengths not in self._expanded:
            state = self._compiled.construct_expanded_state({**values, **lists})
            self._expanded[lengths] = (state.statement, state.parameter_expansion)
        text, expansion = self._expanded[lengths]
        values = {**self._fixed, **self._converted(values)}
        for name, items in lists.items():
            convert = self._bound.get(name, _same)
            values.update(zip(expansion[name], map(convert, _flat(items)), strict=True))
        return text, values


class Statement(Generic[T]):
    """A statement that is compiled once, for transactions of :class:`~strongroom.database.Database`.

    Args:
        statement: the Core statement, or a function that returns it (see :func:`for_each_dialect`).
            Every variable value is a named parameter; ``bindparam("ids", expanding=True)`` takes a list.
            An INSERT without values has a parameter for each column of its table.
        row: makes a record of a row: a dataclass with the same fields as the statement's columns, a
            :class:`RowMapper`, or a function. By default the values of a row are its attributes.

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

    def all(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> list[T]:
        """Execute the statement and return all rows."""
        make = self._make or self.compiled(connection.dialect).named
        return [make(row) for row in self._fetch(connection, parameters)]

    def first(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> T | None:
        """Execute the statement and return the first row, or ``None``."""
        rows = self._fetch(connection, parameters)
        if not rows:
            return None
        return (self._make or self.compiled(connection.dialect).named)(rows[0])

    def scalar(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> Any:
        """Execute the statement and return the first column of the first row, or ``None``."""
        rows = self._fetch(connection, parameters)
        return rows[0][0] if rows else None

    def scalars(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> list[Any]:
        """Execute the statement and return the first column of all rows."""
        return [row[0] for row in self._fetch(connection, parameters)]

    def execute(
        self, connection: Connection, parameters: Parameters | Sequence[Parameters] = _NO_PARAMETERS
    ) -> int:
        """Execute the statement and return the number of affected rows.

        Several sets of parameters execute it once for each.
        """
        count: int = self._run(connection, parameters, _rowcount)
        return count

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
            compiled = self._compiled[dialect.name] = Compiled(self._of_dialect(dialect), dialect)
        return compiled

    def _of_dialect(self, dialect: Dialect) -> Any:
        return self._source if isinstance(self._source, Executable) else self._source(dialect.name)

    def _fetch(self, connection: Connection, parameters: Parameters) -> list[Row]:
        rows = self._run(connection, parameters, _fetchall)
        return self.compiled(connection.dialect).convert(rows)

    def _run(
        self,
        connection: Connection,
        parameters: Parameters | Sequence[Parameters],
        result: Callable[[Any], Any],
    ) -> Any:
        try:
            return self._attempt(connection, parameters, result)
        except DBAPIError as failure:
            if not _is_repeatable(connection, failure):
                raise
        # The server closed a connection that was idle, for example because it was restarted. SQLAlchemy
        # opens another one in its place.
        connection.rollback()
        return self._attempt(connection, parameters, result)

    def _attempt(
        self,
        connection: Connection,
        parameters: Parameters | Sequence[Parameters],
        result: Callable[[Any], Any],
    ) -> Any:
        text, values = self._render(connection.dialect, parameters)
        if REPEATABLE not in connection.get_execution_options() and is_observed(connection.engine):
            return result(connection.exec_driver_sql(text, values))
        try:
            return result(_on_driver(connection.connection.driver_connection, text, values))
        except connection.dialect.loaded_dbapi.Error as error:
            raise _translated(connection, text, error) from error

    def _render(
        self, dialect: Dialect, parameters: Parameters | Sequence[Parameters]
    ) -> tuple[str, dict[str, Any] | list[dict[str, Any]]]:
        compiled = self.compiled(dialect)
        # A dict is tested first, because isinstance of an abstract class takes longer.
        if type(parameters) is dict or isinstance(parameters, Mapping):
            return compiled.render(parameters)
        rendered = [compiled.render(values) for values in parameters]
        return rendered[0][0], [values for _, values in rendered]


class _Dynamic(Statement[T]):
    # SQLAlchemy's cache finds the compiled form by the structure of the statement, converts the values,
    # and returns rows whose values are attributes.

    def all(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> list[T]:
        return [*map(self._make or _same, self._fetch(connection, parameters))]

    def first(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> T | None:
        return next(map(self._make or _same, self._fetch(connection, parameters)), None)

    def _fetch(self, connection: Connection, parameters: Parameters) -> list[Row]:
        rows: list[Row] = self._run(connection, parameters, _fetchall)
        return rows

    def _attempt(
        self,
        connection: Connection,
        parameters: Parameters | Sequence[Parameters],
        result: Callable[[Any], Any],
    ) -> Any:
        return result(connection.execute(self._of_dialect(connection.dialect), parameters))


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
    return lambda dialect: finish(_insert_of(dialect, table))


def _insert_of(dialect: str, table: Table) -> Any:
    if dialect != "postgresql":
        return sqlite.insert(table)
    # Imported here, because importing the dialects of a database that is not used takes time.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def is_observed(engine: Engine) -> bool:
    """Return whether a listener or SQLAlchemy's log observes the statements of an engine."""
    events = engine.dispatch
    return bool(
        events.before_cursor_execute
        or events.after_cursor_execute
        or engine.dialect.dispatch.handle_error
        or engine.logger.isEnabledFor(logging.INFO)
    )


def _on_driver(driver: Any, text: str, values: dict[str, Any] | list[dict[str, Any]]) -> Any:
    if isinstance(values, dict):
        return driver.execute(text, values)
    # executemany() is a method of cursors only; execute() of a connection creates its own.
    cursor = driver.cursor()
    cursor.executemany(text, values)
    return cursor


def _maker(row: Callable[..., T] | None, statement: Source) -> Callable[[Row], T] | None:
    if not isinstance(row, type):
        return row
    one: Any = statement if isinstance(statement, Executable) else statement("sqlite")
    return RowMapper(row, one.exported_columns)


def _converters(found: Mapping[Any, Converter | None]) -> dict[Any, Converter]:
    return {key: converter for key, converter in found.items() if converter is not None}


def _record_of(names: Sequence[str]) -> Any:
    return namedtuple("Row", names, rename=True)


def _padded(items: Sequence[Any]) -> list[Any]:
    items = list(items)
    missing = (1 << (len(items) - 1).bit_length()) - len(items) if items else 0
    return items + items[-1:] * missing


def _flat(items: list[Any]) -> list[Any]:
    # Items of a comparison of several columns are tuples, whose names are in the same order.
    if items and isinstance(items[0], tuple):
        return [value for item in items for value in item]
    return items


def _same(row: Any) -> Any:
    return row


def _is_repeatable(connection: Connection, failure: BaseException) -> bool:
    # Not repeated on a server that hangs, because each attempt lasts until the time limit.
    if not isinstance(failure, DBAPIError) or isinstance(failure.orig, Hanging):
        return False
    return failure.connection_invalidated and REPEATABLE in connection.get_execution_options()


def _translated(connection: Connection, text: str, error: Exception) -> BaseException:
    """Return a driver's error as SQLAlchemy raises it; invalidates the connection if it is lost."""
    dialect = connection.dialect
    driver: Any = connection.connection.driver_connection
    is_lost = dialect.is_disconnect(error, driver, None)  # type: ignore[arg-type]  # the driver's own
    if is_lost:
        connection.invalidate(error)
    # SQLAlchemy's own factory chooses the class, so that callers catch the same errors on both ways.
    return DBAPIError.instance(
        text,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=is_lost,
        dialect=dialect,
    )
