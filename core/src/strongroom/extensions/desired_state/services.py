"""The services of the desired state."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.extensions.desired_state.administrator import Administrators
from strongroom.extensions.desired_state.service import DesiredState
from strongroom.extensions.desired_state.store import DeclaredResources
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class DesiredStateServices(ServiceGroup):
    """The desired state of the server."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._users = group(UserServices)
        self._sessions = group(SessionServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def _declared(self) -> DeclaredResources:
        return DeclaredResources(self._database)

    @cached_property
    def administrators(self) -> Administrators:
        return Administrators(
            self._database,
            self._users.users,
            self._users.credentials,
            self._sessions.authorizations,
            self._audit,
        )

    @cached_property
    def desired_state(self) -> DesiredState:
        return DesiredState(self.administrators, self._declared)

    def register_tenant_erasers(self) -> Iterable[TenantEraser]:
        return [self._declared.erase_tenant]

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self._declared.deactivate]
