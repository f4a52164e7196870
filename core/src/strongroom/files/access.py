"""Authorization of files and folders: the only module that decides access to a node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    case,
    func,
    literal,
    select,
    true,
)

from strongroom.clock import Clock
from strongroom.database.statements import Statement
from strongroom.errors import Forbidden, NotFound
from strongroom.files.models import FOREVER, Node, Permission, grants, nodes
from strongroom.files.paths import folders_around
from strongroom.identity import Identity
from strongroom.tenants.memberships import Memberships, membership
from strongroom.tenants.models import Role


def is_in_force(now: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a grant has not expired."""
    return grants.c.expires_at.is_(None) | (grants.c.expires_at > now)


def is_at_top(now: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a grant makes a node top-level: the parent folder is not visible."""
    until = grants.c.parent_visible_until
    # `+ 0` keeps the planner on the index that returns the rows in list order.
    return until.is_not(None) & (until + 0 <= now) & is_in_force(now)


def _highest_grant() -> Select[Any]:
    path = folders_around()
    # A correlated subquery per folder keeps the planner from scanning all grants of the user.
    held = select(grants.c.permission).where(
        grants.c.node_id == path.c.id,
        grants.c.user_id == bindparam("user_id"),
        is_in_force(bindparam("now")),
    )
    return select(func.max(held.scalar_subquery())).select_from(path)


def _ends() -> list[ColumnElement[Any]]:
    """Return one column per level: the latest expiry of the grants that include it; 0 means none."""
    end = func.coalesce(grants.c.expires_at, FOREVER)
    return [
        func.coalesce(func.max(case((grants.c.permission >= int(level), end))), 0).label(level.name)
        for level in (Permission.READ, Permission.WRITE, Permission.MANAGE)
    ]


def _ends_of_user() -> Select[Any]:
    path = folders_around()
    # The outer join keeps the planner from starting at the user's grants, which may be many.
    held = (grants.c.node_id == path.c.id) & (grants.c.user_id == bindparam("user_id"))
    return select(*_ends()).select_from(path.outerjoin(grants, held))


def _ends_by_user() -> Select[Any]:
    path = folders_around()
    query = select(grants.c.user_id, *_ends()).join(path, grants.c.node_id == path.c.id)
    return query.group_by(grants.c.user_id)


def _grants_on_path() -> Select[Any]:
    path = folders_around()
    columns = (grants.c.node_id, grants.c.node_name, grants.c.permission, grants.c.expires_at)
    return (
        select(*columns, path.c.height)
        .join(path, grants.c.node_id == path.c.id)
        .where(grants.c.user_id == bindparam("user_id"))
        .order_by(path.c.height)
    )


def effective_permission(role: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for a member's permission on a node.

    Tenant administrators manage every node of their tenant. Other members hold the highest permission
    granted to them on the node or on one of its ancestors. The parameters are ``node_id``, ``user_id``
    and ``now``.
    """
    granted = func.coalesce(_highest_grant().scalar_subquery(), int(Permission.NONE))
    return case((role == Role.ADMIN.value, int(Permission.MANAGE)), else_=granted)


def access_query(caller: FromClause | None = None) -> Select[Any]:
    """Return the query that :func:`decide` evaluates: role, effective permission and node.

    It returns exactly one row. A missing membership or node is NULL, because the error depends on which
    of them is missing. Its parameters are ``tenant_id``, ``node_id``, ``user_id`` and ``now``.

    Args:
        caller: a subquery that identifies the caller, with at most one row; its columns come first.
    """
    # The one-row anchor makes every table optional, so the query returns a row in all cases.
    member, anchor = membership(), select(literal(1).label("one")).subquery("anchor")
    in_tenant = (
        (nodes.c.id == bindparam("node_id"))
        & (nodes.c.tenant_id == bindparam("tenant_id"))
        # Excludes the tenant's root node, which the API never returns.
        & nodes.c.parent_id.is_not(None)
    )
    tables = anchor.outerjoin(member, true()).outerjoin(nodes, in_tenant)
    columns = (member.c.role, effective_permission(member.c.role), *nodes.c)
    if caller is None:
        return select(*columns).select_from(tables)
    return select(*caller.c, *columns).select_from(tables.outerjoin(caller, true()))


def decide(row: Sequence[Any], needed: Permission) -> tuple["NodeView", Role]:
    """Return the node of a row of :func:`access_query`, and the caller's role in its tenant.

    Args:
        row: the row without the caller's columns.
        needed: the permission that the caller must hold.

    Raises:
        Forbidden: the caller is not a member of the tenant, whether or not the tenant exists, or lacks
            the permission.
        NotFound: the tenant has no such node.
    """
    role, permission, *columns = row
    # Membership comes first, so that non-members cannot find out which nodes exist.
    if role is None:
        raise Forbidden
    if columns[0] is None:
        raise NotFound
    if permission < needed:
        raise Forbidden
    return NodeView(Node(*columns), Permission(permission)), Role(role)


_ACCESS: Final = Statement(access_query())
_NODE: Final = Statement(
    select(nodes).where(
        nodes.c.id == bindparam("node_id"),
        nodes.c.tenant_id == bindparam("tenant_id"),
        nodes.c.parent_id.is_not(None),
    )
)
_HIGHEST_GRANT: Final = Statement(_highest_grant())
_GRANTS_ON_PATH: Final = _grants_on_path()
_ENDS_OF_USER: Final = Statement(_ends_of_user())
_ENDS_BY_USER: Final = Statement(_ends_by_user())


@dataclass(frozen=True, slots=True)
class Ends:
    """Expiry of each permission level of a user on a node, in milliseconds since the Unix epoch.

    0 means that the level was never granted, :data:`FOREVER` that it does not expire. An expiry may be
    in the past.
    """

    read: int = 0
    write: int = 0
    manage: int = 0

    def exceed(self, others: "Ends") -> bool:
        """Return whether a level expires later than the same level of the others."""
        return self.read > others.read or self.write > others.write or self.manage > others.manage


ENDLESS: Final = Ends(FOREVER, FOREVER, FOREVER)
"""The expiries of tenant administrators: a role does not expire."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node and one user's permission on it."""

    node: Node
    permission: Permission


@dataclass(frozen=True, slots=True)
class PathGrant:
    """A grant on a node or on one of its ancestors, in force or expired.

    ``height`` is 0 for the node, 1 for its parent folder, and so on.
    """

    node_id: str
    node_name: str
    permission: Permission
    expires_at: int | None
    height: int


class AccessControl:
    """Resolves permissions by the rules of :func:`effective_permission` and :func:`decide`."""

    def __init__(self, clock: Clock, memberships: Memberships) -> None:
        self._clock = clock
        self.memberships = memberships

    def require(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        node_id: str,
        needed: Permission,
    ) -> NodeView:
        """Return a node with the caller's permission on it.

        Raises:
            Forbidden: the caller is not a member of the tenant, or lacks the permission.
            NotFound: the tenant has no such node.
        """
        return self.require_with_role(connection, identity, tenant_id, node_id, needed)[0]

    def require_with_role(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        node_id: str,
        needed: Permission,
    ) -> tuple[NodeView, Role]:
        """Do the same as :meth:`require`, and also return the caller's role in the tenant."""
        parameters = {
            "tenant_id": tenant_id,
            "node_id": node_id,
            "user_id": identity.user_id,
            "now": self._clock.now(),
        }
        # The query always returns one row.
        return decide(_ACCESS.all(connection, parameters)[0], needed)

    def node(self, connection: Connection, tenant_id: str, node_id: str) -> Node:
        """Return a node of a tenant.

        Raises:
            NotFound: the tenant has no such node.
        """
        row = _NODE.first(connection, {"node_id": node_id, "tenant_id": tenant_id})
        if row is None:
            raise NotFound
        return Node(*row)

    def permission(
        self, connection: Connection, node_id: str, user_id: str, role: Role | None
    ) -> Permission:
        """Return a user's permission on a node.

        Args:
            connection: the transaction to read in.
            node_id: the node.
            user_id: the user.
            role: the user's role in the node's tenant, or ``None`` for a non-member.
        """
        if role is None:
            return Permission.NONE
        # Administrators need no grants, so there is no query for them.
        return Permission.MANAGE if role is Role.ADMIN else self.granted(connection, node_id, user_id)

    def granted(self, connection: Connection, node_id: str, user_id: str) -> Permission:
        """Return the highest permission granted to a user on a node or on one of its ancestors."""
        parameters = {"node_id": node_id, "user_id": user_id, "now": self._clock.now()}
        return Permission(_HIGHEST_GRANT.scalar(connection, parameters) or Permission.NONE)

    def ends(self, connection: Connection, node_id: str, user_id: str) -> Ends:
        """Return when a user's grants on a node and its ancestors expire, for each level."""
        row = _ENDS_OF_USER.first(connection, {"node_id": node_id, "user_id": user_id})
        return Ends(*row) if row else Ends()

    def ends_by_user(self, connection: Connection, node_id: str) -> dict[str, Ends]:
        """Return :meth:`ends` for each user who has a grant on the node or on one of its ancestors."""
        rows = _ENDS_BY_USER.all(connection, {"node_id": node_id})
        return {user_id: Ends(*ends) for user_id, *ends in rows}

    def grants_on_path(self, connection: Connection, node_id: str, user_id: str) -> list[PathGrant]:
        """Return a user's grants on a node and on its ancestors, the nearest first."""
        rows = connection.execute(_GRANTS_ON_PATH, {"node_id": node_id, "user_id": user_id})
        return [
            PathGrant(row.node_id, row.node_name, Permission(row.permission), row.expires_at, row.height)
            for row in rows
        ]

    def holds(self, expires_at: int | None) -> bool:
        """Return whether a grant is in force."""
        return expires_at is None or expires_at > self._clock.now()

    def is_in_force(self) -> ColumnElement[bool]:
        """Return the condition that a grant has not expired."""
        return is_in_force(self._clock.now())

    def is_at_top(self) -> ColumnElement[bool]:
        """Return the condition that a grant makes a node top-level: the parent folder is not visible."""
        return is_at_top(self._clock.now())
