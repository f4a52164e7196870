"""Upload rules of all protocols; adds received content to the tree within the caller's transaction."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatch
from typing import Any, Final, Protocol

from sqlalchemy import Connection, Select, bindparam, true

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import (
    AccessControl,
    NodeAccess,
    NodeAccessQuery,
    NodeView,
    ceiling_of,
)
from strongroom.content.nodes.events import FileAction, FileEvents
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.content.nodes.grant_ends import Ends
from strongroom.content.nodes.hidden_names import HiddenNames
from strongroom.content.nodes.models import FOREVER, Node, NodeType, nodes
from strongroom.content.nodes.names import numbered
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.content.nodes.trash import Trash
from strongroom.content.nodes.tree import FileContent, ParentRef, Tree
from strongroom.content.nodes.versions import Version, VersionRepository
from strongroom.content.scanning.inspection import ContentInspection
from strongroom.content.scanning.states import QUARANTINED
from strongroom.content.storage.models import Released
from strongroom.content.storage.service import BlobService, ReceivedBlob
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.quota import Quota, usage
from strongroom.foundation import errors
from strongroom.foundation.caller import AnyCaller, DelegatedLimits, Override
from strongroom.foundation.media_types import sniff
from strongroom.plugin_api.storage import ByteSource


def _with_checks(query: Select[Any]) -> Select[Any]:
    taken, used = nodes.alias("taken"), usage()
    is_taken = (taken.c.parent_id == bindparam("node_id")) & (taken.c.name == bindparam("name"))
    columns = query.add_columns(taken.c.type, *used.c)
    return columns.outerjoin(taken, is_taken).outerjoin(used, true())


_CHECKS: Final = NodeAccessQuery(_with_checks)
"""The access to a folder, the node that has the name, and the usage of the tenant."""

_FOLDER_NAMES: Final = 100
"""Number of names that are tried for a folder whose name a file has."""


class OnConflict(StrEnum):
    """Conflict rule for a taken name."""

    FAIL = "fail"
    RENAME = "rename"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Target:
    """Destination of a file.

    Args:
        parent_id: the folder; ``None`` at the top level.
        on_conflict: the rule for a taken name.
        folders: the normalized names of the folders on the way from ``parent_id`` to the file. Missing
            ones are created with the file.
    """

    tenant_id: str
    parent_id: str | None
    name: str
    on_conflict: OnConflict
    folders: tuple[str, ...] = ()

    @property
    def folder_id(self) -> str:
        """Id of the parent node: the tenant's root at the top level."""
        return self.parent_id or self.tenant_id


class IncomingFile(Protocol):
    """A file that is being received. ``size`` is in bytes, ``None`` if unknown."""

    name: str
    source: ByteSource
    size: int | None

    def check(self, checksum: str) -> None:
        """Raise if the SHA-256 of the content differs from the digest that the client declared."""


