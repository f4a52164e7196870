"""Issues all tokens, so that the checks apply to every login and refresh."""

from dataclasses import dataclass, field

from sqlalchemy import Connection

from strongroom.authorizations.models import Authorization
from strongroom.authorizations.refresh import RefreshTokens
from strongroom.authorizations.sessions import AuthorizationStore
from strongroom.authorizations.tokens import TokenSigner
from strongroom.errors import InvalidCredentials, NotFound, UserSuspended
from strongroom.plugin_api.login import Client
from strongroom.users.models import User, UserStatus
from strongroom.users.service import UserService


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The result of a login or refresh. Times are in milliseconds since the Unix epoch."""

    access_token: str = field(repr=False)
    expires_at: int
    refresh_token: str = field(repr=False)
    refresh_expires_at: int
    user: User
    authorization_id: str


class TokenIssuer:
    """Issues the tokens of authorizations, within the caller's transaction.

    Args:
        sessions: stores authorizations.
        signer: signs access tokens.
        refresh_tokens: issues refresh tokens.
        users: finds users, to check their status.
    """

    def __init__(
        self,
        sessions: AuthorizationStore,
        signer: TokenSigner,
        refresh_tokens: RefreshTokens,
        users: UserService,
    ) -> None:
        self._sessions = sessions
        self._signer = signer
        self._refresh_tokens = refresh_tokens
        self._users = users

    def begin(self, connection: Connection, user_id: str, method: str, client: Client) -> IssuedTokens:
        """Begin an authorization, and issue its first tokens.

        Raises:
            InvalidCredentials: the user was deleted since the proof was checked.
            UserSuspended: the user is suspended.
        """
        # Lock before reading the status: a concurrent suspension either waits for this login and revokes
        # it, or has committed, and then the status below is "suspended".
        self._sessions.lock_logins_shared(connection, user_id)
        user = self._active_user(connection, user_id)
        return self._issue(connection, self._sessions.begin(connection, user, method, client), user)

    def renew(self, connection: Connection, authorization_id: str) -> IssuedTokens:
        """Issue the next tokens of an authorization.

        Raises:
            TokenInvalid: it has expired or was revoked.
            InvalidCredentials: the user was deleted.
            UserSuspended: the user is suspended.
        """
        renewed = self._sessions.renew(connection, authorization_id)
        return self._issue(connection, renewed, self._active_user(connection, renewed.user_id))

    def _active_user(self, connection: Connection, user_id: str) -> User:
        try:
            user = self._users.get(connection, user_id)
        except NotFound as error:
            # The user was deleted since the proof was checked.
            raise InvalidCredentials from error
        if user.status != UserStatus.ACTIVE:
            raise UserSuspended
        return user

    def _issue(self, connection: Connection, authorization: Authorization, user: User) -> IssuedTokens:
        access_token, expires_at = self._signer.issue(
            user.id, authorization.id, authorization.serial, authorization.expires_at
        )
        refresh_token = self._refresh_tokens.issue(
            connection, authorization.id, authorization.expires_at
        )
        return IssuedTokens(
            access_token=access_token,
            expires_at=expires_at,
            refresh_token=refresh_token.value,
            refresh_expires_at=refresh_token.expires_at,
            user=user,
            authorization_id=authorization.id,
        )
