"""Compiles statements, once per dialect, and executes them on the driver's connection.

Executing through SQLAlchemy Core costs several times as much as finding a row by its key, because it
computes a cache key, creates an execution context and wraps the rows.

Nothing is hidden from tools: while an engine has listeners for cursor events, or logs its statements,
SQLAlchemy itself executes the same text with the same parameters. So tracing, logging and error hooks
work as for any SQLAlchemy application.
"""

import logging
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from operator import methodcaller
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

from strongroom.foundation.database.hanging import Hanging
from strongroom.foundation.database.observers import OBSERVERS, observed
from strongroom.foundation.database.rows import Row

Parameters = Mapping[str, Any]
Converter = Callable[[Any], Any]

UNOBSERVED: Final = "strongroom_unobserved"
"""Execution option of a connection: whether no listener of its engine observes its statements.

A transaction has many statements, and each of them would search for listeners. See
:func:`note_observed`.
"""

REPEATABLE: Final = "strongroom_repeatable"
"""Execution option of a connection whose statements have no transaction and change nothing."""

fetchall: Final = methodcaller("fetchall")
"""Reads all rows of a cursor."""


class Compiled:
    """A statement compiled for one dialect.

    Args:
        make: makes a record of a row; by default the values of a row are its attributes.
        name: returns the name of the statement.
    """

    def __init__(
        self,
        statement: Any,
        dialect: Dialect,
        make: Callable[[Row], Any] | None,
        name: Callable[[], str],
    ) -> None:
        self._name = name
        # For SQLite, SQLAlchemy defaults to positional parameters, but callers pass mappings.
        named: Any = sqlite.dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
        self._compiled = _make_compiler(named.statement_compiler)(named, statement)
        self._text = str(self._compiled)
        binds = {name: self._compiled.binds[name] for name in self._compiled.params}
        # Parameters of IN lists: their number of values, and so the text, is known only at execution.
        self._lists = [self._compiled.bind_names[bind] for bind in self._compiled.post_compile_params]
        self._expanded: dict[tuple[int, ...], tuple[str, list[list[str]]]] = {}
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
        self._is_final = not (self._lists or self._bound or self._fixed)
        columns = list(getattr(statement, "exported_columns", ()))
        self._results = _converters(
            {
                number: column.type.dialect_impl(dialect).result_processor(dialect, None)
                for number, column in enumerate(columns)
            }
        )
        self.read: Callable[[Any], list[Row]] = self._read_converted if self._results else fetchall
        self._names = [str(column.key) for column in columns]
        self._make = make

    @cached_property
    def name(self) -> str:
        """The name for logs, metrics and traces."""
        return self._name()

    @cached_property
    def make(self) -> Callable[[Row], Any]:
        """Makes a record of a row."""
        # The class is created on first use, because most statements have a row type, and creating a
        # class is slow.
        return self._make or partial(tuple.__new__, namedtuple("Row", self._names, rename=True))

    def run(
        self,
        connection: Connection,
        parameters: Parameters | Sequence[Parameters],
        result: Callable[[Any], Any],
        *,
        reports: bool = True,
    ) -> Any:
        """Execute the statement on the driver's connection, and return a result of its cursor.

        Args:
            connection: the transaction, or a connection for reading.
            parameters: the values; several sets of them execute the statement once for each.
            result: reads the result of the cursor, such as :attr:`read`.
            reports: whether the observer of the engine is called, if it is active.
        """
        # Hot: a call less is noticeable here (ADR 0076).
        observer = OBSERVERS.get(connection.dialect)
        if observer is not None and reports and observer.is_active():
            run = partial(self.run, connection, parameters, result, reports=False)
            return observed(connection, self, run)
        # A dict is tested first, because isinstance of an abstract class takes longer.
        if type(parameters) is not dict and not isinstance(parameters, Mapping):
            return self._execute_each(connection, parameters, result)
        text, values = (self._text, parameters) if self._is_final else self.render(parameters)
        if not connection.get_execution_options().get(UNOBSERVED) and is_observed(connection.engine):
            return result(connection.exec_driver_sql(text, values))
        try:
            # The drivers in use have no connection below the one of DBAPI, whose search takes time.
            driver: Any = connection.connection.dbapi_connection
            return result(driver.execute(text, values))
        except connection.dialect.loaded_dbapi.Error as error:
            prepare_repetition(connection, translated(connection, text, error))
        return result(connection.exec_driver_sql(text, values))

    def _execute_each(
        self,
        connection: Connection,
        parameters: Sequence[Parameters],
        result: Callable[[Any], Any],
    ) -> Any:
        rendered = [self.render(values) for values in parameters]
        text, values = rendered[0][0], [values for _, values in rendered]
        if is_observed(connection.engine):
            return result(connection.exec_driver_sql(text, values))
        try:
            # executemany() is a method of cursors only; execute() of a connection creates its own.
            cursor: Any = connection.connection.dbapi_connection.cursor()  # type: ignore[union-attr]
            cursor.executemany(text, values)
            return result(cursor)
        except connection.dialect.loaded_dbapi.Error as error:
            raise translated(connection, text, error) from error

    def render(self, parameters: Parameters) -> tuple[str, Parameters]:
        """Return the text with named parameters in the driver's style, and their values."""
        if self._is_final:
            return self._text, parameters
        if self._lists:
            return self._expand(parameters)
        if self._bound:
            parameters = self._converted(dict(parameters))
        return self._text, {**self._fixed, **parameters}

    def _read_converted(self, cursor: Any) -> list[Row]:
        """Read all rows, and convert the driver's values to the columns' types."""
        # Hot: without a function for a row, see ADR 0076.
        rows: list[Any] = [*map(list, cursor.fetchall())]
        for number, converter in self._results.items():
            for row in rows:
                row[number] = converter(row[number])
        return rows

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
        lists = [_padded(values.pop(name)) for name in self._lists]
        lengths = tuple(map(len, lists))
        if lengths not in self._expanded:
            given = dict(zip(self._lists, lists, strict=True))
            state = self._compiled.construct_expanded_state({**values, **given})
            names = [state.parameter_expansion[name] for name in self._lists]
            self._expanded[lengths] = (state.statement, names)
        text, expansion = self._expanded[lengths]
        values = {**self._fixed, **(self._converted(values) if self._bound else values)}
        for name, names, items in zip(self._lists, expansion, lists, strict=True):
            flat, convert = _flat(items), self._bound.get(name)
            values.update(zip(names, map(convert, flat) if convert else flat, strict=True))
        return text, values


