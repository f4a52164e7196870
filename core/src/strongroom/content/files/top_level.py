"""Statements of a member's top-level list: the visible nodes whose parent is not visible, in each order.

A page of the user's own grants is a range of an index, and only the index is scanned to find its offset.
The nodes that are visible through groups are computed and sorted, and merged with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
    union_all,
)

from strongroom.content.files.child_pages import Columns, PageQuery
from strongroom.content.nodes import grant_copies
from strongroom.content.nodes.effective_permission import group_permission, is_at_top
from strongroom.content.nodes.group_visibility import through_groups
from strongroom.content.nodes.models import grants, nodes
from strongroom.content.nodes.node_cursors import is_after
from strongroom.content.nodes.node_filters import ListSection
from strongroom.content.nodes.node_selection import Nodes
from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.database.statements import Statement

Ordered = Select[Any] | CompoundSelect[Any]
Parts = Sequence[Select[Any]]
"""Queries for the sort key and the permission of different nodes of one list."""


def section_keys(section: ListSection) -> Columns:
    """Return the columns of grants that a section of a list is sorted by."""
    value = grant_copies.COLUMNS.get(section.key)
    names = (grants.c.node_sort_key, grants.c.node_id)
    return names if value is None else (value, *names)


def _own(section: ListSection) -> Parts:
    """Return the query for the top-level nodes of a member in no group."""
    mine = grants.c.user_id == bindparam("user_id")
    is_listed = mine & (grants.c.tenant_id == bindparam("tenant_id")) & is_at_top(bindparam("now"))
    if section.type is not None:
        is_listed &= grants.c.node_type == literal_column(f"'{section.type}'")
    return [select(*section_keys(section), grants.c.permission).where(is_listed)]


def _with_groups(section: ListSection) -> Parts:
    """Return the queries for the top-level nodes of a member in groups, with the own permission."""
    permission: ColumnElement[int] = literal_column("0")
    shared = through_groups(section_keys(section), section.type)
    return [*_own(section), shared.add_columns(permission.label("permission"))]


def _together(parts: Parts) -> Ordered:
    return parts[0] if len(parts) == 1 else union_all(*parts)


def _sorted(parts: Parts, section: ListSection, *, from_end: bool) -> Ordered:
    # Sorted as one compound query: the databases merge it with the own grants in the order of an index.
    keys = [parts[0].selected_columns[key.name] for key in section_keys(section)]
    return _together(parts).order_by(*_directed(keys, from_end=from_end))


def _directed(keys: Sequence[ColumnElement[Any]], *, from_end: bool) -> Sequence[ColumnElement[Any]]:
    return [key.desc() for key in keys] if from_end else keys


def _total(parts: Parts) -> Select[Any]:
    if len(parts) == 1:
        return parts[0].with_only_columns(func.count(), maintain_column_froms=True)
    return select(func.count()).select_from(union_all(*parts).subquery())


def _key_after(parts: Parts, section: ListSection, *, from_end: bool) -> Ordered:
    # Without the permission, so that the own grants are scanned in the index alone.
    names = [key.name for key in section_keys(section)]
    parts = [part.with_only_columns(*(part.selected_columns[name] for name in names)) for part in parts]
    return (
        _sorted(parts, section, from_end=from_end).offset(bindparam("passed")).limit(literal_column("1"))
    )


def _from_start(part: Select[Any], keys: Columns) -> Select[Any]:
    start = [bindparam(f"first_{key.name}", type_=key.type) for key in keys]
    return part.where(tuple_(*(part.selected_columns[key.name] for key in keys)) >= tuple_(*start))


def _after(parts: Parts, section: ListSection, *, descending: bool) -> Parts:
    keys = section_keys(section)
    return [
        part.where(
            is_after([part.selected_columns[key.name] for key in keys], keys, descending=descending)
        )
        for part in parts
    ]


def _first_rows(
    parts: Parts, section: ListSection, paging: Paging, *, from_end: bool, by_cursor: bool
) -> FromClause:
    """Return the first rows of a page."""
    if paging.offset and by_cursor:
        parts = _after(parts, section, descending=from_end)
    elif paging.offset:
        parts = [_from_start(part, section_keys(section)) for part in parts]
    # The limit is applied before the join, so that only the nodes of the page are read.
    rows = _sorted(parts, section, from_end=from_end).limit(literal_column(str(paging.size)))
    return rows.subquery("page")


@dataclass(frozen=True, slots=True)
class TopLevelSection:
    """The statements of a section of a top-level list.

    Args:
        keys: the columns that the section is sorted by.
        total: the query for the number of nodes.
        key_from_start: the query for the key after ``passed`` others.
        key_from_end: the same from the end of the section.
        page: the query for a page, which starts at the parameters of :meth:`start`.
        last_page: the query for the first page of the descending order.
        after: the queries for a page after a cursor, ascending and descending.
    """

    keys: Sequence[Column[Any]]
    total: Statement[Any]
    key_from_start: Statement[Any]
    key_from_end: Statement[Any]
    page: PageQuery
    last_page: PageQuery
    after: Sequence[PageQuery]

    def start(self, key: Sequence[Any]) -> dict[str, Any]:
        """Return the parameters of the first key of a page."""
        return {f"first_{column.name}": value for column, value in zip(self.keys, key, strict=True)}


@dataclass(frozen=True, slots=True)
class TopLevel:
    """The statements of top-level lists of members in no group, or of members in groups.

    Args:
        nodes: the ids of all nodes.
        section: returns the statements of a section.
    """

    nodes: Nodes
    section: Callable[[ListSection], TopLevelSection]


def _top_level(parts: Callable[[ListSection], Parts], permission: Callable[[Any], Any]) -> TopLevel:
    def page(section: ListSection, *, from_end: bool, by_cursor: bool = False) -> PageQuery:
        def build(paging: Paging, columns: Columns) -> Select[Any]:
            rows = _first_rows(parts(section), section, paging, from_end=from_end, by_cursor=by_cursor)
            query = select(*columns, permission(rows))
            query = query.select_from(rows).join(nodes, nodes.c.id == rows.c.node_id)
            keys = [rows.c[key.name] for key in section_keys(section)]
            return query.order_by(*_directed(keys, from_end=from_end))

        return build

    @BuiltOnce
    def get_section(section: ListSection) -> TopLevelSection:
        return TopLevelSection(
            section_keys(section),
            Statement(lambda _: _total(parts(section))),
            Statement(lambda _: _key_after(parts(section), section, from_end=False)),
            Statement(lambda _: _key_after(parts(section), section, from_end=True)),
            page(section, from_end=False),
            page(section, from_end=True),
            [page(section, from_end=descending, by_cursor=True) for descending in (False, True)],
        )

    return TopLevel(
        lambda: _together(parts(ListSection())).subquery("listed"),
        get_section,
    )


OWN: Final = _top_level(_own, lambda page: page.c.permission)
"""The list of a member in no group."""

SHARED: Final = _top_level(
    _with_groups, lambda page: greatest(page.c.permission, group_permission(page.c.node_id))
)
"""The list of a member in groups."""
