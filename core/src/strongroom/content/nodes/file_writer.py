"""Adds received content to the tree within the caller's transaction."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sqlalchemy import Connection

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView, get_ceiling
from strongroom.content.nodes.destinations import Destinations, OnConflict, Target
from strongroom.content.nodes.events import FileAction, FileEvents
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.tree import FileContent, ParentRef, Tree
from strongroom.content.nodes.upload_rules import UploadRules, require_allowed_type
from strongroom.content.nodes.version_changes import VersionChanges
from strongroom.content.scanning.inspection import ContentInspection
from strongroom.content.storage.service import BlobService, ReceivedBlob
from strongroom.content.tenants.quota import Quota
from strongroom.foundation import errors
from strongroom.foundation.caller import AnyCaller
from strongroom.plugin_api.storage import ByteSource

Attach = Callable[[Connection, Node], None]
"""Stores more about a file, in the transaction that stores its content."""


def attach_nothing(_connection: Connection, _node: Node) -> None:
    """Store nothing more about a file."""


Prepare = Callable[[Connection], None]
"""Changes something else first, in the transaction of a change, which holds the tenant lock."""


def prepare_nothing(_connection: Connection) -> None:
    """Change nothing else."""


class IncomingFile(Protocol):
    """A file that is being received. ``size`` is in bytes, ``None`` if unknown."""

    name: str
    source: ByteSource
    size: int | None

    def check(self, checksum: str) -> None:
        """Raise if the SHA-256 of the content differs from the digest that the client declared."""


@dataclass(slots=True, eq=False, repr=False)
class FileWriter:
    """Creates files from blobs, and replaces their content; updates quota and events.

    Args:
        access: checks permissions.
        destinations: finds the places of new files.
        rules: checks uploads before their content is received.
        events: records changes of files.
    """

    access: AccessControl
    destinations: Destinations
    rules: UploadRules
    events: FileEvents
    _tree: Tree
    _blobs: BlobService
    _quota: Quota
    _inspection: ContentInspection
    _versions: VersionChanges
    _guard: RemovalGuard

    def inspect(self, caller: AnyCaller, received: ReceivedBlob, name: str) -> ReceivedBlob:
        """Have received content scanned before :meth:`commit`, outside of transactions.

        Raises:
            UnsupportedMediaType: files of its type are not accepted.
            ContentInfected, ContentUnscannable, ApiError: a content scanner refuses the content.
        """
        if not self._inspection.is_enabled:
            return received
        media_type = received.media_type or self.rules.detect_type(received.head, name)
        return self._inspection.inspect(caller, received, name, media_type)

    def commit_content(self, connection: Connection, received: ReceivedBlob, name: str) -> FileContent:
        """Commit a received blob with its scan state, and return it as the content of a file.

        Raises:
            UnsupportedMediaType: files of its type are not accepted.
        """
        blob = received.blob
        media_type = received.media_type or self.rules.detect_type(received.head, name)
        self._blobs.commit(connection, blob)
        self._inspection.record(connection, received)
        scan = self._inspection.get_state(received)
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
        place = self.destinations.parent_ref(connection, caller, target.tenant_id, target.parent_id)
        if target.on_conflict is OnConflict.REPLACE:
            existing = self._tree.find_child(connection, target.folder_id, target.name)
            if existing and not self.destinations.hidden_names.hides(connection, caller, existing):
                return self.replace(connection, caller, existing, content, reserved=reserved)
        node = self._add(connection, caller, place, target, content)
        self._quota.use(connection, node.tenant_id, content.size, reserved=reserved)
        self.events.record(connection, FileAction.CREATED, caller, node)
        return NodeView(node, get_ceiling(caller))

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
        place = self.destinations.parent_ref(connection, caller, tenant_id, parent_id)
        is_numbered = is_numbered or self.destinations.hidden_names.has(
            connection, caller, (tenant_id, place.parent_id), name
        )
        add = self._tree.add_numbered if is_numbered else self._tree.add
        node = add(connection, caller, place, name, None)
        self.events.record(connection, FileAction.FOLDER_CREATED, caller, node)
        return node

    def _with_folders(self, connection: Connection, caller: AnyCaller, target: Target) -> Target:
        """Create the missing folders of a destination, and return the one in the last of them.

        The tenant lock keeps concurrent uploads from creating the same folder twice.
        """
        target = self.destinations.descend(connection, caller, target)
        parent_id = target.parent_id
        for name in target.folders:
            parent_id = self.add_folder(connection, caller, target.tenant_id, parent_id, name).id
        return replace(target, parent_id=parent_id, folders=())

    def _add(
        self,
        connection: Connection,
        caller: AnyCaller,
        place: ParentRef,
        target: Target,
        content: FileContent,
    ) -> Node:
        """Create a file; with a number if its name is taken, by the rule or by a hidden node."""
        try:
            return self._tree.add(connection, caller, place, target.name, content)
        except errors.NameConflict:
            is_renamed = target.on_conflict is OnConflict.RENAME
            if not is_renamed and not self.destinations.is_hidden(connection, caller, target):
                raise
        return self._tree.add_numbered(connection, caller, place, target.name, content)

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
        node = self._tree.replace_content(connection, caller, existing, content, archives=archives)
        freed, blob_keys = existing.size, [existing.blob_key]
        if archives:
            keep = rules.settings.keep_versions
            removed = self._versions.archive(connection, caller.user_id, existing, keep)
            freed, blob_keys = sum(each.size for each in removed), [each.blob_key for each in removed]
        # One change, because content may only fit in the place of what it replaces; see freed().
        self._quota.use(connection, existing.tenant_id, content.size - freed, reserved=reserved)
        self._blobs.release(connection, blob_keys)
        self.events.record(connection, FileAction.REPLACED, caller, node)
        return NodeView(node, view.permission)
