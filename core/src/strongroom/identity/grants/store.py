"""Reads and ends grants, within the caller's transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select, update

from strongroom.clock import Clock
from strongroom.foundation.database.statements import Statement
from strongroom.identity.sessions.models import AUTHORIZATION, Authorization, authorizations
from strongroom.identity.users.service import type_of_active

MOST: Final = 1000
"""The maximum number of grants that a list has."""

_COLUMNS: Final = authorizations.c
_IN_FORCE: Final = (
    _COLUMNS.client_id.is_not(None)
    & _COLUMNS.revoked_at.is_(None)
    & (_COLUMNS.expires_at > bindparam("now"))
)
_LIVE: Final = Statement(
    select(authorizations).where(
        _COLUMNS.id == bindparam("of_id"),
        _IN_FORCE,
        type_of_active(_COLUMNS.user_id).is_not(None),
    ),
    AUTHORIZATION,
)
_OF_USER: Final = Statement(
    select(authorizations)
    .where(_COLUMNS.user_id == bindparam("of_user"), _IN_FORCE)
    .order_by(_COLUMNS.created_at.desc(), _COLUMNS.id.desc())
    .limit(MOST),
    AUTHORIZATION,
)


_LAST_USE: Final = Statement(
    select(func.max(_COLUMNS.last_seen_at)).where(
        _COLUMNS.client_id == bindparam("of_client"),
        _COLUMNS.plugin == bindparam("of_plugin"),
        _IN_FORCE,
    ),
)


@dataclass(slots=True, eq=False, repr=False)
class GrantStore:
    """Repository of grants."""

    _clock: Clock

    def find_live(self, connection: Connection, grant_id: str) -> Authorization | None:
        """Return a grant of an active user, unless it has ended."""
        return _LIVE.first(connection, {"of_id": grant_id, "now": self._clock.now()})

    def of_user(self, connection: Connection, user_id: str) -> Sequence[Authorization]:
        """Return the grants of a user that have not ended, the newest first."""
        return _OF_USER.all(connection, {"of_user": user_id, "now": self._clock.now()})

    def find_last_use(self, connection: Connection, plugin: str, client_id: str) -> int | None:
        """Return when a client last used a grant that has not ended; ``None``: it has none."""
        values = {"of_client": client_id, "of_plugin": plugin, "now": self._clock.now()}
        last: int | None = _LAST_USE.scalar(connection, values)
        return last

    def end(self, connection: Connection, plugin: str, criteria: Mapping[str, str]) -> int:
        """End the grants of all criteria, which are columns with their values; return their number."""
        conditions = [_COLUMNS[name] == value for name, value in criteria.items()]
        now: dict[str, Any] = {"now": self._clock.now()}
        revocation = (
            update(authorizations)
            .where(_IN_FORCE, _COLUMNS.plugin == plugin, *conditions)
            .values(revoked_at=bindparam("now"))
        )
        return connection.execute(revocation, now).rowcount
