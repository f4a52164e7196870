"""The identity of a caller, and the origin of a request."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Protocol, Self

from strongroom.foundation.errors import (
    Forbidden,
    ImpersonationRefused,
    InsufficientScope,
    KeyNotAccepted,
    OwnAccount,
)
from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope

ADMIN: Final = "ADMIN"
SERVICE: Final = "SERVICE"

SERVER_SCOPES: Final = frozenset(
    {
        Scope.TENANTS_READ,
        Scope.TENANTS_WRITE,
        Scope.USERS_READ,
        Scope.USERS_WRITE,
        Scope.USERS_IMPERSONATE,
        Scope.AUDIT_READ,
    }
)
"""The scopes of operations in which an access key can act as an administrator of the server."""

ANY_TENANT: Final = "*"
"""The tenant of operations that name none and filter by the tenant of an access key themselves."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a request, for audit records, and the languages of its sender.

    ``languages`` are BCP 47 tags, the preferred one first. They are not recorded. ``plugin`` is the name
    of the plugin that acts for the sender, if one does. ``impersonator_id`` is the
    administrator who impersonates the user. ``client_id`` is the client that the user lets act.
    """

    address: str | None = None
    user_agent: str | None = None
    request_id: str | None = None
    languages: tuple[str, ...] = ()
    plugin: str | None = None
    impersonator_id: str | None = None
    client_id: str | None = None


class Attribution(NamedTuple):
    """The user who acts, and the user that the first one impersonates, if any."""

    actor_id: str
    on_behalf_of: str | None


def attribute_action(user_id: str, impersonator_id: str | None) -> Attribution:
    """Return who is recorded for an action: during an impersonation, the administrator acts."""
    if impersonator_id is None:
        return Attribution(user_id, None)
    return Attribution(impersonator_id, user_id)


@dataclass(frozen=True, slots=True)
class KeyUse:
    """The use of an access key or a client's token in a request.

    Args:
        scope: the scope of the operation; ``None``: it accepts neither.
        tenant_id: the tenant in its path.
        audience: the audience of the tokens of clients; ``None``: the REST API.
    """

    scope: str | None
    tenant_id: str | None
    audience: str | None = None


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The limits of an access key: the rights of its caller are the user's, within these limits.

    Args:
        scopes: the scopes, with those that they include.
        tenant_id: the only tenant that it reaches; ``None``: all tenants of the user.
        folder_id: the only folder that it reaches, with its subtree; ``None``: all folders.
        max_permission: the highest permission on files that its scopes allow.
        ends_at: when the key ends, in milliseconds since the Unix epoch. 0 for delegated rights, which
            end with the request, so nothing that they give to others can last.
        operation_scope: the scope of the operation that the key is used for.
    """

    key_id: str
    scopes: frozenset[str]
    tenant_id: str | None
    folder_id: str | None
    max_permission: int
    ends_at: int = 0
    operation_scope: str = ""

    def for_use(self, use: KeyUse) -> Self:
        """Return the limits for an operation.

        Raises:
            KeyNotAccepted: the operation accepts no access keys.
            InsufficientScope: the key lacks the scope of the operation.
            Forbidden: the operation is about another tenant.
        """
        if use.scope is None:
            raise KeyNotAccepted
        if use.scope not in self.scopes:
            raise InsufficientScope(use.scope)
        if self.tenant_id is not None and use.tenant_id not in (self.tenant_id, ANY_TENANT):
            raise Forbidden("The access key is limited to another tenant.")
        return replace(self, operation_scope=use.scope)

    def administers_server(self) -> bool:
        """Return whether the operation is one in which the key of an administrator acts as such."""
        return self.tenant_id is None and self.operation_scope in SERVER_SCOPES

    def covers_tenant(self, tenant_id: str) -> bool:
        """Return whether the key reaches a tenant itself, not only files in it."""
        return self.folder_id is None and self.tenant_id in (None, tenant_id)


