"""Puts files and folders into tenants' spaces, and gives them out."""

from sqlalchemy import Connection

from strongroom.database import Database
from strongroom.errors import (
    NotAFile,
)
from strongroom.files.access import AccessControl, NodeView
from strongroom.files.events.models import FileAction
from strongroom.files.filing import Filing, IncomingFile, OnConflict, Target
from strongroom.files.models import Node, Permission
from strongroom.files.names import normalize_name
from strongroom.files.tree import Tree, require_revision
from strongroom.identity import Identity
from strongroom.plugin_api.storage import ByteStream
from strongroom.storage.service import BlobService

_REMOVED_AT_ONCE = 20


class FileService:
    """Files and folders of tenants.

    Args:
        database: where nodes are kept.
        access: who may do what.
        tree: changes nodes.
        blobs: keeps bytes.
        filing: puts bytes into the tree.
    """

    def __init__(
        self,
        database: Database,
        access: AccessControl,
        tree: Tree,
        blobs: BlobService,
        filing: Filing,
    ) -> None:
        self._database = database
        self._access = access
        self._tree = tree
        self._blobs = blobs
        self._filing = filing

    @property
    def max_file_bytes(self) -> int:
        """The largest file that is accepted."""
        return self._filing.max_file_bytes

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
            self._access.memberships.lock_tenant(connection, tenant_id)
            place = self._filing.place(connection, identity, tenant_id, parent_id)
            add = self._tree.add_numbered if on_conflict is OnConflict.RENAME else self._tree.add
            node = add(connection, place, name, identity.user_id, None)
            self._filing.events.record(connection, FileAction.FOLDER_CREATED, identity, node)
            return NodeView(node, Permission.MANAGE)

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
        key = self._database.write_together(
            lambda connection: self._expect(connection, identity, target, incoming.size or 0),
            durable=False,
        )
        received = self._blobs.receive(
            incoming.source,
            key=key,
            size=incoming.size,
            max_bytes=self._filing.max_file_bytes,
            inspect=lambda head: self._filing.judge(head, target.name),
        )
        try:
            incoming.check(received.blob.checksum)
            return self._database.write_together(
                lambda connection: self._filing.store(connection, identity, target, received)
            )
        except BaseException:
            self._blobs.discard(received.blob.key)
            raise

    def _expect(self, connection: Connection, identity: Identity, target: Target, size: int) -> str:
        self._filing.admit(connection, identity, target, size)
        return self._blobs.expect(connection)

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
            self._access.memberships.lock_tenant(connection, tenant_id)
            view = self._access.require(connection, identity, tenant_id, node_id, Permission.MANAGE)
            require_revision(view.node, revision)
            released = self._filing.remove(connection, identity, view.node)
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
