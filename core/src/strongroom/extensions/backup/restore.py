"""Restores an archive into an empty database and empty storages, and revokes all earlier tokens.

A token that was revoked after the backup is not revoked in the archive, and nothing shows which tokens
these are. So every authorization is revoked in the transaction that inserts it, and new tokens are
signed with a new key. Services that verify tokens only by the public keys then refuse the old ones.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, bindparam, delete, update

from strongroom.activity.audit.sealing import seal_batch
from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.content.files.reindexing import NameReindexing
from strongroom.content.nodes.retention_clock import merge_clock, take_clock
from strongroom.content.nodes.retention_models import retention_clock
from strongroom.content.storage.models import BlobState, blobs, is_unreferenced
from strongroom.content.storage.ownership import StorageOwnership, is_reserved
from strongroom.extensions.backup.archive import (
    KEYS,
    SECRET,
    BackupError,
    Manifest,
)
from strongroom.extensions.backup.chain import ArchiveChain, BlobIndex
from strongroom.extensions.backup.rows import is_empty, kept_tables, load_rows
from strongroom.foundation.caller import Origin
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import become_another_database, set_restored_at
from strongroom.foundation.database.plugin_tables import AllTables, PluginTablesError
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.foundation.database.upgrade import NewerSchema, upgrade
from strongroom.foundation.secret_keys import SecretKeys, create_private_file
from strongroom.identity.sessions.models import authorizations
from strongroom.identity.sessions.signing_keys import create_key_file
from strongroom.identity.users.user_reindexing import UserReindexing
from strongroom.plugin_api.storage import StorageBackend, StorageError

_REVOKE_ALL: Final = Statement(
    update(authorizations)
    .where(authorizations.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"))
)

_CHUNK: Final = 1024 * 1024

Backends = Mapping[str, StorageBackend[Any]]


class Restoration:
    """Restores the state of one archive, and of those that it continues."""

    def __init__(
        self,
        archive: ArchiveChain,
        settings: Settings,
        database: Database,
        storages: Backends,
        clock: Clock,
        tables: AllTables,
    ) -> None:
        self._tables = tables
        self._archive = archive
        self._settings = settings
        self._database = database
        self._storages = storages
        self._clock = clock
        self._ownership = StorageOwnership(database, clock)

    def run(
        self,
        *,
        keep_sessions: bool = False,
        progress: Callable[[int], None] = lambda _count: None,
    ) -> Manifest:
        """Restore everything; the rows come last, so nothing refers to the files of a failed restore.

        Args:
            keep_sessions: do not revoke authorizations, including those revoked since the backup.
            progress: called with 1 after each file.

        Raises:
            BackupError: the destination is not empty, or its configuration does not fit the archive.
        """
        manifest = self._archive.manifest
        # The whole chain is verified before anything is changed.
        with closing(self._archive.verify()) as index:
            return self._run(manifest, index, keep_sessions=keep_sessions, progress=progress)

    def _run(
        self,
        manifest: Manifest,
        index: BlobIndex,
        *,
        keep_sessions: bool,
        progress: Callable[[int], None],
    ) -> Manifest:
        secret = self._archive.head.read(SECRET).decode("ascii")
        self._require_fit(manifest, secret)
        # Creates the tables, which must exist before their emptiness can be checked.
        upgrade(self._database.engine, self._tables)
        self._require_empty(manifest)
        self._restore_keys(secret, keep_sessions=keep_sessions)
        for storage, key, file, size in self._archive.blobs(index):
            self._storages[storage].put(key, _Source(file), size=size)
            progress(1)
        with self._database.write() as connection:
            tables = kept_tables(connection, self._tables)
            before = take_clock(connection)
            self._restore_rows(connection, tables)
            # None stays with an id that the database would use again.
            while seal_batch(connection) is not None:
                pass
            merge_clock(connection, before)
            # A new id: the restored and the original database must not share a storage.
            become_another_database(connection, SecretKeys(secret).fingerprint)
            self._void(connection, manifest, keep_sessions=keep_sessions)
        # Archives have no index of names and of users.
        NameReindexing(self._database).run()
        UserReindexing(self._database).run()
        # After the commit, because the owner marker contains the new database id.
        self._take_storages(manifest)
        return manifest

    def _require_fit(self, manifest: Manifest, secret: str) -> None:
        if fault := manifest.schema_fault():
            raise BackupError(fault)
        self._require_plugins(manifest)
        for name, summary in manifest.storages.items():
            if summary.included and summary.blobs and name not in self._storages:
                raise BackupError(
                    f'the archive contains files of the storage "{name}": configure '
                    f"[storages.{name}] with a folder on this machine"
                )
        configured = self._settings.server.secret_key
        if configured is not None and configured != secret:
            raise BackupError(
                "server.secret_key is not the secret of the archive, so its passwords could not be "
                "verified; set it to the output of: tar -xOf ARCHIVE secret.key"
            )

    def _require_plugins(self, manifest: Manifest) -> None:
        for name, revision in manifest.plugins.items():
            if name not in self._tables:
                raise BackupError(
                    f'the archive contains tables of the plugin "{name}": install and enable it'
                )
            if (needed := self._tables[name].revision) != revision:
                raise BackupError(
                    f'the archive\'s schema of the plugin "{name}" is {revision}, not {needed}: restore '
                    "it with the version of the plugin that created it"
                )

    def _require_empty(self, manifest: Manifest) -> None:
        with self._database.read() as connection:
            # A server that was started for a moment has started the clock of retention.
            tables = kept_tables(connection, self._tables)
            if not is_empty(connection, [table for table in tables if table is not retention_clock]):
                raise BackupError("the database is not empty; name another in database.url")
        for name, storage in self._storages.items():
            # The owner marker does not count: a store that was claimed and never used is empty.
            objects = (item for item in storage.scan() if not is_reserved(item.key))
            if name in manifest.storages and next(objects, None) is not None:
                raise BackupError(f'the storage "{name}" is not empty; name another folder for it')
            if fault := self._ownership.examine(name, storage):
                raise BackupError(f'the storage "{name}" {fault}')
        path = self._settings.secret_path
        if self._settings.server.secret_key is None and path.exists():
            raise BackupError(f"{path} exists already; move it away")

    def _take_storages(self, manifest: Manifest) -> None:
        """Claim the restored storages for the new database id; all others keep their owners."""
        for name, storage in self._storages.items():
            if name in manifest.storages:
                self._ownership.take(name, storage)

    def _restore_keys(self, secret: str, *, keep_sessions: bool) -> None:
        # A secret in the configuration has no file; _require_fit has compared it with the archive.
        if self._settings.server.secret_key is None:
            create_private_file(self._settings.secret_path, secret)
        path = self._settings.keys_path
        if keep_sessions:
            create_private_file(path, self._archive.head.read(KEYS).decode("ascii"))
        else:
            create_key_file(path, self._settings.tokens.algorithm, self._clock.now())

    def _restore_rows(self, connection: Connection, tables: Sequence[Table]) -> None:
        expected = self._archive.manifest.tables
        new = {
            table.name
            for name, declared in self._tables.items()
            if name not in self._archive.manifest.plugins
            for table in declared.metadata.tables.values()
        }
        for table in tables:
            # The tables of a plugin that was enabled after the backup stay empty.
            if table.name in new:
                continue
            count = load_rows(connection, table, self._archive.rows(table.name))
            # The manifest has the number of rows of the snapshot, so a missing line is detected.
            if count != expected[table.name]:
                raise BackupError(
                    f"the archive has {count} rows of {table.name}, expected {expected[table.name]}"
                )

    def _void(self, connection: Connection, manifest: Manifest, *, keep_sessions: bool) -> None:
        """Revoke authorizations, delete rows of pending and discarded blobs, and record the restore."""
        # The objects of these rows are not in the archive, or are in a store that another database may
        # own, so garbage collection must not delete them. In an owned store, fsck reports them as stray.
        uncounted = blobs.c.state != BlobState.STORED.value
        dynamic(delete(blobs).where(uncounted, is_unreferenced())).execute(connection)
        set_restored_at(connection, self._clock.now())
        if not keep_sessions:
            _REVOKE_ALL.execute(connection, {"now": self._clock.now()})
        event = AuditEvent(
            "backup.restore",
            origin=Origin(user_agent="command line"),
            details={
                "created_at": manifest.created_at,
                "sessions": "kept" if keep_sessions else "ended",
            },
        )
        AuditService(self._clock).record(connection, event)


def restore(
    path: Path,
    settings: Settings,
    database: Database,
    storages: Backends,
    clock: Clock,
    tables: AllTables,
    *,
    keep_sessions: bool,
    bases: Sequence[Path] = (),
    progress: Callable[[int], None] = lambda _count: None,
) -> Manifest:
    """Restore an archive into an empty database and empty storages, and return its manifest.

    Args:
        bases: the archives that it continues, unless they are next to it.
        progress: called with 1 after each file.

    Raises:
        BackupError: the archive is damaged, or the destination is not empty or does not fit it.
    """
    restoration = Restoration(
        ArchiveChain.open(path, bases), settings, database, storages, clock, tables
    )
    try:
        return restoration.run(keep_sessions=keep_sessions, progress=progress)
    except (OSError, StorageError, NewerSchema, PluginTablesError) as error:
        raise BackupError(f"the archive cannot be restored here: {error}") from error


@dataclass(slots=True, eq=False, repr=False)
class _Source:
    """The content of an archive member as a byte source for a storage."""

    _file: Any

    def read(self, size: int, /) -> bytes:
        """Return the next piece."""
        piece: bytes = self._file.read(min(size, _CHUNK))
        return piece
