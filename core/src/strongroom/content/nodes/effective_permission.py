"""The read rule in SQL: the only module that joins the sources of permission on a node.

:func:`access_query` answers in one row whether the caller's login is valid, the caller's role in the
tenant, the effective permission and the node; :class:`~strongroom.content.nodes.access.NodeAccess`
derives the result or the error from it. A new source of permission is one more term of
:func:`effective_permission`, as the grants to groups are. :func:`key_access_query` limits the same query
by an access key: its tenant, its folder, and the permission that its scopes allow. In the same way,
:func:`delegated_access_query` limits a user's rights that a plugin uses for a visitor.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Table,
    bindparam,
    case,
    exists,
    func,
    literal,
    literal_column,
    select,
    true,
)

from strongroom.content.nodes.models import Permission, folders_around, grants, group_grants, nodes
from strongroom.content.tenants.groups.members import groups_of_user, is_in_any_group, is_in_group
from strongroom.content.tenants.memberships import join_membership
from strongroom.content.tenants.models import Role
from strongroom.foundation.database.functions import greatest
from strongroom.identity.access_keys.store import good_key
from strongroom.identity.sessions.store import good_authorization, good_grant
from strongroom.identity.users.service import type_of_active

# A literal, because bound constants are merged into the parameters of each execution.
_NOTHING: Final[ColumnElement[int]] = literal_column(str(int(Permission.NONE)))

Columns = Sequence[ColumnElement[Any]]
_WHOLE: Final[Columns] = tuple(nodes.c)


def is_in_force(now: int | ColumnElement[int], table: Table = grants) -> ColumnElement[bool]:
    """Return the condition that a grant has not expired; ``table`` may be :data:`group_grants`."""
    return table.c.expires_at.is_(None) | (table.c.expires_at > now)


def is_at_top(now: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a grant makes a node top-level: the parent folder is not visible."""
    until = grants.c.parent_visible_until
    # `+ 0` keeps the planner on the index that returns the rows in list order.
    return until.is_not(None) & (until + 0 <= now) & is_in_force(now)


