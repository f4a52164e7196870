"""Replaces the content of files."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView
from strongroom.content.nodes.file_writer import Attach, FileWriter, IncomingFile, attach_nothing
from strongroom.content.nodes.models import Node, NodeType
from strongroom.content.nodes.tree import require_revision
from strongroom.content.storage.service import BlobService, ReceivedBlob
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.errors import NotAFile


@dataclass(slots=True, eq=False, repr=False)
class ReplacingService:
    """Replaces the content of files; id, name and grants remain.

    Args:
        file_writer: checks size and media type, and updates the node.
    """

    _database: Database
    _access: AccessControl
    _file_writer: FileWriter
    _blobs: BlobService

    def replace_content(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        incoming: IncomingFile,
        revision: int | None,
        attach: Attach = attach_nothing,
    ) -> NodeView:
        """Replace the content of a file; its id, name and grants remain.

        Args:
            attach: called with the file, in the same transaction.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the file.
            NotFound: the tenant has no such node.
            NotAFile: the node is a folder.
            RevisionConflict: the file has changed since the given revision.
            PayloadTooLarge: the content is larger than allowed.
            UnsupportedMediaType: files of its type are not accepted.
            DigestMismatch: the content does not match the declared digest.
            ContentInfected, ContentUnscannable, ApiError: a content scanner refuses the content.
            StorageFull: the tenant's quota or the storage is exhausted.
        """
        with self._database.read() as connection:
            node = self._require_file(connection, caller, tenant_id, node_id, revision)
            self._file_writer.rules.require_space(connection, caller, node, incoming.size or 0)
        received = self._blobs.receive(
            incoming.source,
            size=incoming.size,
            max_bytes=self._file_writer.rules.max_file_bytes,
            inspect=lambda head: self._file_writer.rules.detect_type(head, node.name),
            scope=tenant_id,
        )
        try:
            incoming.check(received.blob.checksum)
            received = self._file_writer.inspect(caller, received, node.name)
            with self._database.write() as connection:
                # Permission and revision may have changed while the content was received.
                self._access.memberships.lock_tenant(connection, tenant_id)
                node = self._require_file(connection, caller, tenant_id, node_id, revision)
                view = self._replace(connection, caller, node, received)
                attach(connection, view.node)
                return view
        except BaseException:
            self._blobs.discard(received.blob.key)
            raise

    def _require_file(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        revision: int | None,
    ) -> Node:
        node = self._access.require(connection, caller, tenant_id, node_id, operations.REPLACE).node
        if node.type != NodeType.FILE:
            raise NotAFile
        require_revision(node, revision)
        return node

    def _replace(
        self, connection: Connection, caller: AnyCaller, node: Node, received: ReceivedBlob
    ) -> NodeView:
        content = self._file_writer.commit_content(connection, received, node.name)
        return self._file_writer.replace(connection, caller, node, content)
