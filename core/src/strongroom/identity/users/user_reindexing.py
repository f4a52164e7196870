"""Repairs the index and the sort keys of users. Servers can use them meanwhile."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, update

from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database
from strongroom.foundation.database.key_ranges import KeyRange
from strongroom.foundation.database.range_work import OnRows, RangePages
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Row
from strongroom.foundation.database.text_reindexing import (
    BATCH,
    IndexedPage,
    IndexedRows,
    TextReindexing,
)
from strongroom.identity.users.models import users
from strongroom.identity.users.user_index import USER_INDEX, lock_rows, read_rows, user_search

_LIVE: Final = users.c.deleted_at.is_(None)
_COUNT: Final = Statement(select(func.count()).select_from(users).where(_LIVE))
_MISSING: Final = Statement(
    select(func.count())
    .select_from(users.outerjoin(user_search, user_search.c.user_id == users.c.id))
    .where(_LIVE, user_search.c.user_id.is_(None))
)
_KEYS: Final = select(users.c.id, users.c.name, users.c.sort_key)
_NEXT: Final = RangePages(users.c.id, _KEYS.where(_LIVE), BATCH)
_LOCKED_KEYS: Final = Statement(
    _KEYS.where(users.c.id.in_(bindparam("user_ids", expanding=True)))
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
        rows = IndexedRows(users.c.id, _next_page, _lock)
        self.task: Final = TextReindexing("users.reindex", database, USER_INDEX, rows)

    def count(self) -> tuple[int, int]:
        """Return the number of users, and how many of them are not in the index."""
        with self._database.read() as connection:
            return _COUNT.scalar(connection), _MISSING.scalar(connection)

    def run(self, on_rows: OnRows = lambda _: None) -> int:
        """Correct the index, and return the number of users who were missing or wrong in it."""
        return self.task.run(on_rows)


def _next_page(connection: Connection, key_range: KeyRange) -> IndexedPage:
    page = _NEXT.all(connection, key_range)
    rows = read_rows(connection, page[0][0], page[-1][0]) if page else []
    wrong = [user_id for user_id, name, stored in page if stored != sort_key(name)]
    return IndexedPage([row[0] for row in page], rows, wrong)


def _lock(connection: Connection, user_ids: Sequence[str]) -> Sequence[Row]:
    # The index is locked last, so the rows of the users come first.
    keys = [
        {"of_user": user_id, "key": key}
        for user_id, name, stored in _LOCKED_KEYS.all(connection, {"user_ids": user_ids})
        for key in [sort_key(name)]
        if stored != key
    ]
    if keys:
        _SET_KEY.execute(connection, keys)
    return lock_rows(connection, user_ids)