def own_permission(node_id: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for the grant of ``user_id`` on a node itself; 0 without one."""
    held = select(grants.c.permission).where(
        grants.c.node_id == node_id,
        grants.c.user_id == bindparam("user_id"),
        is_in_force(bindparam("now")),
    )
    return func.coalesce(held.scalar_subquery(), _NOTHING)


def group_permission(node_id: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for the highest grant of the user's groups on a node itself.

    The groups' members are read here, so a change of a group takes effect with its transaction.
    """
    held = select(func.max(group_grants.c.permission)).where(
        group_grants.c.node_id == node_id,
        is_in_group(group_grants.c.group_id),
        is_in_force(bindparam("now"), group_grants),
    )
    return func.coalesce(held.scalar_subquery(), _NOTHING)


def granted_permission(node_id: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for the user's highest grant on a node itself; 0 without any.

    It is inherited by everything below the node. The parameters are ``user_id`` and ``now``.
    """
    # The condition does not depend on the node, so it is evaluated once. It spares users who are in no
    # group a search per node.
    of_groups = case((is_in_any_group(), group_permission(node_id)), else_=_NOTHING)
    # Correlated subqueries per node keep the planner from scanning all grants of the user.
    return greatest(own_permission(node_id), of_groups)


def granted_nodes() -> Select[Any]:
    """Return the query for nodes in a tenant that have a grant to the user, or to one of the groups.

    The user sees them and everything below them, and nothing else. Nodes below another one with an own
    grant are left out, as the creator of many nodes has a grant on each of them. The parameters are
    ``user_id``, ``tenant_id`` and ``now``.
    """
    now: ColumnElement[int] = bindparam("now")
    is_mine = grants.c.user_id == bindparam("user_id")
    in_tenant = grants.c.tenant_id == bindparam("tenant_id")
    own = select(grants.c.node_id.label("id")).where(is_mine, in_tenant, is_at_top(now))
    of_groups = select(group_grants.c.node_id).where(
        group_grants.c.group_id.in_(groups_of_user()), is_in_force(now, group_grants)
    )
    held = own.union(of_groups).subquery("held")
    return select(held.c.id)


def _highest_grant(node: str) -> Select[Any]:
    path = folders_around(node)
    return select(func.max(granted_permission(path.c.id))).select_from(path)


def effective_permission(role: ColumnElement[str], node: str = "node_id") -> ColumnElement[int]:
    """Return the SQL expression for a member's permission on a node.

    Tenant administrators manage every node of their tenant. Other members hold the highest permission
    granted to them, or to one of their groups, on the node or on one of its ancestors. Non-members,
    whose ``role`` is NULL, have none. The parameters are ``tenant_id``, ``user_id``, ``now``, and the
    one that ``node`` names.
    """
    granted = func.coalesce(_highest_grant(node).scalar_subquery(), int(Permission.NONE))
    none = (role.is_(None), int(Permission.NONE))
    return case(none, (role == Role.ADMIN.value, int(Permission.MANAGE)), else_=granted)


def _is_node() -> ColumnElement[bool]:
    is_node = (nodes.c.id == bindparam("node_id")) & (nodes.c.tenant_id == bindparam("tenant_id"))
    # Clients find no node in the trash by its id, with any permission.
    return is_node & nodes.c.trash_id.is_(None)


def access_query(login: FromClause | None = None, columns: Columns = _WHOLE) -> Select[Any]:
    """Return the query whose row is an :class:`NodeAccess`: login, role, effective permission and node.

    It returns exactly one row. A revoked login, a missing membership or a missing node is NULL, because
    the error depends on which of them is missing. Its parameters are ``tenant_id``, ``node_id``,
    ``user_id`` and ``now``, and the parameters of ``login``.

    Args:
        login: a subquery that verifies the caller's login, with at most one row; its columns come first.
        columns: the columns of the node.
    """
    # The one-row anchor makes every table optional, so the query returns a row in all cases.
    member = join_membership(select(literal(1).label("one")).subquery("anchor"), true())
    tables = member.tables.outerjoin(nodes, _is_node())
    permission = effective_permission(member.role).label("permission")
    if login is None:
        return select(*member.columns, permission, *columns).select_from(tables)
    tables = tables.outerjoin(login, true())
    return select(*login.c, *member.columns, permission, *columns).select_from(tables)


def key_access_query(dialect: str, columns: Columns = _WHOLE) -> Select[Any]:
    """Return :func:`access_query` for a caller with an access key, whose columns come first.

    The user's role is NULL in tenants other than the key's. The permission is the user's, limited by the
    key's scopes, and none outside of the key's folder. The folder of a deleted key is NULL as
    well: callers check ``user_type`` first.
    """
    key, path = good_key(), folders_around()
    anchor = select(literal(1).label("one")).subquery("anchor").outerjoin(key, true())
    key_tenant, key_folder = key.c.key_tenant_id, key.c.key_folder_id
    reaches_tenant = key_tenant.is_(None) | (key_tenant == bindparam("tenant_id"))
    within = key_folder.is_(None) | key_folder.in_(select(path.c.id))
    # The minimum is min() on SQLite and LEAST() on PostgreSQL.
    least = func.min if dialect == "sqlite" else func.least
    member = join_membership(anchor, reaches_tenant)
    limited = least(effective_permission(member.role), func.coalesce(key.c.max_permission, 0))
    permission = case((within, limited), else_=int(Permission.NONE)).label("permission")
    tables = member.tables.outerjoin(nodes, _is_node())
    return select(*key.c, *member.columns, permission, *columns).select_from(tables)


def grant_access_query(dialect: str, columns: Columns = _WHOLE) -> Select[Any]:
    """Return :func:`access_query` for a caller with a client's grant, whose authorization comes first.

    As :func:`key_access_query`, by the limits that the access token states: the parameters
    ``limit_tenant_id`` and ``limit_node_id``, which are empty without one, and ``max_permission``.
    """
    login, path = good_authorization(), folders_around()
    anchor = select(literal(1).label("one")).subquery("anchor").outerjoin(login, true())
    tenant: ColumnElement[str] = bindparam("limit_tenant_id")
    folder: ColumnElement[str] = bindparam("limit_node_id")
    reaches_tenant = (tenant == "") | (tenant == bindparam("tenant_id"))
    within = (folder == "") | folder.in_(select(path.c.id))
    # The minimum is min() on SQLite and LEAST() on PostgreSQL.
    least = func.min if dialect == "sqlite" else func.least
    member = join_membership(anchor, reaches_tenant)
    limited = least(effective_permission(member.role), bindparam("max_permission"))
    permission = case((within, limited), else_=int(Permission.NONE)).label("permission")
    tables = member.tables.outerjoin(nodes, _is_node())
    return select(*login.c, *member.columns, permission, *columns).select_from(tables)


def _is_key_in_force() -> ColumnElement[bool]:
    """Return the condition that the key or grant of delegated rights, if any, still gives them."""
    key, path = good_key("limit_key_id").c, folders_around("limit_node_id")
    reaches = key.key_folder_id.is_(None) | key.key_folder_id.in_(select(path.c.id))
    is_good = exists().where(
        key.expires_at > bindparam("now"),
        key.max_permission >= bindparam("required_permission"),
        reaches,
    )
    grant = good_grant("limit_key_id").c
    reaches = grant.folder_id.is_(None) | grant.folder_id.in_(select(path.c.id))
    is_granted = exists().where(grant.expires_at > bindparam("now"), reaches)
    return (bindparam("limit_key_id") == "") | is_good | is_granted


def delegated_access_query(dialect: str, columns: Columns = _WHOLE) -> Select[Any]:
    """Return :func:`access_query` for a user whose rights a plugin uses within :class:`DelegatedLimits`.

    The type of the user comes first, NULL unless the user is active. The user's role is NULL in other
    tenants. The permission is the user's, at most ``max_permission``, below the node ``limit_node_id``
    only, and none at all unless the user holds ``required_permission`` on that node, and the access key
    or grant ``limit_key_id`` is in force; an empty one is none.
    """
    path = folders_around()
    user = select(type_of_active(bindparam("user_id")).label("user_type")).subquery("delegating_user")
    reaches_tenant = bindparam("limit_tenant_id") == bindparam("tenant_id")
    member = join_membership(user, reaches_tenant)
    within = bindparam("limit_node_id").in_(select(path.c.id)) & _is_key_in_force()
    # Permission is inherited, so the user may hold more on a node below than on the limiting one.
    held = effective_permission(member.role, "limit_node_id")
    least = func.min if dialect == "sqlite" else func.least
    limited = least(effective_permission(member.role), bindparam("max_permission"))
    is_held = within & (held >= bindparam("required_permission"))
    permission = case((is_held, limited), else_=int(Permission.NONE)).label("permission")
    tables = member.tables.outerjoin(nodes, _is_node())
    return select(user.c.user_type, *member.columns, permission, *columns).select_from(tables)
