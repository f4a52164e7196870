"""Data of a plugin: tables of its own, values for users, and values that all nodes share.

``host.store`` keeps small values for users, and ``host.values`` the plugin's own values, such as a
token of another system. They need nothing else. For more, a plugin declares
tables as SQLAlchemy metadata and creates them by Alembic migrations of its own::

    metadata = MetaData()
    notes = Table(
        "acme_notes",
        metadata,
        Column("id", String(36), primary_key=True),
        Column("text", Text, nullable=False),
    )

    @hookimpl
    def register_tables() -> PluginTables:
        return PluginTables(metadata, migrations="strongroom_acme:migrations", revision="0001")

``strongroom db upgrade`` runs the migrations, backups contain the rows, and ``host.database`` opens
transactions::

    with host.database.write() as transaction:
        transaction.execute(insert(notes).values(id=note_id, text=text))
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from strongroom.plugin_api.paging import ResultPage

Parameters = Mapping[str, Any]

NO_PARAMETERS: Final[Parameters] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PluginTables:
    """The tables of a plugin.

    A table's name begins with the plugin's name and an underscore. Backups write rows as JSON, so the
    types of columns are ``String``, ``Text``, ``Integer``, ``BigInteger``, ``Boolean``, ``Float`` and
    ``JSON``. Each table has a primary key. Foreign keys refer to tables of the same plugin only.

    Args:
        metadata: the :class:`sqlalchemy.MetaData` with the tables of the newest revision.
        migrations: the folder of the Alembic revisions, as ``"package:folder"`` or a path. It contains
            the scripts of the revisions only: files with ``revision``, ``down_revision``, ``upgrade()``.
            Servers of the version before run with the tables of the newest revision, so a migration adds
            only tables, and columns that are nullable or have a default. One that contracts the tables
            declares ``oldest_code``, the oldest revision whose code can still run.
        revision: the newest revision. Revisions are numbers of four digits, such as ``"0001"``.
        tenant_tables: the names of tables whose rows belong to the tenant of their column ``tenant_id``.
            ``strongroom backup restore-tenant`` restores them, and the rows that refer to them, with
            their tenant. The ids of the tenant's files and groups may be new: they are replaced in
            columns of 36 characters. API 2.0.
    """

    metadata: Any
    migrations: str | Path
    revision: str
    tenant_tables: Sequence[str] = ()


class Transaction(ABC):
    """A transaction of the database. Statements are of SQLAlchemy Core."""

    @property
    @abstractmethod
    def dialect(self) -> str:
        """The database: ``sqlite`` or ``postgresql``."""

    @abstractmethod
    def all(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> list[Any]:
        """Execute a statement and return all rows, whose values are attributes."""

    @abstractmethod
    def first(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> Any:
        """Execute a statement and return the first row, or ``None``."""

    @abstractmethod
    def scalar(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> Any:
        """Execute a statement and return the first value of the first row, or ``None``."""

    @abstractmethod
    def scalars(self, statement: Any, parameters: Parameters = NO_PARAMETERS) -> list[Any]:
        """Execute a statement and return the first value of all rows."""

    @abstractmethod
    def page(self, statement: Any, query: Mapping[str, Any]) -> ResultPage[Any]:
        """Return the page of a list that a request demands, by number or by cursor.

        While records are added and removed, a list that is read by cursor has each other one once.

        Args:
            statement: a SELECT whose ORDER BY is unique, such as a time and then the id. Its columns are
                not NULL, or have ``nulls_first()`` ascending and ``nulls_last()`` descending.
            query: the parsed query, with the fields of
                :class:`~strongroom.plugin_api.schemas.PagingQuery`.

        Raises:
            ApiError: the cursor of the query is not one of this list for the caller.
        """

    @abstractmethod
    def execute(
        self, statement: Any, parameters: Parameters | Sequence[Parameters] = NO_PARAMETERS
    ) -> int:
        """Execute a statement and return the number of affected rows.

        Several sets of parameters execute it once for each.
        """


class PluginDatabase(ABC):
    """The database, for the plugin's own tables.

    A thread has one transaction at a time. Nothing else of the host that uses the database may be called
    before it ends.
    """

    @abstractmethod
    def read(self) -> AbstractContextManager[Transaction]:
        """Open a transaction for reading only.

        On SQLite all statements see one snapshot; on PostgreSQL each sees its own.
        """

    @abstractmethod
    def write(self, *, lock: str | None = None) -> AbstractContextManager[Transaction]:
        """Open a transaction that commits when the block ends, and rolls back if the block raises.

        On SQLite there is one such transaction at a time. On PostgreSQL concurrent transactions wait for
        rows that another has changed or locked; ``with_for_update(skip_locked=True)`` skips such rows.
        Rows that do not exist yet cannot be locked, so a limit on their number needs ``lock``.

        Args:
            lock: a name, such as a tenant's id. Of the transactions with the same name, one runs at a
                time on all servers, and sees what those before it committed.
        """


MAX_VALUE_BYTES: Final = 64 * 1024
"""The largest value of a :class:`UserStore` or :class:`ValueStore`, in bytes of its JSON text."""

MAX_KEY_LENGTH: Final = 255
"""The longest key of a :class:`UserStore` or :class:`ValueStore`, in characters."""


class UnknownUser(Exception):
    """There is no such user, or the user was deleted."""


class UserStore(ABC):
    """Values of the plugin for users: JSON, encrypted with the installation's key, in backups.

    Values are deleted with their user. Each method is a transaction of its own. Keys have 1 to 255
    characters.
    """

    @abstractmethod
    def get(self, user_id: str, key: str) -> Any:
        """Return a value, or ``None`` if there is none."""

    @abstractmethod
    def keys(self, user_id: str) -> Sequence[str]:
        """Return the keys of a user's values, sorted by code point."""

    @abstractmethod
    def put(self, user_id: str, key: str, value: Any) -> None:
        """Store a value, which is not ``None`` and has at most 64 KiB as JSON.

        Raises:
            UnknownUser: there is no such user.
            ValueError: the key or the value is invalid.
        """

    @abstractmethod
    def delete(self, user_id: str, key: str) -> bool:
        """Delete a value, and return whether there was one."""

    @abstractmethod
    def compare_and_set(self, user_id: str, key: str, expected: Any, value: Any) -> bool:
        """Store a value if the present one equals ``expected``, and return whether it was stored.

        Of several concurrent calls with the same expectation, one succeeds. ``None`` is an absent
        value: as ``expected``, the value must not exist yet; as ``value``, it is deleted.

        Raises:
            UnknownUser: there is no such user.
            ValueError: the key or the value is invalid.
        """


