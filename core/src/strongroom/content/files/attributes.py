"""Reads and changes the attributes of files and folders for plugins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.attributes import change_attributes, find_attributes
from strongroom.content.nodes.tree import Tree
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database


@dataclass(slots=True, eq=False, repr=False)
class AttributeService:
    """The attributes of files and folders; see :mod:`strongroom.content.nodes.attributes`."""

    _database: Database
    _access: AccessControl
    _tree: Tree

    def find(self, plugin: str, node_ids: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the attributes of nodes that the caller may read, by node and name."""
        if not node_ids:
            return {}
        with self._database.read() as connection:
            return find_attributes(connection, plugin, node_ids)

    def change(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        plugin: str,
        changes: Mapping[str, str | None],
    ) -> None:
        """Set attributes of a node, and remove the ones with the value ``None``.

        The node keeps its revision, because its content and name are the same.

        Raises:
            ValidationFailed: a name or value cannot be stored, or they are too many or too long.
            Forbidden: the caller is not a member of the tenant, or may not write to the node.
            NotFound: the tenant has no such node.
            FileLocked: a lock forbids it.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            self._access.require(connection, caller, tenant_id, node_id, operations.SET_ATTRIBUTES)
            self._tree.locks.require(connection, caller, tenant_id, [node_id])
            change_attributes(connection, plugin, node_id, changes)
