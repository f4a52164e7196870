"""Repairs the index of users. Servers can use it meanwhile."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, func, select

from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Row
from strongroom.foundation.database.text_reindexing import BATCH, Progress, TextReindexing
from strongroom.identity.users.models import users
from strongroom.identity.users.user_index import USER_INDEX, next_rows, user_search

_LIVE: Final = users.c.deleted_at.is_(None)
_COUNT: Final = Statement(select(func.count()).select_from(users).where(_LIVE))
_MISSING: Final = Statement(
    select(func.count())
    .select_from(users.outerjoin(user_search, user_search.c.user_id == users.c.id))
    .where(_LIVE, user_search.c.user_id.is_(None))
)


class UserReindexing:
    """Corrects the index of users' names and contacts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reindexing = TextReindexing(database, USER_INDEX, _next_rows)

    def count(self) -> tuple[int, int]:
        """Return the number of users, and how many of them are not in the index."""
        with self._database.read() as connection:
            return _COUNT.scalar(connection), _MISSING.scalar(connection)

    def run(self, progress: Progress = lambda _: None) -> int:
        """Correct the index, and return the number of users who were missing or wrong in it."""
        return self._reindexing.run(progress)


def _next_rows(connection: Connection, after: str) -> Sequence[Row]:
    return next_rows(connection, after, BATCH)
