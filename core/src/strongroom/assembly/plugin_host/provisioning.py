"""Implements ``host.provisioning``."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from strongroom.assembly.plugin_host.caller import AsCaller, make_paging, result_page
from strongroom.extensions.provisioning import operations
from strongroom.extensions.provisioning.directories import (
    DirectoryRequest,
    DirectoryService,
    ResourceCounts,
)
from strongroom.extensions.provisioning.directory_errors import DirectoryErrors, Refusal, Resource
from strongroom.extensions.provisioning.groups import (
    GroupFilter,
    GroupState,
    ProvisionedGroup,
    ProvisionedGroups,
)
from strongroom.extensions.provisioning.models import Directory, DirectoryError
from strongroom.extensions.provisioning.user_records import ProvisionedUser, UserFilter, UserState
from strongroom.extensions.provisioning.users import ProvisionedUsers
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import NotFound, ValidationFailed
from strongroom.identity.accounts.schemas import UserChangeSchema
from strongroom.plugin_api import provisioning as api
from strongroom.plugin_api.names import name_fault
from strongroom.plugin_api.paging import ResultPage
from strongroom.web.http.paging import paging as requested_paging
from strongroom.web.http.parsing import is_unstorable, parse_values

_MAX_AT_ONCE: Final = 500
_MAX_OFFSET: Final = 10_000_000
_MAX_NAME: Final = 255


class HostProvisioning(AsCaller, api.ProvisioningAPI):
    """Implements ``host.provisioning``."""

    def directories(
        self,
        tenant_id: str | None,
        *,
        page: int = 1,
        size: int = 100,
        query: Mapping[str, Any] | None = None,
    ) -> ResultPage[api.DirectoryInfo]:
        caller = self._caller(operations.LIST_DIRECTORIES, tenant_id)
        service = self._get(DirectoryService)
        directories = service.page(caller, tenant_id, _paging(page, size, query))
        counts = service.count(directories.items)
        return result_page(directories).map(lambda item: _directory(item, counts[item.id]))

    def errors(
        self,
        tenant_id: str | None,
        directory_id: str,
        *,
        page: int = 1,
        size: int = 100,
        query: Mapping[str, Any] | None = None,
    ) -> ResultPage[api.DirectoryErrorInfo]:
        caller = self._caller(operations.LIST_DIRECTORIES, tenant_id, directory_id)
        errors, paging = self._get(DirectoryErrors), _paging(page, size, query)
        return result_page(errors.page(caller, tenant_id, directory_id, paging)).map(_error)

    def record_result(
        self,
        tenant_id: str | None,
        kind: api.ResourceKind,
        error: api.RefusedRequest | None,
        *,
        name: str | None = None,
        resource_id: str | None = None,
    ) -> None:
        caller = self._caller(operations.PROVISION, tenant_id)
        refused = () if error is None else (error.message, error.code)
        if _has_unstorable((name, resource_id, *refused)):
            return
        refusal = None if error is None else Refusal(**asdict(error))
        resource = Resource(kind, name, resource_id)
        self._get(DirectoryErrors).record(caller, tenant_id, resource, refusal)

    def register_directory(
        self,
        tenant_id: str | None,
        name: str,
        account_id: str,
        *,
        may_write: bool = True,
        successor_id: str | None = None,
    ) -> api.DirectoryInfo:
        request = _request(name, account_id, successor_id, may_write=may_write)
        caller = self._caller(operations.REGISTER_DIRECTORY, tenant_id, account_id, successor_id)
        directories = self._get(DirectoryService)
        directory = directories.register(caller, tenant_id, request, self._origin())
        return _directory(directory, ResourceCounts())

    def change_directory(
        self,
        tenant_id: str | None,
        directory_id: str,
        name: str,
        account_id: str,
        *,
        may_write: bool = True,
        successor_id: str | None = None,
    ) -> api.DirectoryInfo:
        request = _request(name, account_id, successor_id, may_write=may_write)
        ids = (tenant_id, directory_id, account_id, successor_id)
        caller = self._caller(operations.REGISTER_DIRECTORY, *ids)
        directories = self._get(DirectoryService)
        directory = directories.change(caller, tenant_id, directory_id, request, self._origin())
        return _directory(directory, directories.count([directory])[directory.id])

    def remove_directory(self, tenant_id: str | None, directory_id: str) -> None:
        caller = self._caller(operations.REGISTER_DIRECTORY, tenant_id, directory_id)
        self._get(DirectoryService).remove(caller, tenant_id, directory_id, self._origin())

    def directory(self, tenant_id: str | None) -> api.DirectoryInfo:
        caller = self._caller(operations.READ_PROVISIONED, tenant_id)
        return _directory(self._get(DirectoryService).find(caller, tenant_id))

    def provision_user(
        self, tenant_id: str | None, record: api.UserRecord
    ) -> tuple[api.ProvisionedUserInfo, bool]:
        caller = self._caller(operations.PROVISION, tenant_id)
        users = self._get(ProvisionedUsers)
        user, is_new = users.provision(caller, tenant_id, _user_state(record), self._origin())
        return _user(user), is_new

    def user(self, tenant_id: str | None, user_id: str) -> api.ProvisionedUserInfo:
        caller = self._caller(operations.READ_PROVISIONED, tenant_id, user_id)
        return _user(self._get(ProvisionedUsers).get(caller, tenant_id, user_id))

    def users(
        self,
        tenant_id: str | None,
        *,
        user_id: str | None = None,
        login_name: str | None = None,
        external_id: str | None = None,
        email: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> tuple[int, Sequence[api.ProvisionedUserInfo]]:
        caller = self._caller(operations.READ_PROVISIONED, tenant_id)
        chosen = UserFilter(user_id, login_name, external_id, email)
        _require_part(offset, limit)
        if _has_unstorable(chosen):
            return 0, []
        users = self._get(ProvisionedUsers)
        total, part = users.part(caller, tenant_id, chosen, offset, limit)
        return total, [_user(user) for user in part]

    def change_user(
        self,
        tenant_id: str | None,
        user_id: str,
        record: api.UserRecord,
        *,
        version: str | None = None,
    ) -> api.ProvisionedUserInfo:
        caller = self._caller(operations.PROVISION, tenant_id, user_id)
        users, state = self._get(ProvisionedUsers), _user_state(record)
        return _user(users.change(caller, tenant_id, user_id, state, self._origin(), version))

    def remove_user(self, tenant_id: str | None, user_id: str, *, version: str | None = None) -> None:
        caller = self._caller(operations.PROVISION, tenant_id, user_id)
        users = self._get(ProvisionedUsers)
        users.remove(caller, tenant_id, user_id, self._origin(), version)

    def provision_group(self, tenant_id: str, record: api.GroupRecord) -> api.ProvisionedGroupInfo:
        caller = self._caller(operations.PROVISION, tenant_id)
        groups, state = self._get(ProvisionedGroups), _group_state(record)
        return _group(groups.provision(caller, tenant_id, state, self._origin()))

    def group(self, tenant_id: str, group_id: str) -> api.ProvisionedGroupInfo:
        caller = self._caller(operations.READ_PROVISIONED, tenant_id, group_id)
        return _group(self._get(ProvisionedGroups).get(caller, tenant_id, group_id))

    def groups(
        self,
        tenant_id: str,
        *,
        group_id: str | None = None,
        name: str | None = None,
        external_id: str | None = None,
        member_id: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> tuple[int, Sequence[api.ProvisionedGroupInfo]]:
        caller = self._caller(operations.READ_PROVISIONED, tenant_id)
        chosen = GroupFilter(group_id, name, external_id, member_id)
        _require_part(offset, limit)
        if _has_unstorable(chosen):
            return 0, []
        groups = self._get(ProvisionedGroups)
        total, part = groups.part(caller, tenant_id, chosen, offset, limit)
        return total, [_group(group) for group in part]

    def group_members(self, tenant_id: str, group_id: str) -> Sequence[api.MemberSummary]:
        caller = self._caller(operations.READ_PROVISIONED, tenant_id, group_id)
        members = self._get(ProvisionedGroups).members(caller, tenant_id, group_id)
        return [api.MemberSummary(*member) for member in members]

    def groups_of_users(
        self, tenant_id: str, user_ids: Collection[str]
    ) -> Mapping[str, Sequence[api.MemberSummary]]:
        caller = self._caller(operations.READ_PROVISIONED, tenant_id, *user_ids)
        _require_part(0, len(user_ids))
        groups = self._get(ProvisionedGroups).list_by_user(caller, tenant_id, user_ids)
        return {
            user_id: [api.MemberSummary(*group) for group in of_user]
            for user_id, of_user in groups.items()
        }

    def change_group(
        self,
        tenant_id: str,
        group_id: str,
        record: api.GroupRecord,
        *,
        version: str | None = None,
    ) -> api.ProvisionedGroupInfo:
        caller = self._caller(operations.PROVISION, tenant_id, group_id)
        groups, state = self._get(ProvisionedGroups), _group_state(record)
        return _group(groups.change(caller, tenant_id, group_id, state, self._origin(), version))

    def change_group_members(
        self,
        tenant_id: str,
        group_id: str,
        *,
        added: Collection[str] = (),
        removed: Collection[str] = (),
    ) -> api.ProvisionedGroupInfo:
        caller = self._caller(operations.PROVISION, tenant_id, group_id)
        if _has_unstorable([*added, *removed]):
            raise NotFound
        groups, origin = self._get(ProvisionedGroups), self._origin()
        return _group(groups.change_members(caller, tenant_id, group_id, added, removed, origin))

    def remove_group(self, tenant_id: str, group_id: str, *, version: str | None = None) -> None:
        caller = self._caller(operations.PROVISION, tenant_id, group_id)
        groups = self._get(ProvisionedGroups)
        groups.remove(caller, tenant_id, group_id, self._origin(), version)


def _request(
    name: str, account_id: str, successor_id: str | None, *, may_write: bool
) -> DirectoryRequest:
    _require_text("name", name)
    return DirectoryRequest(name, account_id, may_write, successor_id)


def _user_state(record: api.UserRecord) -> UserState:
    values = {field.name: getattr(record, field.name) for field in fields(api.UserRecord)}
    _require_text("loginName", record.login_name)
    _require_text("name", record.name)
    if record.external_id is not None:
        _require_text("externalId", record.external_id)
    if record.locale is not None:
        values |= parse_values(UserChangeSchema, {"locale": record.locale})
    return UserState(**values)


def _group_state(record: api.GroupRecord) -> GroupState:
    _require_text("name", record.name)
    if record.external_id is not None:
        _require_text("externalId", record.external_id)
    if record.member_ids is not None and any(is_unstorable(item) for item in record.member_ids):
        raise NotFound
    return GroupState(record.name, record.external_id, record.member_ids)


def _require_text(field: str, text: str) -> None:
    """Require a text that the database can have, and that others can see."""
    if not 1 <= len(text) <= _MAX_NAME:
        raise ValidationFailed.of_field(field, "invalid", f"Must have 1 to {_MAX_NAME} characters.")
    fault = "Must be text." if is_unstorable(text) else name_fault(text)
    if fault:
        raise ValidationFailed.of_field(field, "invalid", fault)


def _require_part(offset: int, limit: int) -> None:
    if not (0 <= offset <= _MAX_OFFSET and 0 <= limit <= _MAX_AT_ONCE):
        message = f"Must not be negative; a part has at most {_MAX_AT_ONCE} records."
        raise ValidationFailed.of_field("limit", "invalid", message)


def _has_unstorable(values: Collection[str | None]) -> bool:
    return any(is_unstorable(text) for text in values if text is not None)


def _paging(page: int, size: int, query: Mapping[str, Any] | None) -> Paging:
    return make_paging(page, size) if query is None else requested_paging(query)


def _directory(directory: Directory, counts: ResourceCounts | None = None) -> api.DirectoryInfo:
    return api.DirectoryInfo(
        **_values(api.DirectoryInfo, directory, without={"counts"}),
        counts=None if counts is None else api.DirectoryCounts(*counts),
    )


def _error(error: DirectoryError) -> api.DirectoryErrorInfo:
    return api.DirectoryErrorInfo(**_values(api.DirectoryErrorInfo, error))


def _values(kind: type[Any], record: object, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a record that a dataclass of the plugin API has, too."""
    names = {field.name for field in fields(kind)} - {*without}
    return {name: getattr(record, name) for name in names}


def _user(user: ProvisionedUser) -> api.ProvisionedUserInfo:
    row = user.row
    return api.ProvisionedUserInfo(
        row.user_id,
        row.login_name,
        row.name,
        row.external_id,
        user.is_active,
        row.profile,
        row.created_at,
        row.updated_at,
        user.version,
    )


def _group(group: ProvisionedGroup) -> api.ProvisionedGroupInfo:
    row = group.row
    return api.ProvisionedGroupInfo(
        row.group_id, group.name, row.external_id, row.created_at, row.updated_at, group.version
    )
