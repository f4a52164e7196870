"""Puts files and folders into tenants' spaces, and gives them out."""

from enum import StrEnum
from typing import Protocol

from sqlalchemy import Connection

from strongroom.database import Database
from strongroom.errors import NameConflict, NotAFile, NotAFolder
from strongroom.files.access import AccessControl, NodeView
from strongroom.files.media_types import sniff
from strongroom.files.models import Node, NodeType, Permission
from strongroom.files.names import normalize_name
from strongroom.files.tree import FileContent, Place, Tree
from strongroom.identity import Identity
from strongroom.plugin_api.storage import ByteSource, ByteStream
from strongroom.storage.service import BlobService, ReceivedBlob
from strongroom.tenants.service import TenantService

_REMOVED_AT_ONCE = 20


class OnConflict(StrEnum):
    """What to do when the name is taken."""

    FAIL = "fail"
    RENAME = "rename"
    REPLACE = "replace"


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
    ) -> None:
        self._database = database
        self._access = access
        self._tree = tree
        self._blobs = blobs
        self._tenants = tenants
        self.max_file_bytes = max_file_bytes

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
            DigestMismatch: what arrived is not what was announced.
            StorageFull: there is no room for it.
        """
        name = normalize_name(incoming.name)
        with self._database.read() as connection:
            self._refuse_early(connection, identity, tenant_id, parent_id, name, on_conflict)
        received = self._blobs.receive(
            incoming.source, size=incoming.size, max_bytes=self.max_file_bytes
        )
        try:
            incoming.check(received.blob.checksum)
            with self._database.write() as connection:
                place = self._place(connection, identity, tenant_id, parent_id)
                return self._store(connection, identity, place, name, received, on_conflict)
        except BaseException:
            self._blobs.discard(received.blob.key)
            raise

    def get(self, identity: Identity, tenant_id: str, node_id: str) -> NodeView:
        """Return a node.

        Raises:
            Forbidden: the caller is no member, or may not read it.
            NotFound: the tenant holds no such node.
        """
        with self._database.read() as connection:
            return self._access.require(connection, identity, tenant_id, node_id, Permission.READ)

    def delete(self, identity: Identity, tenant_id: str, node_id: str) -> None:
        """Remove a node and all below it.

        Raises:
            Forbidden: the caller is no member, or does not manage it.
            NotFound: the tenant holds no such node.
            RevisionConflict: something was put into the subtree at this moment.
        """
        with self._database.write() as connection:
            view = self._access.require(connection, identity, tenant_id, node_id, Permission.MANAGE)
            removed = self._tree.remove(connection, view.node)
            released = self._blobs.release(connection, removed.blob_keys)
            self._tenants.use_space(connection, tenant_id, -removed.size)
        # The answer does not wait for a large subtree's bytes; the collection takes the rest.
        self._blobs.remove(released[:_REMOVED_AT_ONCE])

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
        self._require_folder(connection, identity, tenant_id, parent_id)
        if parent_id is None:
            self._tree.ensure_root(connection, tenant_id, identity.user_id)
            return Place(tenant_id, tenant_id, visible_by_grant=False)
        granted = self._access.granted(connection, parent_id, identity.user_id)
        return Place(tenant_id, parent_id, visible_by_grant=granted >= Permission.READ)

    def _require_folder(
        self, connection: Connection, identity: Identity, tenant_id: str, parent_id: str | None
    ) -> None:
        """Pass if the caller may put something into the folder, or at the top."""
        if parent_id is None:
            self._access.memberships.require_member(connection, tenant_id, identity)
            return
        view = self._access.require(connection, identity, tenant_id, parent_id, Permission.WRITE)
        if view.node.type != NodeType.FOLDER:
            raise NotAFolder

    def _refuse_early(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        on_conflict: OnConflict,
    ) -> None:
        """Refuse before the bytes are sent what would be refused after."""
        self._require_folder(connection, identity, tenant_id, parent_id)
        taken = self._tree.find_child(connection, parent_id or tenant_id, name)
        if taken is not None and (on_conflict is OnConflict.FAIL or _is_kept(taken, on_conflict)):
            raise NameConflict.of_field("name", "taken", NameConflict.message)

    def _store(
        self,
        connection: Connection,
        identity: Identity,
        place: Place,
        name: str,
        received: ReceivedBlob,
        on_conflict: OnConflict,
    ) -> NodeView:
        blob = received.blob
        content = FileContent(blob.key, blob.size, sniff(received.head, name), blob.checksum)
        self._blobs.keep(connection, blob)
        if on_conflict is OnConflict.REPLACE:
            existing = self._tree.find_child(connection, place.parent_id, name)
            if existing is not None:
                return self._replace(connection, identity, existing, content)
        add = self._tree.add_numbered if on_conflict is OnConflict.RENAME else self._tree.add
        node = add(connection, place, name, identity.user_id, content)
        self._tenants.use_space(connection, place.tenant_id, content.size)
        return NodeView(node, Permission.MANAGE)

    def _replace(
        self, connection: Connection, identity: Identity, existing: Node, content: FileContent
    ) -> NodeView:
        if existing.blob_key is None:
            raise NameConflict.of_field("name", "taken", NameConflict.message)
        view = self._access.require(
            connection, identity, existing.tenant_id, existing.id, Permission.WRITE
        )
        node = self._tree.replace_content(connection, existing, content)
        self._blobs.release(connection, [existing.blob_key])
        self._tenants.use_space(connection, existing.tenant_id, content.size - existing.size)
        return NodeView(node, view.permission)


def _is_kept(taken: Node, on_conflict: OnConflict) -> bool:
    return on_conflict is OnConflict.REPLACE and taken.type == NodeType.FOLDER
