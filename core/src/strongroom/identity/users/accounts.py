"""Reads and locks the account of a user who logs in."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, exists, func, select

from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import Statement
from strongroom.identity.users.models import USER, User, credentials, passwords, second_factors, users
from strongroom.identity.users.service import LOGINS_LOCK, lock_logins
from strongroom.plugin_api.login import Credential

NAMED: Final = (credentials.c.kind == bindparam("kind")) & (credentials.c.value == bindparam("value"))
HOLDER: Final = select(credentials.c.user_id).where(NAMED)
"""The id of the user who holds a credential."""

# A login reads the user after the locks: a concurrent suspension, deletion or change of the password
# either waits for this login and revokes it, or has committed and is visible here.
_ACCOUNT: Final = (
    select(
        users,
        passwords.c.changed_at,
        passwords.c.change_required,
        passwords.c.expires_at,
        exists().where(second_factors.c.user_id == users.c.id).label("has_second_factor"),
    )
    .outerjoin(passwords, passwords.c.user_id == users.c.id)
    .where(users.c.deleted_at.is_(None))
)


@dataclass(frozen=True, slots=True)
class Account:
    """A user who logs in.

    Args:
        user: the user, whose logins cannot be revoked together until the transaction ends.
        password_changed_at: milliseconds since the Unix epoch; ``None`` without a password.
        change_required: whether the user must change the password before logging in with it.
        password_expires_at: the end of a temporary password, in milliseconds since the Unix epoch.
        has_second_factor: whether one proof is not enough.
    """

    user: User
    password_changed_at: int | None
    change_required: bool
    password_expires_at: int | None
    has_second_factor: bool


def _account(row: Row) -> Account:
    user, (changed_at, change_required, expires_at, has_second_factor) = USER.split(row)
    return Account(user, changed_at, bool(change_required), expires_at, bool(has_second_factor))


_ACCOUNT_OF: Final = Statement(_ACCOUNT.where(users.c.id == bindparam("user_id")), _account)
_ACCOUNT_NAMED: Final = Statement(_ACCOUNT.where(users.c.id == HOLDER.scalar_subquery()), _account)
# A subquery, so that PostgreSQL locks the row of the credential before it takes the advisory lock: the
# order of transactions that change credentials and then revoke logins.
_LOCKED: Final = HOLDER.with_for_update().subquery("locked")
_LOCK_HOLDER: Final = Statement(
    select(
        _LOCKED.c.user_id,
        func.pg_advisory_xact_lock_shared(LOGINS_LOCK, func.hashtext(_LOCKED.c.user_id)),
    )
)


def find_account(connection: Connection, user_id: str) -> Account | None:
    """Return a user, or ``None`` if deleted."""
    return _ACCOUNT_OF.first(connection, {"user_id": user_id})


def lock_account(connection: Connection, user_id: str) -> Account | None:
    """Return a user that logs in, or ``None`` if deleted; block the revocation of all its logins."""
    lock_logins(connection, user_id, shared=True)
    return _ACCOUNT_OF.first(connection, {"user_id": user_id})


def lock_holder(connection: Connection, credential: Credential) -> Account | None:
    """Do :func:`lock_account` for the holder of a credential, and lock the credential, too.

    Returns ``None`` if there is none, or the credential is being bound to another user.
    """
    named = {"kind": credential.kind, "value": credential.value}
    # SQLite needs no locks, because it has one writer at a time.
    locks = connection.dialect.name == "postgresql"
    holder = _LOCK_HOLDER.first(connection, named) if locks else None
    account = _ACCOUNT_NAMED.first(connection, named)
    is_other = locks and account is not None and (holder is None or holder[0] != account.user.id)
    return None if is_other else account
