"""Maps rows to records, and checks when a module is imported that both have the same fields."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Table

T = TypeVar("T")

Row = Sequence[Any]


def get_columns(record: type[Any], table: Table) -> list[ColumnElement[Any]]:
    """Return the columns of a table that a record has fields for, in the order of its fields."""
    return [table.c[name] for name in _fields(record)]


class RowMapper(Generic[T]):
    """Maps rows to a record by position, which is as fast as a constructor call.

    The position of each field is checked once, here, so a column that is added to the table but not to
    the record (or in another order) is an error at import and never a wrong value.

    Args:
        record: a dataclass or a named tuple whose fields are the columns, by name and order. A named
            tuple of many fields is made in a tenth of the time.
        columns: a table, or the columns of a query.

    Raises:
        TypeError: the fields differ from the columns.
    """

    def __init__(self, record: type[T], columns: Table | Iterable[ColumnElement[Any]]) -> None:
        self.record = record
        self.columns = tuple(columns.c if isinstance(columns, Table) else columns)
        self.names = _fields(record)
        keys = tuple(getattr(column, "key", None) for column in self.columns)
        if self.names != keys:
            raise TypeError(f"{record.__name__} has the fields {self.names}, its row {keys}")
        self._get = attrgetter(*self.names, self.names[0])
        self.make: Callable[[Row], T] = (
            partial(tuple.__new__, record) if issubclass(record, tuple) else lambda row: record(*row)
        )
        """Returns the record of a row."""

    def __call__(self, row: Row) -> T:
        """Return the record of a row."""
        return self.make(row)

    def split(self, row: Row) -> tuple[T, Row]:
        """Return the record of the first columns of a row, and the remaining columns."""
        end = len(self.names)
        return self.make(row[:end]), row[end:]

    def values(self, record: T) -> dict[str, Any]:
        """Return the values of a record by column, for an INSERT or an UPDATE."""
        # The getter has one name more than needed, because attrgetter of a single name returns no tuple.
        return dict(zip(self.names, self._get(record), strict=False))


def _fields(record: type[Any]) -> tuple[str, ...]:
    if issubclass(record, tuple):
        names: tuple[str, ...] = record._fields  # type: ignore[attr-defined]  # of a named tuple
        return names
    return tuple(field.name for field in fields(record))
