"""The index of users: finds those whose name, e-mail address, mobile number or username has a part.

A text ends with a mark of the user's status and one of the type, so that a search for one of them reads
no users of another. It is maintained before the commit of a transaction that changes one of them,
whichever service does it.
Deleted users are not in it. See :mod:`strongroom.foundation.database.text_index`.
"""

from collections.abc import Sequence, Set
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    String,
    Text,
    bindparam,
    column,
    func,
    select,
    table,
)

from strongroom.foundation.database.changes import AdvisoryLock
from strongroom.foundation.database.deferred import defer
from strongroom.foundation.database.grams import Grams
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Row, TextIndex
from strongroom.foundation.text_folding import fold_text
from strongroom.identity.users.models import SINGLE_KINDS, User, UserStatus, UserType, credentials, users

user_search: Final = table(
    "user_search", column("number", BigInteger), column("user_id", String), column("folded", Text)
)
"""The folded texts of each live user, one per line.

It has no foreign key: its check would wait for the lock of a user's row, after the lock of the index.
"""

USER_INDEX: Final = TextIndex(
    user_search, "user_id", "user_search_index", grams=Grams(has_triples=True), has_marks=True
)

# Noncharacters of Unicode, which no text contains. The last line of a text is the mark of the status,
# and the mark of the type. Changing them requires to index all users again.
_STATUS_MARKS: Final = {UserStatus.ACTIVE.value: "\ufdd0", UserStatus.SUSPENDED.value: "\ufdd1"}
_TYPE_MARKS: Final = {
    UserType.USER.value: "\ufdd2",
    UserType.ADMIN.value: "\ufdd3",
    UserType.SERVICE.value: "\ufdd4",
}

# Taken last, so a transaction that holds them waits for no other lock. Without them, of two transactions
# that change the name and the address of a user, each could write a text without the other change.
_KEY: Final = 0x55535258
_LOCK: Final = AdvisoryLock(_KEY)
_USER_LOCK: Final = AdvisoryLock(_KEY, func.hashtext(bindparam("user_id")), whole=_KEY)

_BATCH: Final = 500


def _texts() -> Select[Any]:
    # Without a condition on the kind: SQLite would read all credentials of these kinds for each user.
    columns = (users.c.id, users.c.name, users.c.status, users.c.type)
    return (
        select(*columns, credentials.c.kind, credentials.c.value)
        .outerjoin(credentials, credentials.c.user_id == users.c.id)
        .where(users.c.deleted_at.is_(None))
        .order_by(users.c.id, credentials.c.kind)
    )


_TEXTS: Final = Statement(_texts().where(users.c.id.in_(bindparam("user_ids", expanding=True))), tuple)
_TEXTS_BETWEEN: Final = Statement(
    _texts().where(users.c.id >= bindparam("from_id"), users.c.id <= bindparam("to_id")), tuple
)


def indexed_values(user: User) -> tuple[object, ...]:
    """Return the values of a user that the index depends on."""
    return (user.name, user.status, user.type, user.deleted_at)


def make_mark(status: str = "", kind: str = "") -> str:
    """Return the mark of the users with a status and a type; an empty one may be any."""
    return _STATUS_MARKS.get(status, "") + _TYPE_MARKS.get(kind, "")


def indexed_text(texts: Sequence[str], status: str, kind: str) -> str:
    """Return the text of the index for the name and the contacts of a user."""
    return f"{fold_text(chr(10).join(texts))}\n{make_mark(status, kind)}"


def note_changed(connection: Connection, user_id: str) -> None:
    """Index a user again before the commit of the transaction."""
    defer(connection, _index, user_id)


def read_rows(connection: Connection, first: str, last: str) -> Sequence[Row]:
    """Return the rows of the live users from an id to another one."""
    return _group(_TEXTS_BETWEEN.all(connection, {"from_id": first, "to_id": last}))


def lock_rows(connection: Connection, user_ids: Sequence[str]) -> Sequence[Row]:
    """Return the rows of the live ones of some users, which the caller's transaction locks."""
    _LOCK.acquire(connection)
    return _rows(connection, user_ids)


def _lock(connection: Connection, user_ids: Set[str]) -> None:
    """Lock the index for one user, or for all if several users have changed."""
    if len(user_ids) > 1:
        _LOCK.acquire(connection)
        return
    for user_id in user_ids:
        _USER_LOCK.acquire(connection, user_id=user_id)


def _index(connection: Connection, user_ids: Set[str]) -> None:
    _lock(connection, user_ids)
    ordered = sorted(user_ids)
    for start in range(0, len(ordered), _BATCH):
        batch = ordered[start : start + _BATCH]
        rows = _rows(connection, batch)
        USER_INDEX.put_all(connection, rows)
        USER_INDEX.remove(connection, {*batch}.difference(str(row["user_id"]) for row in rows))


def _rows(connection: Connection, user_ids: Sequence[str]) -> list[Row]:
    return _group(_TEXTS.all(connection, {"user_ids": user_ids}) if user_ids else [])


def _group(texts: Sequence[Any]) -> list[Row]:
    return [_row(user_id, [*group]) for user_id, group in groupby(texts, itemgetter(0))]


def _row(user_id: str, texts: Sequence[tuple[str, str, str, str, str | None, str | None]]) -> Row:
    _, name, status, user_type, *_ = texts[0]
    contacts = [value for *_, kind, value in texts if value and kind in SINGLE_KINDS]
    return {"user_id": user_id, "folded": indexed_text([name, *contacts], status, user_type)}
