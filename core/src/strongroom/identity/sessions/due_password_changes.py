"""Passwords that their users must change in the login, such as temporary ones."""

from dataclasses import dataclass, field

from sqlalchemy import Connection

from strongroom.clock import iso_format
from strongroom.foundation.errors import (
    InvalidCredentials,
    PasswordChangeRequired,
    StrongroomError,
    ValidationFailed,
)
from strongroom.identity.sessions.store import AuthorizationStore
from strongroom.identity.users.accounts import Account
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.service import lock_logins
from strongroom.plugin_api.login import Credential


@dataclass(frozen=True, slots=True)
class PasswordProof:
    """The proof of a login as far as passwords matter.

    Args:
        proves_password: whether the login has proven the password.
        new: the password that replaces it, if the client has sent one.
    """

    proves_password: bool
    new: StoredPassword | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False, repr=False)
class DuePasswordChanges:
    """Changes passwords within the transaction of a login."""

    _credentials: CredentialService
    _sessions: AuthorizationStore

    def require_acceptable(self, new: str | None, old: str | None) -> None:
        """Check a new password before the login, which costs more.

        Raises:
            ValidationFailed: it does not meet the policy, or equals the old one.
        """
        if new is None:
            return
        if new == old:
            message = "The new password must differ from the old one."
            raise ValidationFailed.of_field("newPassword", "unchanged", message)
        self._credentials.require_acceptable(new, "newPassword")

    def hash(self, new: str | None) -> StoredPassword | None:
        """Return what is stored of a new password. Slow: call it after the proof, without a transaction.

        Raises:
            Unavailable: too many hashes are waiting.
        """
        return None if new is None else self._credentials.hash_password(new, "newPassword")

    def lock(self, connection: Connection, credential: Credential) -> None:
        """Block all logins of the holder of a credential, before the login itself shares their lock.

        Two logins that first shared the lock could not both end the others.
        """
        holders = self._credentials.find_users(connection, [credential], for_update=True)
        if credential in holders:
            lock_logins(connection, holders[credential])

    def refusal(self, account: Account, proof: PasswordProof) -> StrongroomError | None:
        """Return why a login must not go on: its password must change, or must not."""
        is_due = proof.proves_password and account.change_required
        if is_due and proof.new is None:
            ends_at = account.password_expires_at
            return PasswordChangeRequired.of(None if ends_at is None else iso_format(ends_at))
        if proof.new is not None and not is_due:
            message = "The password need not change; use PUT /users/me/password."
            return ValidationFailed.of_field("newPassword", "not-due", message)
        return None

    def apply(self, connection: Connection, account: Account, proof: PasswordProof) -> None:
        """Change the password if there is a new one, and end all other logins. The login settles it.

        Raises:
            InvalidCredentials: it was changed concurrently.
        """
        if proof.new is None:
            return
        user_id = account.user.id
        if not self._credentials.change_due(connection, user_id, proof.new):
            raise InvalidCredentials
        self._sessions.end_all(connection, user_id)