class FileWriter:
    """Creates files from blobs, replaces their content, and removes nodes; updates quota and events.

    Args:
        access: checks permissions.
        tree: changes nodes.
        blobs: stores file content.
        quota: tenants' usage and quotas.
        events: records changes of files.
        removals: records permanent removals.
        inspection: scans received content.
        guard: refuses to remove held and retained content.
        keeps_deleted: whether deleted nodes go to the trash; otherwise deletions are final.
        max_file_bytes: maximum size of a file, in bytes.
        allowed_types: glob patterns of accepted media types; empty accepts all.
    """

    def __init__(
        self,
        access: AccessControl,
        tree: Tree,
        blobs: BlobService,
        quota: Quota,
        events: FileEvents,
        removals: RemovalRecords,
        inspection: ContentInspection,
        trash: Trash,
        versions: VersionRepository,
        guard: RemovalGuard,
        erasers: FileErasers,
        *,
        keeps_deleted: bool,
        max_file_bytes: int,
        allowed_types: Sequence[str] = (),
    ) -> None:
        self.access = access
        self.hidden_names = HiddenNames(access, tree)
        self._tree = tree
        self._blobs = blobs
        self._quota = quota
        self.events = events
        self._removals = removals
        self._inspection = inspection
        self._trash = trash
        self._versions = versions
        self._guard = guard
        self._erasers = erasers
        self.keeps_deleted = keeps_deleted
        self.max_file_bytes = max_file_bytes
        self._allowed_types = allowed_types

    def check(self, connection: Connection, caller: AnyCaller, target: Target, size: int) -> None:
        """Check an upload before its content is received. :meth:`commit` repeats the checks afterwards.

        Args:
            connection: the caller's transaction.
            target: destination of the file.
            size: size of the content in bytes as far as known, 0 if unknown.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed.
            StorageFull: the tenant's quota would be exceeded.
        """
        target, access = self._find_parent(connection, caller, target)
        taken_type, used, quota = access.more
        if target.folders or (taken_type and self._is_hidden(connection, caller, target)):
            # The file will be in a folder that does not exist, and whose names are all free, or gets a
            # number.
            taken_type = None
        if taken_type is not None and not _resolves_conflict(taken_type, target.on_conflict):
            raise errors.NameConflict.of_taken_name()
        if size > self.max_file_bytes:
            raise errors.PayloadTooLarge
        replaces = taken_type is not None and target.on_conflict is OnConflict.REPLACE
        # Most content fits in any case; only otherwise are the replaced file and its rules read.
        if replaces and not self._quota.fits(used, quota, size):
            size -= self._freed_by_name(connection, target)
        self._quota.check(target.tenant_id, used, quota, size)

    def require_space(self, connection: Connection, replaced: Node, size: int) -> None:
        """Check that content fits which will replace that of a file. :meth:`replace` repeats the check.

        Args:
            connection: the caller's transaction.
            size: size of the content in bytes as far as known, 0 if unknown.

        Raises:
            FileHeld, FileRetained: the content is in quarantine, and must be kept nevertheless.
            StorageFull: the tenant's quota would be exceeded.
        """
        tenant = self._quota.find(connection, replaced.tenant_id)
        used = tenant.used_bytes + tenant.reserved_bytes
        if not self._quota.fits(used, tenant.quota_bytes, size):
            size -= self._freed(connection, replaced)
        self._quota.check(tenant.id, used, tenant.quota_bytes, size)

    def detect_type(self, head: bytes, name: str) -> str:
        """Detect the media type of content from its first bytes and its name.

        Raises:
            UnsupportedMediaType: files of the type are not accepted.
        """
        media_type = sniff(head, name)
        # Parameters, such as the charset, are no part of the accepted types.
        essence = media_type.partition(";")[0]
        if self._allowed_types and not any(fnmatch(essence, item) for item in self._allowed_types):
            raise errors.UnsupportedMediaType(f"Files of the type {essence} are not accepted.")
        return media_type

    def inspect(self, caller: AnyCaller, received: ReceivedBlob, name: str) -> ReceivedBlob:
        """Have received content scanned before :meth:`commit`, outside of transactions.

        Raises:
            UnsupportedMediaType: files of its type are not accepted.
            ContentInfected, ContentUnscannable, ApiError: a content scanner refuses the content.
        """
        if not self._inspection.is_enabled:
            return received
        media_type = received.media_type or self.detect_type(received.head, name)
        return self._inspection.inspect(caller, received, name, media_type)

    def commit_content(self, connection: Connection, received: ReceivedBlob, name: str) -> FileContent:
        """Commit a received blob with its scan state, and return it as the content of a file.

        Raises:
            UnsupportedMediaType: files of its type are not accepted.
        """
        blob = received.blob
        media_type = received.media_type or self.detect_type(received.head, name)
        self._blobs.commit(connection, blob)
        self._inspection.record(connection, received)
        scan = self._inspection.state_of(received)
        return FileContent(blob.key, blob.size, media_type, blob.checksum, scan)

    def commit(
        self,
        connection: Connection,
        caller: AnyCaller,
        target: Target,
        received: ReceivedBlob,
        *,
        reserved: int = 0,
    ) -> NodeView:
        """Create a file from a received blob, or replace the content of an existing file.

        Args:
            connection: the caller's transaction.
            target: destination of the file.
            reserved: bytes of the tenant's quota that were reserved for it.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
            UnsupportedMediaType: files of its type are not accepted.
            StorageFull: the tenant's quota would be exceeded.
        """
        # Lock before all checks, so that permissions and names cannot change until the commit.
        self.access.memberships.lock_tenant(connection, target.tenant_id)
        # The blob is committed in the same transaction as the node that references it.
        content = self.commit_content(connection, received, target.name)
        require_allowed_type(caller, content.content_type)
        if target.folders:
            target = self._with_folders(connection, caller, target)
        if target.on_conflict is OnConflict.REPLACE:
            self.access.require_parent(connection, caller, target.tenant_id, target.parent_id)
            existing = self._tree.find_child(connection, target.folder_id, target.name)
            if existing and not self.hidden_names.hides(connection, caller, existing):
                return self.replace(connection, caller, existing, content, reserved=reserved)
        node = self._add(connection, caller, target, content)
        self._quota.use(connection, node.tenant_id, content.size, reserved=reserved)
        self.events.record(connection, FileAction.CREATED, caller, node)
        return NodeView(node, ceiling_of(caller))

    def add_folder(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        *,
        is_numbered: bool = False,
    ) -> Node:
        """Create a folder; ``is_numbered`` gives it a free name with a number if the name is taken.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the parent folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
        """
        place = self.parent_ref(connection, caller, tenant_id, parent_id)
        is_numbered = is_numbered or self.hidden_names.has(
            connection, caller, (tenant_id, place.parent_id), name
        )
        add = self._tree.add_numbered if is_numbered else self._tree.add
        node = add(connection, place, name, caller.user_id, None)
        self.events.record(connection, FileAction.FOLDER_CREATED, caller, node)
        return node

    def _is_hidden(self, connection: Connection, caller: AnyCaller, target: Target) -> bool:
        place = (target.tenant_id, target.folder_id)
        return self.hidden_names.has(connection, caller, place, target.name)

    def _with_folders(self, connection: Connection, caller: AnyCaller, target: Target) -> Target:
        """Create the missing folders of a destination, and return the one in the last of them.

        The tenant lock keeps concurrent uploads from creating the same folder twice.
        """
        target = self._descend(connection, caller, target)
        parent_id = target.parent_id
        for name in target.folders:
            parent_id = self.add_folder(connection, caller, target.tenant_id, parent_id, name).id
        return replace(target, parent_id=parent_id, folders=())

    def _find_parent(
        self, connection: Connection, caller: AnyCaller, target: Target
    ) -> tuple[Target, NodeAccess]:
        """Return a destination as of :meth:`_descend`, and the access to its parent, without a lock."""
        if target.folders:
            # If a folder is deleted concurrently after it was found, the upload creates it again.
            with suppress(errors.NotFound):
                return self._parent_of(connection, caller, target)
        return self._parent_of(connection, caller, target)

    def _parent_of(
        self, connection: Connection, caller: AnyCaller, target: Target
    ) -> tuple[Target, NodeAccess]:
        parent = self._descend(connection, caller, target) if target.folders else target
        access = self.access.require_parent(
            connection, caller, parent.tenant_id, parent.parent_id, _CHECKS, name=parent.name
        )
        return parent, access

    def _descend(self, connection: Connection, caller: AnyCaller, target: Target) -> Target:
        """Return a destination relative to the last of its folders that exists.

        Each folder must be one that the caller may write to, so that names of others are not revealed.
        """
        self.access.require_parent(connection, caller, target.tenant_id, target.parent_id)
        while target.folders:
            name, folder = self._folder_named(connection, caller, target)
            if folder is None:
                return replace(target, folders=(name, *target.folders[1:]))
            self.access.require_parent(connection, caller, target.tenant_id, folder.id)
            target = replace(target, parent_id=folder.id, folders=target.folders[1:])
        return target

    def _folder_named(
        self, connection: Connection, caller: AnyCaller, target: Target
    ) -> tuple[str, Node | None]:
        """Return the name of the first folder of a destination, and the folder if it exists.

        If a hidden node has the name, or a file with the rule ``rename``, it is the first name with a
        number that neither has. So all files of an uploaded folder are stored in the same one.
        """
        stem = target.folders[0]
        for number in range(_FOLDER_NAMES):
            name = numbered(stem, number) if number else stem
            child = self._tree.find_child(connection, target.folder_id, name)
            if self.hidden_names.hides(connection, caller, child):
                continue
            if child is None or child.type == NodeType.FOLDER:
                return name, child
            if target.on_conflict is not OnConflict.RENAME:
                break
        message = "A file has the name of a folder of the path."
        raise errors.NotAFolder.of_field("relativePath", "not-a-folder", message)

    def _add(
        self, connection: Connection, caller: AnyCaller, target: Target, content: FileContent
    ) -> Node:
        """Create a file; with a number if its name is taken, by the rule or by a hidden node."""
        place = self.parent_ref(connection, caller, target.tenant_id, target.parent_id)
        try:
            return self._tree.add(connection, place, target.name, caller.user_id, content)
        except errors.NameConflict:
            is_renamed = target.on_conflict is OnConflict.RENAME
            if not is_renamed and not self._is_hidden(connection, caller, target):
                raise
        return self._tree.add_numbered(connection, place, target.name, caller.user_id, content)

    def replace(
        self,
        connection: Connection,
        caller: AnyCaller,
        existing: Node,
        content: FileContent,
        *,
        reserved: int = 0,
    ) -> NodeView:
        """Replace the content of a file by a blob that is already stored.

        Raises:
            Forbidden: the caller may not write to the file.
            NameConflict: the node is a folder.
            FileHeld, FileRetained: the content is in quarantine, and must be kept nevertheless.
            StorageFull: the tenant's quota would be exceeded.
        """
        # Folders have no content, and are never replaced by a file.
        if existing.blob_key is None:
            raise errors.NameConflict.of_taken_name()
        # Every member may create top-level files, but only replace those with write permission.
        view = self.access.require(
            connection, caller, existing.tenant_id, existing.id, operations.REPLACE
        )
        rules = self._guard.rules(connection, existing.tenant_id)
        archives = self._guard.archives(connection, rules, existing)
        node = self._tree.replace_content(connection, existing, content, archives=archives)
        freed, blob_keys = existing.size, [existing.blob_key]
        if archives:
            keep = rules.settings.keep_versions
            excess = self._versions.add(connection, caller.user_id, existing, keep)
            removed = self._remove_rows(connection, self._guard.removable_versions(connection, excess))
            freed, blob_keys = sum(each.size for each in removed), [each.blob_key for each in removed]
        # One change, because content may only fit in the place of what it replaces; see _freed().
        self._quota.use(connection, existing.tenant_id, content.size - freed, reserved=reserved)
        self._blobs.release(connection, blob_keys)
        self.events.record(connection, FileAction.REPLACED, caller, node)
        return NodeView(node, view.permission)

    def _freed(self, connection: Connection, replaced: Node) -> int:
        """Return how many bytes of the quota the replacement of a file's content frees."""
        rules = self._guard.rules(connection, replaced.tenant_id)
        if not self._guard.archives(connection, rules, replaced):
            return replaced.size
        # The replaced content becomes the newest of the versions that are kept.
        excess = self._versions.excess(connection, replaced, rules.settings.keep_versions - 1)
        return sum(each.size for each in self._guard.removable_versions(connection, excess))

    def _freed_by_name(self, connection: Connection, target: Target) -> int:
        replaced = self._tree.find_child(connection, target.folder_id, target.name)
        return 0 if replaced is None else self._freed(connection, replaced)

    def remove_version(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        version: Version,
        override: Override | None,
    ) -> list[Released]:
        """Remove a version of a file; return its blob if it is no longer referenced.

        Raises:
            FileHeld: a hold covers the file.
            FileRetained: the version is retained, and the override is not permitted.
        """
        self._guard.require_removable_version(connection, node, version, override)
        released = self.remove_versions(connection, [version])
        self._removals.record_version(connection, FileAction.VERSION_PURGED, caller, node, version)
        return released

    def remove_versions(self, connection: Connection, versions: Sequence[Version]) -> list[Released]:
        """Remove versions that the guard permits to remove; return the unreferenced blobs."""
        removed = self._remove_rows(connection, versions)
        sizes: Counter[str] = Counter()
        for version in removed:
            sizes[version.tenant_id] += version.size
        for tenant_id, size in sizes.items():
            self._quota.use(connection, tenant_id, -size)
        return self._blobs.release(connection, [version.blob_key for version in removed])

    def _remove_rows(self, connection: Connection, versions: Sequence[Version]) -> list[Version]:
        return [each for each in versions if self._versions.remove(connection, each)]

    def discard(self, connection: Connection, caller: AnyCaller, node: Node) -> list[Released]:
        """Move a node with its subtree to the trash, or :meth:`remove` it if deletions are final.

        The trash never receives a file in quarantine.

        Raises:
            FileHeld: a hold covers the node, or a node in its subtree.
            FileRetained: deletions are final, and content in the subtree is retained.
        """
        if not self.keeps_deleted or node.scan in QUARANTINED:
            return self.remove(connection, caller, node)
        self._guard.require_detachable(connection, node)
        self._trash.add(connection, caller.user_id, node)
        # Clients find the node nowhere from now on, so for them it is deleted.
        self.events.record(connection, FileAction.DELETED, caller, node)
        return []

    def remove(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        override: Override | None = None,
    ) -> list[Released]:
        """Remove a node with its subtree; return the blobs that are no longer referenced.

        Raises:
            FileHeld: a hold covers the node, or a node in its subtree.
            FileRetained: content in the subtree is retained, and the override is not permitted.
        """
        self._guard.require_removable(connection, node, override)
        removed = self._tree.remove(connection, node)
        if node.trash_id is not None:
            self._trash.shrink(connection, node.trash_id, removed.size)
        self._erasers.erase(connection, node.tenant_id, removed.node_ids)
        self._quota.use(connection, node.tenant_id, -removed.size - removed.versions_size)
        released = self._blobs.release(connection, removed.blob_keys)
        self._removals.record(connection, FileAction.DELETED, caller, [node])
        return released

    def parent_ref(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, parent_id: str | None
    ) -> ParentRef:
        """Return the parent reference for a new node in the folder, or at the top level.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
        """
        access = self.access.require_parent(connection, caller, tenant_id, parent_id)
        if access.node is None:
            self._tree.add_root(connection, tenant_id, caller.user_id)
        return _parent_ref(tenant_id, parent_id, access)


def _parent_ref(tenant_id: str, parent_id: str | None, access: NodeAccess) -> ParentRef:
    granted = Ends(*access.more[:3])
    # Neither the permission of members at the top level nor that of administrators expires.
    is_permanent = parent_id is None or access.role is Role.ADMIN
    writable_until = FOREVER if is_permanent else granted.write
    return ParentRef(tenant_id, parent_id or tenant_id, granted.read, writable_until)


def require_allowed_type(caller: AnyCaller, media_type: str) -> None:
    """Check that a caller with delegated rights may create files of a type.

    Raises:
        UnsupportedMediaType: the caller may not.
    """
    allowed = caller.key.content_types if isinstance(caller.key, DelegatedLimits) else ()
    essence = media_type.partition(";")[0]
    if allowed and not any(fnmatch(essence, item) for item in allowed):
        raise errors.UnsupportedMediaType(f"Must be one of: {', '.join(allowed)}; detected {essence}.")


def _resolves_conflict(taken_type: str, on_conflict: OnConflict) -> bool:
    """Return whether the conflict rule allows a file although a node of this type has its name."""
    if on_conflict is OnConflict.REPLACE:
        return taken_type == NodeType.FILE
    return on_conflict is OnConflict.RENAME
