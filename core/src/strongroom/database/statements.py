"""Runs SQL: the only way in which features execute statements.

A :class:`Statement` is written with SQLAlchemy Core, compiled once per dialect, and executed directly on
the driver's connection. Executing through Core costs several times as much as finding a row by its key,
because it computes a cache key, creates an execution context and wraps the rows.

Nothing is hidden from tools: while an engine has listeners for cursor events, or logs its statements,
SQLAlchemy itself executes the same text with the same parameters. So tracing, logging and error hooks
work as for any SQLAlchemy application.
"""

import logging
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from operator import attrgetter, methodcaller
from time import perf_counter
from types import FrameType, ModuleType
from typing import Any, Final, Generic, Protocol, TypeVar, overload

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

UNOBSERVED: Final = "strongroom_unobserved"
"""Execution option of a connection on whose engine no listener observes statements; :func:`is_observed`.

A transaction has many statements, and each of them would search for listeners.
"""


class Named(Protocol):
    """A statement, or several that are executed together."""

    @property
    def name(self) -> str:
        """The module and the name of the constant or function, such as ``files.listing.children``."""


class Observer(Protocol):
    """Observes the statements of a database."""

    is_active: Callable[[], object]
    """Returns whether the next statement of this thread is observed."""

    def __call__(self, statement: Named, began: float, error: BaseException | None) -> None:
        """Receive an executed statement, ``perf_counter()`` of its beginning, and its error."""


_OBSERVERS: Final[dict[Dialect, Observer]] = {}
"""The observer of each database; an engine has a dialect of its own."""

_NO_PARAMETERS: Final[Parameters] = {}
_fetchall: Final = methodcaller("fetchall")
_rowcount: Final = attrgetter("rowcount")
_lastrowid: Final = attrgetter("lastrowid")


class Compiled:
    """A statement compiled for one dialect.

    Args:
        statement: the Core statement.
        dialect: the dialect of the connections.
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
        self._compiled = _compiler_of(named.statement_compiler)(named, statement)
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
        self.read: Callable[[Any], list[Row]] = self._read_converted if self._results else _fetchall
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
    ) -> Any:
        """Execute the statement on the driver's connection, and return a result of its cursor.

        Args:
            connection: the transaction, or a connection for reading.
            parameters: the values; several sets of them execute the statement once for each.
            result: reads the result of the cursor, such as :attr:`read`.
        """
        values: Any
        execute: Callable[..., Any]
        # A dict is tested first, because isinstance of an abstract class takes longer.
        if type(parameters) is dict or isinstance(parameters, Mapping):
            execute = _once
            # Most statements need no rendering, and a call would be noticeable.
            text, values = (self._text, parameters) if self._is_final else self.render(parameters)
        else:
            execute, (text, values) = _for_each, self._render_each(parameters)
        if UNOBSERVED not in connection.get_execution_options() and is_observed(connection.engine):
            return result(connection.exec_driver_sql(text, values))
        try:
            # The drivers in use have no connection below the one of DBAPI, whose search takes time.
            return result(execute(connection.connection.dbapi_connection, text, values))
        except connection.dialect.loaded_dbapi.Error as error:
            raise _translated(connection, text, error) from error

    def render(self, parameters: Parameters) -> tuple[str, Parameters]:
        """Return the text with named parameters in the driver's style, and their values."""
        if self._is_final:
            return self._text, parameters
        if self._lists:
            return self._expand(parameters)
        if self._bound:
            parameters = self._converted(dict(parameters))
        return self._text, {**self._fixed, **parameters}

    def _render_each(self, parameters: Sequence[Parameters]) -> tuple[str, list[Parameters]]:
        rendered = [self.render(values) for values in parameters]
        return rendered[0][0], [values for _, values in rendered]

    def _read_converted(self, cursor: Any) -> list[Row]:
        """Read all rows, and convert the driver's values to those of the columns' types."""
        return [self._convert(row) for row in cursor.fetchall()]

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


