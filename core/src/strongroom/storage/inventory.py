"""Reports the number and size of blobs per storage, including storages no longer configured."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from strongroom.database import Database
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
        is_file = blobs.c.state == BlobState.STORED.value
        query = select(
            func.count().filter(is_file).label("files"),
            func.coalesce(func.sum(blobs.c.size).filter(is_file), 0).label("size"),
            func.count().label("all"),
        ).where(blobs.c.storage == name)
        row = connection.execute(query).one()
        return Holding(name, name in self._storages, row.files, int(row.size), row.all - row.files)


def _names(connection: Connection) -> Iterator[str]:
    """Yield the distinct storage names of all rows.

    Each name costs one index look-up (a loose index scan); SELECT DISTINCT would read every row.
    """
    name = connection.execute(select(func.min(blobs.c.storage))).scalar()
    while name is not None:
        yield name
        query = select(func.min(blobs.c.storage)).where(blobs.c.storage > name)
        name = connection.execute(query).scalar()


def _holds_files(connection: Connection, name: str) -> bool:
    query = select(blobs.c.key).where(blobs.c.storage == name, blobs.c.state == BlobState.STORED.value)
    return connection.execute(query.limit(1)).first() is not None
