"""Where a new file or folder goes: existing and missing folders of a path, taken and hidden names."""

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, true

from strongroom.content.nodes.access import AccessControl, NodeAccess, NodeAccessQuery
from strongroom.content.nodes.grant_ends import Ends
from strongroom.content.nodes.hidden_names import HiddenNames
from strongroom.content.nodes.locks import has_lock
from strongroom.content.nodes.models import FOREVER, Node, NodeType, nodes
from strongroom.content.nodes.names import numbered
from strongroom.content.nodes.tree import ParentRef, Tree
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.quota import usage
from strongroom.foundation import errors
from strongroom.foundation.caller import AnyCaller


def _with_checks(query: Select[Any]) -> Select[Any]:
    sibling, used = nodes.alias("taken"), usage()
    is_taken = (sibling.c.parent_id == bindparam("node_id")) & (sibling.c.name == bindparam("name"))
    columns = query.add_columns(sibling.c.type, sibling.c.id, has_lock(), *used.c)
    return columns.outerjoin(sibling, is_taken).outerjoin(used, true())


_CHECKS: Final = NodeAccessQuery(_with_checks)
"""The access to a folder, the node that has the name, whether there are locks, and the usage."""

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


@dataclass(slots=True, eq=False, repr=False)
class Destinations:
    """Finds the places of new nodes.

    Args:
        hidden_names: decides which taken names a caller cannot see.
    """

    _access: AccessControl
    _tree: Tree
    hidden_names: HiddenNames

    def parent_ref(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, parent_id: str | None
    ) -> ParentRef:
        """Return the parent reference for a new node in the folder, or at the top level.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
        """
        access = self._access.require_parent(connection, caller, tenant_id, parent_id)
        if access.node is None:
            self._tree.add_root(connection, tenant_id, caller.user_id)
        return _parent_ref(tenant_id, parent_id, access)

    def find_parent(
        self, connection: Connection, caller: AnyCaller, target: Target
    ) -> tuple[Target, NodeAccess]:
        """Return a destination as of :meth:`descend`, and the access to its parent, without a lock."""
        if target.folders:
            # If a folder is deleted concurrently after it was found, the upload creates it again.
            with suppress(errors.NotFound):
                return self._find_parent(connection, caller, target)
        return self._find_parent(connection, caller, target)

    def _find_parent(
        self, connection: Connection, caller: AnyCaller, target: Target
    ) -> tuple[Target, NodeAccess]:
        parent = self.descend(connection, caller, target) if target.folders else target
        access = self._access.require_parent(
            connection, caller, parent.tenant_id, parent.parent_id, _CHECKS, name=parent.name
        )
        return parent, access

    def descend(self, connection: Connection, caller: AnyCaller, target: Target) -> Target:
        """Return a destination relative to the last of its folders that exists.

        Each folder must be one that the caller may write to, so that names of others are not revealed.
        """
        self._access.require_parent(connection, caller, target.tenant_id, target.parent_id)
        while target.folders:
            name, folder = self._folder_named(connection, caller, target)
            if folder is None:
                return replace(target, folders=(name, *target.folders[1:]))
            self._access.require_parent(connection, caller, target.tenant_id, folder.id)
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

    def is_hidden(self, connection: Connection, caller: AnyCaller, target: Target) -> bool:
        """Return whether a node that the caller cannot see has the name of a destination."""
        place = (target.tenant_id, target.folder_id)
        return self.hidden_names.has(connection, caller, place, target.name)


def _parent_ref(tenant_id: str, parent_id: str | None, access: NodeAccess) -> ParentRef:
    granted = Ends(*access.more[:3])
    # Neither members' permission at the top level nor administrators' permission expires.
    is_permanent = parent_id is None or access.role is Role.ADMIN
    writable_until = FOREVER if is_permanent else granted.write
    has_locks = bool(access.more[3])
    return ParentRef(tenant_id, parent_id or tenant_id, granted.read, writable_until, has_locks)
