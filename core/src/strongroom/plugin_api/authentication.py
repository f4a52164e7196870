"""Authenticators: how requests present an access key, in addition to ``Authorization: Bearer``.

An authenticator only finds the access key in a request. The core checks the key, its owner, its scopes
and its limits, and counts wrong keys, in the same way for each authenticator. A route accepts an
authenticator by its name, because browsers send some credentials, such as Basic, without a challenge::

    @hookimpl
    def register_authenticators(host: HostAPI) -> list[Authenticator]:
        return [QueryKey()]

    @routes.operation(
        "GET", "/api/v1/feed", access=Access.USER, scope=Scope.FILES_READ, authenticators=("feed",)
    )
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Final

ACCESS_KEY_PREFIX: Final = "srk_"
"""The first characters of every access key."""


class Scope(StrEnum):
    """What an access key may be used for. Each operation that accepts access keys names one scope.

    ``files:share`` includes ``files:write``, which includes ``files:read``; ``users:write`` includes
    ``users:read``, and ``tenants:write`` includes ``tenants:read``.
    """

    FILES_READ = "files:read"
    FILES_WRITE = "files:write"
    FILES_SHARE = "files:share"
    TENANTS_READ = "tenants:read"
    TENANTS_WRITE = "tenants:write"
    USERS_READ = "users:read"
    USERS_WRITE = "users:write"
    USERS_IMPERSONATE = "users:impersonate"
    AUDIT_READ = "audit:read"


class Sensitive(StrEnum):
    """What a sensitive route changes. A stolen token alone must not open such a route.

    Users with a second factor must have proven it lately (RFC 9470). Revoking a key or a login is not
    sensitive, because it must be quick.
    """

    CREDENTIALS = "credentials"
    FACTORS = "second factors"
    KEYS = "access keys"
    ACCOUNTS = "accounts"
    TENANTS = "tenants"
    FILES = "files"

    @property
    def effect(self) -> str:
        """What the routes of this kind do that a stolen token alone must not do."""
        return _EFFECTS[self]


_EFFECTS: Final = {
    Sensitive.CREDENTIALS: "changes how a user logs in: contacts, username, password, linked accounts",
    Sensitive.FACTORS: "adds, renames or removes a second factor or recovery codes",
    Sensitive.KEYS: "creates an access key, or gives one a new secret and end",
    Sensitive.ACCOUNTS: (
        "creates an account as an administrator; deletes, suspends, reinstates or impersonates one"
    ),
    Sensitive.TENANTS: (
        "deletes a tenant, changes what it demands, or gives or takes the role of an administrator or "
        "of a keeper of records, also by an invitation"
    ),
    Sensitive.FILES: (
        "removes files permanently, ends what keeps them, or decides about files in quarantine"
    ),
}


@dataclass(frozen=True, slots=True)
class CallerInfo:
    """The user that a plugin acts as, and the limits of the user's rights.

    Args:
        user_id: the id of the user.
        user_type: ``USER``, ``ADMIN`` or ``SERVICE``.
        scopes: the scopes of the access key or of the client, with those that they include; ``None``:
            the user's rights have no such limit.
        tenant_id: the only tenant that is reachable; ``None``: all tenants of the user.
        file_id: the only folder that is reachable, with its subtree, or the only file; ``None``: all.
        key_id: the access key, or the client's grant, see :mod:`strongroom.plugin_api.grants`; ``None``
            without one.
        actor_id: the administrator who impersonates the user, and may learn no secret that outlasts the
            impersonation, such as the URL of a share; ``None``: the user is the caller.
        client_id: the client that the user lets act; ``None`` without one.
        login_id: the login of the caller; ``None``: an access key, a client, or a plugin acts.
    """

    user_id: str
    user_type: str
    scopes: frozenset[str] | None = None
    tenant_id: str | None = None
    file_id: str | None = None
    key_id: str | None = None
    actor_id: str | None = None
    client_id: str | None = None
    login_id: str | None = None


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The request line and the headers of a request.

    Args:
        method: the HTTP method.
        path: the decoded path, with the base path of the server.
        query: the query string, without the question mark.
        headers: the headers; names are compared without regard to case.
        address: the client's address, behind trusted proxies.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    address: str


@dataclass(frozen=True, slots=True)
class PresentedCredential:
    """The access key that a request presents, not yet checked."""

    value: str = field(repr=False)


class Authenticator(ABC):
    """Finds the access key in a request."""

    name: ClassVar[str]
    """The name by which routes accept it: lowercase letters, digits and underscores."""

    challenge: ClassVar[str]
    """The value of WWW-Authenticate in a 401 (RFC 9110, section 11.6.1)."""

    @abstractmethod
    def credential(self, request: RequestHead) -> PresentedCredential | None:
        """Return the credential in a request; ``None`` if the request has none of this kind.

        Requests are untrusted. A malformed credential of this kind is returned as it is, so that the
        core counts it as a wrong key; this method raises no error for any request.
        """
