"""Changes and resets passwords."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.foundation import errors
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.limits.service import Counters
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.sessions.throttle import LoginThrottle
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges, Effect
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.password_policy import Strength, strength
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.verification.codes import CodeService, Purpose
from strongroom.plugin_api.login import Credential, VerificationCode

ATTEMPTS: Final = 10
"""Wrong passwords per hour. Without a limit, a stolen token could be used to guess the password."""

_PURPOSE: Final = "old-password"
_HOUR: Final = 60 * 60 * 1000


@dataclass(slots=True, eq=False, repr=False)
class CurrentPassword:
    """Verifies the current password of a user."""

    _database: Database
    _passwords: UserPasswords
    _counters: Counters

    def verify(self, user_id: str, password: str) -> str:
        """Return the stored hash if the password is the user's.

        Slow: call it outside of a transaction.

        Raises:
            WrongPassword: the password is wrong.
            TooManyRequests: too many wrong passwords within the last hour.
            Unavailable: too many hashes are waiting.
        """
        # Count before hashing, so that parallel attempts cannot exceed the limit.
        with self._database.write() as connection:
            if self._counters.add(connection, _PURPOSE, user_id, lifetime=_HOUR) > ATTEMPTS:
                # Do not count refused attempts, so that they do not extend the lockout.
                connection.rollback()
                raise errors.TooManyRequests(retry_after=_HOUR // 1000)
        stored = self._get_hash(user_id, password)
        if stored is None:
            raise errors.WrongPassword
        with self._database.write() as connection:
            self._counters.reset(connection, _PURPOSE, user_id)
        return stored

    def _get_hash(self, user_id: str, password: str) -> str | None:
        try:
            return self._passwords.get_hash(user_id, password)
        except errors.Unavailable:
            # The password was not evaluated, so the attempt does not count.
            with self._database.write() as connection:
                self._counters.take_back(connection, _PURPOSE, user_id)
            raise


@dataclass(slots=True, eq=False, repr=False)
class PasswordService:
    """Passwords of users.

    Args:
        throttle: counts failed logins; a reset clears them.
    """

    _database: Database
    _credentials: CredentialService
    _passwords: UserPasswords
    _current: CurrentPassword
    _codes: CodeService
    _authorizations: AuthorizationService
    _throttle: LoginThrottle
    _changes: CredentialChanges

    def change(self, identity: Identity, user_id: str, old: str, new: str, origin: Origin) -> Strength:
        """Change the password, given the old one; return the strength of the new one.

        Raises:
            Forbidden: the caller is another user.
            ValidationFailed: the new password does not meet the policy, or equals the old one.
            WrongPassword: the old password is wrong.
            TooManyRequests: too many wrong passwords within the last hour.
            Unavailable: too many hashes are waiting.
        """
        identity.require_self(user_id)
        if new == old:
            message = "The new password must differ from the old one."
            raise errors.ValidationFailed.of_field("newPassword", "unchanged", message)
        self._passwords.require_acceptable(new, "newPassword")
        old_hash = self._current.verify(user_id, old)
        new_password = self._passwords.hash_password(new, "newPassword")

        def replace(connection: Connection) -> None:
            # The user may have changed the password since it was verified, to lock out the caller.
            if not self._passwords.replace_password(connection, user_id, old_hash, new_password):
                raise errors.WrongPassword

        self._set(user_id, replace, "password.change", identity.authorization_id, origin)
        return strength(new)

    def require_none(self, user_id: str, new: str) -> None:
        """Require that a user has no password, and that a first one is acceptable.

        Raises:
            ValidationFailed: it does not meet the policy.
            WrongPassword: there is a password already.
        """
        self._passwords.require_acceptable(new, "newPassword")
        with self._database.read() as connection:
            self._require_none(connection, user_id)

    def _require_none(self, connection: Connection, user_id: str) -> None:
        if self._passwords.has_password(connection, user_id):
            message = "The current password is required."
            raise errors.WrongPassword.of_field("oldPassword", "required", message)

    def set_first(self, identity: Identity, new: str, origin: Origin) -> Strength:
        """Set the password of a caller who has none, and has proven more than a token.

        Raises:
            WrongPassword: another request has set a password meanwhile.
            Unavailable: too many hashes are waiting.
        """
        user_id = identity.user_id
        new_password = self._passwords.hash_password(new, "newPassword")

        def insert(connection: Connection) -> None:
            self._credentials.lock_user(connection, user_id)
            self._require_none(connection, user_id)
            self._passwords.set_password(connection, user_id, new_password)

        self._set(user_id, insert, "password.change", identity.authorization_id, origin)
        return strength(new)

    def reset(self, credential_text: str, code: VerificationCode, new: str, origin: Origin) -> None:
        """Set a new password with a code sent to one of the user's contacts.

        The response is the same whether or not a user holds the credential.

        The code is consumed before the password is hashed, because the hash is expensive: parallel
        requests with one code cost one hash. The code stays valid if the server is too busy to hash.

        Raises:
            ValidationFailed: the new password does not meet the policy.
            CodeInvalid: the code is wrong, or no user holds the credential.
            TooManyRequests: too many wrong codes were tried.
            Unavailable: too many hashes are waiting.
        """
        self._passwords.require_acceptable(new, "newPassword")
        credential = self._credentials.identify(credential_text)
        if credential is None:
            raise errors.CodeInvalid
        self._codes.require(code, credential, Purpose.RESET_PASSWORD, origin.address)
        user_id = self._find_holder(credential)
        # Hashed outside of a transaction, because hashing is slow and would block other writers.
        try:
            new_password = self._passwords.hash_password(new, "newPassword")
        except errors.Unavailable:
            self._codes.restore([code])
            raise

        def replace(connection: Connection) -> None:
            self._credentials.lock_user(connection, user_id)
            # The user may have replaced the contact since the code was consumed, to lock its holder out.
            if self._credentials.find_users(connection, [credential]).get(credential) != user_id:
                raise errors.CodeInvalid
            self._passwords.set_password(connection, user_id, new_password)

        self._set(user_id, replace, "password.reset", None, origin)
        self._forgive(user_id)

    def _forgive(self, user_id: str) -> None:
        """Clear the user's failed logins, so that the next login needs no captcha."""
        with self._database.read() as connection:
            held = self._credentials.of_user(connection, user_id)
        self._throttle.forgive(self._credentials.canonical_name(item.value) for item in held)

    def _find_holder(self, credential: Credential) -> str:
        with self._database.read() as connection:
            holders = self._credentials.find_users(connection, [credential])
        if credential not in holders:
            raise errors.CodeInvalid
        return holders[credential]

    def _set(
        self,
        user_id: str,
        replace: Callable[[Connection], None],
        action: str,
        kept_authorization: str | None,
        origin: Origin,
    ) -> None:
        with self._database.write() as connection:
            replace(connection)
            self._authorizations.revoke_all(connection, user_id, but=kept_authorization)
            by = ChangedBy(user_id, origin, {Effect.PASSWORD: action})
            self._changes.settle(connection, by)
