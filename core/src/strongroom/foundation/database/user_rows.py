"""Reads rows about a user as JSON objects, for the exports of users' own data."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from sqlalchemy import Select

from strongroom.clock import iso_format
from strongroom.foundation.database.engine import Database
from strongroom.foundation.database.statements import Statement

_BATCH: Final = 500


class UserRows:
    """Reads rows about a user, of which few are in memory at a time.

    Args:
        query: selects columns by the names of JSON members, and has the parameter ``of_user``. A member
            with a time, in milliseconds since the Unix epoch, is called ``at``, or ends with ``At``.
    """

    def __init__(self, query: Select[Any]) -> None:
        self._statement = Statement(query, _json)

    def bind(self, database: Database) -> Callable[[str], Iterator[dict[str, Any]]]:
        """Return a function that yields the rows of a user by the user's id."""

        def read(user_id: str) -> Iterator[dict[str, Any]]:
            with database.snapshot() as connection:
                yield from self._statement.stream(connection, {"of_user": user_id}, batch=_BATCH)

        return read


def _json(row: Any) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in row._mapping.items()}  # noqa: SLF001  public


def _value(name: str, value: Any) -> Any:
    is_time = name == "at" or name.endswith("At")
    return iso_format(value) if is_time and value is not None else value
