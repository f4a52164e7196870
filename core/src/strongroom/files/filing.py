"""Puts received bytes into the tree, within the caller's transaction: the rules of every way in."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatch
from typing import Protocol

from sqlalchemy import Connection

from strongroom.errors import (
    NameConflict,
    NotAFolder,
    PayloadTooLarge,
    UnsupportedMediaType,
)
from strongroom.files.access import AccessControl, NodeView
from strongroom.files.events.models import FileAction
from strongroom.files.events.recorder import FileEvents
from strongroom.files.models import FOREVER, Node, NodeType, Permission
from strongroom.files.tree import FileContent, ParentRef, Tree
from strongroom.identity import Identity
from strongroom.media_types import sniff
from strongroom.plugin_api.storage import ByteSource
from strongroom.storage.models import Released
from strongroom.storage.service import BlobService, ReceivedBlob
from strongroom.tenants.models import Role
from strongroom.tenants.quota import Quota


class OnConflict(StrEnum):
    """What to do when the name is taken."""

    FAIL = "fail"
    RENAME = "rename"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a file is to go. ``parent_id`` is ``None`` at the top; ``name`` is in its one form."""

    tenant_id: str
    parent_id: str | None
    name: str
    on_conflict: OnConflict

    @property
    def folder_id(self) -> str:
        """The node that the file is to lie in: the tenant's root, at the top."""
        return self.parent_id or self.tenant_id


class IncomingFile(Protocol):
    """A file on its way in."""

    name: str
    source: ByteSource
    size: int | None

    def check(self, checksum: str) -> None:
        """Raise if the content is not what was announced."""


