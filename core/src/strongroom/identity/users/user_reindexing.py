"""Repairs the index and the sort keys of users. Servers can use them meanwhile."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, update

from strongroom.foundation.collation import sort_key
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
_KEYS: Final = Statement(
    select(users.c.id, users.c.name, users.c.sort_key)
    .where(users.c.id.in_(bindparam("user_ids", expanding=True)))
    .order_by(users.c.id)
    .with_for_update(key_share=True),
    tuple,
)
_SET_KEY: Final = Statement(
    update(users).where(users.c.id == bindparam("of_user")).values(sort_key=bindparam("key"))
)


class UserReindexing:
    """Corrects the index of users' names and contacts, and the keys that names are sorted by."""

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
    rows = next_rows(connection, after, BATCH)
    named = _KEYS.all(connection, {"user_ids": [row["user_id"] for row in rows]}) if rows else []
    keys = [
        {"of_user": user_id, "key": key}
        for user_id, name, stored in named
        for key in [sort_key(name)]
        if stored != key
    ]
    if keys:
        _SET_KEY.execute(connection, keys)
    return rows
