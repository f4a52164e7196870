"""Tells which storages hold how much, those included that the configuration no longer names."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from strongroom.database import Database
from strongroom.storage.models import BlobState, blobs
from strongroom.storage.stores import Stores


@dataclass(frozen=True, slots=True)
class Holding:
    """What a storage holds, by the rows.

    Args:
        storage: its name.
        is_configured: whether the configuration has it.
        files: blobs that something refers to.
        size: their bytes.
        leftovers: blobs that are on their way in, or wait for their removal.
    """

    storage: str
    is_configured: bool
    files: int
    size: int
    leftovers: int


class Inventory:
    """The rows of blobs, storage by storage.

    Args:
        database: where the rows are kept.
        storages: the named storages.
    """

    def __init__(self, database: Database, storages: Stores) -> None:
        self._database = database
        self._storages = storages

    def holdings(self) -> list[Holding]:
        """Return what each storage holds that is configured, or named by a row."""
        with self._database.read() as connection:
            names = {*self._storages, *_names(connection)}
            return [self._holding(connection, name) for name in sorted(names)]

    def lost(self) -> list[str]:
        """Return the storages that hold files and are not configured; it takes a few look-ups."""
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
    """Yield the storages that rows name, by one look into the index for each, however many rows."""
    name = connection.execute(select(func.min(blobs.c.storage))).scalar()
    while name is not None:
        yield name
        query = select(func.min(blobs.c.storage)).where(blobs.c.storage > name)
        name = connection.execute(query).scalar()


def _holds_files(connection: Connection, name: str) -> bool:
    query = select(blobs.c.key).where(blobs.c.storage == name, blobs.c.state == BlobState.STORED.value)
    return connection.execute(query.limit(1)).first() is not None
