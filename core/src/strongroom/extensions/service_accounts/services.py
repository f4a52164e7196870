"""The services of service accounts of tenants."""

from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.service_accounts.service import ServiceAccountService
from strongroom.identity.access_keys.services import AccessKeyServices
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.users.services import UserServices
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class ServiceAccountServices(ServiceGroup):
    """Service accounts of tenants."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._tenants = group(TenantServices)
        self._users = group(UserServices).users
        self._access_keys = group(AccessKeyServices).access_keys
        self._deactivations = group(AccountServices).deactivations
        self._audit = group(AuditServices).audit

    @cached_property
    def service_accounts(self) -> ServiceAccountService:
        return ServiceAccountService(
            self._database,
            self._clock,
            self._tenants.memberships,
            self._users,
            self._access_keys,
            self._deactivations,
            self._audit,
        )
