"""Pages of the sections of a folder: ranges of an index that start at the key of their first node."""

from collections.abc import Callable, Sequence
from enum import StrEnum
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
)

from strongroom.content.nodes import order_counts
from strongroom.content.nodes.effective_permission import group_permission, is_in_force, own_permission
from strongroom.content.nodes.models import Permission, grants, nodes
from strongroom.content.nodes.node_cursors import is_after
from strongroom.content.nodes.node_filters import ListSection
from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.paging import Paging

Columns = Sequence[Column[Any]]
PageQuery = Callable[[Paging, Columns], Any]
"""Builds the query of a page: the given columns of its nodes, then the user's grant on each of them."""


class Viewer(StrEnum):
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
def children_page(section: ListSection, viewer: Viewer, *, from_end: bool = False) -> PageQuery:
    """Return the query for a page of a section of the folder ``node_id``.

    The first page starts at the beginning, each other one at the parameters of :func:`start_of_page`.

    Args:
        section: the section, ascending.
        from_end: whether the first page is the first one in descending order.
    """

    def build(paging: Paging, columns: Columns) -> Select[Any]:
        tables, own = _SOURCES[viewer]()
        key = order_counts.key_columns(section)
        query = select(*columns, own).select_from(tables)
        query = query.where(order_counts.in_section(section, "node_id"))
        query = query.order_by(*(column.desc() if from_end else column for column in key))
        # A literal, because the planner cannot estimate a bound parameter.
        query = query.limit(literal_column(str(paging.size)))
        return query.where(order_counts.is_from_first(key)) if paging.offset else query

    return build


@BuiltOnce
def children_after(section: ListSection, viewer: Viewer, *, descending: bool) -> PageQuery:
    """Return the query for a page of a section of a folder, each but the first one after a cursor."""

    def build(paging: Paging, columns: Columns) -> Select[Any]:
        tables, own = _SOURCES[viewer]()
        key = order_counts.key_columns(section)
        query = select(*columns, own).select_from(tables)
        query = query.where(order_counts.in_section(section, "node_id"))
        query = query.order_by(*(column.desc() if descending else column for column in key))
        query = query.limit(literal_column(str(paging.size)))
        return query.where(is_after(key, key, descending=descending)) if paging.offset else query

    return build


def start_of_page(
    connection: Connection, folder_id: str, section: ListSection, offset: int, total: int
) -> dict[str, Any] | None:
    """Return the key of the node at an offset as parameters of :func:`children_page`.

    ``None`` if there are fewer nodes.

    Args:
        section: the section, ascending.
        offset: the number of nodes of the section before the page.
        total: the number of all nodes of the section.
    """
    key = order_counts.start_of_page(connection, folder_id, section, offset, total)
    return None if key is None else order_counts.first_key(order_counts.key_columns(section), key)
