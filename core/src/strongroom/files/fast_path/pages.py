"""Queries for pages of what a user sees: who asks and how much there is, and then the records."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    true,
)

from strongroom.authorizations.sessions import good_authorization
from strongroom.files.access import effective_permission, is_at_top, is_in_force
from strongroom.files.counting import children_of
from strongroom.files.models import Permission, grants, nodes
from strongroom.paging import Paging
from strongroom.tenants.memberships import membership
from strongroom.users.models import users

RECORD = slice(0, len(nodes.c) + 1)
"""The columns of a node, and the permission that is granted on it; its owner's name follows."""

# A planner sees how few rows are wanted only where the number stands in the text.


def guard() -> Select[Any]:
    """Return the query for a folder ``node_id``, the tenant's root among them, and who asks for it."""
    authorization, member = good_authorization(), membership()
    columns = (
        authorization.c.last_seen_at,
        nodes.c.type,
        effective_permission(member.c.role),
        children_of(nodes.c.id),
    )
    return (
        select(*columns)
        .select_from(nodes)
        .join(member, true())
        .join(authorization, true())
        .where(nodes.c.id == bindparam("node_id"), nodes.c.tenant_id == bindparam("tenant_id"))
    )


def managed(paging: Paging) -> Select[Any]:
    """Return the query for a page of a folder whose reader may do everything in it."""
    return _children(paging, nodes, literal_column(str(int(Permission.MANAGE))))


def children(paging: Paging) -> Select[Any]:
    """Return the query for a page of a folder, with what is granted on each node by itself."""
    held = (
        (grants.c.node_id == nodes.c.id)
        & (grants.c.user_id == bindparam("user_id"))
        & is_in_force(bindparam("now"))
    )
    return _children(paging, nodes.outerjoin(grants, held), func.coalesce(grants.c.permission, 0))


def granted(paging: Paging) -> Select[Any]:
    """Return the query for a page of what a member sees at the top by grants, with the total last."""
    mine = (
        (grants.c.user_id == bindparam("user_id"))
        & (grants.c.tenant_id == bindparam("tenant_id"))
        & is_at_top(bindparam("now"))
    )
    keys = (grants.c.node_name, grants.c.node_id)
    wanted = select(*keys, grants.c.permission).where(mine).order_by(*keys)
    if paging.offset:
        wanted = wanted.offset(bindparam("offset"))
    shown = wanted.limit(literal_column(str(paging.size))).subquery()
    total = select(func.count()).select_from(grants).where(mine).scalar_subquery()
    return (
        select(*nodes.c, shown.c.permission, users.c.name, total)
        .select_from(shown)
        .join(nodes, nodes.c.id == shown.c.node_id)
        .join(users, users.c.id == nodes.c.owner_id)
        .order_by(shown.c.node_name, shown.c.node_id)
    )


def _children(paging: Paging, found: FromClause, own: ColumnElement[Any]) -> Select[Any]:
    inside = nodes.c.parent_id == bindparam("node_id")
    query = (
        select(*nodes.c, own, users.c.name)
        .select_from(found)
        .join(users, users.c.id == nodes.c.owner_id)
        .where(inside)
        .order_by(nodes.c.name)
        .limit(literal_column(str(paging.size)))
    )
    if not paging.offset:
        return query
    passed = nodes.alias()
    first = (
        select(passed.c.name)
        .where(passed.c.parent_id == bindparam("node_id"), passed.c.name >= bindparam("first_name"))
        .order_by(passed.c.name)
        .offset(bindparam("passed"))
        .limit(literal_column("1"))
    )
    return query.where(nodes.c.name >= first.scalar_subquery())
