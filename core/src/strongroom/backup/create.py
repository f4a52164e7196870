"""Makes an archive beside running servers.

A hold on all bytes comes first, then the rows as they are at one moment, then the bytes that those
rows refer to: whatever is deleted meanwhile loses its row, and keeps its bytes until the hold ends.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from sqlalchemy import Connection, select

from strongroom.backup.archive import (
    BLOBS,
    FORMAT,
    KEYS,
    ROWS,
    SECRET,
    ArchiveWriter,
    HashedFile,
    Manifest,
    StorageSummary,
    writing,
)
from strongroom.backup.errors import BackupError
from strongroom.backup.rows import dump_rows, kept_tables
from strongroom.clock import Clock, iso_format
from strongroom.config.settings import Settings
from strongroom.database import Database
from strongroom.database.upgrade import SCHEMA_REVISION, read_schema
from strongroom.errors import Unavailable
from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom.storage.leases import DeletionLease, LeaseLost
from strongroom.storage.models import BlobState, blobs
from strongroom.storage.service import BlobService
from strongroom.version import __version__

logger = logging.getLogger(__name__)

MISSING: Final = "missing"
DAMAGED: Final = "damaged"


class BackupService:
    """Makes archives.

    Args:
        settings: where the secret and the signing keys are.
        database: whose rows are taken.
        clock: the time.
        blobs: gives the bytes.
        storages: the name of the backend of each storage, and whether its bytes are on this machine.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock,
        blobs: BlobService,
        storages: Mapping[str, tuple[str, bool]],
    ) -> None:
        self._settings = settings
        self._database = database
        self._clock = clock
        self._blobs = blobs
        self._storages = storages

    def create(self, path: Path) -> Manifest:
        """Make an archive and return what it holds, faults of the storages among it.

        Raises:
            BackupError: it cannot be made.
        """
        self._require_own_schema()
        created_at = iso_format(self._clock.now())
        manifest = Manifest(FORMAT, __version__, SCHEMA_REVISION, created_at)
        manifest.storages = {
            name: StorageSummary(backend, included)
            for name, (backend, included) in self._storages.items()
        }
        try:
            with writing(path, manifest) as writer, self._blobs.holds.hold() as hold:
                self._add_keys(writer)
                self._add_rows(writer, hold)
        except (OSError, LeaseLost, StorageError, Unavailable) as error:
            raise BackupError(f"the backup was given up: {error}") from error
        return manifest

    def _require_own_schema(self) -> None:
        # Columns that a newer version has added are unknown here, and would be left out.
        schema = read_schema(self._database.engine)
        if not schema.is_current:
            raise BackupError(f"the schema is {schema}; back it up with the version that upgraded it")

    def _add_keys(self, writer: ArchiveWriter) -> None:
        settings = self._settings
        secret = settings.server.secret_key or settings.secret_path.read_text(encoding="ascii").strip()
        for name, content in ((SECRET, secret.encode()), (KEYS, settings.keys_path.read_bytes())):
            with TemporaryFile() as file:
                file.write(content)
                writer.add(name, file)

    def _add_rows(self, writer: ArchiveWriter, hold: DeletionLease) -> None:
        with TemporaryFile() as wanted:
            with self._database.snapshot() as connection:
                for table in kept_tables(connection):
                    with TemporaryFile() as file:
                        writer.manifest.tables[table.name] = dump_rows(connection, table, file)
                        writer.add(f"{ROWS}/{table.name}.jsonl", file)
                self._note_blobs(connection, wanted)
            wanted.seek(0)
            for noted in _noted(wanted):
                self._add_blob(writer, hold, noted)

    def _note_blobs(self, connection: Connection, wanted: IO[bytes]) -> None:
        """Write down which bytes the rows refer to: the transaction must not last as long as they do."""
        query = (
            select(blobs.c.storage, blobs.c.object_key, blobs.c.size, blobs.c.checksum)
            .where(blobs.c.state == BlobState.STORED.value)
            .order_by(blobs.c.key)
            .execution_options(yield_per=1000)
        )
        for row in connection.execute(query):
            wanted.write("\t".join(map(str, row)).encode() + b"\n")

    def _add_blob(self, writer: ArchiveWriter, hold: DeletionLease, noted: "_Noted") -> None:
        summary = writer.manifest.storages[noted.storage]
        name = f"{BLOBS}/{noted.storage}/{noted.object_key}"
        summary.blobs += 1
        summary.bytes += noted.size
        hold.renew()
        if not summary.included:
            return
        try:
            # Under the hold they stay there, even if their row has been discarded or moved meanwhile.
            with self._blobs.storages[noted.storage].open(noted.object_key) as chunks:
                source = HashedFile(_Chunks(chunks, hold))
                writer.add_blob(name, source, noted.size, noted.checksum)
        except ObjectNotFound:
            writer.manifest.faults[name] = MISSING
            return
        if source.checksum != noted.checksum:
            writer.manifest.faults[name] = DAMAGED


@dataclass(frozen=True, slots=True)
class _Noted:
    """Bytes that a row refers to."""

    storage: str
    object_key: str
    size: int
    checksum: str


def _noted(wanted: IO[bytes]) -> Iterator[_Noted]:
    for line in wanted:
        storage, object_key, size, checksum = line.decode().rstrip("\n").split("\t")
        yield _Noted(storage, object_key, int(size), checksum)


class _Chunks:
    """Reads exactly as many bytes as asked for from chunks of any size, and keeps the hold alive.

    Where the bytes end too early there are zeros: their checksum is not the right one.
    """

    def __init__(self, chunks: Iterator[bytes], hold: DeletionLease) -> None:
        self._chunks = iter(chunks)
        self._hold = hold
        self._rest = b""

    def read(self, size: int, /) -> Any:
        """Return so many bytes, or what is left."""
        self._hold.renew()
        parts, wanted = [self._rest], size - len(self._rest)
        while wanted > 0 and (chunk := self._next()):
            parts.append(chunk)
            wanted -= len(chunk)
        whole = b"".join(parts)
        self._rest = whole[size:]
        return whole[:size].ljust(size, b"\0")

    def _next(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except StorageUnavailable:
            raise
        except StorageError:
            return b""
