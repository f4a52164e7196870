"""One question to each part that the server needs."""

from collections.abc import Mapping
from typing import Final, Protocol

from limits.storage import Storage
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from strongroom.database import Database
from strongroom.database.upgrade import read_schema
from strongroom.errors import StorageFull, StrongroomError, Unavailable
from strongroom.health.readiness import Note, Probe
from strongroom.plugin_api.storage import ObjectNotFound, ObjectStat, StorageError

ABSENT_KEY: Final = "00/00/" + 32 * "0"
"""A key that a store is asked for; chance will not make it."""

AWAY: Final = "It does not answer."
DISK_FULL: Final = "Its disk is full."

FULL: Final = Note("It is full: uploads are refused.")

NOT_OWNED: Final = "It is another database's, or not the one that holds the files; see the doctor."


class Store(Protocol):
    """A storage, as far as it is asked."""

    @property
    def is_full(self) -> bool:
        """Whether the last object was refused for lack of room."""

    def stat(self, key: str) -> ObjectStat:
        """Return what is known of an object."""

    def ownership_fault(self, *, claim: bool) -> str | None:
        """Return why the database may not use the store, or ``None``."""


def probes(database: Database, limits_store: Storage, storages: Mapping[str, Store]) -> dict[str, Probe]:
    """Return the probes of all parts, by the names of the parts."""
    return {
        "database": lambda: database_fault(database),
        "schema": lambda: _schema(database),
        "limits": lambda: None if limits_store.check() else AWAY,
        **{f"storages.{name}": _storage(store) for name, store in storages.items()},
    }


def database_fault(database: Database) -> str | None:
    """Return what is wrong with the database: it does not answer, or it has no space left."""
    try:
        with database.read() as connection:
            connection.execute(select(1))
            if connection.dialect.name == "postgresql":
                _write_temporary_file(connection)
    except StorageFull:
        return DISK_FULL
    except StrongroomError:
        return AWAY
    return None


def _write_temporary_file(connection: Connection) -> None:
    """Let PostgreSQL write some 500 kB to its disk, which leave no trace.

    A full disk answers every read, so only a write shows it.
    """
    connection.execute(text("SET LOCAL work_mem = '64kB'"))
    connection.execute(select(func.count()).select_from(func.generate_series(1, 20_000))).scalar()


def _schema(database: Database) -> str | Note | None:
    schema = read_schema(database.engine)
    if not schema.is_served:
        return f"It is {schema}; {schema.remedy}"
    return Note(f"It is {schema}, and compatible.") if schema.is_newer else None


def _storage(store: Store) -> Probe:
    def probe() -> str | Note | None:
        try:
            store.stat(ABSENT_KEY)
        except ObjectNotFound:
            pass
        except StorageError:
            return AWAY
        return _ownership(store) or (FULL if store.is_full else None)

    return probe


def _ownership(store: Store) -> str | None:
    try:
        return NOT_OWNED if store.ownership_fault(claim=False) else None
    except StorageError:
        return AWAY
    except (Unavailable, SQLAlchemyError, OSError):
        # The database is away, which its own part reports.
        return None
