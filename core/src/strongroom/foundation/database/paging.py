"""Pages of lists: by number, or by cursor, which is the key of the last record of the page before.

A list is read by cursor where its query has a unique order. So records that are added or removed
meanwhile move no other record to another page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Select, func, tuple_

from strongroom.foundation.database.keysets import Key, Keyset
from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import dynamic

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Paging:
    """The requested page of a collection; page numbers start at 1.

    Args:
        after: the key of the last record before the page, empty for the first page; ``None``: the page
            is found by its number.
    """

    number: int
    size: int
    after: Key | None = None

    @property
    def offset(self) -> int:
        """The number of records before the page."""
        return (self.number - 1) * self.size


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a collection, and the total number of records.

    Args:
        following: the key of the last record, if the page was read by cursor and others follow.
    """

    items: Sequence[T]
    total: int
    paging: Paging
    following: Key | None = None

    def with_items(self, items: Sequence[S]) -> "Page[S]":
        """Return the page with other records in place of its own."""
        page: Any = self
        result: Page[S] = replace(page, items=items)
        return result


def make_page(
    records: Sequence[T],
    paging: Paging,
    key: Callable[[T], tuple[Any, ...]],
    *,
    descending: bool = False,
) -> Page[T]:
    """Sort records that are all in memory, because there are only a few, and return a page of them.

    Args:
        key: returns the unique key of a record, a tuple of numbers and texts.
    """
    total = len(records)
    records = sorted(records, key=key, reverse=descending)
    if paging.after is None:
        return Page(records[paging.offset : paging.offset + paging.size], total, paging)
    if paging.after:
        last = tuple(paging.after)
        records = [item for item in records if (key(item) < last if descending else key(item) > last)]
    return _cut(records[: paging.size + 1], total, paging, key)


def _cut(records: Sequence[T], total: int, paging: Paging, key: Callable[[T], Key]) -> Page[T]:
    """Return a page by cursor of its records and the next one, if there is one."""
    items = records[: paging.size]
    return Page(items, total, paging, key(items[-1]) if len(records) > paging.size else None)


def select_page(
    connection: Connection,
    query: Select[Any],
    count: Select[Any],
    paging: Paging,
    make: Callable[[Any], T],
) -> Page[T]:
    """Return a page of a query with a unique order: by LIMIT and OFFSET, or by cursor.

    Args:
        make: converts a row to a record. The values of a row are attributes unless the query is sorted
            by other columns than it selects.
    """
    total: int = dynamic(count).scalar(connection)
    if paging.after is not None:
        return page_after(connection, query, total, paging, make)
    if paging.offset >= total:
        return Page([], total, paging)
    page = dynamic(query.limit(paging.size).offset(paging.offset), make)
    return Page(page.all(connection), total, paging)


def page_after(
    connection: Connection, query: Select[Any], total: int, paging: Paging, make: Callable[[Any], T]
) -> Page[T]:
    """Return a page of a query with a unique order by cursor; see :func:`select_page`."""
    keyset = Keyset(query)
    # One more than the page has, to know whether there is another page.
    limited = keyset.after(paging.after or ()).limit(paging.size + 1)
    page = _cut(dynamic(limited).all(connection), total, paging, keyset.key)
    return page.with_items([make(keyset.selected(row)) for row in page.items])


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
    keys = list(positions.selected_columns)
    if paging.after is not None:
        return page_after(connection, query.order_by(*keys), total, paging, make)
    if paging.offset >= total:
        return Page([], total, paging)
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
