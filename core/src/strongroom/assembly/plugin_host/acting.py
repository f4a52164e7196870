"""The user that a plugin acts as: the caller of the request, or one that the plugin has named."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.content.nodes.models import Permission
from strongroom.foundation.caller import DelegatedLimits, GrantLimits, Identity, Origin
from strongroom.foundation.errors import NotFound, TokenRequired
from strongroom.foundation.operations import OperationRule
from strongroom.foundation.scopes import file_scopes
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.identity.users.models import UserType
from strongroom.identity.users.service import UserService
from strongroom.identity.users.suspension_ends import SuspensionEnds
from strongroom.plugin_api.authentication import CallerInfo
from strongroom.plugin_api.files import Delegation
from strongroom.web.http.access import optional_identity
from strongroom.web.http.parsing import is_unstorable
from strongroom.web.http.request import current_request_id, origin

if TYPE_CHECKING:
    from strongroom.assembly.services import Services

PERMISSIONS: Final[Mapping[str, Permission]] = {
    level.name.lower(): level for level in Permission if level is not Permission.NONE
}
"""The permissions by their names in the plugin API."""


_acting: Final[ContextVar[Identity | None]] = ContextVar("acting", default=None)


@contextmanager
def acting_with(identity: Identity) -> Iterator[None]:
    """Let plugins act with an identity until the block ends."""
    token = _acting.set(identity)
    try:
        yield
    finally:
        _acting.reset(token)


@dataclass(slots=True, eq=False, repr=False)
class ActingUser:
    """Finds the user that a plugin acts as.

    Args:
        plugin: the name of the plugin, for audit records.
        services: returns the services of the process.
    """

    plugin: str
    services: Callable[[], "Services"]

    def identity(self, rule: OperationRule, *ids: str | None) -> Identity:
        """Return the user that the plugin acts as.

        Args:
            ids: the ids that the plugin has passed, which may be from a URL.

        Raises:
            TokenRequired: there is no request, or it has no caller.
            InsufficientScope: the caller's access key lacks the scope.
            StepUpRequired: the operation is sensitive, and the caller's second factor was not proven
                lately. A user that the plugin has named has no login, and needs no proof.
            NotFound: the database cannot have such an id.
        """
        caller = self._found()
        if caller is None:
            raise TokenRequired
        identity = caller.for_operation(rule)
        if rule.sensitive is not None and caller.key is None:
            self.services().get(Reauthentication).require_factor(caller)
        if any(is_unstorable(text) for text in ids if text is not None):
            raise NotFound
        return identity

    @property
    def id(self) -> str | None:
        """The id of the user that the plugin acts as; ``None`` without one."""
        caller = self._found()
        return caller.user_id if caller else None

    def info(self) -> CallerInfo | None:
        """Return the user that the plugin acts as, with the limits; ``None`` without one."""
        identity = self._found()
        if identity is None:
            return None
        key = identity.key
        if key is None:
            return CallerInfo(
                identity.user_id,
                identity.user_type,
                actor_id=identity.actor_id,
                login_id=identity.authorization_id or None,
            )
        return CallerInfo(
            identity.user_id,
            identity.user_type,
            key.scopes,
            key.tenant_id,
            key.folder_id,
            key.key_id or None,
            client_id=key.client_id if isinstance(key, GrantLimits) else None,
        )

    def _found(self) -> Identity | None:
        caller = _acting.get()
        if caller is None and current_request_id() is not None:
            caller = optional_identity()
        return caller

    def origin(self) -> Origin:
        """Return the origin for audit records."""
        return (
            origin() if current_request_id() is not None else Origin(user_agent=f"plugin {self.plugin}")
        )

    def signed_origin(self) -> Origin:
        """Return the origin for audit records of actions that are not the plugin's own."""
        return replace(self.origin(), plugin=self.plugin)

    @contextmanager
    def act_for(self, delegation: Delegation) -> Iterator[None]:
        """Use a user's rights within limits until the block ends. Each query checks them."""
        level = PERMISSIONS[delegation.permission]
        limits = DelegatedLimits(
            key_id="",
            scopes=file_scopes(level),
            tenant_id=delegation.tenant_id,
            folder_id=delegation.file_id,
            max_permission=int(level),
            required_permission=int(PERMISSIONS[delegation.required]),
            content_types=tuple(delegation.content_types),
            through_key=delegation.key_id or "",
        )
        # The type has no rights over the server, whatever the user's own is.
        identity = Identity(
            delegation.user_id,
            UserType.USER,
            "",
            self.origin().address,
            key=limits,
            plugin=self.plugin,
        )
        with acting_with(identity):
            yield

    @contextmanager
    def act_as(self, user_id: str) -> Iterator[None]:
        """Act as a user until the block ends, and record it in the audit log.

        Raises:
            NotFound: there is no such user, or the user was deleted.
            UserSuspended: the user is suspended.
        """
        services = self.services()
        with services.database.write() as connection:
            user = services.get(UserService).get(connection, user_id)
            user = services.get(SuspensionEnds).apply(connection, user)
            user.require_active()
            event = AuditEvent(
                "plugin.act-as",
                actor_id=None,
                target_type="user",
                target_id=user_id,
                origin=self.origin(),
                details={"plugin": self.plugin},
            )
            services.get(AuditService).record(connection, event)
        token = _acting.set(Identity(user_id, user.type, "", plugin=self.plugin))
        try:
            yield
        finally:
            _acting.reset(token)
