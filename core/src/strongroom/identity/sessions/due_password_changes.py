"""Passwords that their users must change in the login, such as temporary ones."""

from dataclasses import dataclass, replace

from strongroom.clock import iso_format
from strongroom.foundation.errors import (
    InvalidCredentials,
    PasswordChangeRequired,
    StrongroomError,
    ValidationFailed,
)
from strongroom.identity.sessions.login_conditions import LoginCondition, LoginIncomplete
from strongroom.identity.sessions.pending_login import FirstProof, LoginTransaction, RequestedLogin
from strongroom.identity.sessions.store import AuthorizationStore
from strongroom.identity.users.accounts import Account
from strongroom.identity.users.passwords import UserPasswords


@dataclass(slots=True, eq=False, repr=False)
class DuePasswordChanges(LoginCondition):
    """Requires a new password in place of one that must change."""

    _passwords: UserPasswords

    def before(self, request: RequestedLogin) -> None:
        """Check a new password.

        Raises:
            ValidationFailed: it does not meet the policy, or equals the old one.
        """
        new = request.new_password
        if new is None:
            return
        if new == request.attempt.password:
            message = "The new password must differ from the old one."
            raise ValidationFailed.of_field("newPassword", "unchanged", message)
        self._passwords.require_acceptable(new, "newPassword")

    def proven(self, request: RequestedLogin, first_proof: FirstProof) -> FirstProof:
        """Add what is stored of a new password. Slow, so it follows the proof.

        Raises:
            Unavailable: too many hashes are waiting.
        """
        if request.new_password is None:
            return first_proof
        stored = self._passwords.hash_password(request.new_password, "newPassword")
        return replace(first_proof, new_password=stored)

    def in_transaction(self, transaction: LoginTransaction) -> None:
        """Require that the password is the one that was proven, and that it need not change.

        Raises:
            InvalidCredentials: the password was changed since the proof.
            LoginIncomplete: the first step of a login is refused; a later one raises the refusal.
        """
        account, login = transaction.account, transaction.login
        # The password may have been changed between its check and this transaction.
        if (account.password_changed_at or 0) > login.first_proof.began_at:
            raise InvalidCredentials
        if refusal := _refusal(account, login.first_proof):
            if not login.is_first_step:
                raise refusal
            raise LoginIncomplete(account.user.id, lambda _: refusal)


def _refusal(account: Account, first_proof: FirstProof) -> StrongroomError | None:
    """Return why a login must not go on: its password must change, or must not."""
    is_due = account.change_required and first_proof.proves_password
    if is_due and first_proof.new_password is None:
        ends_at = account.password_expires_at
        return PasswordChangeRequired.with_end(None if ends_at is None else iso_format(ends_at))
    if first_proof.new_password is not None and not is_due:
        message = "The password need not change; use PUT /users/me/password."
        return ValidationFailed.of_field("newPassword", "not-due", message)
    return None


@dataclass(slots=True, eq=False, repr=False)
class NewPasswords(LoginCondition):
    """Changes the password if there is a new one, and ends all other logins."""

    _passwords: UserPasswords
    _sessions: AuthorizationStore

    def in_transaction(self, transaction: LoginTransaction) -> None:
        """Change the password. The login settles the change.

        Raises:
            InvalidCredentials: it was changed concurrently.
        """
        stored = transaction.login.first_proof.new_password
        if stored is None:
            return
        connection, user_id = transaction.connection, transaction.user.id
        if not self._passwords.change_due(connection, user_id, stored):
            raise InvalidCredentials
        self._sessions.end_all(connection, user_id)
