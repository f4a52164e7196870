"""Queries for pages of what a user sees: who asks, the total and the records at one moment.

A page without records is one row, whose node is null.
"""

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
from strongroom.files.models import grants, nodes
from strongroom.paging import Paging
from strongroom.tenants.memberships import membership
from strongroom.tenants.models import Role
from strongroom.users.models import users

GUARD_COLUMNS = ("last_seen_at", "type", "permission", "total")
"""What each row begins with; the columns of a node, the grant on it and its owner's name follow."""


def role() -> Select[tuple[str]]:
    """Return the query for the role that decides which list is the top."""
    return select(membership().c.role)


def children(paging: Paging) -> Select[tuple[object, ...]]:
    """Return the query for a page of a folder ``node_id``, the tenant's root among them."""
    authorization, member, folder = good_authorization(), membership(), nodes.alias("folder")
    inside = nodes.c.parent_id == bindparam("node_id")
    shown = _cut(select(nodes).where(inside).order_by(nodes.c.name), paging)
    held = (
        (grants.c.node_id == shown.c.id)
        & (grants.c.user_id == bindparam("user_id"))
        & is_in_force(bindparam("now"))
    )
    return (
        select(
            authorization.c.last_seen_at,
            folder.c.type,
            effective_permission(member.c.role),
            children_of(folder.c.id),
            *_of_nodes(shown),
            func.coalesce(grants.c.permission, 0),
            users.c.name,
        )
        .select_from(folder)
        .join(member, true())
        .join(authorization, true())
        .outerjoin(shown, true())
        .outerjoin(grants, held)
        .outerjoin(users, users.c.id == shown.c.owner_id)
        .where(folder.c.id == bindparam("node_id"), folder.c.tenant_id == bindparam("tenant_id"))
        .order_by(shown.c.name)
    )


def granted(paging: Paging) -> Select[tuple[object, ...]]:
    """Return the query for a page of what a member sees at the top by grants."""
    authorization, member = good_authorization(), membership()
    mine = (
        (grants.c.user_id == bindparam("user_id"))
        & (grants.c.tenant_id == bindparam("tenant_id"))
        & is_at_top(bindparam("now"))
    )
    keys = (grants.c.node_name, grants.c.node_id)
    shown = _cut(select(*keys, grants.c.permission).where(mine).order_by(*keys), paging)
    total = select(func.count()).select_from(grants).where(mine).scalar_subquery()
    return (
        select(
            authorization.c.last_seen_at,
            literal_column("'folder'"),
            literal_column("0"),
            total,
            *nodes.c,
            shown.c.permission,
            users.c.name,
        )
        .select_from(member)
        .join(authorization, true())
        .outerjoin(shown, true())
        .outerjoin(nodes, nodes.c.id == shown.c.node_id)
        .outerjoin(users, users.c.id == nodes.c.owner_id)
        .where(member.c.role == Role.MEMBER.value)
        .order_by(shown.c.node_name, shown.c.node_id)
    )


def _cut(query: Select[tuple[object, ...]], paging: Paging) -> FromClause:
    """Return a page of a query, the numbers in the text: planners see how few rows are wanted."""
    cut = query.limit(literal_column(str(paging.size)))
    if paging.offset:
        cut = cut.offset(bindparam("offset"))
    return cut.subquery("shown")


def _of_nodes(shown: FromClause) -> list[ColumnElement[object]]:
    return [shown.c[column.name] for column in nodes.c]
