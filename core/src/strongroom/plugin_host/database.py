"""Transactions of plugins."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from strongroom.database import Database
from strongroom.database.statements import dynamic
from strongroom.plugin_api.state import NO_PARAMETERS, Parameters, PluginDatabase, Transaction


class HostTransaction(Transaction):
    """Implements :class:`strongroom.plugin_api.state.Transaction`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def dialect(self) -> str:
        return self._connection.dialect.name

    def all(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> list[Any]:
        return dynamic(statement).all(self._connection, parameters)

    def first(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> Any:
        return dynamic(statement).first(self._connection, parameters)

    def scalar(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> Any:
        return dynamic(statement).scalar(self._connection, parameters)

    def scalars(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> list[Any]:
        return dynamic(statement).scalars(self._connection, parameters)

    def execute(
        self, statement: Any, parameters: Parameters | Sequence[Parameters] = NO_PARAMETERS
    ) -> int:
        # Without the option, PostgreSQL's count of an INSERT with a generated key would be lost.
        counted = statement.execution_options(preserve_rowcount=True)
        return dynamic(counted).execute(self._connection, parameters)


class HostDatabase(PluginDatabase):
    """Implements :class:`strongroom.plugin_api.state.PluginDatabase`."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._database().read() as connection:
            yield HostTransaction(connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._database().write() as connection:
            yield HostTransaction(connection)
