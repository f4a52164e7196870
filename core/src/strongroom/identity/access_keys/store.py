"""Stores access keys, within the caller's transaction."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, FromClause, bindparam, delete, func, insert, select, update

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.identity.access_keys.models import ACCESS_KEY, AccessKey, access_keys
from strongroom.identity.users.service import type_of_active
from strongroom.plugin_api.deactivation import Deactivation

KEPT_AFTER_END: Final = 30 * 24 * 3_600_000
"""Milliseconds for which an expired key is listed, so that its owner can see why it is refused."""

_OF_ID: Final = access_keys.c.id == bindparam("of_id")
_OF_USER: Final = access_keys.c.user_id == bindparam("of_user")

_ADD: Final = Statement(insert(access_keys))
_FIND: Final = Statement(select(access_keys).where(_OF_ID), ACCESS_KEY)
_OWNER: Final = Statement(select(access_keys.c.user_id).where(_OF_ID))
_COUNT: Final = Statement(select(func.count()).select_from(access_keys).where(_OF_USER))
_RENAME: Final = Statement(update(access_keys).where(_OF_ID).values(name=bindparam("new_name")))
_ROTATE: Final = Statement(
    update(access_keys)
    .where(_OF_ID)
    .values(
        previous_hash=access_keys.c.secret_hash,
        previous_until=bindparam("until"),
        secret_hash=bindparam("new_hash"),
        expires_at=bindparam("ends_at"),
        warned_at=None,
    )
)
_REMOVE: Final = Statement(delete(access_keys).where(_OF_ID))
_REMOVE_ALL: Final = Statement(delete(access_keys).where(_OF_USER))
_REMOVE_OF_TENANT: Final = Statement(
    delete(access_keys).where(_OF_USER, access_keys.c.tenant_id == bindparam("of_tenant"))
)
# The condition is checked again: of several parallel requests, only the first one writes.
_NOTE_USED: Final = Statement(
    update(access_keys)
    .where(
        _OF_ID,
        access_keys.c.last_used_at.is_(None) | (access_keys.c.last_used_at < bindparam("hour")),
    )
    .values(last_used_at=bindparam("hour"), last_used_from=bindparam("address"))
)
# Nodes that warn concurrently take different keys.
_ENDING: Final = Statement(
    select(access_keys)
    .where(
        access_keys.c.warned_at.is_(None),
        access_keys.c.expires_at > bindparam("now"),
        access_keys.c.expires_at <= bindparam("until"),
    )
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True),
    ACCESS_KEY,
)
_WARNED: Final = Statement(update(access_keys).where(_OF_ID).values(warned_at=bindparam("now")))


class KeyRow(NamedTuple):
    """The columns of :func:`good_key`; all are ``None`` if there is no such key."""

    user_type: str | None
    last_used_at: int | None
    expires_at: int
    secret_hash: str | None
    previous_hash: str | None
    previous_until: int | None
    scopes: str
    max_permission: int
    key_tenant_id: str | None
    key_folder_id: str | None
    addresses: list[str]


def good_key(key_id: str = "key_id") -> FromClause:
    """Return a subquery for the columns that decide about a request with an access key.

    Its parameters are ``user_id`` and the one that ``key_id`` names. ``user_type`` is NULL
    unless the user is active.
    """
    columns = access_keys.c
    return (
        select(
            type_of_active(columns.user_id).label("user_type"),
            columns.last_used_at,
            columns.expires_at,
            columns.secret_hash,
            columns.previous_hash,
            columns.previous_until,
            columns.scopes,
            columns.max_permission,
            columns.tenant_id.label("key_tenant_id"),
            columns.folder_id.label("key_folder_id"),
            columns.addresses,
        )
        .where(
            columns.id == bindparam(key_id),
            columns.user_id == bindparam("user_id"),
        )
        .subquery("access_key")
    )


_GOOD: Final = Statement(select(good_key()))

KEY_COLUMNS: Final = len(KeyRow._fields)
"""The number of columns of :func:`good_key`."""


@dataclass(slots=True, eq=False, repr=False)
class AccessKeyStore:
    """Repository of access keys."""

    _clock: Clock

    def add(self, connection: Connection, key: AccessKey) -> None:
        """Store a new key."""
        _ADD.execute(connection, ACCESS_KEY.values(key))

    def find(self, connection: Connection, key_id: str) -> AccessKey | None:
        """Return a key, expired or not."""
        return _FIND.first(connection, {"of_id": key_id})

    def owner(self, connection: Connection, key_id: str) -> str | None:
        """Return the id of a key's user, which never changes."""
        user_id: str | None = _OWNER.scalar(connection, {"of_id": key_id})
        return user_id

    def good(self, connection: Connection, key_id: str, user_id: str) -> Any | None:
        """Return the row of :func:`good_key`, or ``None``."""
        return _GOOD.first(connection, {"key_id": key_id, "user_id": user_id})

    def page(self, connection: Connection, user_id: str, paging: Paging) -> Page[AccessKey]:
        """Return a page of a user's keys, newest first."""
        ours = access_keys.c.user_id == user_id
        newest_first = (access_keys.c.created_at.desc(), access_keys.c.id.desc())
        query = select(access_keys).where(ours).order_by(*newest_first)
        count = select(func.count()).select_from(access_keys).where(ours)
        return select_page(connection, query, count, paging, ACCESS_KEY)

    def count(self, connection: Connection, user_id: str) -> int:
        """Return how many keys a user has."""
        return _COUNT.scalar(connection, {"of_user": user_id}) or 0

    def rename(self, connection: Connection, key_id: str, name: str) -> None:
        """Change the name of a key."""
        _RENAME.execute(connection, {"of_id": key_id, "new_name": name})

    def rotate(
        self, connection: Connection, key_id: str, secret_hash: str, *, overlap_until: int, ends_at: int
    ) -> None:
        """Replace the secret of a key; the previous one is valid until ``overlap_until``."""
        values = {"new_hash": secret_hash, "until": overlap_until, "ends_at": ends_at}
        _ROTATE.execute(connection, {"of_id": key_id, **values})

    def remove(self, connection: Connection, key_id: str) -> bool:
        """Delete a key; return ``False`` if it did not exist."""
        return _REMOVE.execute(connection, {"of_id": key_id}) == 1

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Delete all keys of a user, or those that are limited to one tenant."""
        named = {"of_user": ended.user_id, "of_tenant": ended.tenant_id}
        (_REMOVE_ALL if ended.is_of_account else _REMOVE_OF_TENANT).execute(connection, named)

    def note_used(self, connection: Connection, key_id: str, hour: int, address: str | None) -> None:
        """Record the use of a key in an hour, given as the time of its beginning."""
        _NOTE_USED.execute(connection, {"of_id": key_id, "hour": hour, "address": address})

    def take_ending(self, connection: Connection, until: int, limit: int) -> list[AccessKey]:
        """Return keys that end before ``until`` and were not taken before."""
        now = self._clock.now()
        keys = _ENDING.all(connection, {"now": now, "until": until, "limit": limit})
        for key in keys:
            _WARNED.execute(connection, {"of_id": key.id, "now": now})
        return keys

    def prune(self, database: Database) -> int:
        """Delete keys that expired a month ago, and return their number."""
        ended = access_keys.c.expires_at <= self._clock.now() - KEPT_AFTER_END
        return prune(database, access_keys.c.id, ended)
