"""Puts files and folders into tenants' spaces, and gives them out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatch
from typing import Protocol

from sqlalchemy import Connection

from strongroom.database import Database
from strongroom.errors import (
    NameConflict,
    NotAFile,
    NotAFolder,
    PayloadTooLarge,
    UnsupportedMediaType,
)
from strongroom.files.access import AccessControl, NodeView
from strongroom.files.models import Node, NodeType, Permission
from strongroom.files.names import normalize_name
from strongroom.files.tree import FileContent, Place, Tree, require_revision
from strongroom.identity import Identity
from strongroom.media_types import sniff
from strongroom.plugin_api.storage import ByteSource, ByteStream
from strongroom.storage.models import Released
from strongroom.storage.service import BlobService, ReceivedBlob
from strongroom.tenants.service import TenantService

_REMOVED_AT_ONCE = 20


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


class FileService:
    """Files and folders of tenants.

    Args:
        database: where nodes are kept.
        access: who may do what.
        tree: changes nodes.
        blobs: keeps bytes.
        tenants: knows the space they have.
        max_file_bytes: the largest file that is accepted.
        allowed_types: patterns of the media types that are accepted; none: all are.
    """

    def __init__(
        self,
        database: Database,
        access: AccessControl,
        tree: Tree,
        blobs: BlobService,
        tenants: TenantService,
        *,
        max_file_bytes: int,
        allowed_types: Sequence[str] = (),
    ) -> None:
        self._database = database
        self._access = access
        self._tree = tree
        self._blobs = blobs
        self._tenants = tenants
        self.max_file_bytes = max_file_bytes
        self._allowed_types = allowed_types

    def create_folder(
        self,
        identity: Identity,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        on_conflict: OnConflict,
    ) -> NodeView:
        """Make a folder in a folder, or at the top.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
            NameConflict: the name is taken.
        """
        name = normalize_name(name)
        with self._database.write() as connection:
            self._access.memberships.take_turns(connection, tenant_id)
            place = self._place(connection, identity, tenant_id, parent_id)
            add = self._tree.add_numbered if on_conflict is OnConflict.RENAME else self._tree.add
            return NodeView(add(connection, place, name, identity.user_id, None), Permission.MANAGE)

    def upload(
        self,
        identity: Identity,
        tenant_id: str,
        parent_id: str | None,
        incoming: IncomingFile,
        on_conflict: OnConflict,
    ) -> NodeView:
        """Store a file in a folder, or at the top. It is durable when this returns.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed.
            UnsupportedMediaType: files of its type are not accepted.
            DigestMismatch: what arrived is not what was announced.
            StorageFull: there is no room for it.
        """
        target = Target(tenant_id, parent_id, normalize_name(incoming.name), on_conflict)
        with self._database.read() as connection:
            self.admit(connection, identity, target, incoming.size or 0)
        received = self._blobs.receive(
            incoming.source,
            size=incoming.size,
            max_bytes=self.max_file_bytes,
            inspect=lambda head: self.judge(head, target.name),
        )
        try:
            incoming.check(received.blob.checksum)
            with self._database.write() as connection:
                return self.store(connection, identity, target, received)
        except BaseException:
            self._blobs.discard(received.blob.key)
            raise

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
        self._tenants.space.require(connection, target.tenant_id, size - replaced)

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
        self._access.memberships.take_turns(connection, target.tenant_id)
        place = self._place(connection, identity, target.tenant_id, target.parent_id)
        blob = received.blob
        media_type = self.judge(received.head, target.name)
        content = FileContent(blob.key, blob.size, media_type, blob.checksum)
        self._blobs.keep(connection, blob)
        if target.on_conflict is OnConflict.REPLACE:
            existing = self._tree.find_child(connection, place.parent_id, target.name)
            if existing is not None:
                return self.replace(connection, identity, existing, content, reserved=reserved)
        renames = target.on_conflict is OnConflict.RENAME
        add = self._tree.add_numbered if renames else self._tree.add
        node = add(connection, place, target.name, identity.user_id, content)
        self._tenants.space.use(connection, place.tenant_id, content.size, reserved=reserved)
        return NodeView(node, Permission.MANAGE)

    def get(self, identity: Identity, tenant_id: str, node_id: str) -> NodeView:
        """Return a node.

        Raises:
            Forbidden: the caller is no member, or may not read it.
            NotFound: the tenant holds no such node.
        """
        with self._database.read() as connection:
            return self._access.require(connection, identity, tenant_id, node_id, Permission.READ)

    def delete(
        self, identity: Identity, tenant_id: str, node_id: str, revision: int | None = None
    ) -> None:
        """Remove a node and all below it.

        Raises:
            Forbidden: the caller is no member, or does not manage it.
            NotFound: the tenant holds no such node.
            RevisionConflict: it has changed since the revision given.
        """
        with self._database.write() as connection:
            self._access.memberships.take_turns(connection, tenant_id)
            view = self._access.require(connection, identity, tenant_id, node_id, Permission.MANAGE)
            require_revision(view.node, revision)
            released = self.remove(connection, view.node)
        # The answer does not wait for a large subtree's bytes; the collection takes the rest.
        self._blobs.remove(released[:_REMOVED_AT_ONCE])

    def remove(self, connection: Connection, node: Node) -> list[Released]:
        """Remove a node and all below it, and return what bytes nothing refers to any more."""
        removed = self._tree.remove(connection, node)
        self._tenants.space.use(connection, node.tenant_id, -removed.size)
        return self._blobs.release(connection, removed.blob_keys)

    def open(self, node: Node, start: int, length: int) -> ByteStream:
        """Open a range of a file's bytes.

        Raises:
            NotAFile: the node is a folder.
        """
        if node.blob_key is None:
            raise NotAFile
        return self._blobs.open(node.blob_key, start, length)

    def _place(
        self, connection: Connection, identity: Identity, tenant_id: str, parent_id: str | None
    ) -> Place:
        self.require_folder(connection, identity, tenant_id, parent_id)
        if parent_id is None:
            self._tree.ensure_root(connection, tenant_id, identity.user_id)
        return Place(tenant_id, parent_id or tenant_id)

    def require_folder(
        self, connection: Connection, identity: Identity, tenant_id: str, parent_id: str | None
    ) -> None:
        """Pass if the caller may put something into the folder, or at the top.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
        """
        if parent_id is None:
            self._access.memberships.require_member(connection, tenant_id, identity)
            return
        view = self._access.require(connection, identity, tenant_id, parent_id, Permission.WRITE)
        if view.node.type != NodeType.FOLDER:
            raise NotAFolder

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
        self._tenants.space.use(connection, existing.tenant_id, growth, reserved=reserved)
        return NodeView(node, view.permission)


def _may_stay_beside(taken: Node, on_conflict: OnConflict) -> bool:
    """Return whether a file may come where the name is taken."""
    if on_conflict is OnConflict.REPLACE:
        return taken.type == NodeType.FILE
    return on_conflict is OnConflict.RENAME
