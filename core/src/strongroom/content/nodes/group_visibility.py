"""The top-level nodes of a user that are visible through the user's groups only.

Computed when a list is read: a group has one grant for all its members, whose other grants differ. The
cost depends on the number of grants to the user's groups, not on the nodes below them. The user's own
grants are not scanned; see :mod:`strongroom.content.nodes.visibility`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import CTE, Column, Select, bindparam, literal_column, select

from strongroom.content.nodes import grant_copies
from strongroom.content.nodes.effective_permission import group_permission, is_in_force, own_permission
from strongroom.content.nodes.models import NodeType, grants, group_grants, nodes
from strongroom.content.tenants.groups.members import groups_of_user

Columns = Sequence[Column[Any]]

_SOURCES: Final[Mapping[str, Column[Any]]] = {
    "node_id": nodes.c.id,
    "node_name": nodes.c.name,
    **grant_copies.SOURCES,
}


def _shared(columns: Columns, kind: NodeType | None) -> CTE:
    """Return the nodes with a grant to a group of the user, and without a grant to the user."""
    held = select(group_grants.c.node_id).where(
        group_grants.c.group_id.in_(groups_of_user()), is_in_force(bindparam("now"), group_grants)
    )
    sources = [_SOURCES[column.name].label(column.name) for column in columns]
    is_theirs = nodes.c.id.in_(held) & (own_permission(nodes.c.id) == 0)
    if kind is not None:
        is_theirs &= nodes.c.type == literal_column(f"'{kind}'")
    query = select(*sources, nodes.c.parent_id)
    return query.where(is_theirs, nodes.c.trash_id.is_(None)).cte("shared")


def through_groups(
    columns: Columns = (grants.c.node_name, grants.c.node_id), kind: NodeType | None = None
) -> Select[Any]:
    """Return the query for these nodes, in any order and each of them once.

    A node with a grant to the user is not among them, even if that grant is on a node that is not
    top-level: then the parent is visible. The parameters are ``user_id``, ``tenant_id`` and ``now``.

    Args:
        columns: columns of grants that repeat values of nodes; the id is among them.
        kind: the type of the nodes; ``None``: any.
    """
    shared = _shared(columns, kind)
    # The folders of shared nodes, each once, and all folders around them: siblings share a check.
    start = select(shared.c.parent_id.label("folder_id"), shared.c.parent_id.label("id")).distinct()
    path = start.cte("shared_path", recursive=True)
    above = nodes.alias()
    step = select(path.c.folder_id, above.c.parent_id).join(path, above.c.id == path.c.id)
    path = path.union_all(step.where(above.c.parent_id.is_not(None)))
    is_visible = (own_permission(path.c.id) > 0) | (group_permission(path.c.id) > 0)
    visible = select(path.c.folder_id).where(is_visible)
    return select(*(shared.c[column.name] for column in columns)).where(
        shared.c.parent_id.not_in(visible)
    )
