"""Grants: what a user lets a client do, and the tokens of the client: ``host.grants``.

A grant is an authorization of its user, as a login is: it ends with the user, by the user's list of
devices and by "log out everywhere", and the audit log names its client. What the client's tokens open
depends on their audience:

- the audience is this server: they open its REST API within scopes, a tenant and a folder, as an access
  key does;
- the audience is the URI of an application that a plugin serves here, such as ``PUBLIC_URL/agents``:
  they open this application only, within the same limits, see :meth:`HostAPI.authenticate`;
- any other audience: they open nothing here, and the other service verifies them with the public keys of
  this server (RFC 9068), or asks by :meth:`GrantsAPI.inspect` (RFC 7662).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class GrantClient:
    """The client of a grant.

    Args:
        id: the client's id, at most 512 characters.
        name: the name that its users see.
        is_public: whether it cannot keep a secret; its refresh tokens rotate.
    """

    id: str
    name: str
    is_public: bool = True


@dataclass(frozen=True, slots=True)
class GrantTerms:
    """What a client may do.

    Args:
        scopes: what its tokens may be used for. Of the audience ``None``, the scopes of
            :class:`~strongroom.plugin_api.authentication.Scope` bind the REST API.
        audience: the URI of the service that accepts the tokens; ``None``: the REST API of this server.
            A tenant and a folder limit tokens for this server, and for URIs below its public URL.
        tenant_id: the only tenant that it reaches here; ``None``: all of the user.
        file_id: the only folder that it reaches here, with its subtree; ``None``: all.
        offline: whether the grant outlives the login that it began with (``offline_access``); without
            it, it ends with the login.
        refreshable: whether there is a refresh token.
        subject: the claim ``sub`` of tokens for other services, such as a pairwise identifier (OpenID
            Connect Core, section 8.1); ``None``: the id of the user. Tokens for this server, and for
            URIs below its public URL, have no other one.
    """

    scopes: tuple[str, ...] = ()
    audience: str | None = None
    tenant_id: str | None = None
    file_id: str | None = None
    offline: bool = False
    refreshable: bool = True
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class ClientGrant:
    """A grant. Times are in milliseconds since the Unix epoch.

    ``login_id`` is the login that it began with; ``None``: the client acts for itself.
    ``acr``, ``amr`` and ``auth_time`` state how that login was proven when the grant began.
    """

    id: str
    user_id: str
    client: GrantClient
    terms: GrantTerms
    login_id: str | None
    acr: str
    amr: tuple[str, ...]
    auth_time: int
    created_at: int
    last_seen_at: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class GrantTokens:
    """New tokens of a grant. Times are in milliseconds since the Unix epoch."""

    grant: ClientGrant
    access_token: str = field(repr=False)
    expires_at: int
    refresh_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TokenReport:
    """A valid token of a grant.

    Args:
        grant: its grant, which has not ended, of an active user.
        is_refresh_token: whether it is a refresh token.
        expires_at: in milliseconds since the Unix epoch.
        issued_at: likewise; ``None`` for a refresh token.
        scopes: the scopes of the token.
    """

    grant: ClientGrant
    is_refresh_token: bool
    expires_at: int
    issued_at: int | None
    scopes: tuple[str, ...]


Describe = Callable[[ClientGrant, Sequence[str]], Mapping[str, Any]]
"""Returns further claims of an access token, by its grant and its scopes.

It is called for each token for another service, outside of transactions. No claim has the name of one
that the server sets, and all of them have at most 8 KiB as JSON, because services limit headers.
"""


class GrantsAPI(ABC):
    """Begins, refreshes, inspects and ends grants. Only the grants of the plugin's own clients exist."""

    @abstractmethod
    def begin(
        self,
        login_id: str,
        client: GrantClient,
        terms: GrantTerms,
        *,
        describe: Describe | None = None,
    ) -> GrantTokens:
        """Begin a grant of the user of a login, who has consented; return its first tokens.

        Args:
            login_id: the login in which the user has consented, see
                :attr:`~strongroom.plugin_api.browser.BrowserSession.login_id`.
            describe: returns further claims of the access token.

        Raises:
            ApiError: ``error.token-invalid``: the login has ended; ``error.user-suspended``.
        """

    @abstractmethod
    def begin_as(self, user_id: str, client: GrantClient, terms: GrantTerms) -> GrantTokens:
        """Begin a grant of a service account, whose own client it is (RFC 6749, section 4.4).

        Raises:
            ApiError: ``error.not-found``: there is no such service account; ``error.user-suspended``.
        """

    @abstractmethod
    def refresh(
        self,
        token: str,
        client_id: str,
        *,
        scopes: Sequence[str] | None = None,
        describe: Describe | None = None,
    ) -> GrantTokens:
        """Exchange a refresh token of a client for new tokens (RFC 6749, section 6).

        A token that is used twice ends its grant, as one of a login does (RFC 9700, section 4.14.2).

        Args:
            scopes: fewer scopes for the new access token; ``None``: all of the grant.
            describe: returns further claims of the access token.

        Raises:
            ApiError: ``error.token-invalid``: it is unknown, used, ended, or another client's;
                ``error.validation-failed``: the grant has not all of the scopes.
        """

    @abstractmethod
    def inspect(self, token: str) -> TokenReport | None:
        """Return the state of an access or refresh token of a grant; ``None``: it opens nothing."""

    @abstractmethod
    def revoke(self, token: str, client_id: str) -> bool:
        """End the grant of a token of a client (RFC 7009); return whether it was one of the client."""

    @abstractmethod
    def end(
        self, *, grant_id: str | None = None, user_id: str | None = None, client_id: str | None = None
    ) -> int:
        """End the grants that match all criteria; return their number. One criterion is required."""

    @abstractmethod
    def find_last_use(self, client_id: str) -> int | None:
        """Return when a client last used a grant that has not ended; ``None``: it has none.

        In milliseconds since the Unix epoch.
        """

    @abstractmethod
    def of_user(self, user_id: str) -> Sequence[ClientGrant]:
        """Return the grants of a user that have not ended, the newest first, at most 1,000."""
