"""Temporary passwords, and what replaces a password without the former one."""

import secrets
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from strongroom.clock import DAY, Clock
from strongroom.extensions.user_management.administration import Administration, require_takeover
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.sessions.throttle import LoginThrottle
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges, Effect
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.password_policy import password_faults
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.users.service import UserService

LIFETIME: Final = 3 * DAY
"""Milliseconds for which a temporary password is valid."""

# Without characters that look alike. 16 of them are 93 bits.
_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
_GROUPS: Final = 4
_GROUP_LENGTH: Final = 4


@dataclass(frozen=True, slots=True)
class TemporaryPassword:
    """A password that its user must change. ``expires_at`` is in milliseconds since the Unix epoch."""

    password: str = field(repr=False)
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class PasswordReplacement:
    """Replaces the password of a user, within the caller's transaction."""

    _database: Database
    _credentials: CredentialService
    _passwords: UserPasswords
    _authorizations: AuthorizationService
    _throttle: LoginThrottle

    def require_acceptable(self, password: str) -> None:
        """Require that a new password meets the policy.

        Raises:
            ValidationFailed: the password does not meet the policy.
        """
        self._passwords.require_acceptable(password, "newPassword")

    def hash(self, password: str) -> StoredPassword:
        """Return a new password, for :meth:`replace`. Slow: call it outside of a transaction.

        Raises:
            ValidationFailed: the password does not meet the policy.
            Unavailable: too many hashes are waiting.
        """
        return self._passwords.hash_password(password, "newPassword")

    def replace(
        self,
        connection: Connection,
        user_id: str,
        password: StoredPassword,
        *,
        expires_at: int | None = None,
    ) -> None:
        """Set a password, and end all logins. The caller settles the change.

        Args:
            expires_at: the end of a temporary password, in milliseconds since the Unix epoch.
        """
        self._passwords.set_password(
            connection,
            user_id,
            password,
            expires_at=expires_at,
            change_required=expires_at is not None,
        )
        self._authorizations.revoke_all(connection, user_id)

    def forgive(self, user_id: str) -> None:
        """Clear the user's failed logins, so that the next login needs no captcha."""
        with self._database.read() as connection:
            names = self._credentials.of_user(connection, user_id)
        self._throttle.forgive(self._credentials.canonical_name(item.value) for item in names)


@dataclass(slots=True, eq=False, repr=False)
class TemporaryPasswords:
    """Gives users temporary passwords, for administrators."""

    _database: Database
    _clock: Clock
    _users: UserService
    _credentials: CredentialService
    _replacement: PasswordReplacement
    _administration: Administration
    _changes: CredentialChanges

    def give(self, identity: Identity, user_id: str, origin: Origin) -> TemporaryPassword:
        """Replace a user's password by a temporary one, and end all logins of the user.

        Raises:
            NotFound: there is no such user.
            Unavailable: too many hashes are waiting.
            StrongroomError: as :meth:`Administration.require` and :func:`require_takeover`.
        """
        self._administration.require(identity)
        with self._database.read() as connection:
            require_takeover(identity, self._users.get(connection, user_id))
        given = TemporaryPassword(_generate(), self._clock.now() + LIFETIME)
        stored = self._replacement.hash(given.password)
        with self._database.write() as connection:
            self._administration.confirm(connection, identity)
            self._credentials.lock_user(connection, user_id)
            # Checked again: the user may have become an administrator meanwhile.
            require_takeover(identity, self._users.get(connection, user_id))
            self._replacement.replace(connection, user_id, stored, expires_at=given.expires_at)
            by = ChangedBy(identity.user_id, origin, {Effect.PASSWORD: "password.give"})
            self._changes.settle(connection, by)
        self._replacement.forgive(user_id)
        return given


def _generate() -> str:
    """Return a random password that is easy to type, such as ``bK7m-...``."""
    while True:
        groups = (
            "".join(secrets.choice(_ALPHABET) for _ in range(_GROUP_LENGTH)) for _ in range(_GROUPS)
        )
        password = "-".join(groups)
        if not password_faults(password, ""):
            return password
