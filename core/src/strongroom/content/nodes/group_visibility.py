"""The top-level nodes of a user that are visible through the user's groups only.

Computed when a list is read: a group has one grant for all its members, whose other grants differ. The
cost depends on the number of grants to the user's groups, not on the nodes below them. The user's own
grants are not scanned; see :mod:`strongroom.content.nodes.visibility`.
"""

from typing import Any

from sqlalchemy import CTE, Select, bindparam, select

from strongroom.content.nodes.models import group_grants, nodes
from strongroom.content.nodes.permissions import group_permission, is_in_force, own_permission
from strongroom.content.tenants.group_members import groups_of_user


def _shared() -> CTE:
    """Return the nodes with a grant to a group of the user, and without a grant to the user."""
    held = select(group_grants.c.node_id).where(
        group_grants.c.group_id.in_(groups_of_user()), is_in_force(bindparam("now"), group_grants)
    )
    columns = (nodes.c.id.label("node_id"), nodes.c.name.label("node_name"), nodes.c.parent_id)
    is_theirs = nodes.c.id.in_(held) & (own_permission(nodes.c.id) == 0)
    return select(*columns).where(is_theirs, nodes.c.trash_id.is_(None)).cte("shared")


def through_groups() -> Select[Any]:
    """Return the query for the names and ids of these nodes, in any order and each of them once.

    A node with a grant to the user is not among them, even if that grant is on a node that is not
    top-level: then the parent is visible. The parameters are ``user_id``, ``tenant_id`` and ``now``.
    """
    shared = _shared()
    # The folders of shared nodes, each once, and all folders around them: siblings share a check.
    start = select(shared.c.parent_id.label("folder_id"), shared.c.parent_id.label("id")).distinct()
    path = start.cte("shared_path", recursive=True)
    above = nodes.alias()
    step = select(path.c.folder_id, above.c.parent_id).join(path, above.c.id == path.c.id)
    path = path.union_all(step.where(above.c.parent_id.is_not(None)))
    is_visible = (own_permission(path.c.id) > 0) | (group_permission(path.c.id) > 0)
    visible = select(path.c.folder_id).where(is_visible)
    columns = (shared.c.node_name, shared.c.node_id)
    return select(*columns).where(shared.c.parent_id.not_in(visible))
