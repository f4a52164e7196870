"""The services of tenants, their members and groups."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.tenants.groups.service import GroupMemberships, GroupService
from strongroom.content.tenants.memberships import Memberships, administers_a_tenant
from strongroom.content.tenants.quota import Quota
from strongroom.content.tenants.quota_alerts import QuotaAlerts
from strongroom.content.tenants.service import TenantService
from strongroom.content.tenants.user_exports import tenant_exports
from strongroom.foundation.config.file_settings import AT_ONCE
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.users.factor_policy import TENANT_ADMIN
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.exports import UserExport
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class TenantServices(ServiceGroup):
    """Tenants, their members and groups."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._audit = group(AuditServices).audit
        self._users = group(UserServices).users
        self._user_services = group(UserServices)
        self._accounts = group(AccountServices)

    @cached_property
    def memberships(self) -> Memberships:
        return Memberships(self._clock, self._base.on_wait("tenant"))

    @cached_property
    def group_members(self) -> GroupMemberships:
        return GroupMemberships(
            self._clock,
            self.memberships,
            max_per_user=self._settings.advanced.max_groups_per_user,
        )

    @cached_property
    def tenants(self) -> TenantService:
        alerts = QuotaAlerts(self._database, self._clock, self._audit)
        self._base.resources.callback(alerts.close)
        return TenantService(
            self._database,
            self._clock,
            self.memberships,
            Quota(self._settings.files.default_quota_bytes or None, alerts.note),
            self._users,
            self._accounts.deactivations,
            self._audit,
            any_user_creates=self._settings.tenants.allow_user_creation,
            adds_uninvited=self._settings.tenants.add_members == AT_ONCE,
        )

    @cached_property
    def groups(self) -> GroupService:
        return GroupService(
            self._database,
            self._clock,
            self.memberships,
            self.group_members,
            self._users,
            self._audit,
            max_groups=self._settings.advanced.max_groups,
        )

    def connect(self) -> None:
        self._user_services.factor_policy.define(TENANT_ADMIN, administers_a_tenant)
        self._accounts.deletion.guard(self.memberships.require_dispensable)

    def register_user_exports(self) -> Iterable[UserExport]:
        return tenant_exports(self._database)
