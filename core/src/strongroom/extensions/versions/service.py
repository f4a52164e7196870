"""Lists, reads, restores, marks and removes versions of files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView
from strongroom.content.nodes.events import FileAction
from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.nodes.models import Node, NodeType
from strongroom.content.nodes.operations import NodeRule
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.content.nodes.tree import FileContent, require_revision
from strongroom.content.nodes.version_changes import VersionChanges
from strongroom.content.nodes.versions import Version, VersionRepository
from strongroom.content.scanning.states import require_readable
from strongroom.content.storage.models import BlobLocation
from strongroom.content.storage.service import BlobService
from strongroom.foundation.caller import AnyCaller, Override
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.errors import NotAFile, NotFound
from strongroom.identity.users.service import UserService

_BATCH = 100


@dataclass(slots=True, eq=False, repr=False)
class VersionService:
    """The versions of files, for users with the permission on the file."""

    _database: Database
    _access: AccessControl
    _versions: VersionRepository
    _file_writer: FileWriter
    _changes: VersionChanges
    _blobs: BlobService
    _users: UserService
    _guard: RemovalGuard
    _removals: RemovalRecords

    def page(
        self, caller: AnyCaller, tenant_id: str, node_id: str, paging: Paging
    ) -> tuple[Page[Version], list[dict[str, str]]]:
        """Return a page of the versions of a file, and the summaries of the users in it.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not read the file.
            NotFound: the tenant has no such node.
            NotAFile: the node is a folder.
        """
        with self._database.read() as connection:
            self._file(connection, caller, tenant_id, node_id, operations.LIST_VERSIONS)
            page = self._versions.page(connection, node_id, paging)
            users = {version.archived_by for version in page.items}
            return page, self._users.summaries(connection, users)

    def locate(
        self, caller: AnyCaller, tenant_id: str, node_id: str, number: int
    ) -> tuple[Node, BlobLocation]:
        """Return the file as it was in a version, and the location of the content.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not read the file.
            NotFound: the tenant has no such node, or the file no such version.
            NotAFile: the node is a folder.
            NotScannedYet, Quarantined: the content may not be read.
        """
        with self._database.read() as connection:
            view = self._file(connection, caller, tenant_id, node_id, operations.DOWNLOAD_VERSION)
            version = self._find(connection, view.node, number)
        # Before the store is involved, which may serve the content without the server.
        require_readable(version.scan)
        return _as_node(view.node, version), self._blobs.location(version.blob_key)

    def restore(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        number: int,
        revision: int | None,
    ) -> NodeView:
        """Make the content of a version the content of the file; the current one becomes a version.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the file.
            NotFound: the tenant has no such node, or the file no such version.
            NotAFile: the node is a folder.
            RevisionConflict: the file has changed since the given revision.
            NotScannedYet, Quarantined: the content may not be read.
            StorageFull: the tenant's quota would be exceeded.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            node = self._file(connection, caller, tenant_id, node_id, operations.RESTORE_VERSION).node
            require_revision(node, revision)
            version = self._find(connection, node, number)
            require_readable(version.scan)
            content = FileContent(
                version.blob_key, version.size, version.content_type, version.checksum, version.scan
            )
            return self._file_writer.replace(connection, caller, node, content)

    def mark(
        self, caller: AnyCaller, tenant_id: str, node_id: str, number: int, changes: dict[str, Any]
    ) -> Version:
        """Change the label of a version, or whether it is kept whatever its age.

        Args:
            changes: ``label``, ``is_kept`` or both.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the file.
            NotFound: the tenant has no such node, or the file no such version.
            NotAFile: the node is a folder.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            node = self._file(connection, caller, tenant_id, node_id, operations.CHANGE_VERSION).node
            version = self._find(connection, node, number)._replace(**changes)
            marked = self._versions.mark(connection, version, version.label, version.is_kept)
            self._removals.record_version(connection, FileAction.VERSION_CHANGED, caller, node, marked)
            return marked

    def delete(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        number: int,
        override: Override | None = None,
    ) -> None:
        """Remove a version permanently.

        Raises:
            Forbidden: the caller is not a member of the tenant, or does not manage the file.
            NotFound: the tenant has no such node, or the file no such version.
            NotAFile: the node is a folder.
            FileHeld: a hold covers the file.
            FileRetained: the version is retained, and the override is not permitted.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            node = self._file(connection, caller, tenant_id, node_id, operations.DELETE_VERSION).node
            version = self._find(connection, node, number)
            released = self._changes.remove_version(connection, caller, node, version, override)
        self._blobs.remove(released)

    def purge(self) -> int:
        """Remove versions that are too old, and thin out the others; return their number.

        Safe while servers are running.
        """
        removed, after = 0, ""
        while True:
            with self._database.read() as connection:
                after, due = self._versions.some_due(connection, after, self._days(connection))
            if not after:
                return removed
            for start in range(0, len(due), _BATCH):
                removed += self._remove(due[start : start + _BATCH])

    def _days(self, connection: Connection) -> Callable[[str], int]:
        @cache
        def get_days(tenant_id: str) -> int:
            return self._guard.rules(connection, tenant_id).settings.version_days

        return get_days

    def _remove(self, due: Sequence[Version]) -> int:
        with self._database.write() as connection:
            for tenant_id in sorted({version.tenant_id for version in due}):
                self._access.memberships.lock_tenant(connection, tenant_id)
            # A user may have marked one since it was read.
            versions = [self._versions.find(connection, each.node_id, each.number) for each in due]
            still_due = [version for version in versions if version and not version.is_kept]
            removable = self._guard.removable_versions(connection, still_due)
            self._changes.remove_versions(connection, removable)
        # Garbage collection deletes the objects.
        return len(removable)

    def _file(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        rule: NodeRule,
    ) -> NodeView:
        view = self._access.require(connection, caller, tenant_id, node_id, rule)
        if view.node.type != NodeType.FILE:
            raise NotAFile
        return view

    def _find(self, connection: Connection, node: Node, number: int) -> Version:
        version = self._versions.find(connection, node.id, number)
        if version is None:
            raise NotFound
        return version


def _as_node(node: Node, version: Version) -> Node:
    return node._replace(
        blob_key=version.blob_key,
        size=version.size,
        content_type=version.content_type,
        checksum=version.checksum,
        scan=version.scan,
        updated_at=version.modified_at,
    )
