"""The services of impersonation."""

from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.extensions.impersonation.service import ImpersonationService
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.services import UserServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class ImpersonationServices(ServiceGroup):
    """Impersonation."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._users = group(UserServices).users
        self._authorizations = group(SessionServices).authorizations
        self._audit = group(AuditServices).audit

    @cached_property
    def impersonation(self) -> ImpersonationService:
        return ImpersonationService(
            self._database, self._clock, self._users, self._authorizations, self._audit
        )