@dataclass(frozen=True, slots=True)
class GrantLimits(KeyLimits):
    """The limits of a client's grant, which its access token states; ``key_id`` is the grant.

    The same as of an access key with these scopes, tenant and folder.
    """

    client_id: str = ""


@dataclass(frozen=True, slots=True)
class DelegatedLimits(KeyLimits):
    """The limits of a user's rights that a plugin uses for a person without any, such as a visitor.

    The same as of an access key with a folder, without a key: ``folder_id`` is a file or a folder.

    Args:
        required_permission: what the user must hold on the node ``folder_id`` itself, at each request.
        content_types: glob patterns of the media types of files that may be created; empty: all.
        through_key: the access key or the client's grant that the rights end with, and whose limits they
            are within; empty: none.
    """

    required_permission: int = 0
    content_types: tuple[str, ...] = ()
    through_key: str = ""


@dataclass(frozen=True, slots=True)
class Override:
    """An administrator's removal of retained content, which governance mode permits with a reason."""

    identity: "Identity"
    reason: str
    origin: Origin


class KeyProof(Protocol):
    """An access key that a request presents, to be decided by the key's row."""

    key_id: str

    def check(self, row: Sequence[Any]) -> tuple[int | None, str, KeyLimits]:
        """Return the time of the last use, the type of the user and the limits of the key.

        Raises:
            TokenInvalid: the key is wrong, has ended or was revoked.
            Forbidden: the key may not be used for this request.
        """


@dataclass(frozen=True, slots=True)
class Identity:
    """The user of a verified access token or access key.

    Args:
        user_type: ``USER``, ``ADMIN`` or ``SERVICE``.
        authorization_id: the login or the client's grant that issued the token, or the access key.
        address: the client's address, for audit records, if there is one.
        key: the limits of the access key or of the client's grant; ``None`` for a login.
        acr: how strongly the login is proven; ``None`` without a login.
        auth_time: the last proof of the login, in milliseconds since the Unix epoch.
        plugin: the plugin that uses the user's rights: by its configuration, or within the limits of
            ``key`` for another person.
        actor_id: the administrator who impersonates the user; ``None``: the user is the caller.
    """

    user_id: str
    user_type: str
    authorization_id: str
    address: str | None = None
    key: KeyLimits | None = None
    acr: str | None = None
    auth_time: int | None = None
    plugin: str | None = None
    actor_id: str | None = None

    @property
    def identity(self) -> "Identity":
        """The identity itself, so that an identity can be passed where a :class:`Caller` is."""
        return self

    @property
    def impersonator_id(self) -> str | None:
        """The administrator who impersonates the user, for records."""
        return self.actor_id

    @property
    def is_admin(self) -> bool:
        """Whether the caller administers the whole server in the current operation.

        A key does within the scopes of the server only: a key of an administrator, or of a service
        account of the server, because each key of another service account is limited to a tenant.
        """
        if self.key is None:
            return self.user_type == ADMIN
        return self.user_type in (ADMIN, SERVICE) and self.key.administers_server()

    @property
    def amr(self) -> tuple[str, ...]:
        """The authentication methods (RFC 8176) that are known: ``key`` for an access key."""
        return () if self.key is None else ("key",)

    def require_scope(self, rule: OperationRule) -> None:
        """Require that the access key, if there is one, has the scope of an operation.

        Raises:
            KeyNotAccepted: the operation does not accept access keys.
            InsufficientScope: the key lacks the scope.
        """
        if self.key is None:
            return
        if rule.scope is None:
            raise KeyNotAccepted
        if rule.scope not in self.key.scopes:
            raise InsufficientScope(rule.scope)

    def for_operation(self, rule: OperationRule) -> "Identity":
        """Return the identity for an operation other than the route's; raises as above."""
        self.require_scope(rule)
        if self.key is None or rule.scope is None:
            return self
        return replace(self, key=replace(self.key, operation_scope=rule.scope))

    def require_self(self, user_id: str) -> None:
        """Require that the caller is the given user; an administrator who is another one does not do.

        Raises:
            Forbidden: the caller is another user.
        """
        if user_id != self.user_id:
            raise Forbidden

    def require_other(self, user_id: str) -> None:
        """Require that the caller is another user, for changes that administrators make to others only.

        Raises:
            OwnAccount: the caller is this user.
        """
        if user_id == self.user_id:
            raise OwnAccount

    def require_self_or_admin(self, user_id: str) -> None:
        """Require that the caller is the given user or an administrator.

        Raises:
            Forbidden: the caller is neither.
        """
        if user_id != self.user_id and not self.is_admin:
            raise Forbidden


