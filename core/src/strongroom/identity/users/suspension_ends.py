"""Ends suspensions whose time is over: exactly at a login, and in the rows by a job."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select, update

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.statements import Statement
from strongroom.identity.users.models import USER, User, UserStatus, users
from strongroom.identity.users.user_index import note_changed

UNTIL: Final = "until"
"""The cause of a reinstatement at the end that the suspension had from the beginning."""

NO_SUSPENSION: Final[Mapping[str, Any]] = {
    "status": UserStatus.ACTIVE.value,
    "suspended_until": None,
    "suspension_reason": None,
}
"""The columns of a user who is not suspended."""

_BATCH: Final = 100
_NOW: Final = bindparam("now", type_=users.c.revision.type)
_IS_OVER: Final = (users.c.status == UserStatus.SUSPENDED.value) & (users.c.suspended_until <= _NOW)
# Checked again: of several logins at once, and the job, one reinstates the user.
_REINSTATE: Final = Statement(
    update(users)
    .where(users.c.id == bindparam("of_user"), _IS_OVER)
    .values(**NO_SUSPENSION, updated_at=_NOW, revision=greatest(users.c.revision + 1, _NOW))
    .returning(users),
    USER,
)
# Nodes that run the job at once take different users.
_OVER: Final = Statement(
    select(users.c.id).where(_IS_OVER).limit(_BATCH).with_for_update(skip_locked=True)
)


@dataclass(slots=True, eq=False, repr=False)
class SuspensionEnds:
    """Reinstates users whose suspension is over."""

    _database: Database
    _clock: Clock
    _audit: AuditService

    def apply(self, connection: Connection, user: User) -> User:
        """Return the user, who is reinstated if the suspension is over."""
        if not user.is_suspension_over(self._clock.now()):
            return user
        return self._reinstate(connection, user.id) or user

    def reinstate_due(self) -> int:
        """Reinstate all users whose suspension is over; return their number."""
        count = 0
        while True:
            with self._database.write() as connection:
                user_ids = _OVER.scalars(connection, {"now": self._clock.now()})
                for user_id in user_ids:
                    self._reinstate(connection, user_id)
            if not user_ids:
                return count
            count += len(user_ids)

    def record(
        self, connection: Connection, user_id: str, actor_id: str | None, cause: str, origin: Origin
    ) -> None:
        """Record a reinstatement."""
        event = AuditEvent(
            "user.reinstate",
            actor_id=actor_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"cause": cause},
        )
        self._audit.record(connection, event)

    def _reinstate(self, connection: Connection, user_id: str) -> User | None:
        parameters = {"of_user": user_id, "now": self._clock.now()}
        user = _REINSTATE.first(connection, parameters)
        if user is not None:
            note_changed(connection, user_id)
            self.record(connection, user_id, None, UNTIL, Origin())
        return user
