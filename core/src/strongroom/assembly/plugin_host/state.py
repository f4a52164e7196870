"""What plugins store: the transactions of their tables, values, and leases."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select

from strongroom.assembly.plugin_host.caller import result_page
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import AdvisoryLock
from strongroom.foundation.database.paging import select_page
from strongroom.foundation.database.statements import dynamic
from strongroom.foundation.jobs.named_leases import NamedLeases
from strongroom.foundation.plugins.shared_values import SharedValues
from strongroom.identity.users.plugin_values import PluginValues
from strongroom.plugin_api.leases import MAX_LEASE_SECONDS, Lease, LeasesAPI
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import (
    MAX_KEY_LENGTH,
    NO_PARAMETERS,
    Parameters,
    PluginDatabase,
    Transaction,
    UserStore,
    ValueStore,
)
from strongroom.web.http.paging import paging

# The namespace of the advisory locks on PostgreSQL: "PLUG" in ASCII. Two names with the same hash only
# wait for each other.
_LOCK: Final = AdvisoryLock(0x504C5547, func.hashtext(bindparam("name")))


@dataclass(slots=True, eq=False, repr=False)
class HostTransaction(Transaction):
    """Implements :class:`strongroom.plugin_api.state.Transaction`."""

    _connection: Connection
    is_writable: bool = False

    @property
    def connection(self) -> Connection:
        """The connection, for changes of the core in the same transaction."""
        return self._connection

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

    def page(self, statement: Any, query: Mapping[str, Any]) -> ResultPage[Any]:
        count = select(func.count()).select_from(statement.order_by(None).subquery())
        page = select_page(self._connection, statement, count, paging(query), lambda row: row)
        return result_page(page)

    def execute(
        self, statement: Any, parameters: Parameters | Sequence[Parameters] = NO_PARAMETERS
    ) -> int:
        # Without the option, PostgreSQL's count of an INSERT with a generated key would be lost.
        counted = statement.execution_options(preserve_rowcount=True)
        return dynamic(counted).execute(self._connection, parameters)


@dataclass(slots=True, eq=False, repr=False)
class HostDatabase(PluginDatabase):
    """Implements :class:`strongroom.plugin_api.state.PluginDatabase`."""

    _plugin: str
    _database: Callable[[], Database]

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._database().read() as connection:
            yield HostTransaction(connection)

    @contextmanager
    def write(self, *, lock: str | None = None) -> Iterator[Transaction]:
        with self._database().write() as connection:
            if lock is not None:
                # Before the first read: at READ COMMITTED, later statements see what the former holder
                # of the lock committed.
                _LOCK.acquire(connection, name=f"{self._plugin}:{lock}")
            yield HostTransaction(connection, is_writable=True)


def written(transaction: Transaction) -> AbstractContextManager[Connection]:
    """Return the connection of a plugin's writing transaction, which the block does not end.

    Raises:
        TypeError: it only reads, or is of another kind.
    """
    if not isinstance(transaction, HostTransaction) or not transaction.is_writable:
        raise TypeError("transaction: use the one of host.database.write()")
    return nullcontext(transaction.connection)


@dataclass(slots=True, eq=False, repr=False)
class HostStore(UserStore):
    """Implements :class:`strongroom.plugin_api.state.UserStore`."""

    _plugin: str
    _values: Callable[[], PluginValues]

    def get(self, user_id: str, key: str) -> Any:
        return self._values().get(self._plugin, user_id, key)

    def keys(self, user_id: str) -> Sequence[str]:
        return self._values().keys(self._plugin, user_id)

    def put(self, user_id: str, key: str, value: Any) -> None:
        self._values().put(self._plugin, user_id, _checked(key), value)

    def delete(self, user_id: str, key: str) -> bool:
        return self._values().delete(self._plugin, user_id, key)

    def compare_and_set(self, user_id: str, key: str, expected: Any, value: Any) -> bool:
        return self._values().compare_and_set(self._plugin, user_id, _checked(key), expected, value)


@dataclass(slots=True, eq=False, repr=False)
class HostValues(ValueStore):
    """Implements :class:`strongroom.plugin_api.state.ValueStore`."""

    _plugin: str
    _values: Callable[[], SharedValues]

    def get(self, key: str) -> Any:
        return self._values().get(self._plugin, key)

    def put(self, key: str, value: Any, *, expires_at: int | None = None) -> None:
        self._values().put(self._plugin, _checked(key), value, expires_at)

    def delete(self, key: str) -> bool:
        return self._values().delete(self._plugin, key)

    def compare_and_set(
        self, key: str, expected: Any, value: Any, *, expires_at: int | None = None
    ) -> bool:
        return self._values().compare_and_set(self._plugin, _checked(key), expected, value, expires_at)


@dataclass(slots=True, eq=False, repr=False)
class HostLeases(LeasesAPI):
    """Implements :class:`strongroom.plugin_api.leases.LeasesAPI`."""

    _plugin: str
    _leases: Callable[[], NamedLeases]

    def acquire(self, name: str, seconds: int, *, shared: bool = False) -> Lease | None:
        name = _stored("name", name)
        return self._leases().acquire(self._plugin, name, _milliseconds(seconds), shared=shared)

    def renew(self, lease_id: str, seconds: int) -> Lease | None:
        return self._leases().renew(self._plugin, lease_id, _milliseconds(seconds))

    def release(self, lease_id: str) -> bool:
        return self._leases().release(self._plugin, lease_id)


def _milliseconds(seconds: int) -> int:
    if not 0 < seconds <= MAX_LEASE_SECONDS:
        raise ValueError(f"a lease lasts 1 to {MAX_LEASE_SECONDS} seconds")
    return round(seconds * 1000)


def _checked(key: str) -> str:
    return _stored("key", key)


def _stored(what: str, text: str) -> str:
    # PostgreSQL has no null character.
    if not 1 <= len(text) <= MAX_KEY_LENGTH or "\0" in text:
        raise ValueError(f"a {what} has 1 to {MAX_KEY_LENGTH} characters")
    return text
