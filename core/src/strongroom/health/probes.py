"""The readiness probes of the parts that the server needs."""

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
"""The key that probes look up; generated keys practically never equal it."""

AWAY: Final = "It does not answer."
DISK_FULL: Final = "Its disk is full."

FULL: Final = Note("It is full: uploads are refused.")

NOT_OWNED: Final = "It belongs to another database, or is not the original store; see the doctor."


class Store(Protocol):
    """The interface of a storage that the probes use."""

    @property
    def is_full(self) -> bool:
        """Whether the last write was refused because the store is full."""

    def stat(self, key: str) -> ObjectStat:
        """Return the metadata of an object."""

    def ownership_fault(self, *, claim: bool) -> str | None:
        """Return why the database may not use the store, or ``None``."""


def probes(database: Database, limits_store: Storage, storages: Mapping[str, Store]) -> dict[str, Probe]:
    """Return the probes by the names of their parts."""
    return {
        "database": lambda: database_fault(database),
        "schema": lambda: _schema(database),
        "limits": lambda: None if limits_store.check() else AWAY,
        **{f"storages.{name}": _storage(store) for name, store in storages.items()},
    }


def database_fault(database: Database) -> str | None:
    """Return the fault of the database (unavailable, or its disk is full), or ``None``."""
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
    """Make PostgreSQL write a temporary file of about 500 kB, which it deletes at once.

    Reads succeed on a full disk, so only a write detects it. The low ``work_mem`` makes the function
    scan spill to disk.
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
        # The database is unavailable; its own probe reports that.
        return None
