"""Queries for list pages: first the authorization and the total, then the records."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    true,
)

from strongroom.database.metadata import Id
from strongroom.files.access import effective_permission, is_at_top, is_in_force
from strongroom.files.child_counts import children_of
from strongroom.files.models import Permission, grants, nodes
from strongroom.paging import Paging
from strongroom.sessions.store import good_authorization
from strongroom.tenants.memberships import membership
from strongroom.users.models import users

Columns = Sequence[Column[Any]]

KEYS: Final[Columns] = (nodes.c.id, nodes.c.revision)
"""Columns that identify a version of a node."""

WHOLE: Final[Columns] = tuple(nodes.c)

# LIMIT is a literal in the following queries, because the planner cannot estimate a bound parameter.


def guard() -> Select[Any]:
    """Return the query for the caller's authorization and permission on a folder, and its total.

    The folder ``node_id`` may be the tenant's root.
    """
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


def managed(paging: Paging, columns: Columns) -> Select[Any]:
    """Return the query for a page of a folder that the caller manages; it needs no grants."""
    return _children(paging, columns, nodes, literal_column(str(int(Permission.MANAGE))))


def children(paging: Paging, columns: Columns) -> Select[Any]:
    """Return the query for a page of a folder; the caller's grant on each node is the last column."""
    held = (
        (grants.c.node_id == nodes.c.id)
        & (grants.c.user_id == bindparam("user_id"))
        & is_in_force(bindparam("now"))
    )
    own = func.coalesce(grants.c.permission, 0)
    return _children(paging, columns, nodes.outerjoin(grants, held), own)


def granted(paging: Paging, columns: Columns) -> Select[Any]:
    """Return the query for a page of a member's top-level nodes.

    The last two columns are the grant on each node and the total.
    """
    mine = (
        (grants.c.user_id == bindparam("user_id"))
        & (grants.c.tenant_id == bindparam("tenant_id"))
        & is_at_top(bindparam("now"))
    )
    keys = (grants.c.node_name, grants.c.node_id)
    wanted = select(*keys, grants.c.permission).where(mine).order_by(*keys)
    if paging.offset:
        wanted = wanted.offset(bindparam("offset"))
    # The limit is applied before the join, so that only the nodes of the page are read.
    shown = wanted.limit(literal_column(str(paging.size))).subquery()
    total = select(func.count()).select_from(grants).where(mine).scalar_subquery()
    return (
        select(*columns, shown.c.permission, total)
        .select_from(shown)
        .join(nodes, nodes.c.id == shown.c.node_id)
        .order_by(shown.c.node_name, shown.c.node_id)
    )


def owners(count: int) -> Select[Any]:
    """Return the query for the ids and names of users ``owner0``, ``owner1`` and so on."""
    any_of = users.c.id.in_([bindparam(f"owner{number}", type_=Id) for number in range(count)])
    return select(users.c.id, users.c.name).where(any_of).order_by(users.c.id)


def _children(
    paging: Paging, columns: Columns, found: FromClause, own: ColumnElement[Any]
) -> Select[Any]:
    inside = nodes.c.parent_id == bindparam("node_id")
    query = (
        select(*columns, own)
        .select_from(found)
        .where(inside)
        .order_by(nodes.c.name)
        .limit(literal_column(str(paging.size)))
    )
    if not paging.offset:
        return query
    # The page starts at the name found by skipping at most one run; see files/child_counts.
    passed = nodes.alias()
    first = (
        select(passed.c.name)
        .where(passed.c.parent_id == bindparam("node_id"), passed.c.name >= bindparam("first_name"))
        .order_by(passed.c.name)
        .offset(bindparam("passed"))
        .limit(literal_column("1"))
    )
    return query.where(nodes.c.name >= first.scalar_subquery())
