"""Creates an archive while servers run.

The backup first takes a deletion lease, then reads the rows from one snapshot, then reads the objects of
those rows. A concurrent deletion removes rows, but the lease preserves their objects until it ends.
"""

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from sqlalchemy import Connection, bindparam, func, select

from strongroom.clock import Clock, iso_format
from strongroom.content.storage.blob_removal import DeletionLease, LeaseLost
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.extensions.backup.archive import (
    FORMAT,
    KEYS,
    ROWS,
    SECRET,
    SEGMENTS,
    ArchiveWriter,
    BackupError,
    BaseArchive,
    HashedFile,
    Manifest,
    StorageSummary,
    writing,
)
from strongroom.extensions.backup.chain import ArchiveChain, member_name
from strongroom.extensions.backup.rows import (
    dump_rows,
    kept_tables,
    parse_segments,
    tables_left_out,
)
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import database_id, set_last_backup_at
from strongroom.foundation.database.plugin_tables import AllTables, plugin_schemas
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.upgrade import SCHEMA_REVISION, read_schema
from strongroom.foundation.errors import StrongroomError, Unavailable
from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom.version import __version__

logger = logging.getLogger(__name__)

_IS_STORED: Final = blobs.c.state == BlobState.STORED.value
_TOTALS: Final = Statement(
    select(blobs.c.storage, func.count(), func.sum(blobs.c.size))
    .where(_IS_STORED)
    .group_by(blobs.c.storage)
)
_BY_LOCATION: Final = Statement(
    select(blobs.c.storage, blobs.c.object_key, blobs.c.size, blobs.c.checksum).where(
        _IS_STORED,
        blobs.c.storage == bindparam("storage"),
        blobs.c.object_key == bindparam("object_key"),
    )
)

_COUNT: Final = Statement(select(func.count()).select_from(blobs).where(_IS_STORED))

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

    def create(
        self,
        path: Path,
        progress: Callable[[int], None] = lambda _count: None,
        since: Path | None = None,
    ) -> Manifest:
        """Create an archive and return its manifest, which lists missing and damaged blobs.

        Args:
            path: the file, which must not exist.
            progress: called with 1 after each file.
            since: the archive that the new one continues; ``None`` creates a complete one.

        Raises:
            BackupError: the archive cannot be created.
        """
        self._require_own_schema()
        base = None if since is None else ArchiveChain.open(since)
        try:
            manifest = self._new_manifest(base)
            if base is not None:
                _require_continuable(base, manifest)
            # The lease begins before the rows are read, so that no blob in them is deleted; see
            # storage/blob_removal.py.
            with writing(path, manifest) as writer, self._blobs.leases.lease() as lease:
                self._add_keys(writer)
                self._add_content(writer, base, lease, progress)
        except (OSError, LeaseLost, StorageError, Unavailable) as error:
            raise BackupError(f"the backup was aborted: {error}") from error
        self._record_success()
        return manifest

    def _new_manifest(self, base: ArchiveChain | None) -> Manifest:
        created_at = iso_format(self._clock.now())
        manifest = Manifest(
            FORMAT, __version__, SCHEMA_REVISION, created_at, database_id(self._database)
        )
        manifest.storages = {
            name: StorageSummary(backend, included)
            for name, (backend, included) in self._storages.items()
        }
        manifest.plugins = {name: tables.revision for name, tables in self._tables.items()}
        if base is not None:
            head = base.head
            manifest.base = BaseArchive(head.path.name, head.manifest.created_at, head.digest)
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

    def _add_content(
        self,
        writer: ArchiveWriter,
        base: ArchiveChain | None,
        lease: DeletionLease,
        progress: Callable[[int], None],
    ) -> None:
        with TemporaryFile() as listing:
            # One snapshot of all tables, so that the rows of one refer to rows of the others.
            with self._database.snapshot() as connection:
                self._add_rows(writer, base, connection, listing)
            listing.seek(0)
            # The transaction has ended, so that it does not last as long as the copy.
            for entry in _entries(listing):
                self._add_blob(writer, lease, entry)
                progress(1)

    def _add_rows(
        self,
        writer: ArchiveWriter,
        base: ArchiveChain | None,
        connection: Connection,
        listing: IO[bytes],
    ) -> None:
        manifest = writer.manifest
        manifest.left_out = tables_left_out(connection, self._tables)
        for storage, count, size in _TOTALS.all(connection):
            summary = manifest.storages[storage]
            summary.blobs, summary.bytes = count, int(size)
        for table in kept_tables(connection, self._tables):
            former = _BaseRows(base, table.name)
            with TemporaryFile() as file, TemporaryFile() as segments:
                manifest.tables[table.name] = dump_rows(
                    connection, table, file, segments, former.digests
                )
                writer.add(f"{ROWS}/{table.name}.jsonl", file)
                writer.add(f"{SEGMENTS}/{table.name}.jsonl", segments)
                if table is blobs:
                    segments.seek(0)
                    _list_blobs(file, former.blobs_outside(segments), listing)
        if base is not None:
            _list_former_faults(connection, base.manifest, listing)

    def _add_blob(self, writer: ArchiveWriter, lease: DeletionLease, entry: "_Entry") -> None:
        lease.renew()
        if not writer.manifest.storages[entry.storage].included:
            return
        name = member_name(entry.storage, entry.object_key)
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

    def write(self, listing: IO[bytes]) -> None:
        """Write a line that :func:`_entries` reads."""
        line = f"{self.storage}\t{self.object_key}\t{self.size}\t{self.checksum}\n"
        listing.write(line.encode())


