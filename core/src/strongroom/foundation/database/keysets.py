"""Keysets of ordered queries: the condition that a row comes after a key (keyset pagination)."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, false, literal, or_, tuple_
from sqlalchemy.sql import operators
from sqlalchemy.sql.elements import UnaryExpression

from strongroom.foundation.database.rows import Row

Key = Sequence[Any]
"""The values of a record that its list is sorted by: numbers, texts, and ``None``."""

_NULLS: Final = (operators.nulls_first_op, operators.nulls_last_op)


class _Sorted(NamedTuple):
    """A column of ORDER BY. NULL is less than all other values."""

    column: ColumnElement[Any]
    descending: bool = False
    has_nulls: bool = False

    @classmethod
    def of_clause(cls, clause: ColumnElement[Any]) -> "_Sorted":
        modifiers = set()
        while isinstance(clause, UnaryExpression) and clause.modifier is not None:
            modifiers.add(clause.modifier)
            clause = clause.element
        return cls(clause, operators.desc_op in modifiers, not modifiers.isdisjoint(_NULLS))

    def is_beyond(self, value: Any) -> ColumnElement[bool]:
        """Return the condition that a row is after all rows with a value."""
        if value is None:
            return false() if self.descending else self.column.is_not(None)
        if self.descending:
            less: ColumnElement[bool] = self.column < value
            return or_(less, self.column.is_(None)) if self.has_nulls else less
        greater: ColumnElement[bool] = self.column > value
        return greater

    def literal(self, value: Any) -> ColumnElement[Any]:
        """Return a value with the type of the column."""
        return literal(value, self.column.type)

    def is_from(self, value: Any) -> ColumnElement[bool]:
        """Return the condition that a row is among or after the rows with a value."""
        is_from: ColumnElement[bool] = self.column <= value if self.descending else self.column >= value
        return is_from


class Keyset:
    """The columns that a query is sorted by, which together are unique.

    Args:
        query: a query with ORDER BY. Columns that may be NULL are sorted with an explicit place of NULL,
            as the least value.
    """

    def __init__(self, query: Select[Any]) -> None:
        self._sorted = [_Sorted.of_clause(clause) for clause in query._order_by_clauses]  # noqa: SLF001  there is no public one
        places = {id(column): place for place, column in enumerate(query.selected_columns)}
        width = len(places)
        for column, *_ in self._sorted:
            if id(column) not in places:
                places[id(column)] = len(places)
                query = query.add_columns(column)
        self._places = [places[id(column)] for column, *_ in self._sorted]
        self._width = width if width < len(places) else None
        self._query = query

    def after(self, key: Key) -> Select[Any]:
        """Return the query of the rows after a key, or of all rows for an empty one.

        The columns of the order that are not selected are added to each row.
        """
        return self._query.where(self._is_after(key)) if key else self._query

    def key(self, row: Row) -> Key:
        """Return the key of a row of :meth:`after`."""
        return tuple(row[place] for place in self._places)

    def selected(self, row: Row) -> Row:
        """Return the part of a row of :meth:`after` that the query selects."""
        return row if self._width is None else row[: self._width]

    def _is_after(self, key: Key) -> ColumnElement[bool]:
        first = self._sorted[0]
        is_uniform = len({item.descending for item in self._sorted}) == 1
        if is_uniform and not any(item.has_nulls for item in self._sorted):
            row = tuple_(*(item.column for item in self._sorted))
            last = tuple_(*(item.literal(value) for item, value in zip(self._sorted, key, strict=True)))
            return row < last if first.descending else row > last
        is_after = _is_after(self._sorted, key)
        # The range is implied; an index finds its first row.
        return is_after if first.has_nulls else and_(first.is_from(key[0]), is_after)


def _is_after(columns: Sequence[_Sorted], key: Key) -> ColumnElement[bool]:
    first, value = columns[0], key[0]
    is_beyond = first.is_beyond(value)
    if len(columns) == 1:
        return is_beyond
    return or_(is_beyond, and_(first.column == value, _is_after(columns[1:], key[1:])))
