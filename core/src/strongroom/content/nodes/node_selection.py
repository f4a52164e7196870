"""Filtered lists, and sorted ones of a member's top level.

A filtered list reads all nodes of its folder for each page, because it has to count those that match. A
page of the second half is found from the end, so that the database sorts half of the nodes at most. All
nodes of a folder are listed by :mod:`strongroom.content.files.child_pages`, in any order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
)

from strongroom.content.nodes.effective_permission import group_permission, own_permission
from strongroom.content.nodes.models import Node, nodes
from strongroom.content.nodes.name_index import NAME_INDEX, search_names
from strongroom.content.nodes.node_cursors import is_after
from strongroom.content.nodes.node_filters import ListSection, NodeFilter, NodeOrder, SortKey, conditions
from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.text_folding import fold_text

Columns = Sequence[Column[Any]]
PageQuery = Callable[[Paging, Columns], Any]
Nodes = Callable[[], FromClause]
"""Returns the ids of all nodes of a list, in the column ``node_id``."""

_SORT_COLUMNS: Final[Mapping[SortKey, Sequence[Column[Any]]]] = {
    SortKey.NAME: (nodes.c.sort_key, nodes.c.id),
    SortKey.UPDATED_AT: (nodes.c.updated_at, nodes.c.sort_key, nodes.c.id),
    SortKey.SIZE: (nodes.c.size, nodes.c.sort_key, nodes.c.id),
    SortKey.TYPE: (nodes.c.type, nodes.c.sort_key, nodes.c.id),
}


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """The wanted nodes of a list, and their order.

    Args:
        text: a text that names contain; ``None``: any name.
        filter: further criteria.
        order: the sort order.
    """

    text: str | None = None
    filter: NodeFilter = field(default_factory=NodeFilter)
    order: NodeOrder = field(default_factory=NodeOrder)

    @property
    def is_usual(self) -> bool:
        """Whether all nodes are wanted, by name."""
        return self == _USUAL

    @property
    def is_filtered(self) -> bool:
        """Whether only some nodes are wanted."""
        return self.text is not None or bool(self.filter.used)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of its statements."""
        text = {} if self.text is None else {"wanted": fold_text(self.text)}
        return {**self.filter.parameters, **text}

    @property
    def shape(self) -> "Shape":
        """The part that determines its statements."""
        return Shape(self.text is not None, self.filter.used, self.order)

    def matches(self, node: Node) -> bool:
        """Return whether a node is wanted, for the only node of a list."""
        is_named = self.text is None or fold_text(self.text) in fold_text(node.name)
        return is_named and self.filter.matches(node)


_USUAL: Final = NodeSelection()


class Shape(NamedTuple):
    """Whether a selection has a text, its criteria, and its order."""

    has_text: bool
    used: frozenset[str]
    order: NodeOrder


def children() -> FromClause:
    """Return the nodes in the folder ``node_id``."""
    rows = select(nodes.c.id.label("node_id")).where(nodes.c.parent_id == bindparam("node_id"))
    return rows.subquery("listed")


def _listed(listed: Nodes) -> Select[Any]:
    if listed is children:
        # Without a join, so that each node is read once.
        return select(nodes.c.id).where(nodes.c.parent_id == bindparam("node_id"))
    listing = listed()
    return select(nodes.c.id).join(listing, listing.c.node_id == nodes.c.id)


def _selected(listed: Nodes, shape: Shape, dialect: str) -> Select[Any]:
    query = _listed(listed)
    if shape.has_text:
        query = query.join(search_names, search_names.c.node_id == nodes.c.id)
        query = query.where(NAME_INDEX.contains_part(dialect))
    return query.where(*conditions(shape.used))


@BuiltOnce
def total_statement(listed: Nodes, shape: Shape) -> Statement[Any]:
    """Return the query for the number of selected nodes."""

    def build(dialect: str) -> Select[Any]:
        query = _selected(listed, shape, dialect)
        return query.with_only_columns(func.count(), maintain_column_froms=True)

    return Statement(build)


