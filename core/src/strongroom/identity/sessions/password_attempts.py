"""The attempts of a login with a password: how they are limited, and how they end."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.foundation.database.changes import Change
from strongroom.foundation.errors import CaptchaRequired, Unavailable
from strongroom.foundation.limits.turns import RETRY_SECONDS
from strongroom.identity.sessions.login_conditions import LoginCondition
from strongroom.identity.sessions.pending_login import LoginTransaction
from strongroom.identity.sessions.throttle import LoginThrottle, Ticket
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService
from strongroom.plugin_api.login import LoginAttempt


@dataclass(slots=True, eq=False, repr=False)
class PasswordAttempts(LoginCondition):
    """Reserves attempts with a password, and ends each with its outcome.

    Other attempts are not counted, because codes have limits of their own.
    """

    _credentials: CredentialService
    _captchas: CaptchaService
    _throttle: LoginThrottle

    def reserve(self, attempt: LoginAttempt, captcha: CaptchaAnswer | None) -> Ticket | None:
        """Reserve an attempt; ``None`` without a password.

        Raises:
            CaptchaRequired: a captcha is required, and there is none.
            CaptchaInvalid: a captcha is required, and its solution is wrong.
            Unavailable: too many attempts wait.
        """
        if not attempt.password:
            return None
        name, address = self._credentials.canonical_name(attempt.username or ""), attempt.client.address
        try:
            return self._throttle.begin(name, address)
        except CaptchaRequired:
            if captcha is None:
                raise
        self._captchas.consume(captcha, address)
        return self._throttle.begin_solved(name, address)

    def require_lease(self, ticket: Ticket | None) -> None:
        """Require that no other attempt may have taken the place of this one.

        Raises:
            Unavailable: the proof has taken too long; its outcome must not be known.
        """
        if ticket is not None and self._throttle.is_lost(ticket):
            raise Unavailable(retry_after=RETRY_SECONDS)

    def in_transaction(self, transaction: LoginTransaction) -> None:
        """Clear the failures of the name, or of all names of the user if there is no attempt."""
        ticket = transaction.login.ticket
        if ticket is not None:
            transaction.changes.append(self._throttle.success(ticket))
        else:
            transaction.changes += self._clear_all(transaction.connection, transaction.user.id)

    def success(self, ticket: Ticket) -> Change:
        """Return the change that ends an attempt whose password is right."""
        return self._throttle.success(ticket)

    def failure(self, ticket: Ticket | None, error: Exception) -> list[Change]:
        """Return the change that counts a failed attempt, unless its password was not evaluated."""
        if ticket is None or self._throttle.is_lost(ticket):
            return []
        was_evaluated = not isinstance(error, Unavailable)
        return [self._throttle.failure(ticket) if was_evaluated else self._throttle.undo(ticket)]

    def owe(self, change: Change) -> None:
        """Let a later attempt record an outcome whose transaction failed."""
        self._throttle.owe(change)

    def _clear_all(self, connection: Connection, user_id: str) -> list[Change]:
        bound = self._credentials.of_user(connection, user_id)
        return self._throttle.clear(self._credentials.canonical_name(item.value) for item in bound)
