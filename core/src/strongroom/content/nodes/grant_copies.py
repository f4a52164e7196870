"""The values of a node that its grants repeat: those that top-level lists are sorted by.

The name is right in all grants. The others are right where ``parent_visible_until`` is not NULL, as only
these grants are in top-level lists: most grants are those to the nodes' creators, and uploads that
replace content leave them alone. A grant gets the values when its node becomes top-level, see
:mod:`strongroom.content.nodes.visibility`.

A server of the version before leaves them as they are, during an upgrade. Then a list contains the right
nodes in a wrong order, until `strongroom files reindex`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Column, Connection, bindparam, or_, select, update

from strongroom.content.nodes.models import Node, grants, nodes
from strongroom.content.nodes.node_filters import SortKey
from strongroom.foundation.database.statements import Statement

COLUMNS: Final[Mapping[SortKey, Column[Any]]] = {
    SortKey.SIZE: grants.c.node_size,
    SortKey.UPDATED_AT: grants.c.node_updated_at,
}
"""The repeated values by the orders of lists. Each has an index of the user, this value and the sort
key, and one with the type before the value."""

SOURCES: Final[Mapping[str, Column[Any]]] = {
    "node_type": nodes.c.type,
    "node_size": nodes.c.size,
    "node_updated_at": nodes.c.updated_at,
    "node_sort_key": nodes.c.sort_key,
}
"""The columns of nodes that the columns of grants repeat."""

_IS_LISTED: Final = grants.c.parent_visible_until.is_not(None)
_IS_RENAMED: Final = grants.c.node_name != bindparam("new_node_name")
_UPDATE: Final = Statement(
    update(grants)
    .where(grants.c.node_id == bindparam("of_node"), _IS_LISTED | _IS_RENAMED)
    .values({name: bindparam(f"new_{name}") for name in ("node_name", *SOURCES)})
)


_DIFFERS: Final = or_(*(grants.c[name] != source for name, source in SOURCES.items()))
_CORRECT: Final = Statement(
    lambda _: (
        update(grants)
        .where(
            grants.c.node_id == nodes.c.id,
            nodes.c.id.in_(bindparam("node_ids", expanding=True)),
            _IS_LISTED,
            _DIFFERS,
        )
        .values(SOURCES)
    )
)
_WRONG: Final = Statement(
    select(nodes.c.id)
    .join(grants, grants.c.node_id == nodes.c.id)
    .where(nodes.c.id >= bindparam("from_id"), nodes.c.id <= bindparam("to_id"), _IS_LISTED, _DIFFERS)
)


def copied_columns(node: Node) -> dict[str, Any]:
    """Return the values that a new grant on a node repeats."""
    return {
        "node_name": node.name,
        "node_type": node.type,
        "node_size": node.size,
        "node_updated_at": node.updated_at,
        "node_sort_key": node.sort_key,
    }


def update_copies(connection: Connection, node: Node) -> None:
    """Repeat the values of a changed node in its grants."""
    values = {f"new_{name}": value for name, value in copied_columns(node).items()}
    _UPDATE.execute(connection, {**values, "of_node": node.id})


def correct_copies(connection: Connection, node_ids: Sequence[str]) -> None:
    """Correct the values in the grants on some nodes, except names."""
    if node_ids:
        _CORRECT.execute(connection, {"node_ids": node_ids})


def find_wrong_copies(connection: Connection, first: str, last: str) -> list[str]:
    """Return the nodes from one id to another one with a grant whose values are wrong, except names."""
    return _WRONG.scalars(connection, {"from_id": first, "to_id": last})
