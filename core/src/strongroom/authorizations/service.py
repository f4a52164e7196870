"""Logs users in and out, and knows which tokens are good."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, insert, select, update

from strongroom.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.authorizations.models import Authorization, authorizations
from strongroom.authorizations.throttle import LoginThrottle, Ticket
from strongroom.authorizations.tokens import TokenSigner, parse_token_id
from strongroom.clock import Clock
from strongroom.credentials.service import CredentialService
from strongroom.database import Database
from strongroom.errors import (
    CaptchaRequired,
    CredentialTaken,
    InvalidCredentials,
    NotFound,
    StrongroomError,
    TokenInvalid,
    UserSuspended,
)
from strongroom.identity import Identity, Origin
from strongroom.ids import is_id, new_id
from strongroom.plugin_api.login import LoginAttempt, LoginMethod, LoginRejected, VerifiedCredential
from strongroom.users.models import User, UserStatus
from strongroom.users.service import UserService
from strongroom.verification.captchas import CaptchaAnswer, CaptchaService


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """What a login gives. ``expires_at`` is in milliseconds since the Unix epoch."""

    access_token: str = field(repr=False)
    expires_at: int
    user: User


@dataclass(frozen=True, slots=True)
class LoginServices:
    """The other features that a login works with."""

    users: UserService
    credentials: CredentialService
    captchas: CaptchaService
    throttle: LoginThrottle
    audit: AuditService


class AuthorizationService:
    """Authorizations and their tokens.

    Args:
        database: where authorizations are kept; every check asks it, so that a revocation holds in
            every process from the moment it is committed.
        clock: the time.
        signer: issues and checks tokens.
        methods: the login methods in use, in the order they are asked.
        services: the features that take part.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        signer: TokenSigner,
        methods: Sequence[LoginMethod[object]],
        services: LoginServices,
    ) -> None:
        self._database = database
        self._clock = clock
        self._signer = signer
        self._methods = methods
        self._services = services

    def log_in(
        self, attempt: LoginAttempt, captcha: CaptchaAnswer | None = None, origin: Origin | None = None
    ) -> IssuedToken:
        """Check what an attempt proves, and issue a token.

        Raises:
            InvalidCredentials: it proves nothing.
            CaptchaRequired: too many have failed, and no captcha came with this one.
            CaptchaInvalid: a captcha was due, and its answer is wrong.
            UserSuspended: it proves who a suspended user is.
        """
        origin = origin or Origin()
        try:
            ticket = self._admit(attempt, captcha) if attempt.password else None
            method, verified = self._authenticate(attempt)
            return self._authorize(attempt, method, verified, ticket, origin)
        except (LoginRejected, StrongroomError) as error:
            self._record_failure(attempt, error, origin)
            if isinstance(error, LoginRejected):
                raise InvalidCredentials from error
            raise

    def verify(self, token: str) -> Identity:
        """Return whom a token stands for.

        Raises:
            TokenInvalid: nobody: it is forged, has expired, or was revoked.
        """
        claims = self._signer.check(token)
        query = select(authorizations.c.user_type, authorizations.c.user_id).where(
            authorizations.c.id == claims.authorization_id, authorizations.c.revoked_at.is_(None)
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None or row.user_id != claims.user_id:
            raise TokenInvalid
        return Identity(claims.user_id, row.user_type, claims.authorization_id)

    def revoke(self, reference: str, identity: Identity | None, origin: Origin) -> None:
        """End the authorization that a token, its ``jti``, or ``current`` refers to.

        Whoever holds the token itself may end it; else its user and administrators may.

        Raises:
            NotFound: there is none such, or not for the caller.
        """
        authorization_id = self._resolve(reference, identity)
        holds_token = "." in reference
        with self._database.write() as connection:
            query = select(authorizations).where(authorizations.c.id == authorization_id)
            row = connection.execute(query).first()
            if row is None:
                raise NotFound
            found = Authorization(*row)
            if not holds_token and not _may_end(identity, found):
                raise NotFound
            if self._end(connection, found.id):
                event = AuditEvent(
                    "authorization.revoke",
                    actor_id=identity.user_id if identity else found.user_id,
                    target_type="authorization",
                    target_id=found.id,
                    origin=origin,
                )
                self._services.audit.record(connection, event)

    def revoke_all(self, connection: Connection, user_id: str, *, but: str | None = None) -> None:
        """End every authorization of a user, but for one that may be spared."""
        statement = (
            update(authorizations)
            .where(authorizations.c.user_id == user_id, authorizations.c.revoked_at.is_(None))
            .values(revoked_at=self._clock.now())
        )
        if but is not None:
            statement = statement.where(authorizations.c.id != but)
        connection.execute(statement)

    def _admit(self, attempt: LoginAttempt, captcha: CaptchaAnswer | None) -> Ticket:
        throttle, address = self._services.throttle, attempt.client.address
        name = self._services.credentials.canonical_name(attempt.username or "")
        ticket = throttle.admit(name, address)
        if ticket is not None:
            return ticket
        if captcha is None:
            raise CaptchaRequired
        self._services.captchas.spend(captcha)
        return throttle.admit_solved(name, address)

    def _authenticate(self, attempt: LoginAttempt) -> tuple[str, VerifiedCredential]:
        for method in self._methods:
            if attempt.method in (None, method.name):
                verified = method.authenticate(attempt)
                if verified is not None:
                    return method.name, verified
        raise InvalidCredentials

    def _authorize(
        self,
        attempt: LoginAttempt,
        method: str,
        verified: VerifiedCredential,
        ticket: Ticket | None,
        origin: Origin,
    ) -> IssuedToken:
        with self._database.write() as connection:
            user = self._find_or_create_user(connection, verified)
            if user.status != UserStatus.ACTIVE:
                raise UserSuspended
            authorization_id = self._insert(connection, attempt, method, user)
            if ticket is not None:
                self._services.throttle.succeed(connection, ticket)
            event = AuditEvent(
                "login",
                actor_id=user.id,
                target_type="authorization",
                target_id=authorization_id,
                origin=origin,
                details={"method": method},
            )
            self._services.audit.record(connection, event)
        token, expires_at = self._signer.issue(user.id, authorization_id, 1)
        return IssuedToken(token, expires_at, user)

    def _find_or_create_user(self, connection: Connection, verified: VerifiedCredential) -> User:
        users, credentials = self._services.users, self._services.credentials
        holders = credentials.find_users(connection, [verified.credential, *verified.also])
        for credential in (verified.credential, *verified.also):
            if credential in holders:
                return users.get(connection, holders[credential])
        if not verified.may_register:
            raise InvalidCredentials
        try:
            with connection.begin_nested():
                user = users.create(connection, verified.display_name or "")
                for credential in (verified.credential, *verified.also):
                    credentials.bind(connection, user.id, credential)
                return user
        except CredentialTaken:
            # Somebody registered the same credential a moment ago, and proved it as well as this one.
            holders = credentials.find_users(connection, [verified.credential])
            return users.get(connection, holders[verified.credential])

    def _insert(self, connection: Connection, attempt: LoginAttempt, method: str, user: User) -> str:
        now = self._clock.now()
        row = {
            "id": new_id(),
            "user_id": user.id,
            "user_type": user.type,
            "method": method,
            "serial": 1,
            "device_id": attempt.client.device_id,
            "address": attempt.client.address,
            "user_agent": attempt.client.user_agent,
            "created_at": now,
            "last_seen_at": now,
            "expires_at": now + self._signer.lifetime,
        }
        connection.execute(insert(authorizations).values(row))
        return str(row["id"])

    def _end(self, connection: Connection, authorization_id: str) -> bool:
        ended = connection.execute(
            update(authorizations)
            .where(authorizations.c.id == authorization_id, authorizations.c.revoked_at.is_(None))
            .values(revoked_at=self._clock.now())
        )
        return ended.rowcount == 1

    def _resolve(self, reference: str, identity: Identity | None) -> str:
        if reference == "current" and identity is not None:
            return identity.authorization_id
        try:
            if "." in reference:
                return self._signer.check(reference).authorization_id
            return reference if is_id(reference) else parse_token_id(reference)[0]
        except (TokenInvalid, ValueError) as error:
            raise NotFound from error

    def _record_failure(self, attempt: LoginAttempt, error: Exception, origin: Origin) -> None:
        credentials = self._services.credentials
        named = credentials.identify(attempt.username or "")
        with self._database.write() as connection:
            holders = credentials.find_users(connection, [named] if named else [])
            # What was typed is not recorded: people type passwords into the field for the name.
            event = AuditEvent(
                "login",
                FAILURE,
                target_type="user" if holders else None,
                target_id=next(iter(holders.values()), None),
                origin=origin,
                details={"code": getattr(error, "code", InvalidCredentials.code)},
            )
            self._services.audit.record(connection, event)


def _may_end(identity: Identity | None, authorization: Authorization) -> bool:
    return identity is not None and (identity.is_admin or identity.user_id == authorization.user_id)