@dataclass(frozen=True, slots=True)
class PagePosition:
    """The rows before a page, from the nearer end of a list.

    Args:
        passed: the number of rows to skip.
        from_end: whether they are at the end.
        rows: the wanted rows of the result.
    """

    passed: int
    from_end: bool
    rows: slice


def get_position(paging: Paging, total: int) -> PagePosition:
    """Return the position of a page that is in a list."""
    from_end = total - paging.offset - paging.size
    if not paging.offset or from_end >= paging.offset:
        return PagePosition(paging.offset, from_end=False, rows=slice(None))
    # The last page may have fewer rows than its size.
    count = min(paging.size, total - paging.offset)
    return PagePosition(max(from_end, 0), from_end=True, rows=slice(-count, None))


@BuiltOnce
def page_query(listed: Nodes, shape: Shape, *, from_end: bool) -> PageQuery:
    """Return the query for a page of the selected nodes, with the user's own grant on each.

    Args:
        from_end: whether ``passed`` rows are skipped at the end, instead of the beginning.
    """

    def build(paging: Paging, columns: Columns) -> Callable[[str], Select[Any]]:
        return lambda dialect: _page(listed, shape, paging, columns, dialect, from_end)

    return build


@BuiltOnce
def page_after(listed: Nodes, shape: Shape, section: ListSection, *, descending: bool) -> PageQuery:
    """Return the query for a page of a section of the selected nodes, after a cursor but the first."""

    def build(paging: Paging, columns: Columns) -> Callable[[str], Select[Any]]:
        return lambda dialect: _page_after(listed, shape, section, paging, columns, dialect, descending)

    return build


def columns_of_selection(section: ListSection) -> Columns:
    """Return the columns that a section of a filtered list is sorted by."""
    return _SORT_COLUMNS[section.key]


def _page_after(
    listed: Nodes,
    shape: Shape,
    section: ListSection,
    paging: Paging,
    columns: Columns,
    dialect: str,
    descending: bool,
) -> Select[Any]:
    keys = _SORT_COLUMNS[section.key]
    order = _ordered(NodeOrder(section.key, descending))
    rows = _selected(listed, shape, dialect)
    if section.type is not None:
        rows = rows.where(nodes.c.type == literal_column(f"'{section.type}'"))
    if paging.offset:
        rows = rows.where(is_after(keys, keys, descending=descending))
    page = rows.order_by(*order).limit(literal_column(str(paging.size))).subquery("page")
    own = greatest(own_permission(nodes.c.id), group_permission(nodes.c.id))
    return select(*columns, own).join(page, page.c.id == nodes.c.id).order_by(*order)


def _page(
    listed: Nodes, shape: Shape, paging: Paging, columns: Columns, dialect: str, from_end: bool
) -> Select[Any]:
    # The limit is applied before grants are read.
    rows = _selected(listed, shape, dialect).order_by(*_ordered(shape.order, is_reversed=from_end))
    rows = rows.limit(literal_column(str(paging.size)))
    if paging.offset:
        rows = rows.offset(bindparam("passed"))
    page = rows.subquery("page")
    own = greatest(own_permission(nodes.c.id), group_permission(nodes.c.id))
    query = select(*columns, own).join(page, page.c.id == nodes.c.id)
    return query.order_by(*_ordered(shape.order))


def _ordered(order: NodeOrder, *, is_reversed: bool = False) -> list[ColumnElement[Any]]:
    descending = order.descending != is_reversed
    columns = _SORT_COLUMNS[order.key]
    keys: list[ColumnElement[Any]]
    keys = [column.desc() if descending else column.asc() for column in columns]
    if not order.folders_first:
        return keys
    return [nodes.c.type.asc() if is_reversed else nodes.c.type.desc(), *keys]