class Statement(Generic[T]):
    """A statement that is compiled once, for transactions of :class:`~strongroom.database.Database`.

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
        compiled = self.compiled(connection.dialect)
        return [*map(compiled.make, _run(compiled, connection, parameters, compiled.read))]

    def first(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> T | None:
        """Execute the statement and return the first row, or ``None``."""
        compiled = self.compiled(connection.dialect)
        rows = _run(compiled, connection, parameters, compiled.read)
        return compiled.make(rows[0]) if rows else None

    def scalar(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> Any:
        """Execute the statement and return the first column of the first row, or ``None``."""
        compiled = self.compiled(connection.dialect)
        rows = _run(compiled, connection, parameters, compiled.read)
        return rows[0][0] if rows else None

    def scalars(self, connection: Connection, parameters: Parameters = _NO_PARAMETERS) -> list[Any]:
        """Execute the statement and return the first column of all rows."""
        compiled = self.compiled(connection.dialect)
        return [row[0] for row in _run(compiled, connection, parameters, compiled.read)]

    def execute(
        self, connection: Connection, parameters: Parameters | Sequence[Parameters] = _NO_PARAMETERS
    ) -> int:
        """Execute the statement and return the number of affected rows.

        Several sets of parameters execute it once for each.
        """
        count: int = _run(self.compiled(connection.dialect), connection, parameters, _rowcount)
        return count

    def insert(self, connection: Connection, parameters: Parameters) -> int:
        """Execute an INSERT of one row, and return its row id; on SQLite only.

        RETURNING takes SQLite as long as the INSERT itself.
        """
        compiled = self.compiled(connection.dialect)
        row_id: int = _run(compiled, connection, parameters, _lastrowid)
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
        return f"{self._module['__name__']}.{name.strip('_').lower()}".removeprefix(_PACKAGE)

    def _constant(self) -> str:
        """Return the name of the module's constant that is or contains this statement."""
        names = (name for name, value in [*self._module.items()] if _holds(value, self))
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
        self.read = _fetchall

    def run(
        self,
        connection: Connection,
        parameters: Parameters | Sequence[Parameters],
        result: Callable[[Any], Any],
    ) -> Any:
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


def observe(engine: Engine, observer: Observer) -> None:
    """Call an observer after each statement of an engine, until :func:`forget`."""
    _OBSERVERS[engine.dialect] = observer


def forget(engine: Engine) -> None:
    """Remove the observer of an engine."""
    _OBSERVERS.pop(engine.dialect, None)


def observed(connection: Connection, statement: Named, execute: Callable[[], T]) -> T:
    """Execute a statement, and report it to the observer of its database, if there is one."""
    observer = _OBSERVERS.get(connection.dialect)
    if observer is None or not observer.is_active():
        return execute()
    began, failure = perf_counter(), None
    try:
        return execute()
    except BaseException as error:
        failure = error
        raise
    finally:
        observer(statement, began, failure)


def _run(
    compiled: Compiled,
    connection: Connection,
    parameters: Parameters | Sequence[Parameters],
    result: Callable[[Any], Any],
) -> Any:
    # Looked up here as well, because a closure would be noticeable in short requests.
    observer = _OBSERVERS.get(connection.dialect)
    if observer is not None and observer.is_active():
        return observed(connection, compiled, lambda: _attempt(compiled, connection, parameters, result))
    return _attempt(compiled, connection, parameters, result)


def _attempt(
    compiled: Compiled,
    connection: Connection,
    parameters: Parameters | Sequence[Parameters],
    result: Callable[[Any], Any],
) -> Any:
    try:
        return compiled.run(connection, parameters, result)
    except DBAPIError as failure:
        if not _is_repeatable(connection, failure):
            raise
    # The server closed a connection that was idle, for example because it was restarted. SQLAlchemy
    # opens another one in its place.
    connection.rollback()
    return compiled.run(connection, parameters, result)


def _once(driver: Any, text: str, values: Parameters) -> Any:
    return driver.execute(text, values)


def _for_each(driver: Any, text: str, values: Sequence[Parameters]) -> Any:
    # executemany() is a method of cursors only; execute() of a connection creates its own.
    cursor = driver.cursor()
    cursor.executemany(text, values)
    return cursor


@cache
def _compiler_of(base: Any) -> Any:
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


_AT_IMPORT: Final = "<module>"
_PACKAGE: Final = "strongroom."
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


def _holds(value: Any, statement: Statement[Any]) -> bool:
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


def _converters(found: Mapping[Any, Converter | None]) -> dict[Any, Converter]:
    return {key: converter for key, converter in found.items() if converter is not None}


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
