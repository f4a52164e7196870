"""Explains permissions on files and folders: the grants that they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    Table,
    bindparam,
    cast,
    null,
    select,
    text,
    union_all,
)

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.models import (
    Permission,
    folders_around,
    grants,
    group_grants,
    nodes,
)
from strongroom.content.tenants.groups.members import group_name, is_in_group
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Name
from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import Statement

_NO_GROUP_ID: Final[ColumnElement[Any]] = cast(null(), Id).label("group_id")
_NO_GROUP_NAME: Final[ColumnElement[Any]] = cast(null(), Name).label("group_name")


@dataclass(frozen=True, slots=True)
class PathGrant:
    """A grant on a node or on one of its ancestors, in force or expired.

    ``height`` is 0 for the node, 1 for its parent folder, and so on. Without a group it is the user's.
    """

    node_id: str
    node_name: str
    permission: Permission
    expires_at: int | None
    height: int
    group_id: str | None
    group_name: str | None


def _on_path(
    table: Table, is_theirs: ColumnElement[bool], group: Sequence[ColumnElement[Any]]
) -> Select[Any]:
    path = folders_around()
    columns = (table.c.node_id, nodes.c.name, table.c.permission, table.c.expires_at, path.c.height)
    query: Select[Any] = select(*columns, *group).join_from(table, path, table.c.node_id == path.c.id)
    return query.join(nodes, nodes.c.id == table.c.node_id).where(is_theirs)


def _grants_on_path() -> CompoundSelect[Any]:
    """Return the query for the grants of a user, and of the user's groups, on a node and its ancestors.

    The nearest come first, and on one node the user's own grant.
    """
    own = _on_path(grants, grants.c.user_id == bindparam("user_id"), [_NO_GROUP_ID, _NO_GROUP_NAME])
    group_id = group_grants.c.group_id
    of_groups = _on_path(group_grants, is_in_group(group_id), [group_id, group_name(group_id)])
    # Both databases accept an order of the first part's columns by number.
    return union_all(own, of_groups).order_by(text("5, 7 NULLS FIRST"))


def _path_grant(row: Row) -> PathGrant:
    node_id, node_name, permission, *others = row
    return PathGrant(node_id, node_name, Permission(permission), *others)


_ON_PATH: Final = Statement(_grants_on_path(), _path_grant)


def _height_of_folder() -> Select[Any]:
    path = folders_around()
    return select(path.c.height).where(path.c.id == bindparam("folder_id"))


_HEIGHT_OF_FOLDER: Final = Statement(_height_of_folder())


@dataclass(frozen=True, slots=True)
class Reason:
    """A grant on a node or on one of its ancestors, to the user or to a group of the user.

    ``node_name`` is ``None`` if the caller cannot see that folder.
    """

    node_id: str
    node_name: str | None
    permission: Permission
    expires_at: int | None
    in_force: bool
    group_id: str | None
    group_name: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A user's permission on a node, and its sources: the tenant role and grants, nearest first."""

    user_id: str
    role: Role | None
    permission: Permission
    reasons: Sequence[Reason]


@dataclass(slots=True, eq=False, repr=False)
class AccessExplainer:
    """Reports other users' permissions on a node to users who manage it."""

    _database: Database
    _access: AccessControl

    def explain(self, caller: AnyCaller, tenant_id: str, node_id: str, user_id: str) -> Explanation:
        """Return a user's permission on a node and the grants it comes from.

        The report on a non-member is empty, so it does not reveal whether the user exists.

        Raises:
            Forbidden: the caller is not a member of the tenant, or does not manage the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            own = self._access.find(connection, caller, tenant_id, node_id)
            own.require(operations.EXPLAIN_ACCESS)
            seen = self._height_seen(connection, own.role, caller, node_id)
            subject = self._access.find_for_user(connection, user_id, tenant_id, node_id)
            path_grants = _ON_PATH.all(connection, {"node_id": node_id, "user_id": user_id})
            if own.folder_id is not None:
                # A caller whose access key reaches only a folder learns nothing about those around it.
                on_path = {"node_id": node_id, "folder_id": own.folder_id}
                highest = _HEIGHT_OF_FOLDER.scalar(connection, on_path)
                path_grants = [grant for grant in path_grants if grant.height <= highest]
            reasons = [self._reason(grant, seen) for grant in path_grants]
            return Explanation(user_id, subject.role, subject.permission, reasons)

    def _height_seen(
        self, connection: Connection, role: Role | None, caller: AnyCaller, node_id: str
    ) -> float:
        """Return the height of the topmost ancestor of a node that the caller can see."""
        if role is Role.ADMIN:
            # Administrators see all ancestors.
            return float("inf")
        mine = _ON_PATH.all(connection, {"node_id": node_id, "user_id": caller.user_id})
        # Never empty: a caller who manages the node without being an administrator has a grant in
        # force on the path.
        return max(grant.height for grant in mine if self._access.is_unexpired(grant.expires_at))

    def _reason(self, grant: PathGrant, seen: float) -> Reason:
        return Reason(
            grant.node_id,
            # The name of an ancestor that the caller cannot see is not revealed.
            grant.node_name if grant.height <= seen else None,
            grant.permission,
            grant.expires_at,
            self._access.is_unexpired(grant.expires_at),
            grant.group_id,
            grant.group_name,
        )
