"""Begins, refreshes, inspects and ends grants."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import FAILURE, SUCCESS, AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import execute_together
from strongroom.foundation.errors import (
    ImpersonationRefused,
    NotFound,
    TokenInvalid,
    UserSuspended,
    ValidationFailed,
)
from strongroom.foundation.scopes import parse_scopes
from strongroom.identity.access_keys.service import AccessKeyService, KeyRequest
from strongroom.identity.grants.store import GrantStore
from strongroom.identity.grants.terms import dump_terms, granted_access, read_grant
from strongroom.identity.sessions.access_tokens import CLIENT_ID, TokenClaims, TokenSigner
from strongroom.identity.sessions.models import (
    MAX_CLIENT_ID,
    MAX_CLIENT_NAME,
    Authorization,
)
from strongroom.identity.sessions.refresh_tokens import RefreshToken, RefreshTokens
from strongroom.identity.sessions.store import AuthorizationStore
from strongroom.identity.users.accounts import find_account, lock_account
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.service import lock_logins
from strongroom.identity.users.suspension_ends import SuspensionEnds
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.grants import (
    ClientGrant,
    Describe,
    GrantClient,
    GrantTerms,
    GrantTokens,
    TokenReport,
)
from strongroom.plugin_api.login import SINGLE_FACTOR, Assurance, Client

METHOD: Final = "client"
"""The login method of grants, in lists of logins."""

_NO_LOGIN: Final = Assurance((), SINGLE_FACTOR)


@dataclass(slots=True, eq=False, repr=False)
class ClientGrantService:
    """Grants of the clients of plugins. A plugin sees the grants of its own clients only.

    Args:
        issuer: the server's public URL, the audience of the tokens for its own API.
        keys: the rules for scopes and targets, which access keys have, too.
    """

    _database: Database
    _clock: Clock
    _issuer: str
    _sessions: AuthorizationStore
    _signer: TokenSigner
    _refresh_tokens: RefreshTokens
    _grants: GrantStore
    _keys: AccessKeyService
    _suspension_ends: SuspensionEnds
    _audit: AuditService

    def begin(
        self,
        plugin: str,
        login_id: str,
        client: GrantClient,
        terms: GrantTerms,
        origin: Origin,
        describe: Describe | None = None,
    ) -> GrantTokens:
        """Begin a grant of the user of a login; see :class:`~strongroom.plugin_api.grants.GrantsAPI`.

        Raises:
            TokenInvalid: the login has ended, or is a grant itself.
            ImpersonationRefused: an administrator impersonates the user.
            UserSuspended: the user is suspended.
            ValidationFailed: the user cannot give these scopes, or this target.
            ValueError: the client or the terms are invalid.
        """
        terms = self._require_valid(client, terms)
        with self._database.write() as connection:
            login = self._sessions.find(connection, login_id)
            user = self._require_user(connection, login.user_id if login else "", TokenInvalid)
            # After the user's lock: what ends all logins of the user has committed, or waits.
            login = self._sessions.lock(connection, login_id)
            if login is None or login.client_id is not None:
                raise TokenInvalid
            if login.actor_id is not None:
                raise ImpersonationRefused
            result = self._begin(connection, plugin, user, login, client, terms, origin)
        return self._issue(*result, describe)

    def begin_as(
        self, plugin: str, user_id: str, client: GrantClient, terms: GrantTerms, origin: Origin
    ) -> GrantTokens:
        """Begin a grant of a service account; raises as :meth:`begin`.

        Raises:
            NotFound: there is no such service account.
        """
        terms = self._require_valid(client, terms)
        with self._database.write() as connection:
            user = self._require_user(connection, user_id, NotFound)
            if user.type != UserType.SERVICE:
                raise NotFound
            result = self._begin(connection, plugin, user, None, client, terms, origin)
        return self._issue(*result, None)

    def refresh(
        self,
        plugin: str,
        token: str,
        client_id: str,
        scopes: Sequence[str] | None,
        origin: Origin,
        describe: Describe | None = None,
    ) -> GrantTokens:
        """Exchange a refresh token of a client for new tokens.

        The token of a public client is consumed, and its second use ends the grant, as the one of a
        login does; see :meth:`AuthorizationService.refresh`. The token of another client stays
        untouched.

        Raises:
            TokenInvalid: the token is unknown, used, expired, revoked, or another client's.
            ValidationFailed: the grant lacks one of the scopes.
        """
        with self._database.write() as connection:
            grant = self._require_own(connection, plugin, token, client_id)
            chosen = _choose_scopes(grant, scopes)
            refreshed = self._exchange(connection, grant, token)
            if refreshed is not None:
                self._record(connection, "authorization.refresh", refreshed[0], origin)
            else:
                self._end_if_spent(connection, token, origin)
        if refreshed is None:
            # Raised outside of the transaction, which must commit the end of the grant.
            raise TokenInvalid
        row, successor = refreshed
        return self._issue(row, chosen, successor, describe)

    def inspect(self, plugin: str, token: str) -> TokenReport | None:
        """Return the state of a token of a grant; ``None``: it opens nothing."""
        with self._database.read() as connection:
            if "." in token:
                return self._inspect_access(connection, plugin, token)
            unused = self._refresh_tokens.find_unused(connection, token)
            row = unused and self._grants.find_live(connection, unused[0])
            # A token expires with the login that the grant ends with.
            if not unused or not row or row.plugin != plugin:
                return None
        grant = read_grant(row)
        return TokenReport(grant, True, unused[1], None, grant.terms.scopes)

    def revoke(self, plugin: str, token: str, client_id: str, origin: Origin) -> bool:
        """End the grant of a token of a client; return whether it was one of the client."""
        with self._database.write() as connection:
            row = self._find_by_token(connection, token)
            if row is None or not _is_owned_by(row, plugin, client_id):
                return False
            if self._sessions.end(connection, row.id):
                self._record(connection, "authorization.withdraw", row, origin)
        return True

    def end(
        self,
        plugin: str,
        origin: Origin,
        *,
        grant_id: str | None,
        user_id: str | None,
        client_id: str | None,
        actor_id: str | None,
    ) -> int:
        """End the grants of all given criteria; return their number.

        Raises:
            ValueError: there is no criterion.
        """
        stated = {"id": grant_id, "user_id": user_id, "client_id": client_id}
        criteria = {name: value for name, value in stated.items() if value is not None}
        if not criteria:
            raise ValueError("end() needs a grant, a user or a client")
        with self._database.write() as connection:
            if user_id is not None:
                # Waits for grants that are being begun, whose uncommitted rows no UPDATE sees.
                lock_logins(connection, user_id)
            count = self._grants.end(connection, plugin, criteria)
            if count:
                event = AuditEvent(
                    "authorization.withdraw",
                    actor_id=actor_id,
                    target_type="authorization" if grant_id else "user" if user_id else None,
                    target_id=grant_id or user_id,
                    origin=origin,
                    details={"count": str(count), **({"clientId": client_id} if client_id else {})},
                )
                self._audit.record(connection, event)
        return count

    def find_last_use(self, plugin: str, client_id: str) -> int | None:
        """Return when a client last used a grant that has not ended; ``None``: it has none."""
        with self._database.read() as connection:
            return self._grants.find_last_use(connection, plugin, client_id)

    def of_user(self, plugin: str, user_id: str) -> Sequence[ClientGrant]:
        """Return the grants of a user that have not ended, the newest first."""
        with self._database.read() as connection:
            rows = self._grants.of_user(connection, user_id)
        return [read_grant(row) for row in rows if row.plugin == plugin]

    def deactivate(self, connection: Connection, cause: Deactivation) -> None:
        """End the grants that are limited to a tenant which the user has left.

        All logins and grants of an account end together, see :meth:`AuthorizationService.deactivate`.
        """
        if cause.tenant_id is None:
            return
        lock_logins(connection, cause.user_id)
        for row in self._grants.of_user(connection, cause.user_id):
            if read_grant(row).terms.tenant_id == cause.tenant_id:
                self._sessions.end(connection, row.id)

    def _require_valid(self, client: GrantClient, terms: GrantTerms) -> GrantTerms:
        if not 0 < len(client.id) <= MAX_CLIENT_ID or client.id == CLIENT_ID:
            raise ValueError(f"a client's id has 1 to {MAX_CLIENT_ID} characters")
        if any(not scope or not scope.isprintable() or " " in scope for scope in terms.scopes):
            raise ValueError("a scope has no spaces (RFC 6749, section 3.3)")
        if terms.file_id is not None and terms.tenant_id is None:
            raise ValueError("a folder needs its tenant")
        if terms.audience in (None, self._issuer):
            terms = replace(terms, audience=None)
        elif terms.tenant_id is not None and not self._is_own(terms):
            raise ValueError("a tenant limits tokens for this server only")
        if terms.subject is not None and self._is_own(terms):
            raise ValueError("tokens for this server have the id of the user")
        return terms

    def _is_own(self, terms: GrantTerms) -> bool:
        """Return whether the tokens may open something here: the REST API, or what a plugin serves."""
        return terms.audience is None or terms.audience.startswith(f"{self._issuer}/")

    def _require_user(
        self, connection: Connection, user_id: str, error: type[TokenInvalid | NotFound]
    ) -> User:
        account = lock_account(connection, user_id)
        if account is None:
            raise error
        user = self._suspension_ends.apply(connection, account.user)
        user.require_active()
        return user

    def _begin(
        self,
        connection: Connection,
        plugin: str,
        user: User,
        login: Authorization | None,
        client: GrantClient,
        terms: GrantTerms,
        origin: Origin,
    ) -> tuple[Authorization, tuple[str, ...], RefreshToken | None]:
        if self._is_own(terms):
            scopes = parse_scopes(" ".join(terms.scopes))
            limits = KeyRequest(client.name, scopes, terms.tenant_id, terms.file_id)
            self._keys.require_limits(connection, user, limits)
        row = self._make_row(connection, plugin, user, login, client, terms, origin)
        self._sessions.add(connection, row)
        row, token = self._within_login(connection, row), None
        if terms.refreshable:
            token, issue = self._refresh_tokens.issue(row.id, row.expires_at)
            execute_together(connection, [issue])
        self._record(connection, "authorization.grant", row, origin)
        return row, terms.scopes, token

    def _make_row(
        self,
        connection: Connection,
        plugin: str,
        user: User,
        login: Authorization | None,
        client: GrantClient,
        terms: GrantTerms,
        origin: Origin,
    ) -> Authorization:
        sender = Client(origin.address or "", (origin.user_agent or "")[:512])
        row, _ = self._sessions.begin(connection, user, METHOD, _NO_LOGIN, sender)
        if login is not None:
            row = replace(
                row,
                amr=login.amr,
                acr=login.acr,
                auth_time=login.auth_time,
                credential_hash=login.credential_hash,
                ends_with_id=None if terms.offline else login.id,
            )
        # What cannot be refreshed ends with its only access token.
        lifetime = row.expires_at if terms.refreshable else self._clock.now() + self._signer.lifetime
        return replace(
            row,
            expires_at=min(row.expires_at, lifetime),
            plugin=plugin,
            client_id=client.id,
            client_name=client.name[:MAX_CLIENT_NAME],
            folder_id=terms.file_id,
            terms=dump_terms(client, terms, login.id if login else None),
        )

    def _issue(
        self,
        row: Authorization,
        scopes: tuple[str, ...],
        token: RefreshToken | None,
        describe: Describe | None,
    ) -> GrantTokens:
        """Return the tokens, outside of the transaction: the plugin may read the database."""
        grant = read_grant(row)
        claims = describe(grant, scopes) if describe and not self._is_own(grant.terms) else {}
        access = granted_access(grant, scopes, claims)
        access_token, expires_at = self._signer.issue_granted(row, access)
        return GrantTokens(grant, access_token, expires_at, token.value if token else None)

    def _require_own(
        self, connection: Connection, plugin: str, token: str, client_id: str
    ) -> Authorization:
        grant_id = self._refresh_tokens.find(connection, token)
        row = grant_id and self._sessions.find(connection, grant_id)
        if not row or not _is_owned_by(row, plugin, client_id):
            raise TokenInvalid
        return row

    def _exchange(
        self, connection: Connection, row: Authorization, token: str
    ) -> tuple[Authorization, RefreshToken] | None:
        """Use a refresh token; return the renewed grant with the next one, or ``None``."""
        if not read_grant(row).client.is_public:
            # Its secret protects it, and parallel requests of a service may present it at once.
            if self._refresh_tokens.find_unused(connection, token) is None:
                return None
            renewed = self._renew(connection, row)
            extended = self._refresh_tokens.extend(connection, token, renewed.expires_at)
            return None if extended is None else (renewed, extended)
        if self._refresh_tokens.consume(connection, token) is None:
            repeated = self._refresh_tokens.find_successor(connection, token)
            return None if repeated is None else (self._renew(connection, row), repeated[1])
        renewed = self._renew(connection, row)
        self._refresh_tokens.forget_expired(connection, row.id)
        successor, issue = self._refresh_tokens.issue(row.id, renewed.expires_at, after=token)
        execute_together(connection, [issue])
        return renewed, successor

    def _renew(self, connection: Connection, row: Authorization) -> Authorization:
        # Locks the row, so that an end of the login either is seen below, or ends the grant afterwards.
        renewed = self._sessions.renew(connection, row.id)
        renewed = self._within_login(connection, renewed)
        account = find_account(connection, row.user_id)
        if account is None:
            raise TokenInvalid
        try:
            account.user.require_active()
        except UserSuspended as error:
            raise TokenInvalid from error
        return renewed

    def _within_login(self, connection: Connection, row: Authorization) -> Authorization:
        """Return a grant whose tokens expire no later than the login that it ends with, if it does.

        Raises:
            TokenInvalid: the login has ended.
        """
        if row.ends_with_id is None:
            return row
        login = self._sessions.find(connection, row.ends_with_id)
        now = self._clock.now()
        if login is None or login.revoked_at is not None or login.expires_at <= now:
            raise TokenInvalid
        return replace(row, expires_at=min(row.expires_at, login.expires_at))

    def _end_if_spent(self, connection: Connection, token: str, origin: Origin) -> None:
        grant_id = self._refresh_tokens.find(connection, token, spent=True)
        row = grant_id and self._sessions.find(connection, grant_id)
        if row and self._sessions.end(connection, row.id):
            self._record(connection, "refresh-token.reuse", row, origin, FAILURE)

    def _inspect_access(self, connection: Connection, plugin: str, token: str) -> TokenReport | None:
        claims = self._check(token)
        row = claims and self._grants.find_live(connection, claims.authorization_id)
        if claims is None or not row or row.plugin != plugin:
            return None
        grant = read_grant(row)
        return TokenReport(grant, False, claims.expires_at, claims.issued_at, claims.scopes)

    def _check(self, token: str) -> TokenClaims | None:
        """Return the claims of a grant's access token, of any audience; ``None`` if it is none."""
        for check in (self._signer.check, self._signer.check_foreign):
            try:
                claims = check(token)
            except TokenInvalid:
                continue
            # A login's token is none of a client.
            return claims if claims.limits is not None else None
        return None

    def _find_by_token(self, connection: Connection, token: str) -> Authorization | None:
        if "." in token:
            claims = self._check(token)
            grant_id = claims and claims.authorization_id
        else:
            grant_id = self._refresh_tokens.find(connection, token)
        return self._sessions.find(connection, grant_id) if grant_id else None

    def _record(
        self,
        connection: Connection,
        action: str,
        row: Authorization,
        origin: Origin,
        outcome: str = SUCCESS,
    ) -> None:
        details = {"clientId": row.client_id or "", "clientName": row.client_name or ""}
        if action == "authorization.grant":
            details |= {"scopes": " ".join(read_grant(row).terms.scopes)}
        event = AuditEvent(
            action,
            outcome,
            actor_id=None if outcome == FAILURE else row.user_id,
            target_type="authorization",
            target_id=row.id,
            origin=origin,
            details=details,
        )
        self._audit.record(connection, event)


def _is_owned_by(row: Authorization, plugin: str, client_id: str) -> bool:
    return row.plugin == plugin and row.client_id == client_id


def _choose_scopes(row: Authorization, scopes: Sequence[str] | None) -> tuple[str, ...]:
    granted = read_grant(row).terms.scopes
    if scopes is None:
        return granted
    if not set(scopes) <= set(granted):
        raise ValidationFailed.of_field("scope", "beyond-limit", "The grant lacks one of the scopes.")
    return tuple(scopes)
