"""Creates an archive while servers run.

The backup first takes a deletion lease, then reads the rows from one snapshot, then reads the objects of
those rows. A concurrent deletion removes rows, but the lease preserves their objects until it ends.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from sqlalchemy import Connection, func, select

from strongroom.clock import Clock, iso_format
from strongroom.content.storage.blob_removal import DeletionLease, LeaseLost
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.extensions.backup.archive import (
    BLOBS,
    FORMAT,
    KEYS,
    ROWS,
    SECRET,
    ArchiveWriter,
    BackupError,
    HashedFile,
    Manifest,
    StorageSummary,
    dump_rows,
    kept_tables,
    tables_left_out,
    writing,
)
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import set_last_backup_at
from strongroom.foundation.database.plugin_tables import AllTables, plugin_schemas
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.upgrade import SCHEMA_REVISION, read_schema
from strongroom.foundation.errors import StrongroomError, Unavailable
from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom.version import __version__

logger = logging.getLogger(__name__)

_ROWS_IN_MEMORY: Final = 1000
_STORED: Final = Statement(
    select(blobs.c.storage, blobs.c.object_key, blobs.c.size, blobs.c.checksum)
    .where(blobs.c.state == BlobState.STORED.value)
    .order_by(blobs.c.key)
)

_COUNT: Final = Statement(
    select(func.count()).select_from(blobs).where(blobs.c.state == BlobState.STORED.value)
)

MISSING: Final = "missing"
DAMAGED: Final = "damaged"


@dataclass(slots=True, eq=False, repr=False)
class BackupService:
    """Creates archives.

    Args:
        storages: backend name of each storage, and whether its objects are on this machine.
    """

    _settings: Settings
    _database: Database
    _clock: Clock
    _blobs: BlobService
    _storages: Mapping[str, tuple[str, bool]]
    _tables: AllTables

    def count(self) -> int:
        """Return how many files :meth:`create` copies, for its progress."""
        with self._database.read() as connection:
            count: int = _COUNT.scalar(connection)
        return count

    def create(self, path: Path, progress: Callable[[int], None] = lambda _count: None) -> Manifest:
        """Create an archive and return its manifest, which lists missing and damaged blobs.

        Args:
            path: the file, which must not exist.
            progress: called with 1 after each file.

        Raises:
            BackupError: the archive cannot be created.
        """
        self._require_own_schema()
        created_at = iso_format(self._clock.now())
        manifest = Manifest(FORMAT, __version__, SCHEMA_REVISION, created_at)
        manifest.storages = {
            name: StorageSummary(backend, included)
            for name, (backend, included) in self._storages.items()
        }
        manifest.plugins = {name: tables.revision for name, tables in self._tables.items()}
        try:
            # The lease begins before the rows are read, so that no blob in them is deleted; see
            # storage/blob_removal.py.
            with writing(path, manifest) as writer, self._blobs.leases.lease() as lease:
                self._add_keys(writer)
                self._add_rows(writer, lease, progress)
        except (OSError, LeaseLost, StorageError, Unavailable) as error:
            raise BackupError(f"the backup was aborted: {error}") from error
        self._record_success()
        return manifest

    def _record_success(self) -> None:
        # For the metrics. The archive is complete even if the database is unavailable by now.
        with suppress(StrongroomError), self._database.write() as connection:
            set_last_backup_at(connection, self._clock.now())

    def _require_own_schema(self) -> None:
        # This version does not know the columns that a newer one added, and would omit them.
        schema = read_schema(self._database.engine)
        if not schema.is_current:
            raise BackupError(f"the schema is {schema}; back it up with the version that upgraded it")
        for state in plugin_schemas(self._database.engine, self._tables):
            if not state.is_current:
                raise BackupError(
                    f'the schema of the plugin "{state.plugin}" is {state}; {state.remedy}'
                )

    def _add_keys(self, writer: ArchiveWriter) -> None:
        settings = self._settings
        secret = settings.server.secret_key or settings.secret_path.read_text(encoding="ascii").strip()
        for name, content in ((SECRET, secret.encode()), (KEYS, settings.keys_path.read_bytes())):
            with TemporaryFile() as file:
                file.write(content)
                writer.add(name, file)

    def _add_rows(
        self, writer: ArchiveWriter, lease: DeletionLease, progress: Callable[[int], None]
    ) -> None:
        with TemporaryFile() as listing:
            # One snapshot of all tables, so that the rows of one refer to rows of the others.
            with self._database.snapshot() as connection:
                writer.manifest.left_out = tables_left_out(connection, self._tables)
                for table in kept_tables(connection, self._tables):
                    with TemporaryFile() as file:
                        writer.manifest.tables[table.name] = dump_rows(connection, table, file)
                        writer.add(f"{ROWS}/{table.name}.jsonl", file)
                self._list_blobs(connection, listing)
            listing.seek(0)
            for entry in _entries(listing):
                self._add_blob(writer, lease, entry)
                progress(1)

    def _list_blobs(self, connection: Connection, listing: IO[bytes]) -> None:
        """Write the list of blobs to a file, so that the transaction ends before they are copied."""
        for row in _STORED.stream(connection, batch=_ROWS_IN_MEMORY):
            listing.write("\t".join(map(str, row)).encode() + b"\n")

    def _add_blob(self, writer: ArchiveWriter, lease: DeletionLease, entry: "_Entry") -> None:
        summary = writer.manifest.storages[entry.storage]
        name = f"{BLOBS}/{entry.storage}/{entry.object_key}"
        summary.blobs += 1
        summary.bytes += entry.size
        lease.renew()
        if not summary.included:
            return
        try:
            # The lease preserves the object here, even if its row was discarded or moved since.
            with self._blobs.storages[entry.storage].open(entry.object_key) as chunks:
                source = HashedFile(_Chunks(chunks, lease))
                writer.add_blob(name, source, entry.size, entry.checksum)
        except ObjectNotFound:
            writer.manifest.faults[name] = MISSING
            return
        # A fault is recorded and does not stop the backup of all other files.
        if source.checksum != entry.checksum:
            writer.manifest.faults[name] = DAMAGED


@dataclass(frozen=True, slots=True)
class _Entry:
    """A blob to back up. ``size`` is in bytes, ``checksum`` is SHA-256 in hexadecimal digits."""

    storage: str
    object_key: str
    size: int
    checksum: str


def _entries(listing: IO[bytes]) -> Iterator[_Entry]:
    for line in listing:
        storage, object_key, size, checksum = line.decode().rstrip("\n").split("\t")
        yield _Entry(storage, object_key, int(size), checksum)


class _Chunks:
    """Reads exactly the requested number of bytes from chunks of any size, and renews the lease.

    If the object is too short, it is padded with zeros, because the size of a tar member is fixed by its
    header. The checksum then shows the damage.
    """

    def __init__(self, chunks: Iterator[bytes], lease: DeletionLease) -> None:
        self._chunks = iter(chunks)
        self._lease = lease
        self._rest = b""

    def read(self, size: int, /) -> Any:
        """Return the next ``size`` bytes, padded with zeros after the end."""
        self._lease.renew()
        parts, missing = [self._rest], size - len(self._rest)
        while missing > 0 and (chunk := self._next()):
            parts.append(chunk)
            missing -= len(chunk)
        whole = b"".join(parts)
        self._rest = whole[size:]
        return whole[:size].ljust(size, b"\0")

    def _next(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except StorageUnavailable:
            raise
        except StorageError:
            # The object is damaged: end it here, so that the backup records the fault and continues.
            return b""