def is_observed(engine: Engine) -> bool:
    """Return whether a listener or SQLAlchemy's log observes the statements of an engine."""
    events = engine.dispatch
    return bool(
        events.before_cursor_execute
        or events.after_cursor_execute
        or engine.dialect.dispatch.handle_error
        or engine.logger.isEnabledFor(logging.INFO)
    )


def note_observed(connection: Connection) -> None:
    """Search for the listeners of an engine once, for all statements of the transaction that begins."""
    is_unobserved = not is_observed(connection.engine)
    if connection.get_execution_options().get(UNOBSERVED, False) != is_unobserved:
        connection.execution_options(**{UNOBSERVED: is_unobserved})


@cache
def _make_compiler(base: Any) -> Any:
    """Return a compiler that writes constant numbers and strings into the text.

    As parameters, they would be converted and sent at each execution.
    """

    class Compiler(base):  # type: ignore[misc]  # a variable
        def visit_bindparam(self, bindparam: Any, **options: Any) -> str:
            if not bindparam.required and type(bindparam.value) in (int, str):
                options["literal_binds"] = True
            text: str = super().visit_bindparam(bindparam, **options)
            return text

    return Compiler


def _converters(converters: Mapping[Any, Converter | None]) -> dict[Any, Converter]:
    return {key: converter for key, converter in converters.items() if converter is not None}


def _padded(items: Sequence[Any]) -> list[Any]:
    items = list(items)
    if len(items) == 1:
        return items
    missing = (1 << (len(items) - 1).bit_length()) - len(items) if items else 0
    return items + items[-1:] * missing


def _flat(items: list[Any]) -> list[Any]:
    # Items of a comparison of several columns are tuples, whose names are in the same order.
    if items and isinstance(items[0], tuple):
        return [value for item in items for value in item]
    return items


def prepare_repetition(connection: Connection, failure: DBAPIError) -> None:
    """Open another connection if the server closed one that was idle, for example because of a restart.

    Raises:
        DBAPIError: the statement must not be repeated, so this is its failure.
    """
    # Not repeated on a server that hangs, because each attempt lasts until the time limit.
    is_repeatable = failure.connection_invalidated and not isinstance(failure.orig, Hanging)
    if not is_repeatable or REPEATABLE not in connection.get_execution_options():
        raise failure from failure.orig
    # SQLAlchemy opens another one in its place.
    connection.rollback()


def translated(connection: Connection, text: str, error: Exception) -> DBAPIError:
    """Return a driver's error as SQLAlchemy raises it; invalidates the connection if it is lost."""
    dialect = connection.dialect
    driver: Any = connection.connection.driver_connection
    is_lost = dialect.is_disconnect(error, driver, None)  # type: ignore[arg-type]  # the driver's own
    if is_lost and _may_reconnect(connection):
        connection.invalidate(error)
    # SQLAlchemy's own factory chooses the class, so that callers catch the same errors on both ways.
    failure: Any = DBAPIError.instance(
        text,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=is_lost,
        dialect=dialect,
    )
    return failure  # type: ignore[no-any-return]  # its overloads know no driver's errors


def _may_reconnect(connection: Connection) -> bool:
    """Return whether SQLAlchemy opens no other connection amid a transaction.

    It would within a transaction of an SQLite writer, because it has not begun that one.
    """
    is_repeatable = REPEATABLE in connection.get_execution_options()
    return is_repeatable or connection.get_transaction() is not None