def _require_continuable(base: ArchiveChain, manifest: Manifest) -> None:
    """Check that an archive can continue the base.

    Raises:
        BackupError: the base is of another database, or the schema or a storage has changed since.
    """
    path, former = base.head.path, base.manifest
    if former.database != manifest.database:
        raise BackupError(
            f"{path} is of the database {former.database}, not {manifest.database}: "
            "create a complete archive"
        )
    plugins = {name: manifest.plugins.get(name, revision) for name, revision in former.plugins.items()}
    if former.schema != manifest.schema or plugins != former.plugins:
        raise BackupError(f"{path} has another schema: create a complete archive")
    for name, summary in former.storages.items():
        if summary.blobs and manifest.storages[name].included is not summary.included:
            raise BackupError(f'the storage "{name}" is not as in {path}: create a complete archive')


class _BaseRows:
    """The rows of a table in the base; empty if there is no base, or it lacks the table."""

    def __init__(self, base: ArchiveChain | None, table: str) -> None:
        self._base = base
        has_table = base is not None and table in base.manifest.tables
        self._segments = base.segments(table) if base is not None and has_table else []
        self.digests = {segment.digest for segment in self._segments}

    def blobs_outside(self, listing: IO[bytes]) -> set[tuple[str, str]]:
        """Return the locations of stored blobs whose segments are not in a newer list."""
        kept = {segment.digest for segment in parse_segments(listing)}
        if self._base is None:
            return set()
        superseded = [segment for segment in self._segments if segment.digest not in kept]
        return {(row["storage"], row["object_key"]) for row in self._base.stored(superseded)}


def _list_blobs(rows: IO[bytes], copied: Collection[tuple[str, str]], listing: IO[bytes]) -> None:
    """Write the list of stored blobs among the archive's rows that the base lacks."""
    rows.seek(0)
    names = json.loads(rows.readline())
    for line in rows:
        row = dict(zip(names, json.loads(line), strict=True))
        if row["state"] == BlobState.STORED.value:
            entry = _Entry(row["storage"], row["object_key"], row["size"], row["checksum"])
            if (entry.storage, entry.object_key) not in copied:
                entry.write(listing)


def _list_former_faults(connection: Connection, base: Manifest, listing: IO[bytes]) -> None:
    """Write the list of blobs that were missing or damaged in the base and are still stored."""
    for name in base.faults:
        _, storage, object_key = name.split("/", 2)
        place = {"storage": storage, "object_key": object_key}
        if row := _BY_LOCATION.first(connection, place):
            _Entry(*row).write(listing)


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
