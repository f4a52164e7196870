"""Creates, reads and deletes the files and folders of tenants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, delete, exists, select, union_all

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeAccessQuery, NodeView, get_ceiling
from strongroom.content.nodes.destinations import OnConflict, Target
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.content.nodes.file_writer import (
    Attach,
    FileWriter,
    IncomingFile,
    Prepare,
    attach_nothing,
    prepare_nothing,
)
from strongroom.content.nodes.models import (
    NODE_VERSION,
    Node,
    NodeVersion,
    Permission,
    node_versions,
    nodes,
)
from strongroom.content.nodes.names import normalize_name
from strongroom.content.nodes.node_removal import NodeRemoval
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.tree import Tree, require_revision
from strongroom.content.nodes.versions import read_contents
from strongroom.content.scanning.states import require_readable
from strongroom.content.storage.models import BlobLocation, Released
from strongroom.content.storage.service import BlobService
from strongroom.foundation.caller import AnyCaller, Override
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotAFile
from strongroom.plugin_api.storage import ByteStream

_REMOVED_AT_ONCE = 20
_VERSION: Final = NodeAccessQuery(record=NODE_VERSION)


class FileService:
    """Creates, reads and deletes files and folders."""

    def __init__(
        self,
        database: Database,
        access: AccessControl,
        tree: Tree,
        blobs: BlobService,
        file_writer: FileWriter,
        removal: NodeRemoval,
    ) -> None:
        self._database = database
        self._access = access
        self._tree = tree
        self._blobs = blobs
        self._file_writer = file_writer
        self._removal = removal
        self._located = NodeAccessQuery(self._with_location)

    @property
    def max_file_bytes(self) -> int:
        """Maximum size of a file, in bytes."""
        return self._file_writer.rules.max_file_bytes

    def create_folder(
        self,
        caller: AnyCaller,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        on_conflict: OnConflict,
        prepare: Prepare = prepare_nothing,
    ) -> NodeView:
        """Create a folder in a folder, or at the top level.

        Args:
            prepare: called first, in the same transaction.

        Raises:
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the parent folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
        """
        name = normalize_name(name)
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            prepare(connection)
            is_numbered = on_conflict is OnConflict.RENAME
            node = self._file_writer.add_folder(
                connection, caller, tenant_id, parent_id, name, is_numbered=is_numbered
            )
            return NodeView(node, get_ceiling(caller))

    def upload(
        self,
        caller: AnyCaller,
        tenant_id: str,
        parent_id: str | None,
        incoming: IncomingFile,
        on_conflict: OnConflict,
        folders: Sequence[str] = (),
        attach: Attach = attach_nothing,
    ) -> NodeView:
        """Store a file in a folder, or at the top level. It is durable when this returns.

        Args:
            parent_id: the folder; ``None`` is the top level.
            on_conflict: the rule for a taken name.
            folders: names of folders below ``parent_id``, of :func:`parse_path`. Missing ones are
                created together with the file.
            attach: called with the stored file, in the same transaction.

        Raises:
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the parent folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed.
            UnsupportedMediaType: files of its type are not accepted.
            DigestMismatch: the content does not match the declared digest.
            ContentInfected, ContentUnscannable, ApiError: a content scanner refuses the content.
            StorageFull: the tenant's quota or the storage is exhausted.
            Unavailable: changes of the tenant have waited for too long.
        """
        name = normalize_name(incoming.name)
        target = Target(tenant_id, parent_id, name, on_conflict, tuple(folders))
        # No transaction is open while the content is received, so slow clients block no writer.
        with self._database.read() as connection:
            self._file_writer.rules.check(connection, caller, target, incoming.size or 0)
        # After the check, which hides the tenant from others, and before the content is received.
        self._database.require_short_queue(tenant_id)
        received = self._blobs.receive(
            incoming.source,
            size=incoming.size,
            max_bytes=self._file_writer.rules.max_file_bytes,
            inspect=lambda head: self._file_writer.rules.detect_type(head, target.name),
            scope=tenant_id,
        )
        try:
            incoming.check(received.blob.checksum)
            received = self._file_writer.inspect(caller, received, target.name)

            def commit(connection: Connection) -> NodeView:
                view = self._file_writer.commit(connection, caller, target, received)
                attach(connection, view.node)
                return view

            return self._database.write_together(commit, key=tenant_id)
        except BaseException:
            self._blobs.discard(received.blob.key)
            raise

    def get(self, caller: AnyCaller, tenant_id: str, node_id: str) -> NodeView:
        """Return a node with the caller's permission on it.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not read the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read_one() as connection:
            return self._access.require(connection, caller, tenant_id, node_id, operations.GET)

    def get_version(
        self, caller: AnyCaller, tenant_id: str, node_id: str
    ) -> tuple[NodeVersion, Permission]:
        """Return what identifies the details of a node, as :meth:`get`."""
        with self._database.read_one() as connection:
            access = self._access.find(connection, caller, tenant_id, node_id, _VERSION)
            version: Any = access.require(operations.GET).node
        return version, access.permission

    def locate(
        self, caller: AnyCaller, tenant_id: str, node_id: str
    ) -> tuple[Node, BlobLocation | None]:
        """Return a node whose content the caller may read, and the location of the content.

        The location is ``None`` for a folder. It may be outdated: the blob may be moved at any time.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is not a member of the tenant, or may not read the node.
            NotFound: the tenant has no such node.
            NotScannedYet: the content is not scanned yet.
            Quarantined: the content is in quarantine.
        """
        with self._database.read_one() as connection:
            access = self._access.find(connection, caller, tenant_id, node_id, self._located)
        node, (storage, object_key) = access.require_content(), access.more
        return node, None if storage is None else BlobLocation(storage, object_key)

    def _with_location(self, query: Select[Any]) -> Select[Any]:
        location = self._blobs.location_query()
        columns = query.add_columns(location.c.storage, location.c.object_key)
        return columns.outerjoin(location, location.c.key == nodes.c.blob_key)

    def delete(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        revision: int | None = None,
        *,
        permanently: bool = False,
        override: Override | None = None,
    ) -> None:
        """Delete a node with its subtree: to the trash if there is one, unless ``permanently``.

        Raises:
            Forbidden: the caller is not a member of the tenant, or does not manage the node.
            NotFound: the tenant has no such node.
            RevisionConflict: the node has changed since the given revision.
            FileHeld: a hold covers the node, or a node in its subtree.
            FileRetained: content is retained that would be removed, and the override is not permitted.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            released = self.delete_within(
                connection,
                caller,
                tenant_id,
                node_id,
                revision,
                permanently=permanently,
                override=override,
            )
        self.remove_some(released)

    def delete_within(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        revision: int | None,
        *,
        permanently: bool = False,
        override: Override | None = None,
    ) -> list[Released]:
        """Do the same as :meth:`delete` in the caller's transaction, which holds the tenant lock.

        Return the blobs for :meth:`remove_some`, after the commit.
        """
        rule = operations.DELETE_PERMANENTLY if permanently else operations.DELETE
        view = self._access.require(connection, caller, tenant_id, node_id, rule)
        require_revision(view.node, revision)
        if permanently:
            return self._removal.remove(connection, caller, view.node, override)
        return self._removal.discard(connection, caller, view.node)

    def remove_some(self, released: Sequence[Released]) -> None:
        """Remove the bytes of a few released blobs; garbage collection removes the others.

        So the response does not wait for the blobs of a large subtree.
        """
        self._blobs.remove(released[:_REMOVED_AT_ONCE])

    def open(
        self, node: Node, start: int, length: int, location: BlobLocation | None = None
    ) -> ByteStream:
        """Open a range of a file's bytes.

        Args:
            start: the offset of the first byte.
            length: the number of bytes.
            location: the last known location of the content; saves a query if it is still correct.

        Raises:
            NotAFile: the node is a folder.
            NotScannedYet: the content is not scanned yet.
            Quarantined: the content is in quarantine.
        """
        if node.blob_key is None:
            raise NotAFile
        # Checked here as well, for callers that read the node by other ways than locate().
        require_readable(node.scan)
        return self._blobs.open(node.blob_key, start, length, place=location)


_BATCH: Final = 500

_CHILD: Final = nodes.alias()
# Nodes without children, so that content is deleted before its folder.
_LEAVES: Final = Statement(
    select(nodes.c.id, nodes.c.blob_key)
    .where(
        nodes.c.tenant_id == bindparam("tenant_id"),
        ~exists().where(_CHILD.c.parent_id == nodes.c.id),
    )
    .limit(_BATCH)
)
_REMOVE: Final = Statement(delete(nodes).where(nodes.c.id.in_(bindparam("node_ids", expanding=True))))

_TENANT_OF_BLOB: Final = Statement(
    union_all(
        select(nodes.c.tenant_id).where(nodes.c.blob_key == bindparam("blob_key")),
        select(node_versions.c.tenant_id).where(node_versions.c.blob_key == bindparam("blob_key")),
    ).limit(1)
)


def tenant_of_blob(connection: Connection, blob_key: str) -> str | None:
    """Return the tenant whose file has, or had, a blob as its content, or ``None``."""
    tenant_id: str | None = _TENANT_OF_BLOB.scalar(connection, {"blob_key": blob_key})
    return tenant_id


@dataclass(slots=True, eq=False, repr=False)
class FilePurge:
    """Removes all files and folders of a tenant."""

    _database: Database
    _blobs: BlobService
    _guard: RemovalGuard
    _erasers: FileErasers

    def remove_all(self, tenant_id: str) -> None:
        """Remove all nodes of a tenant with their grants, and their blobs.

        Each batch is a separate transaction. Blobs that cannot be removed now are left to the blob
        garbage collection.
        """
        # Content is removed only after its batch is committed, so a rollback loses nothing.
        while (released := self._remove_batch(tenant_id)) is not None:
            self._blobs.remove(released)

    def _remove_batch(self, tenant_id: str) -> list[Released] | None:
        with self._database.write() as connection:
            rows = _LEAVES.all(connection, {"tenant_id": tenant_id})
            if not rows or self._guard.rules(connection, tenant_id).has_holds:
                return None
            node_ids = [row.id for row in rows]
            keys = [version.blob_key for version in read_contents(connection, node_ids)]
            _REMOVE.execute(connection, {"node_ids": node_ids})
            self._erasers.erase(connection, tenant_id, node_ids)
            keys += [row.blob_key for row in rows if row.blob_key]
            return self._blobs.release(connection, keys)
