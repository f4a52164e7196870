"""One question to each part that the server needs."""

from collections.abc import Mapping
from typing import Final, Protocol

from limits.storage import Storage
from sqlalchemy import select

from strongroom.database import Database
from strongroom.database.upgrade import read_schema
from strongroom.errors import StrongroomError
from strongroom.health.readiness import Note, Probe
from strongroom.plugin_api.storage import ObjectNotFound, ObjectStat, StorageError

ABSENT_KEY: Final = "00/00/" + 32 * "0"
"""A key that a store is asked for; chance will not make it."""

AWAY: Final = "It does not answer."


class Store(Protocol):
    """A storage, as far as it is asked."""

    def stat(self, key: str) -> ObjectStat:
        """Return what is known of an object."""


def probes(database: Database, limits_store: Storage, storages: Mapping[str, Store]) -> dict[str, Probe]:
    """Return the probes of all parts, by the names of the parts."""
    return {
        "database": lambda: _database(database),
        "schema": lambda: _schema(database),
        "limits": lambda: None if limits_store.check() else AWAY,
        **{f"storages.{name}": _storage(store) for name, store in storages.items()},
    }


def _database(database: Database) -> str | None:
    try:
        with database.read() as connection:
            connection.execute(select(1))
    except StrongroomError:
        return AWAY
    return None


def _schema(database: Database) -> str | Note | None:
    schema = read_schema(database.engine)
    if not schema.is_served:
        return f"It is {schema}; {schema.remedy}"
    return Note(f"It is {schema}, and compatible.") if schema.is_newer else None


def _storage(store: Store) -> Probe:
    def probe() -> str | None:
        try:
            store.stat(ABSENT_KEY)
        except ObjectNotFound:
            return None
        except StorageError:
            return AWAY
        return None

    return probe
