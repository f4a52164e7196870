"""Issues access tokens with refresh tokens, at logins and refreshes."""

from dataclasses import dataclass, field, fields

from sqlalchemy import Connection

from strongroom.clock import Clock
from strongroom.foundation.assurance import is_as_strong
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.errors import InvalidCredentials, StepUpRequired
from strongroom.identity.sessions.access_tokens import TokenSigner
from strongroom.identity.sessions.login_sources import LoginSource
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.refresh_tokens import RefreshToken, RefreshTokens
from strongroom.identity.sessions.store import AuthorizationStore
from strongroom.identity.users.accounts import Account, find_account
from strongroom.identity.users.factor_policy import FactorPolicy
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.suspension_ends import SuspensionEnds
from strongroom.plugin_api.login import MULTI_FACTOR, Assurance, Client


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The result of a login or refresh. Times are in milliseconds since the Unix epoch."""

    access_token: str = field(repr=False)
    expires_at: int
    refresh_token: str = field(repr=False)
    refresh_expires_at: int
    user: User
    authorization_id: str


@dataclass(frozen=True, slots=True)
class GraceTokens(IssuedTokens):
    """Tokens of a user who must have a second factor, and has none yet.

    Args:
        factor_due_at: until when the user may log in without one, in milliseconds since the Unix epoch.
    """

    factor_due_at: int

    @classmethod
    def from_issued(cls, issued: IssuedTokens, factor_due_at: int | None) -> IssuedTokens:
        """Return the tokens with the end of the grace period, if there is one."""
        if factor_due_at is None:
            return issued
        values = {item.name: getattr(issued, item.name) for item in fields(issued)}
        return cls(**values, factor_due_at=factor_due_at)


@dataclass(slots=True, eq=False, repr=False)
class TokenIssuer:
    """Issues the tokens of authorizations, within the caller's transaction.

    Args:
        policy: which users must have a second factor.
    """

    _sessions: AuthorizationStore
    _signer: TokenSigner
    _refresh_tokens: RefreshTokens
    _clock: Clock
    _policy: FactorPolicy
    _suspension_ends: SuspensionEnds

    def require_allowed(self, connection: Connection, user: User) -> User:
        """Return the user, who may log in; a suspension that is over ends.

        Raises:
            InvalidCredentials: the user is a service account.
            UserSuspended: the user is suspended.
        """
        user = self._suspension_ends.apply(connection, user)
        _require_login_allowed(user)
        return user

    def begin(
        self,
        connection: Connection,
        user: User,
        method: str,
        assurance: Assurance,
        client: Client,
        source: LoginSource,
    ) -> tuple[IssuedTokens, list[Change]]:
        """Begin an authorization; return its first tokens, and the changes that store them.

        Args:
            connection: the transaction, which has locked the user's logins.
            user: the user, as :meth:`require_allowed` has returned it under that lock.
            assurance: how strongly the login is proven.
            client: the client that logs in.
            source: what the login is made with.

        Raises:
            UserSuspended: the user is suspended.
        """
        _require_login_allowed(user)
        begun, begin = self._sessions.begin(connection, user, method, assurance, client, source)
        issued, issue = self._issue(begun, user)
        return issued, [begin, issue]

    def renew(
        self,
        connection: Connection,
        authorization_id: str,
        used: str,
        successor: RefreshToken | None = None,
    ) -> IssuedTokens:
        """Issue the next tokens of an authorization.

        Args:
            used: the refresh token that was presented.
            successor: the refresh token that it was exchanged for before.

        Raises:
            TokenInvalid: it has expired or was revoked.
            InvalidCredentials: the user was deleted.
            UserSuspended: the user is suspended.
            StepUpRequired: the login has proven one factor, and the user has or must have a second one.
        """
        renewed, user, due_at = self._renewed(connection, authorization_id)
        self._refresh_tokens.forget_expired(connection, authorization_id)
        if successor is None:
            successor, issue = self._refresh_tokens.issue(renewed.id, renewed.expires_at, after=used)
            execute_together(connection, [issue])
        return GraceTokens.from_issued(self._issued(renewed, user, successor), due_at)

    def renew_access(
        self, connection: Connection, authorization_id: str
    ) -> tuple[User, tuple[str, int]]:
        """Issue the next access token of an authorization, with its expiry, and no refresh token.

        Raises: the same as :meth:`renew`.
        """
        renewed, user, _ = self._renewed(connection, authorization_id)
        return user, self._signer.issue(renewed)

    def _renewed(
        self, connection: Connection, authorization_id: str
    ) -> tuple[Authorization, User, int | None]:
        renewed = self._sessions.renew(connection, authorization_id)
        account = find_account(connection, renewed.user_id)
        if account is None:
            raise InvalidCredentials
        _require_login_allowed(account.user)
        return renewed, account.user, self._require_factor(connection, renewed, account)

    def _require_factor(
        self, connection: Connection, login: Authorization, account: Account
    ) -> int | None:
        """Require a second factor of a login that began without one, as a new login would.

        Returns the end of the grace period, if it is not over.
        """
        if is_as_strong(login.acr, MULTI_FACTOR):
            return None
        due_at = None
        if not account.has_second_factor:
            due_at = self._policy.due_at(connection, account.user)
        if account.has_second_factor or (due_at is not None and due_at <= self._clock.now()):
            raise StepUpRequired(MULTI_FACTOR, None)
        return due_at

    def _issue(self, authorization: Authorization, user: User) -> tuple[IssuedTokens, Change]:
        refresh_token, issue = self._refresh_tokens.issue(authorization.id, authorization.expires_at)
        return self._issued(authorization, user, refresh_token), issue

    def _issued(
        self, authorization: Authorization, user: User, refresh_token: RefreshToken
    ) -> IssuedTokens:
        access_token, expires_at = self._signer.issue(authorization)
        return IssuedTokens(
            access_token=access_token,
            expires_at=expires_at,
            refresh_token=refresh_token.value,
            refresh_expires_at=refresh_token.expires_at,
            user=user,
            authorization_id=authorization.id,
        )


def _require_login_allowed(user: User) -> None:
    # Whatever a login method has found out: a service account acts by its access keys only.
    if user.type == UserType.SERVICE:
        raise InvalidCredentials
    user.require_active()
