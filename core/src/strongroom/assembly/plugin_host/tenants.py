"""Implements ``host.tenants`` and ``host.users`` by the services of the REST API."""

from dataclasses import fields

from strongroom.assembly.plugin_host.caller import AsCaller, paging_of, result_page
from strongroom.content.tenants import operations as tenant_operations
from strongroom.content.tenants.groups import GroupService
from strongroom.content.tenants.models import Group, Member, Tenant
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.errors import Forbidden
from strongroom.identity import operations as user_operations
from strongroom.identity.accounts.service import AccountService
from strongroom.identity.users.models import User
from strongroom.plugin_api import tenants as api
from strongroom.plugin_api.paging import ResultPage


class HostTenants(AsCaller, api.TenantsAPI):
    """Implements ``host.tenants``."""

    def list(self, *, page: int = 1, size: int = 100) -> ResultPage[api.TenantInfo]:
        tenants = self._get(TenantService)
        return result_page(
            tenants.of_caller(self._caller(tenant_operations.LIST), paging_of(page, size)), _tenant
        )

    def get(self, tenant_id: str) -> api.TenantInfo:
        return _tenant(
            self._get(TenantService).get(self._caller(tenant_operations.GET, tenant_id), tenant_id)
        )

    def usage(self, tenant_id: str) -> api.UsageInfo:
        usage = self._get(TenantService).usage(
            self._caller(tenant_operations.GET_USAGE, tenant_id), tenant_id
        )
        return api.UsageInfo(*(getattr(usage, field.name) for field in fields(api.UsageInfo)))

    def role(self, tenant_id: str) -> str | None:
        return self._get(TenantService).role(self._caller(tenant_operations.GET, tenant_id), tenant_id)

    def members(self, tenant_id: str, *, page: int = 1, size: int = 100) -> ResultPage[api.MemberInfo]:
        tenants, paging = self._get(TenantService), paging_of(page, size)
        return result_page(
            tenants.members(self._caller(tenant_operations.LIST_MEMBERS, tenant_id), tenant_id, paging)[
                0
            ],
            _member,
        )

    def groups(
        self, tenant_id: str, *, user_id: str | None = None, page: int = 1, size: int = 100
    ) -> ResultPage[api.GroupInfo]:
        groups, paging = self._get(GroupService), paging_of(page, size)
        caller = self._caller(tenant_operations.LIST_GROUPS, tenant_id, user_id)
        return result_page(groups.page(caller, tenant_id, user_id, paging), _group)


class HostUsers(AsCaller, api.UsersAPI):
    """Implements ``host.users``."""

    def me(self) -> api.UserInfo:
        return self.get(self._caller(user_operations.GET_USER).user_id)

    def get(self, user_id: str) -> api.UserInfo:
        caller = self._caller(user_operations.GET_USER, user_id)
        if caller.key is not None and caller.key.tenant_id is not None:
            raise Forbidden("The access key is limited to a tenant.")
        return _user(self._get(AccountService).get(caller, user_id))


def _tenant(tenant: Tenant) -> api.TenantInfo:
    return api.TenantInfo(
        tenant.id, tenant.name, tenant.quota_bytes, tenant.used_bytes, tenant.created_at
    )


def _member(member: Member) -> api.MemberInfo:
    return api.MemberInfo(member.user_id, member.role, member.created_at)


def _group(group: Group) -> api.GroupInfo:
    return api.GroupInfo(group.id, group.tenant_id, group.name, group.created_at)


def _user(user: User) -> api.UserInfo:
    return api.UserInfo(user.id, user.type, user.status, user.name, user.locale, user.created_at)
