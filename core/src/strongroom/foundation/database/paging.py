"""Pagination of database queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Select, func, tuple_

from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import dynamic

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Paging:
    """The requested page of a collection; page numbers start at 1."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        """The number of records before the page."""
        return (self.number - 1) * self.size


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a collection, and the total number of records."""

    items: Sequence[T]
    total: int
    paging: Paging


def page_of(records: Sequence[T], paging: Paging) -> Page[T]:
    """Return a page of records that are all in memory, because there are only a few."""
    return Page(records[paging.offset : paging.offset + paging.size], len(records), paging)


def select_page(
    connection: Connection,
    query: Select[Any],
    count: Select[Any],
    paging: Paging,
    make: Callable[[Any], T],
) -> Page[T]:
    """Return a page of an ordered query by LIMIT and OFFSET; ``make`` converts a row to a record."""
    total: int = dynamic(count).scalar(connection)
    if paging.offset >= total:
        return Page([], total, paging)
    page = dynamic(query.limit(paging.size).offset(paging.offset), make)
    return Page(page.all(connection), total, paging)


def seek_page(
    connection: Connection,
    query: Select[Any],
    positions: Select[Any],
    paging: Paging,
    make: Callable[[Any], T],
    count: Select[Any] | None = None,
    position: Callable[[int], Select[Any]] | None = None,
) -> Page[T]:
    """Return a page by keyset pagination: deep pages cost about as much as the first one.

    The sort key of the first row is found by an OFFSET on an index-only scan, so only the rows of the
    page itself are read from the table.

    Args:
        query: the rows, without ORDER BY.
        positions: a query of the sort key, which must be unique and covered by one index.
        make: converts a row to a record.
        count: the query of the total; by default, the positions are counted.
        position: returns the query of the sort key at an offset; by default, the index is scanned.
    """
    if count is None:
        count = positions.with_only_columns(func.count(), maintain_column_froms=True)
    total: int = dynamic(count).scalar(connection)
    if paging.offset >= total:
        return Page([], total, paging)
    keys = list(positions.selected_columns)
    if paging.offset:
        if position is None:
            first = _position(connection, positions, paging.offset, total)
        else:
            first = dynamic(position(paging.offset)).first(connection)
        # A row was deleted since the count.
        if first is None:
            return Page([], total, paging)
        query = query.where(tuple_(*keys) >= tuple_(*first))
    page = dynamic(query.order_by(*keys).limit(paging.size), make)
    return Page(page.all(connection), total, paging)


def _position(connection: Connection, positions: Select[Any], offset: int, total: int) -> Row | None:
    """Return the sort key at an offset; the scan starts at the nearer end of the index."""
    keys = list(positions.selected_columns)
    from_end = total - 1 - offset
    if offset <= from_end:
        query = positions.order_by(*keys).offset(offset)
    else:
        query = positions.order_by(*(key.desc() for key in keys)).offset(from_end)
    return dynamic(query.limit(1)).first(connection)
