"""Pages of a folder in each order: ranges of an index that start at the key of their first node."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
)

from strongroom.content.nodes import child_counts, order_counts
from strongroom.content.nodes.effective_permission import group_permission, is_in_force, own_permission
from strongroom.content.nodes.models import Permission, grants, nodes
from strongroom.content.nodes.node_filters import SortKey
from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.database.statements import Statement

Columns = Sequence[Column[Any]]
PageQuery = Callable[[Paging, Columns], Any]
"""Builds the query of a page: the given columns of its nodes, then the user's grant on each of them."""

KEYS: Final[Mapping[SortKey, Columns]] = {
    SortKey.NAME: (nodes.c.name,),
    **{sort: (column, nodes.c.name) for sort, column in order_counts.COLUMNS.items()},
}
"""The columns that the children of a folder are sorted by. Names are unique in a folder."""


class Viewer(Enum):
    """The sources of a user's permissions on the nodes in a folder."""

    MANAGER = "the folder alone, because nothing exceeds the permission to manage it"
    MEMBER = "the folder, and grants to the user"
    MEMBER_OF_GROUPS = "the folder, and grants to the user and to the user's groups"


def _managed() -> tuple[FromClause, ColumnElement[Any]]:
    return nodes, literal_column(str(int(Permission.MANAGE)))


def _granted() -> tuple[FromClause, ColumnElement[Any]]:
    own = (
        (grants.c.node_id == nodes.c.id)
        & (grants.c.user_id == bindparam("user_id"))
        & is_in_force(bindparam("now"))
    )
    return nodes.outerjoin(grants, own), func.coalesce(grants.c.permission, 0)


def _shared() -> tuple[FromClause, ColumnElement[Any]]:
    return nodes, greatest(own_permission(nodes.c.id), group_permission(nodes.c.id))


_SOURCES: Final = {
    Viewer.MANAGER: _managed,
    Viewer.MEMBER: _granted,
    Viewer.MEMBER_OF_GROUPS: _shared,
}


@BuiltOnce
def children_page(sort: SortKey, viewer: Viewer, *, from_end: bool = False) -> PageQuery:
    """Return the query for a page of the folder ``node_id``.

    The first page starts at the beginning, each other one at the parameters of :func:`start_of_page`.

    Args:
        sort: the order, ascending.
        from_end: whether the first page is that of the descending order.
    """

    def build(paging: Paging, columns: Columns) -> Select[Any]:
        tables, own = _SOURCES[viewer]()
        key = KEYS[sort]
        query = select(*columns, own).select_from(tables)
        query = query.where(nodes.c.parent_id == bindparam("node_id"))
        query = query.order_by(*(column.desc() if from_end else column for column in key))
        # A literal, because the planner cannot estimate a bound parameter.
        query = query.limit(literal_column(str(paging.size)))
        if not paging.offset:
            return query
        start = [bindparam(f"first_{column.name}", type_=column.type) for column in key]
        # One comparison of both columns, which is one range of the index.
        is_there = tuple_(*key) >= tuple_(*start) if len(key) > 1 else key[0] >= start[0]
        return query.where(is_there)

    return build


_RUNS: Final = Statement(child_counts.runs())
_NAME_AT: Final = Statement(
    select(nodes.c.name)
    .where(nodes.c.parent_id == bindparam("node_id"), nodes.c.name >= bindparam("first_name"))
    .order_by(nodes.c.name)
    .offset(bindparam("passed"))
    .limit(literal_column("1")),
    tuple,
)


def start_of_page(
    connection: Connection, folder_id: str, sort: SortKey, offset: int, total: int
) -> dict[str, Any] | None:
    """Return the key of the node at an offset as parameters of :func:`children_page`.

    ``None`` if there are fewer nodes.

    Args:
        sort: the order, ascending.
        offset: the number of nodes before the page.
        total: the number of all nodes in the folder.
    """
    if sort is SortKey.NAME:
        key = _name_at(connection, folder_id, offset)
    else:
        key = order_counts.start_of_page(connection, folder_id, sort, offset, total)
    names = (f"first_{column.name}" for column in KEYS[sort])
    return None if key is None else dict(zip(names, key, strict=True))


def _name_at(connection: Connection, folder_id: str, offset: int) -> Sequence[str] | None:
    of_folder = {"node_id": folder_id}
    first_name, passed = child_counts.run_at(_RUNS.all(connection, of_folder), offset)
    row = {**of_folder, "first_name": first_name, "passed": passed}
    return _NAME_AT.first(connection, row)
