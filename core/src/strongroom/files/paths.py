"""The path from a node to its tenant's root, as a recursive query."""

from functools import cache

from sqlalchemy import CTE, bindparam, literal, select

from strongroom.files.models import nodes


@cache
def folders_around() -> CTE:
    """Return the CTE with the ids of the node ``node_id``, a parameter, and of all its ancestors.

    The node is at height 0, its parent folder at height 1, and so on. Always the same object, so that
    several expressions of one statement share it.
    """
    start = select(nodes.c.id, nodes.c.parent_id, literal(0).label("height"))
    path = start.where(nodes.c.id == bindparam("node_id")).cte("path", recursive=True)
    above = nodes.alias()
    step = select(above.c.id, above.c.parent_id, path.c.height + 1)
    return path.union_all(step.join(path, above.c.id == path.c.parent_id))
