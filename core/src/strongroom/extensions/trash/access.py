"""Which entries of the trash a caller sees."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.trash import Trash, TrashedNode
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.errors import Forbidden, NotFound


@dataclass(slots=True, eq=False, repr=False)
class TrashAccess:
    """Members see what they deleted, administrators of the tenant everything."""

    _access: AccessControl
    _trash: Trash

    def seen_user(self, connection: Connection, caller: AnyCaller, tenant_id: str) -> str | None:
        """Return the user whose entries the caller sees; ``None``: all users' entries.

        Raises:
            Forbidden: the caller is not a member of the tenant, or has an access key of a folder.
        """
        root = self._access.find(connection, caller, tenant_id, None)
        role = root.require_member()
        # Nodes in the trash are in no folder.
        if root.folder_id is not None:
            raise Forbidden
        return None if role is Role.ADMIN else caller.user_id

    def find(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, node_id: str
    ) -> TrashedNode:
        """Return the entry of a node.

        Raises:
            Forbidden: the caller is not a member of the tenant, or has an access key of a folder.
            NotFound: the caller sees no such entry.
        """
        user_id = self.seen_user(connection, caller, tenant_id)
        trashed = self._trash.find(connection, tenant_id, node_id)
        if trashed is None or user_id not in (None, trashed.entry.trashed_by):
            raise NotFound
        return trashed
