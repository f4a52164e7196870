"""Records whose lists by name have the natural order: each write stores the sort key of the name."""

from typing import Any, TypeVar

from strongroom.foundation.collation import sort_key
from strongroom.foundation.database.rows import RowMapper

T = TypeVar("T")

KEY = "sort_key"
"""The column of the sort key."""


class NamedRowMapper(RowMapper[T]):
    """The mapper of a table with the columns ``name`` and ``sort_key``."""

    def values(self, record: T) -> dict[str, Any]:
        """Return the values of a record by column; the sort key is always the one of its name."""
        return with_sort_key(super().values(record))


def with_sort_key(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of columns with the sort key of the name, if they have a name."""
    return {**values, KEY: sort_key(values["name"])} if "name" in values else values