class ValueStore(ABC):
    """Values of the plugin: JSON, encrypted with the installation's key, in backups.

    All workers and nodes share them. Each method is a transaction of its own. Keys have 1 to 255
    characters. A value with an end is absent from that time on; its row is deleted within a day.
    """

    @abstractmethod
    def get(self, key: str) -> Any:
        """Return a value, or ``None`` if there is none."""

    @abstractmethod
    def put(self, key: str, value: Any, *, expires_at: int | None = None) -> None:
        """Store a value, which is not ``None`` and has at most 64 KiB as JSON.

        Args:
            expires_at: the end, in milliseconds since the Unix epoch; ``None``: it has no end.

        Raises:
            ValueError: the key or the value is invalid.
        """

    @abstractmethod
    def delete(self, key: str) -> bool:
        """Delete a value, and return whether there was one."""

    @abstractmethod
    def compare_and_set(
        self, key: str, expected: Any, value: Any, *, expires_at: int | None = None
    ) -> bool:
        """Store a value if the present one equals ``expected``, and return whether it was stored.

        Of several concurrent calls with the same expectation, one succeeds. ``None`` is an absent
        value: as ``expected``, the value must not exist yet; as ``value``, it is deleted.

        Args:
            expires_at: as for :meth:`put`.

        Raises:
            ValueError: the key or the value is invalid.
        """
