"""Names of nodes that a caller cannot see, at the top level of a tenant.

Names are unique in a folder, and the top level is one folder for all members, who do not see each
other's nodes there. A refusal would reveal the name of another member's node, and the caller could not
see its reason. So the caller's node gets a number, as with ``onConflict=rename``.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.models import Node, Permission
from strongroom.content.nodes.tree import Tree
from strongroom.foundation.caller import AnyCaller


@dataclass(slots=True, eq=False, repr=False)
class HiddenNames:
    """Decides which taken names a caller cannot see."""

    _access: AccessControl
    _tree: Tree

    def has(self, connection: Connection, caller: AnyCaller, place: tuple[str, str], name: str) -> bool:
        """Return whether a node that the caller cannot see has a name in a folder.

        Args:
            connection: the caller's transaction.
            caller: the caller, who may write to the folder.
            place: the ids of the tenant, which is also its top level's, and of the folder.
        """
        tenant_id, folder_id = place
        if folder_id != tenant_id:
            return False
        return self.hides(connection, caller, self._tree.find_child(connection, folder_id, name))

    def hides(self, connection: Connection, caller: AnyCaller, taken: Node | None) -> bool:
        """Return whether a node exists that the caller cannot see, in a folder where the caller writes.

        In another folder than the top level, who may write sees all nodes.
        """
        if taken is None or taken.parent_id != taken.tenant_id:
            return False
        access = self._access.find(connection, caller, taken.tenant_id, taken.id)
        return access.permission is Permission.NONE
