"""Stores when the accounts of users are due for deletion, within the caller's transaction."""

from typing import Final

from sqlalchemy import Connection, bindparam, select, update

from strongroom.foundation.database.statements import Statement
from strongroom.identity.users.models import UserStatus, users

_BATCH: Final = 100
# The deletion of a suspended user waits, because that user cannot log in to cancel it, and would get the
# address free for another registration.
_IS_DUE: Final = (
    (users.c.status == UserStatus.ACTIVE.value)
    & users.c.deleted_at.is_(None)
    & (users.c.deletion_due_at <= bindparam("now"))
)
_DUE: Final = Statement(
    select(users.c.id).where(_IS_DUE).order_by(users.c.deletion_due_at).limit(_BATCH)
)
# Checked again: the user may have cancelled it, or another node have done it.
_OF_USER: Final = users.c.id == bindparam("of_user")
_CLAIM: Final = Statement(update(users).where(_OF_USER, _IS_DUE).values(deletion_due_at=None))
_CANCEL: Final = Statement(
    update(users)
    .where(_OF_USER, users.c.deleted_at.is_(None), users.c.deletion_due_at.is_not(None))
    .values(deletion_due_at=None)
)


def due_users(connection: Connection, now: int) -> list[str]:
    """Return the ids of at most 100 users whose deletion is due, the oldest first."""
    return list(_DUE.scalars(connection, {"now": now}))


def claim_due(connection: Connection, user_id: str, now: int) -> bool:
    """Remove the time of a deletion that is due. ``False``: it is due no longer."""
    return _CLAIM.execute(connection, {"of_user": user_id, "now": now}) == 1


def clear_time(connection: Connection, user_id: str) -> bool:
    """Remove the time of a deletion. ``False``: none is scheduled."""
    return _CANCEL.execute(connection, {"of_user": user_id}) == 1