class Filing:
    """Makes bytes files, gives files other content, and removes nodes with the space they take.

    Args:
        access: who may do what.
        tree: changes nodes.
        blobs: keeps bytes.
        space: how much tenants use.
        events: records changes of files.
        max_file_bytes: the largest file that is accepted.
        allowed_types: patterns of the media types that are accepted; none: all are.
    """

    def __init__(
        self,
        access: AccessControl,
        tree: Tree,
        blobs: BlobService,
        space: Quota,
        events: FileEvents,
        *,
        max_file_bytes: int,
        allowed_types: Sequence[str] = (),
    ) -> None:
        self._access = access
        self._tree = tree
        self._blobs = blobs
        self._space = space
        self.events = events
        self.max_file_bytes = max_file_bytes
        self._allowed_types = allowed_types

    def admit(self, connection: Connection, identity: Identity, target: Target, size: int) -> None:
        """Refuse before the bytes are sent what would be refused after.

        Args:
            connection: the caller's transaction.
            identity: the caller.
            target: where the file is to go.
            size: how many bytes are known to come.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed.
            StorageFull: the tenant's quota would be exceeded.
        """
        self.require_folder(connection, identity, target.tenant_id, target.parent_id)
        taken = self._tree.find_child(connection, target.folder_id, target.name)
        if taken is not None and not _may_stay_beside(taken, target.on_conflict):
            raise NameConflict.of_field("name", "taken", NameConflict.message)
        if size > self.max_file_bytes:
            raise PayloadTooLarge
        replaced = taken.size if taken and target.on_conflict is OnConflict.REPLACE else 0
        self._space.require(connection, target.tenant_id, size - replaced)

    def judge(self, head: bytes, name: str) -> str:
        """Return the media type of content by its beginning.

        Raises:
            UnsupportedMediaType: files of the type are not accepted.
        """
        media_type = sniff(head, name)
        essence = media_type.partition(";")[0]
        if self._allowed_types and not any(fnmatch(essence, item) for item in self._allowed_types):
            raise UnsupportedMediaType(f"Files of the type {essence} are not accepted here.")
        return media_type

    def store(
        self,
        connection: Connection,
        identity: Identity,
        target: Target,
        received: ReceivedBlob,
        *,
        reserved: int = 0,
    ) -> NodeView:
        """Make received bytes a file, or the content of the one they replace.

        Args:
            connection: the caller's transaction.
            identity: the caller.
            target: where the file goes.
            received: its bytes.
            reserved: how many bytes of the tenant's space were reserved for it.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
            NameConflict: the name is taken.
            UnsupportedMediaType: files of its type are not accepted.
            StorageFull: the tenant's quota would be exceeded.
        """
        self._access.memberships.lock_tenant(connection, target.tenant_id)
        place = self.place(connection, identity, target.tenant_id, target.parent_id)
        blob = received.blob
        media_type = received.media_type or self.judge(received.head, target.name)
        content = FileContent(blob.key, blob.size, media_type, blob.checksum)
        self._blobs.keep(connection, blob)
        if target.on_conflict is OnConflict.REPLACE:
            existing = self._tree.find_child(connection, place.parent_id, target.name)
            if existing is not None:
                return self.replace(connection, identity, existing, content, reserved=reserved)
        renames = target.on_conflict is OnConflict.RENAME
        add = self._tree.add_numbered if renames else self._tree.add
        node = add(connection, place, target.name, identity.user_id, content)
        self._space.use(connection, place.tenant_id, content.size, reserved=reserved)
        self.events.record(connection, FileAction.CREATED, identity, node)
        return NodeView(node, Permission.MANAGE)

    def replace(
        self,
        connection: Connection,
        identity: Identity,
        existing: Node,
        content: FileContent,
        *,
        reserved: int = 0,
    ) -> NodeView:
        """Give a file content that is kept already.

        Raises:
            Forbidden: the caller may not write to it.
            NameConflict: it is a folder.
            StorageFull: the tenant's quota would be exceeded.
        """
        if existing.blob_key is None:
            raise NameConflict.of_field("name", "taken", NameConflict.message)
        view = self._access.require(
            connection, identity, existing.tenant_id, existing.id, Permission.WRITE
        )
        node = self._tree.replace_content(connection, existing, content)
        self._blobs.release(connection, [existing.blob_key])
        growth = content.size - existing.size
        self._space.use(connection, existing.tenant_id, growth, reserved=reserved)
        self.events.record(connection, FileAction.REPLACED, identity, node)
        return NodeView(node, view.permission)

    def remove(self, connection: Connection, identity: Identity, node: Node) -> list[Released]:
        """Remove a node and all below it, and return what bytes nothing refers to any more."""
        removed = self._tree.remove(connection, node)
        self._space.use(connection, node.tenant_id, -removed.size)
        self.events.record(connection, FileAction.DELETED, identity, node)
        return self._blobs.release(connection, removed.blob_keys)

    def require_folder(
        self, connection: Connection, identity: Identity, tenant_id: str, parent_id: str | None
    ) -> None:
        """Pass if the caller may put something into the folder, or at the top.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
        """
        self._require_folder(connection, identity, tenant_id, parent_id)

    def _require_folder(
        self, connection: Connection, identity: Identity, tenant_id: str, parent_id: str | None
    ) -> Role:
        if parent_id is None:
            return self._access.memberships.require_member(connection, tenant_id, identity)
        view, role = self._access.require_with_role(
            connection, identity, tenant_id, parent_id, Permission.WRITE
        )
        if view.node.type != NodeType.FOLDER:
            raise NotAFolder
        return role

    def place(
        self, connection: Connection, identity: Identity, tenant_id: str, parent_id: str | None
    ) -> ParentRef:
        """Return the place of a new node in the folder, or at the top.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
        """
        role = self._require_folder(connection, identity, tenant_id, parent_id)
        if parent_id is None:
            # Every member creates at the top, and grants on the root do not exist.
            self._tree.ensure_root(connection, tenant_id, identity.user_id)
            return ParentRef(tenant_id, tenant_id)
        ends = self._access.ends(connection, parent_id, identity.user_id)
        writable_until = FOREVER if role is Role.ADMIN else ends.write
        return ParentRef(tenant_id, parent_id, ends.read, writable_until)


def _may_stay_beside(taken: Node, on_conflict: OnConflict) -> bool:
    """Return whether a file may come where the name is taken."""
    if on_conflict is OnConflict.REPLACE:
        return taken.type == NodeType.FILE
    return on_conflict is OnConflict.RENAME
