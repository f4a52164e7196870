"""Reports the number and size of blobs per storage, including storages no longer configured."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, func, select

from strongroom.database import Database
from strongroom.database.statements import Statement
from strongroom.storage.models import BlobState, blobs
from strongroom.storage.stores import Stores


@dataclass(frozen=True, slots=True)
class Holding:
    """The content of a storage according to the rows.

    Args:
        storage: the name of the storage.
        is_configured: whether the configuration names it.
        files: the number of stored blobs.
        size: their total size in bytes.
        leftovers: the number of pending and discarded blobs.
    """

    storage: str
    is_configured: bool
    files: int
    size: int
    leftovers: int


_OF_STORAGE: Final = blobs.c.storage == bindparam("storage")
_IS_FILE: Final = blobs.c.state == BlobState.STORED.value
_SUMMARY: Final = Statement(
    select(
        func.count().filter(_IS_FILE),
        func.coalesce(func.sum(blobs.c.size).filter(_IS_FILE), 0),
        func.count(),
    ).where(_OF_STORAGE)
)
_NEXT_NAME: Final = Statement(
    select(func.min(blobs.c.storage)).where(blobs.c.storage > bindparam("name"))
)
_FILE: Final = Statement(select(blobs.c.key).where(_OF_STORAGE, _IS_FILE).limit(1))


class Inventory:
    """Summarizes the rows of blobs per storage.

    Args:
        storages: the configured storages.
    """

    def __init__(self, database: Database, storages: Stores) -> None:
        self._database = database
        self._storages = storages

    def holdings(self) -> list[Holding]:
        """Return the content of each storage that is configured or named by a row."""
        with self._database.read() as connection:
            names = {*self._storages, *_names(connection)}
            return [self._holding(connection, name) for name in sorted(names)]

    def lost(self) -> list[str]:
        """Return the storages with files that are not configured; costs a few index look-ups."""
        with self._database.read() as connection:
            missing = [name for name in _names(connection) if name not in self._storages]
            return [name for name in missing if _holds_files(connection, name)]

    def _holding(self, connection: Connection, name: str) -> Holding:
        ((files, size, blob_count),) = _SUMMARY.all(connection, {"storage": name})
        return Holding(name, name in self._storages, files, int(size), blob_count - files)


def _names(connection: Connection) -> Iterator[str]:
    """Yield the distinct storage names of all rows.

    Each name costs one index look-up (a loose index scan); SELECT DISTINCT would read every row.
    """
    name = _NEXT_NAME.scalar(connection, {"name": ""})
    while name is not None:
        yield name
        name = _NEXT_NAME.scalar(connection, {"name": name})


def _holds_files(connection: Connection, name: str) -> bool:
    return _FILE.scalar(connection, {"storage": name}) is not None
