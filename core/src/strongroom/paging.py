"""Pages of collections."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Row, Select, func, tuple_

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of a collection is wanted. Pages are counted from 1."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        """How many records come before the page."""
        return (self.number - 1) * self.size


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a collection, and the size of the whole."""

    items: Sequence[T]
    total: int
    paging: Paging


def select_page(
    connection: Connection,
    query: Select[Any],
    count: Select[Any],
    paging: Paging,
    make: Callable[..., T],
) -> Page[T]:
    """Return a page of an ordered query, its rows made into records."""
    total: int = connection.execute(count).scalar_one()
    if paging.offset >= total:
        return Page([], total, paging)
    rows = connection.execute(query.limit(paging.size).offset(paging.offset))
    return Page([make(row) for row in rows], total, paging)


def seek_page(
    connection: Connection,
    query: Select[Any],
    positions: Select[Any],
    paging: Paging,
    make: Callable[..., T],
    count: Select[Any] | None = None,
    position: Callable[[int], Select[Any]] | None = None,
) -> Page[T]:
    """Return a page, at about the same cost however deep it lies.

    Args:
        connection: the transaction.
        query: the rows, in no order.
        positions: what they are sorted by, unique, and found in one index alone.
        paging: which page.
        make: makes a row into a record.
        count: tells how many there are; else they are counted.
        position: returns the query for the position at an offset; else it is counted off.
    """
    if count is None:
        count = positions.with_only_columns(func.count(), maintain_column_froms=True)
    total: int = connection.execute(count).scalar_one()
    if paging.offset >= total:
        return Page([], total, paging)
    keys = list(positions.selected_columns)
    if paging.offset:
        if position is None:
            first = _position(connection, positions, paging.offset, total)
        else:
            first = connection.execute(position(paging.offset)).first()
        if first is None:
            return Page([], total, paging)
        query = query.where(tuple_(*keys) >= tuple_(*first))
    rows = connection.execute(query.order_by(*keys).limit(paging.size))
    return Page([make(row) for row in rows], total, paging)


def _position(
    connection: Connection, positions: Select[Any], offset: int, total: int
) -> Row[Any] | None:
    """Return the sort key at an offset, counted off from whichever end is nearer."""
    keys = list(positions.selected_columns)
    from_end = total - 1 - offset
    if offset <= from_end:
        query = positions.order_by(*keys).offset(offset)
    else:
        query = positions.order_by(*(key.desc() for key in keys)).offset(from_end)
    return connection.execute(query.limit(1)).first()
