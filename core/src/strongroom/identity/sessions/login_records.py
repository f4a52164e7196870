"""The audit records of logins, with the outcomes of their attempts."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.errors import InvalidCredentials, Unavailable
from strongroom.identity.sessions.password_attempts import PasswordAttempts
from strongroom.identity.sessions.pending_login import PendingLogin
from strongroom.identity.sessions.throttle import AttemptedNames, Ticket
from strongroom.identity.sessions.token_issuing import IssuedTokens
from strongroom.identity.users.credentials import CredentialService
from strongroom.plugin_api.login import LoginAttempt


@dataclass(slots=True, eq=False, repr=False)
class LoginRecords:
    """Records logins.

    Args:
        credentials: recognises the names of failed logins.
    """

    _database: Database
    _credentials: CredentialService
    _attempts: PasswordAttempts
    _names: AttemptedNames
    _audit: AuditService

    def login(self, connection: Connection, issued: IssuedTokens, login: PendingLogin) -> Change:
        """Return the change that records a login."""
        event = AuditEvent(
            "login",
            actor_id=issued.user.id,
            target_type="authorization",
            target_id=issued.authorization_id,
            origin=login.origin,
            details={"method": login.first_proof.method},
        )
        return self._audit.record_change(connection, event)

    def first_proof(self, connection: Connection, user_id: str | None, login: PendingLogin) -> None:
        """Record a first proof, which was right, so it is no failure; the second has its own limits.

        Args:
            user_id: ``None``: the login would register a user, so there is no record.
        """
        outcome = [] if login.ticket is None else [self._attempts.success(login.ticket)]
        if user_id is None:
            if outcome:
                execute_together(connection, outcome)
            return
        event = AuditEvent(
            "login.challenge",
            target_type="user",
            target_id=user_id,
            origin=login.origin,
            details={"method": login.first_proof.method},
        )
        self._record(connection, outcome, event)

    def failure(
        self, attempt: LoginAttempt, error: Exception, origin: Origin, ticket: Ticket | None = None
    ) -> None:
        """Record a failed login, and the outcome of its attempt."""
        outcome = self._attempts.failure(ticket, error)
        try:
            self._record_failure(attempt, error, origin, outcome)
        except Unavailable:
            for change in outcome:
                self._attempts.owe(change)
            raise

    def _record_failure(
        self, attempt: LoginAttempt, error: Exception, origin: Origin, outcome: list[Change]
    ) -> None:
        named = self._credentials.identify(attempt.username or "")
        # A separate transaction, because the transaction of the login was rolled back.
        with self._database.write() as connection:
            holders = self._credentials.find_users(connection, [named] if named else [])
            attempted = {} if holders else self._names.details(attempt.username or "")
            event = AuditEvent(
                "login",
                FAILURE,
                target_type="user" if holders else None,
                target_id=next(iter(holders.values()), None),
                origin=origin,
                details={"code": getattr(error, "code", InvalidCredentials.code), **attempted},
            )
            self._record(connection, outcome, event)

    def _record(self, connection: Connection, outcome: list[Change], event: AuditEvent) -> None:
        """Record the outcome of an attempt with its event."""
        execute_together(connection, [*outcome, self._audit.record_change(connection, event)])
