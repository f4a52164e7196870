"""Restores one tenant of an archive next to the living ones, while servers run.

The tenant is hidden, as if it were deleted, until all its rows are there: an interrupted restore leaves
a deleted tenant, which the purge removes. Its bytes become new blobs: no two tenants share one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Connection, Table, bindparam, func, insert, select, update

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import DAY, Clock, next_revision
from strongroom.content.nodes import child_counts
from strongroom.content.nodes.models import Node, node_versions, nodes, trash
from strongroom.content.nodes.name_index import NAME_INDEX, index_row
from strongroom.content.storage.models import Blob, blobs
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.models import Role, tenant_members, tenants
from strongroom.extensions.backup.archive import BackupError
from strongroom.extensions.backup.chain import ArchiveChain, BlobIndex, Row, member_name
from strongroom.extensions.backup.rows import fill_in, key_and, self_references
from strongroom.extensions.backup.tenant_rows import (
    TenantRows,
    is_id,
    references,
    tenant_tables,
    values,
)
from strongroom.foundation.caller import Origin
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database
from strongroom.foundation.database.plugin_tables import AllTables
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.foundation.errors import NotFound, Unavailable
from strongroom.foundation.ids import new_id
from strongroom.identity.users.models import users
from strongroom.plugin_api.storage import StorageError

_BATCH: Final = 500
_CHUNK: Final = 1024 * 1024
_OF_TENANT: Final[Any] = bindparam("tenant_id")
_FIND: Final = Statement(select(tenants.c.id).where(tenants.c.id == _OF_TENANT))
_USER: Final = Statement(select(users.c.deleted_at).where(users.c.id == bindparam("user_id")), tuple)
_ROLE: Final = Statement(
    select(tenant_members.c.role).where(
        tenant_members.c.tenant_id == _OF_TENANT, tenant_members.c.user_id == bindparam("user_id")
    )
)
_USED: Final = Statement(
    select(
        select(func.coalesce(func.sum(nodes.c.size), 0))
        .where(nodes.c.tenant_id == _OF_TENANT)
        .scalar_subquery()
        + select(func.coalesce(func.sum(node_versions.c.size), 0))
        .where(node_versions.c.tenant_id == _OF_TENANT)
        .scalar_subquery()
    )
)
_SHRINK_TRASH: Final = Statement(
    update(trash)
    .where(trash.c.id == bindparam("of_trash"))
    .values(size=trash.c.size - bindparam("of_size"))
)
_REVEAL: Final = Statement(
    update(tenants)
    .where(tenants.c.id == bindparam("of_id"))
    .values(
        deleted_at=None,
        used_bytes=bindparam("used"),
        updated_at=bindparam("now"),
        revision=bindparam("next"),
    )
)


@dataclass(slots=True)
class RestoredTenant:
    """The outcome of a restore.

    Args:
        files: the number of restored files.
        lost: the names of files whose bytes are neither in the archive nor in a storage.
        left_out: the number of rows that were left out, by table, such as members that no longer exist.
    """

    id: str
    name: str
    created_at: str
    files: int = 0
    lost: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class TenantRestoration:
    """Restores tenants of archives."""

    _database: Database
    _clock: Clock
    _blobs: BlobService
    _tables: AllTables

    def run(
        self,
        archive: ArchiveChain,
        tenant_id: str,
        name: str | None = None,
        progress: Callable[[int], None] = lambda _count: None,
    ) -> RestoredTenant:
        """Restore a tenant: by its id if no such tenant exists, otherwise by new ids.

        Args:
            name: the name of the restored tenant; by default the one that it had, and the date of the
                archive if the tenant exists.
            progress: called with 1 after each file.

        Raises:
            BackupError: the archive is damaged, does not fit this server, or lacks the tenant.
        """
        self._require_fit(archive)
        archive.verify().close()
        anchors = tenant_tables(self._tables)
        with closing(TenantRows(anchors)) as rows:
            try:
                return _TenantCopy(
                    self._database, self._clock, self._blobs, archive, rows, tenant_id
                ).run(name, progress)
            except (OSError, StorageError, Unavailable) as error:
                raise BackupError(f"the tenant cannot be restored here: {error}") from error

    def _require_fit(self, archive: ArchiveChain) -> None:
        if fault := archive.manifest.schema_fault():
            raise BackupError(fault)
        for plugin, tables in self._tables.items():
            revision = archive.manifest.plugins.get(plugin, tables.revision)
            if tables.tenant_tables and revision != tables.revision:
                schema = f'the archive\'s schema of the plugin "{plugin}"'
                raise BackupError(f"{schema} is {revision}, not {tables.revision}")


class _TenantCopy:
    """One restore of one tenant."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        blob_service: BlobService,
        archive: ArchiveChain,
        rows: TenantRows,
        tenant_id: str,
    ) -> None:
        self._database = database
        self._clock = clock
        self._blobs = blob_service
        self._archive = archive
        self._rows = rows
        self._tenant_id = tenant_id
        self._users: dict[str, tuple[bool, bool]] = {}
        self._heir: str | None = None
        self._ids: dict[str, str] = {}
        self._contents: dict[str, Blob] = {}
        self._uncommitted: dict[str, Blob] = {}
        self._dropped: dict[str, Row] = {}

    def run(self, name: str | None, progress: Callable[[int], None]) -> RestoredTenant:
        with self._database.read() as connection:
            self._exists = _FIND.scalar(connection, {"tenant_id": self._tenant_id}) is not None
        self._rows.read(self._archive, self._tenant_id, self._accept)
        tenant = next(self._rows.rows(tenants), None)
        if tenant is None:
            raise BackupError(f"the archive has no tenant {self._tenant_id}")
        self._choose_ids()
        result = RestoredTenant(
            self._ids[self._tenant_id],
            name or self._default_name(tenant["name"]),
            self._archive.manifest.created_at,
        )
        try:
            self._copy_bytes(result.id, progress)
            self._find_dropped(result)
            for table in self._rows.anchors:
                self._insert(table, result)
        finally:
            for key in self._uncommitted:
                self._blobs.discard(key)
        self._subtract_dropped()
        self._reveal(result, tenant["revision"])
        result.left_out = {name: count for name, count in self._rows.left_out.items() if count}
        return result

    def _default_name(self, name: str) -> str:
        return f"{name} ({self._archive.manifest.created_at[:10]})" if self._exists else name

    def _accept(self, table: Table, row: Row) -> bool:
        """Return whether a row is restored: members must exist, and still be members."""
        if table is tenant_members:
            return self._accept_member(row)
        for constraint in references(table):
            if constraint.referred_table is users:
                (column,) = constraint.column_keys
                if row[column] is None or self._user(row[column])[0]:
                    continue
                if table is not nodes or self._heir is None:
                    return False
                row[column] = self._heir
        return True

    def _accept_member(self, row: Row) -> bool:
        if not self._user(row["user_id"])[1]:
            return False
        if self._exists:
            # A member who was removed or demoted since does not get the former rights back.
            with self._database.read() as connection:
                role = _ROLE.scalar(
                    connection, {"tenant_id": self._tenant_id, "user_id": row["user_id"]}
                )
            if role is None:
                return False
            row["role"] = role
        if self._heir is None or row["role"] == Role.ADMIN.value:
            self._heir = row["user_id"]
        return True

    def _user(self, user_id: str) -> tuple[bool, bool]:
        """Return whether a user has a row, and whether it is not deleted."""
        if user_id not in self._users:
            with self._database.read() as connection:
                row = _USER.first(connection, {"user_id": user_id})
            self._users[user_id] = (row is not None, row is not None and row[0] is None)
        return self._users[user_id]

    def _choose_ids(self) -> None:
        """Keep the ids of a tenant that does not exist, except those that are in use."""
        for table in self._rows.anchors:
            ids = self._rows.ids[table.name]
            for start in range(0, len(ids), _BATCH):
                batch = ids[start : start + _BATCH]
                used = set(batch) if self._exists else self._used_ids(table, batch)
                for value in batch:
                    # The root of a tenant has the tenant's id.
                    if value in used:
                        self._ids[value] = self._ids.get(value) or new_id()
                    else:
                        self._ids.setdefault(value, value)

    def _used_ids(self, table: Table, ids: Sequence[str]) -> set[str]:
        with self._database.read() as connection:
            return set(dynamic(select(table.c.id).where(table.c.id.in_(ids))).scalars(connection))

    def _copy_bytes(self, scope: str, progress: Callable[[int], None]) -> None:
        sources = {
            member_name(row["storage"], row["object_key"]): row
            for row in self._archive.stored()
            if row["key"] in self._rows.blob_keys
        }
        with closing(BlobIndex()) as index:
            for name, row in sources.items():
                index.add(name, row["checksum"])
            for storage, key, file, _ in self._archive.blobs(index):
                self._receive(sources[member_name(storage, key)], _Source(file.read), scope, progress)
        for row in sources.values():
            # A storage that archives do not include, or bytes that the archive has damaged.
            if row["key"] not in self._contents:
                self._receive_living(row, scope, progress)

    def _receive_living(self, row: Row, scope: str, progress: Callable[[int], None]) -> None:
        with (
            suppress(NotFound, StorageError),
            self._blobs.open(row["key"], 0, row["size"]) as chunks,
        ):
            self._receive(row, _Source(_joined(chunks)), scope, progress)

    def _receive(self, row: Row, source: "_Source", scope: str, progress: Callable[[int], None]) -> None:
        size = row["size"]
        blob = self._blobs.receive(source, size=size, max_bytes=size, scope=scope).blob
        if (blob.size, blob.checksum) != (size, row["checksum"]):
            self._blobs.discard(blob.key)
            return
        self._contents[row["key"]] = blob
        self._uncommitted[blob.key] = blob
        progress(1)

    def _find_dropped(self, result: RestoredTenant) -> None:
        """Note the files whose bytes are lost; the other versions of a file are dropped with it."""
        for row in self._rows.rows(nodes):
            if row["blob_key"] is None:
                continue
            if row["blob_key"] in self._contents:
                result.files += 1
            else:
                self._dropped[row["id"]] = row
                result.lost.append(row["name"])
        for row in self._rows.rows(node_versions):
            self._rows.left_out[node_versions.name] += not self._has_content(row["blob_key"])

    def _insert(self, table: Table, result: RestoredTenant) -> None:
        inner = self_references(table)
        for batch in self._batches(table, result):
            with self._database.write() as connection:
                self._commit_blobs(connection, table, batch)
                rows = [row | dict.fromkeys(inner) for row in batch]
                dynamic(insert(table)).execute(connection, rows)
                if table is nodes:
                    children = [Node(**row) for row in batch if row["id"] != row["tenant_id"]]
                    NAME_INDEX.put_all(connection, [index_row(node) for node in children])
        if not inner:
            return
        # The referenced row may come later than the row that refers to it.
        for batch in self._batches(table, result):
            late = [key_and(row, table, inner) for row in batch if any(row[name] for name in inner)]
            if late:
                with self._database.write() as connection:
                    fill_in(connection, table, inner, late)

    def _batches(self, table: Table, result: RestoredTenant) -> Iterator[list[Row]]:
        kept = (row for row in self._rows.rows(table) if not self._is_dropped(table, row))
        rows = (self._restored(table, row, result) for row in kept)
        while batch := list(islice(rows, _BATCH)):
            yield batch

    def _is_dropped(self, table: Table, row: Row) -> bool:
        if table is nodes:
            return row["id"] in self._dropped
        for constraint in references(table):
            (value, *_) = values(constraint, row)
            if constraint.referred_table is nodes and value in self._dropped:
                return True
            if constraint.referred_table is blobs and not self._has_content(value):
                return True
        return False

    def _has_content(self, blob_key: str | None) -> bool:
        return blob_key is None or blob_key in self._contents

    def _restored(self, table: Table, row: Row, result: RestoredTenant) -> Row:
        """Return a row with the ids and blobs of the restored tenant."""
        for column in table.columns:
            value = row[column.name]
            if _refers_to_blob(column) and value is not None:
                row[column.name] = self._contents[value].key
            elif isinstance(value, str) and is_id(column):
                row[column.name] = self._ids.get(value, value)
        if table is tenants:
            # Hidden until it is complete. Tomorrow, so that no purge can begin before.
            row["deleted_at"] = self._clock.now() + DAY
            row["reserved_bytes"] = 0
            row["name"], row["sort_key"] = result.name, sort_key(result.name)
        return row

    def _commit_blobs(self, connection: Connection, table: Table, batch: Sequence[Row]) -> None:
        for column in filter(_refers_to_blob, table.columns):
            for key in {row[column.name] for row in batch} & self._uncommitted.keys():
                self._blobs.commit(connection, self._uncommitted.pop(key))

    def _subtract_dropped(self) -> None:
        for row in self._dropped.values():
            new = Node(**{**row, "parent_id": self._ids.get(row["parent_id"], row["parent_id"])})
            with self._database.write() as connection:
                if row["trash_id"] is not None:
                    entry = {"of_trash": self._ids[row["trash_id"]], "of_size": row["size"]}
                    _SHRINK_TRASH.execute(connection, entry)
                if row["parent_id"] is not None:
                    child_counts.taken_out(connection, new)

    def _reveal(self, result: RestoredTenant, revision: int) -> None:
        now = self._clock.now()
        with self._database.write() as connection:
            used = int(_USED.scalar(connection, {"tenant_id": result.id}))
            values = {"used": used, "now": now, "next": next_revision(revision, now)}
            _REVEAL.execute(connection, {"of_id": result.id, **values})
            event = AuditEvent(
                "tenant.restore",
                target_type="tenant",
                target_id=result.id,
                origin=Origin(user_agent="command line"),
                details={"archive": result.created_at, "former_id": self._tenant_id},
            )
            AuditService(self._clock).record(connection, event)


def _refers_to_blob(column: Column[Any]) -> bool:
    return any(key.column is blobs.c.key for key in column.foreign_keys)


def _joined(chunks: Iterator[bytes]) -> Callable[[int], bytes]:
    """Return a function that reads chunks in pieces of at most a number of bytes."""
    rest = b""

    def read(size: int) -> bytes:
        nonlocal rest
        rest = rest or next(chunks, b"")
        piece, rest = rest[:size], rest[size:]
        return piece

    return read


@dataclass(slots=True, eq=False, repr=False)
class _Source:
    """A byte source for a storage."""

    _read: Callable[[int], bytes]

    def read(self, size: int, /) -> bytes:
        """Return the next piece."""
        return self._read(min(size, _CHUNK))


def restore_tenant(
    restoration: TenantRestoration,
    path: Path,
    tenant_id: str,
    *,
    name: str | None = None,
    bases: Sequence[Path] = (),
    progress: Callable[[int], None] = lambda _count: None,
) -> RestoredTenant:
    """Restore a tenant of an archive, see :meth:`TenantRestoration.run`.

    Raises:
        BackupError: the archive is damaged, does not fit this server, or lacks the tenant.
    """
    return restoration.run(ArchiveChain.open(path, bases), tenant_id, name, progress)
