"""Pages of collections."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Select

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