@dataclass(slots=True)
class Caller:
    """The user of an access token whose signature and expiry are verified, or of an access key.

    The login that issued the token may be revoked. The first query of the request verifies the login or
    the key as well, so that a request needs one query instead of two.

    Args:
        authorization_id: the login or the client's grant that issued the token, or the access key.
        address: the client's address, for audit records, if there is one.
        key: the presented access key, not yet verified, or the limits of a client's grant; ``None`` for
            a login.
        use: the use of the grant.
        accepts_impersonation: whether the operation accepts impersonated users.
    """

    user_id: str
    authorization_id: str
    address: str | None = None
    key: KeyProof | GrantLimits | None = None
    use: KeyUse | None = None
    accepts_impersonation: bool = False
    identity: Identity | None = field(default=None, init=False)
    """The verified identity; ``None`` until a query has verified the login."""
    last_seen_at: int | None = field(default=None, init=False)
    """When the login was last used, in milliseconds since the Unix epoch; known once it is verified."""

    @property
    def impersonator_id(self) -> str | None:
        """The administrator who impersonates the user; known once the login is verified."""
        return None if self.identity is None else self.identity.actor_id

    @property
    def plugin(self) -> None:
        """No plugin: the user has sent the request."""
        return

    def confirm(
        self,
        last_seen_at: int,
        user_type: str,
        acr: str,
        auth_time: int,
        actor_id: str | None,
        expires_at: int,
    ) -> Identity:
        """Record that the login or the client's grant is not revoked; return the verified identity.

        Raises:
            ImpersonationRefused: the user is impersonated, and the operation does not accept it.
            KeyNotAccepted: the operation accepts no grants.
            Forbidden: the grant may not be used for this request.
        """
        if actor_id is not None and not self.accepts_impersonation:
            raise ImpersonationRefused
        self.last_seen_at = last_seen_at
        if self.key is not None:
            return self._confirm_grant(user_type, expires_at)
        login = (self.authorization_id, self.address, None, acr, auth_time)
        self.identity = Identity(self.user_id, user_type, *login, actor_id=actor_id)
        return self.identity

    def _confirm_grant(self, user_type: str, expires_at: int) -> Identity:
        if not isinstance(self.key, GrantLimits) or self.use is None:
            raise RuntimeError("the caller has no grant of a client")
        limits = replace(self.key.for_use(self.use), ends_at=expires_at)
        self.identity = Identity(self.user_id, user_type, self.authorization_id, self.address, limits)
        return self.identity

    def confirm_key(self, row: Sequence[Any]) -> Identity:
        """Verify the access key by its row, and return the verified identity.

        Raises:
            TokenInvalid: the key is wrong, has ended or was revoked.
            Forbidden: the key may not be used for this request.
        """
        if self.key is None or isinstance(self.key, GrantLimits):
            raise RuntimeError("the caller has no access key")
        self.last_seen_at, user_type, limits = self.key.check(row)
        self.identity = Identity(self.user_id, user_type, self.authorization_id, self.address, limits)
        return self.identity


AnyCaller = Caller | Identity
"""A caller whose login is verified, or will be by the next query."""
