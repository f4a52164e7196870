"""Reports executed statements to the observer of their database: traces, metrics and logs."""

from collections.abc import Callable
from time import perf_counter
from typing import Final, Protocol, TypeVar

from sqlalchemy import Connection, Dialect, Engine

T = TypeVar("T")


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


OBSERVERS: Final[dict[Dialect, Observer]] = {}
"""The observer of each database; an engine has a dialect of its own."""


def observe(engine: Engine, observer: Observer) -> None:
    """Call an observer after each statement of an engine, until :func:`forget`."""
    OBSERVERS[engine.dialect] = observer


def forget(engine: Engine) -> None:
    """Remove the observer of an engine."""
    OBSERVERS.pop(engine.dialect, None)


def observed(connection: Connection, statement: Named, execute: Callable[[], T]) -> T:
    """Execute a statement, and report it to the observer of its database, if there is one."""
    observer = OBSERVERS.get(connection.dialect)
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
