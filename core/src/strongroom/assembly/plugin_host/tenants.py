"""Implements ``host.tenants`` by the services of the REST API."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace

from strongroom.assembly.plugin_host.caller import AsCaller, make_paging, result_page
from strongroom.content.nodes import operations as files
from strongroom.content.tenants import operations
from strongroom.content.tenants.groups.service import GroupService
from strongroom.content.tenants.models import Group, GroupMember, Member, Role, Tenant
from strongroom.content.tenants.schemas import RoleSchema
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.transfers.service import TransferService
from strongroom.plugin_api import tenants as api
from strongroom.plugin_api.paging import ResultPage
from strongroom.web.http.parsing import parse_values


class HostTenants(AsCaller, api.TenantsAPI):
    """Implements ``host.tenants``."""

    def list(self, *, page: int = 1, size: int = 100) -> ResultPage[api.TenantInfo]:
        caller, paging = self._caller(operations.LIST), make_paging(page, size)
        return result_page(self._get(TenantService).of_caller(caller, paging)).map(_tenant)

    def get(self, tenant_id: str) -> api.TenantInfo:
        caller = self._caller(operations.GET, tenant_id)
        role, tenant = self._get(TenantService).membership(caller, tenant_id)
        return replace(_tenant(tenant), role=role)

    def usage(self, tenant_id: str) -> api.UsageInfo:
        usage = self._get(TenantService).usage(self._caller(operations.GET_USAGE, tenant_id), tenant_id)
        return api.UsageInfo(*(getattr(usage, field.name) for field in fields(api.UsageInfo)))

    def role(self, tenant_id: str) -> str | None:
        return self._get(TenantService).role(self._caller(operations.GET, tenant_id), tenant_id)

    def members(self, tenant_id: str, *, page: int = 1, size: int = 100) -> ResultPage[api.MemberInfo]:
        paging, caller = make_paging(page, size), self._caller(operations.LIST_MEMBERS, tenant_id)
        members, _ = self._get(TenantService).members(caller, tenant_id, paging)
        return result_page(members).map(_member)

    def groups(
        self, tenant_id: str, *, user_id: str | None = None, page: int = 1, size: int = 100
    ) -> ResultPage[api.GroupInfo]:
        groups, paging = self._get(GroupService), make_paging(page, size)
        caller = self._caller(operations.LIST_GROUPS, tenant_id, user_id)
        return result_page(groups.page(caller, tenant_id, user_id, paging)).map(_group)

    def find_roles(self, user_id: str, tenant_ids: Collection[str]) -> Mapping[str, str]:
        return self._get(TenantService).find_roles(user_id, tenant_ids)

    def find_groups(
        self,
        user_id: str,
        tenant_ids: Collection[str],
        *,
        group_ids: Collection[str] = (),
        limit: int = 1000,
    ) -> Sequence[api.GroupInfo]:
        groups = self._get(GroupService).find_of_user(user_id, tenant_ids, group_ids, limit)
        return [_group(group) for group in groups]

    def put_member(
        self, tenant_id: str, user_id: str, role: api.MemberRole = "member"
    ) -> api.MemberInfo:
        caller = self._caller(operations.SET_ROLE, tenant_id, user_id)
        new = Role(parse_values(RoleSchema, {"role": role})["role"])
        tenants = self._get(TenantService)
        return _member(tenants.put_member(caller, tenant_id, user_id, new, self._origin()))

    def remove_member(self, tenant_id: str, user_id: str) -> None:
        caller = self._caller(operations.REMOVE_MEMBER, tenant_id, user_id)
        self._get(TenantService).remove_member(caller, tenant_id, user_id, self._origin())

    def put_group_member(self, tenant_id: str, group_id: str, user_id: str) -> api.GroupMemberInfo:
        caller = self._caller(operations.CHANGE_GROUP_MEMBERS, tenant_id, group_id, user_id)
        groups = self._get(GroupService)
        return _group_member(groups.add_member(caller, tenant_id, group_id, user_id, self._origin()))

    def remove_group_member(self, tenant_id: str, group_id: str, user_id: str) -> None:
        caller = self._caller(operations.CHANGE_GROUP_MEMBERS, tenant_id, group_id, user_id)
        self._get(GroupService).remove_member(caller, tenant_id, group_id, user_id, self._origin())

    def set_group_members(
        self,
        tenant_id: str,
        group_id: str,
        user_ids: Collection[str],
        *,
        revision: int | None = None,
    ) -> tuple[int, int]:
        caller = self._caller(operations.CHANGE_GROUP_MEMBERS, tenant_id, group_id, *user_ids)
        groups = self._get(GroupService)
        return groups.set_members(caller, tenant_id, group_id, user_ids, self._origin(), revision)

    def transfer_files(self, tenant_id: str, user_id: str, to_user_id: str) -> tuple[int, int]:
        caller = self._caller(files.TRANSFER_FILES, tenant_id, user_id, to_user_id)
        transfers = self._get(TransferService)
        moved = transfers.transfer(caller, tenant_id, user_id, to_user_id, self._origin())
        return moved.nodes, moved.grants


def _tenant(tenant: Tenant) -> api.TenantInfo:
    return api.TenantInfo(
        tenant.id,
        tenant.name,
        tenant.quota_bytes,
        tenant.used_bytes,
        tenant.created_at,
        tenant.revision,
    )


def _member(member: Member) -> api.MemberInfo:
    return api.MemberInfo(member.user_id, member.role, member.created_at)


def _group(group: Group) -> api.GroupInfo:
    return api.GroupInfo(group.id, group.tenant_id, group.name, group.created_at, group.revision)


def _group_member(member: GroupMember) -> api.GroupMemberInfo:
    return api.GroupMemberInfo(member.user_id, member.added_by, member.created_at)
