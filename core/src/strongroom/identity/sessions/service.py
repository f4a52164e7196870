"""Verifies, refreshes and revokes tokens."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import FAILURE, SUCCESS, AuditEvent, AuditService
from strongroom.foundation.caller import Caller, GrantLimits, Identity, KeyUse, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.errors import (
    ImpersonationRefused,
    InvalidCredentials,
    NotFound,
    TokenInvalid,
    UserSuspended,
)
from strongroom.foundation.ids import is_id
from strongroom.identity.sessions.access_tokens import TokenClaims, TokenSigner, parse_token_id
from strongroom.identity.sessions.factor_verification import strengthened
from strongroom.identity.sessions.login_sources import LoginSource
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.refresh_tokens import RefreshToken, RefreshTokens
from strongroom.identity.sessions.store import AuthorizationStore, UserProfile
from strongroom.identity.sessions.token_issuing import IssuedTokens, TokenIssuer
from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService, lock_logins
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.login import (
    PHISHING_RESISTANT_HARDWARE,
    SINGLE_FACTOR,
    Assurance,
    Client,
)

IMPERSONATION: Final = "impersonation"
"""The login method and the ``amr`` of impersonations."""


COMMAND: Final = "command"
"""The login method and the ``amr`` of logins of commands."""


@dataclass(frozen=True, slots=True)
class RenewedToken:
    """A new access token of a login. ``expires_at`` is in milliseconds since the Unix epoch."""

    access_token: str = field(repr=False)
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class AuthorizationService:
    """Authorizations and their tokens.

    Args:
        database: stores authorizations; every check queries it, so that a revocation is effective in
            every process as soon as it is committed.
    """

    _database: Database
    _sessions: AuthorizationStore
    _signer: TokenSigner
    _refresh_tokens: RefreshTokens
    _issuer: TokenIssuer
    _users: UserService
    _audit: AuditService

    def prune(self) -> int:
        """Delete expired authorizations and refresh tokens; return the count."""
        pruned = self._refresh_tokens.prune(self._database)
        return pruned + self._sessions.prune(self._database)

    def caller(self, token: str, address: str | None = None, use: KeyUse | None = None) -> Caller:
        """Return the user of an access token, whose login or grant may have been revoked.

        Args:
            use: what a client may use the token of a grant for; ``None``: only a login's is accepted.

        Raises:
            TokenInvalid: the token is forged or has expired.
        """
        claims = self._check(token, use.audience if use else None)
        if claims.limits is None:
            return Caller(claims.user_id, claims.authorization_id, address)
        if use is None:
            raise TokenInvalid
        return Caller(claims.user_id, claims.authorization_id, address, claims.limits, use)

    def _check(self, token: str, audience: str | None) -> TokenClaims:
        if audience is None:
            return self._signer.check(token)
        with suppress(TokenInvalid):
            return self._signer.check_foreign(token, audience)
        claims = self._signer.check(token)
        # A client's token opens what it was issued for (RFC 8707), also where it would open less.
        if claims.limits is not None:
            raise TokenInvalid
        return claims

    def verify(self, token: str) -> Identity:
        """Return the identity of an access token.

        Raises:
            TokenInvalid: the token is forged, has expired, or was revoked.
        """
        caller = self.caller(token)
        identity = self.identify(caller)
        self.note_seen(caller)
        return identity

    def identify(self, caller: Caller) -> Identity:
        """Verify the login of a caller, and return the caller's identity.

        Raises:
            TokenInvalid: the login was revoked.
        """
        with self._database.read_one() as connection:
            self._sessions.confirm(connection, caller)
        if caller.identity is None:
            raise TokenInvalid
        return caller.identity

    def identify_user(self, caller: Caller) -> tuple[Identity, UserProfile]:
        """Verify the login of a caller as :meth:`identify`; return also the profile of the user.

        Raises:
            TokenInvalid: the login was revoked.
        """
        with self._database.read_one() as connection:
            return self._sessions.confirm_user(connection, caller)

    def note_seen(self, caller: Caller) -> None:
        """Record the use of a verified caller's login, at most once per :data:`SEEN_INTERVAL`.

        Uses a separate transaction. A failure is logged and does not fail the request.
        """
        if caller.last_seen_at is not None:
            self._sessions.note_seen(self._database, caller.authorization_id, caller.last_seen_at)

    def refresh(self, token: str, origin: Origin) -> IssuedTokens:
        """Exchange a refresh token for new tokens of the same authorization (RFC 6749, section 6).

        If a token is used twice, one of its two holders is a thief. Which one is unknown, so the
        authorization is revoked; except for ``tokens.refresh_reuse_seconds`` after the first use, while
        its successor is unused, because browser tabs refresh at once and answers get lost.

        Raises:
            TokenInvalid: the token is unknown, has expired, was used before, or was revoked.
            StepUpRequired: the login has proven one factor, and the user has or must have a second one.
                The token is not consumed: it is valid after a step-up.
        """
        # Spent and renewed in one transaction: after a failure in between, the client still has a
        # valid token.
        with self._database.write() as connection:
            authorization_id = self._refresh_tokens.consume(connection, token)
            if authorization_id is not None:
                return self._renew(connection, authorization_id, origin, token)
            if repeated := self._refresh_tokens.find_successor(connection, token):
                authorization_id, successor = repeated
                return self._renew(connection, authorization_id, origin, token, successor)
            self._end_if_spent(connection, token, origin)
        # Raised outside of the transaction, which must commit the revocation.
        raise TokenInvalid

    def renew(self, authorization_id: str, origin: Origin) -> RenewedToken:
        """Return a new access token of a login, as :meth:`refresh` does, without a refresh token.

        For the session of a browser, whose sealed cookie names the login.

        Raises:
            TokenInvalid: the login has expired or was revoked.
            StepUpRequired: the login has proven one factor, and the user has or must have a second one.
        """
        with self._database.write() as connection, _refused_as_token():
            user, renewed = self._issuer.renew_access(connection, authorization_id)
            self._record(connection, "authorization.refresh", authorization_id, user.id, origin)
        return RenewedToken(*renewed)

    def read(self, authorization_id: str) -> Authorization:
        """Return an authorization.

        Raises:
            TokenInvalid: there is none.
        """
        with self._database.read_one() as connection:
            authorization = self._sessions.find(connection, authorization_id)
        if authorization is None:
            raise TokenInvalid
        return authorization

    def find(self, connection: Connection, authorization_id: str) -> Authorization | None:
        """Return an authorization, even if it has expired or was revoked."""
        return self._sessions.find(connection, authorization_id)

    def strengthen(
        self,
        connection: Connection,
        identity: Identity,
        assurance: Assurance,
        origin: Origin,
        *,
        is_second: bool = False,
    ) -> RenewedToken:
        """Record a new proof of a login, and return an access token that states it.

        Args:
            assurance: what the proof alone proves.
            origin: the origin of the request, for the audit log.
            is_second: whether the proof is a second factor of the login.

        Raises:
            TokenInvalid: the login has ended.
        """
        login = self._sessions.find(connection, identity.authorization_id)
        if login is None:
            raise TokenInvalid
        proven = Assurance(tuple(dict.fromkeys((*login.amr.split(), *assurance.amr))), login.acr)
        if is_second:
            proven = strengthened(proven, assurance)
        renewed = self._sessions.strengthen(connection, identity.authorization_id, proven)
        access_token, expires_at = self._signer.issue(renewed)
        user_id = identity.user_id
        self._record(connection, "authorization.step-up", renewed.id, user_id, origin)
        return RenewedToken(access_token, expires_at)

    def impersonate(
        self, connection: Connection, user: User, actor_id: str, ends_at: int, client: Client
    ) -> tuple[Authorization, RenewedToken]:
        """Begin an impersonation of a user, without a refresh token.

        Args:
            connection: the transaction, which has locked the logins of both users.
            actor_id: the administrator, or the service account of the server.
            ends_at: in milliseconds since the Unix epoch.
        """
        proven = Assurance((IMPERSONATION,), SINGLE_FACTOR)
        login, _ = self._sessions.begin(connection, user, IMPERSONATION, proven, client)
        login = replace(login, actor_id=actor_id, expires_at=min(ends_at, login.expires_at))
        self._sessions.add(connection, login)
        access_token, expires_at = self._signer.issue(login)
        return login, RenewedToken(access_token, expires_at)

    def begin_for_command(
        self, connection: Connection, user: User, client: Client
    ) -> tuple[Authorization, RenewedToken]:
        """Begin a login of a user for a command, without a refresh token; the caller ends it.

        Operators have the keys of the server, so the login counts as proven by all means.

        Args:
            connection: the transaction, which has locked the logins of the user.
        """
        proven = Assurance((COMMAND,), PHISHING_RESISTANT_HARDWARE)
        login, _ = self._sessions.begin(connection, user, COMMAND, proven, client)
        self._sessions.add(connection, login)
        return login, RenewedToken(*self._signer.issue(login))

    def end_impersonations(self, connection: Connection, actor_id: str) -> None:
        """End the impersonations that a user has begun."""
        self._sessions.end_impersonations(connection, actor_id)

    def revoke(self, reference: str, identity: Identity | None, origin: Origin) -> None:
        """Revoke the authorization of an access token, a ``jti``, an authorization id, or ``current``.

        A caller that presents the token itself needs no identity. Otherwise the caller must be its
        user or an administrator.

        Raises:
            NotFound: it does not exist, has ended already, or is not the caller's.
        """
        authorization_id = self._resolve(reference, identity)
        # Only a token contains dots (RFC 7515); ids and ``jti`` do not.
        holds_token = "." in reference
        with self._database.write() as connection:
            authorization = self._sessions.find(connection, authorization_id)
            if authorization is None or not (holds_token or _may_end(identity, authorization)):
                raise NotFound
            if identity is not None and not _may_end_as(identity, authorization):
                raise ImpersonationRefused
            actor_id = identity.user_id if identity else authorization.user_id
            if not self._end(connection, authorization, actor_id, origin):
                raise NotFound

    def revoke_token(self, token: str, origin: Origin) -> None:
        """Revoke the authorization of an access or refresh token (RFC 7009). Ignores invalid tokens."""
        with self._database.write() as connection:
            authorization_id = self._find_authorization(connection, token)
            authorization = authorization_id and self._sessions.find(connection, authorization_id)
            if authorization:
                self._end(connection, authorization, authorization.user_id, origin)

    def log_out(self, authorization_id: str, origin: Origin) -> None:
        """Revoke a login on behalf of its user, or of the administrator who impersonates the user.

        Ignores one that has ended.
        """
        with self._database.write() as connection:
            authorization = self._sessions.find(connection, authorization_id)
            if authorization:
                actor_id = authorization.actor_id or authorization.user_id
                self._end(connection, authorization, actor_id, origin)

    def end_made_with(
        self,
        connection: Connection,
        source: LoginSource,
        holders: Iterable[str],
        origin: Origin,
        *,
        method: str | None = None,
    ) -> int:
        """Revoke the authorizations of a source, each as a logout; return the count.

        Args:
            holders: users whose logins in progress may be of the source, too.
            method: only logins by this login method.
        """
        users = {login.user_id for login in self._sessions.made_with(connection, source)}
        # Waits for logins in progress, whose uncommitted rows no query sees.
        for user_id in sorted(users.union(holders)):
            lock_logins(connection, user_id)
        logins = self._sessions.made_with(connection, source)
        return sum(
            self._end(connection, login, None, origin)
            for login in logins
            if method in (None, login.method)
        )

    def end_made_otherwise(
        self, connection: Connection, user_id: str, method: str, origin: Origin
    ) -> int:
        """Revoke the logins of a user that other methods have made, each as a logout; return the count.

        The grants of clients end with the logins that they are bound to.
        """
        # Waits for logins in progress, whose uncommitted rows no query sees.
        lock_logins(connection, user_id)
        return sum(
            self._end(connection, login, None, origin)
            for login in self._sessions.unrevoked(connection, user_id)
            if login.method != method and login.client_id is None and login.actor_id is None
        )

    def require_live(self, connection: Connection, identity: Identity) -> None:
        """Require in the transaction of a change that the caller's login has not ended meanwhile.

        Requests that were accepted before wait for locks, so that a user who takes the account back
        would get what another person adds then. The transaction holds a lock that the end waits for.

        Raises:
            TokenInvalid: the login has ended.
        """
        is_login = identity.key is None or isinstance(identity.key, GrantLimits)
        if is_login and identity.plugin is None:
            self._sessions.require_live(connection, identity.authorization_id, identity.user_id)

    def lock_live(self, connection: Connection, identity: Identity, *, shared: bool = True) -> None:
        """Lock the caller's logins until the transaction ends; raises as :meth:`require_live`.

        Args:
            shared: whether other requests of the caller may hold the lock, too.
        """
        lock_logins(connection, identity.user_id, shared=shared)
        self.require_live(connection, identity)

    def revoke_all(self, connection: Connection, user_id: str, *, but: str | None = None) -> None:
        """Revoke all authorizations of a user, except ``but``."""
        self._sessions.end_all(connection, user_id, but=but)

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Revoke all authorizations of a user, and those by which the user acts as others."""
        if ended.is_of_account:
            self._sessions.end_all(connection, ended.user_id)

    def weaken(self, connection: Connection, user_id: str) -> None:
        """Record that the logins of a user prove one factor only: the second one was removed."""
        self._sessions.weaken(connection, user_id)

    def forget(self, connection: Connection, user_id: str) -> None:
        """Delete all authorizations of a user, including client addresses and user agents."""
        self._sessions.forget(connection, user_id)

    def end_all(self, identity: Identity, user_id: str, origin: Origin) -> None:
        """Revoke all authorizations of a user, on request of the user or of an administrator.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        self._end_all(user_id, identity.user_id, origin)

    def end_sessions(self, user_id: str | None, origin: Origin) -> int:
        """Revoke all authorizations of a user, or of all users, for an operator; return the count.

        Raises:
            NotFound: there is no such user.
        """
        return self._end_all(user_id, None, origin)

    def _end_all(self, user_id: str | None, actor_id: str | None, origin: Origin) -> int:
        with self._database.write() as connection:
            if user_id is None:
                count = self._sessions.end_every(connection)
            else:
                self._users.get(connection, user_id)
                count = self._sessions.end_all(connection, user_id)
            event = AuditEvent(
                "authorization.revoke-all",
                actor_id=actor_id,
                target_type="user" if user_id else None,
                target_id=user_id,
                origin=origin,
                details={"count": str(count)},
            )
            self._audit.record(connection, event)
        return count

    def of_user(
        self, identity: Identity, user_id: str, paging: Paging
    ) -> tuple[Page[Authorization], list[dict[str, str]]]:
        """Return a page of a user's valid authorizations, newest first, and summaries of their actors.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            page = self._sessions.page(connection, user_id, paging)
            actors = {login.actor_id for login in page.items if login.actor_id is not None}
            return page, self._users.summaries(connection, actors)

    def public_keys(self) -> dict[str, Any]:
        """Return the JWK Set (RFC 7517) that other services verify access tokens with."""
        return self._signer.public_keys()

    def _renew(
        self,
        connection: Connection,
        authorization_id: str,
        origin: Origin,
        used: str,
        successor: RefreshToken | None = None,
    ) -> IssuedTokens:
        with _refused_as_token():
            issued = self._issuer.renew(connection, authorization_id, used, successor)
        self._record(connection, "authorization.refresh", authorization_id, issued.user.id, origin)
        return issued

    def _end_if_spent(self, connection: Connection, token: str, origin: Origin) -> None:
        authorization_id = self._refresh_tokens.find(connection, token, spent=True)
        if authorization_id is not None and self._sessions.end(connection, authorization_id):
            self._record(connection, "refresh-token.reuse", authorization_id, None, origin, FAILURE)

    def _end(
        self,
        connection: Connection,
        authorization: Authorization,
        actor_id: str | None,
        origin: Origin,
    ) -> bool:
        """Revoke an authorization and record it; return ``False`` if it had been revoked before."""
        ended = self._sessions.end(connection, authorization.id)
        if not ended:
            return False
        if authorization.actor_id is None:
            # A logout is also one from what the user has begun.
            self._sessions.end_impersonations(connection, authorization.user_id)
            client = authorization.client_id
            about = {"clientId": client} if client is not None else {}
            self._record(
                connection, "authorization.revoke", authorization.id, actor_id, origin, details=about
            )
        else:
            about = {"userId": authorization.user_id, "administratorId": authorization.actor_id}
            self._record(
                connection, "impersonation.end", authorization.id, actor_id, origin, details=about
            )
        return True

    def _resolve(self, reference: str, identity: Identity | None) -> str:
        if reference == "current" and identity is not None:
            return identity.authorization_id
        try:
            # Only a JWT contains dots; ids and ``jti`` do not.
            if "." in reference:
                return self.caller(reference).authorization_id
            return reference if is_id(reference) else parse_token_id(reference)[0]
        except (TokenInvalid, ValueError) as error:
            raise NotFound from error

    def _find_authorization(self, connection: Connection, token: str) -> str | None:
        try:
            return self.caller(token).authorization_id
        except TokenInvalid:
            return self._refresh_tokens.find(connection, token)

    def _record(
        self,
        connection: Connection,
        action: str,
        authorization_id: str,
        actor_id: str | None,
        origin: Origin,
        outcome: str = SUCCESS,
        details: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        event = AuditEvent(
            action,
            outcome,
            actor_id=actor_id,
            target_type="authorization",
            target_id=authorization_id,
            origin=origin,
            details=details,
        )
        self._audit.record(connection, event)


@contextmanager
def _refused_as_token() -> Iterator[None]:
    """Report as an invalid token that the user of a login may not use it any more."""
    try:
        yield
    except (UserSuspended, InvalidCredentials) as error:
        raise TokenInvalid from error


def _may_end_as(identity: Identity, authorization: Authorization) -> bool:
    """Return whether the caller is not impersonated, or ends the impersonation itself."""
    return identity.actor_id is None or identity.authorization_id == authorization.id


def _may_end(identity: Identity | None, authorization: Authorization) -> bool:
    return identity is not None and (identity.is_admin or identity.user_id == authorization.user_id)
