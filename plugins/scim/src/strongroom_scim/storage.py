"""The users and groups of a directory, as the library stores resources."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal

from scim2_models import (
    NotImplementedException,
    Path,
    Resource,
    ResourceType,
    ResponseParameters,
    ScimProvider,
    SearchRequest,
    TooManyException,
    UniquenessException,
)
from scim2_server.storage import ScimStorage, SearchPage

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.provisioning import (
    MemberSummary,
    ProvisionedGroupInfo,
    ProvisionedUserInfo,
    RefusedRequest,
    UserRecord,
)
from strongroom_scim.lookups import Lookup, read_group_filter, read_user_filter
from strongroom_scim.member_changes import MemberChanges
from strongroom_scim.refusals import as_scim_errors
from strongroom_scim.resources import make_group, make_user, read_group, read_user, read_version

_PART: Final = 500
MAX_SCANNED: Final = 20_000
"""Resources that a search matches one by one, for a filter that no index decides."""

_USER: Final = "User"


class DirectoryStorage(ScimStorage):
    """The storage of one directory, for one request.

    Args:
        tenant_id: the tenant of the directory; ``None``: the server.
    """

    def __init__(self, host: HostAPI, provider: ScimProvider, tenant_id: str | None) -> None:
        self._provisioning = host.provisioning
        self._provider = provider
        self._tenant_id = tenant_id

    @contextmanager
    def operation(self) -> Iterator[None]:
        with as_scim_errors():
            yield

    def get(
        self,
        resource_type: ResourceType,
        resource_id: str,
        *,
        response_parameters: ResponseParameters[Any] | None = None,
    ) -> Resource[Any]:
        if resource_type.name == _USER:
            user = self._provisioning.user(self._tenant_id, resource_id)
            return self._make_users([user], response_parameters)[0]
        group = self._provisioning.group(self._tenant, resource_id)
        return self._make_groups([group], response_parameters)[0]

    def search(
        self,
        resource_types: list[ResourceType],
        search_request: SearchRequest[Any],
        *,
        position: Any = None,  # noqa: ARG002  of cursors
    ) -> SearchPage:
        if len(resource_types) != 1:
            raise NotImplementedException(detail="A search is about one type of resources")
        is_of_users = resource_types[0].name == _USER
        read = read_user_filter if is_of_users else read_group_filter
        lookup = read(search_request.filter)
        offset, count = search_request.start_index_0 or 0, search_request.count or 0
        if search_request.count is None:
            count = _PART
        if lookup.is_exact:
            total, records = self._part(lookup, offset, min(count, _PART), is_of_users=is_of_users)
            return SearchPage(total, self._make(records, search_request))
        return self._scan(lookup, search_request, offset, count, is_of_users=is_of_users)

    def create(self, resource_type: ResourceType, resource: Resource[Any]) -> Resource[Any]:
        if resource_type.name == _USER:
            user, is_new = self._provisioning.provision_user(self._tenant_id, read_user(resource))
            if not is_new:
                raise UniquenessException(detail="externalId: A user of the directory has it.")
            return self._make_users([user], None)[0]
        group = self._provisioning.provision_group(self._tenant, read_group(resource))
        return self._make_groups([group], None)[0]

    def update(
        self,
        resource_type: ResourceType,
        resource: Resource[Any],
        *,
        expected_version: str | None = None,
    ) -> Resource[Any]:
        version, resource_id = read_version(expected_version), str(resource.id)
        if resource_type.name == _USER:
            record: UserRecord = read_user(resource)
            user = self._provisioning.change_user(self._tenant_id, resource_id, record, version=version)
            return self._make_users([user], None)[0]
        group = self._provisioning.change_group(
            self._tenant, resource_id, read_group(resource), version=version
        )
        return self._make_groups([group], None)[0]

    def delete(
        self,
        resource_type: ResourceType,
        resource_id: str,
        *,
        expected_version: str | None = None,
    ) -> None:
        version = read_version(expected_version)
        if resource_type.name == _USER:
            self._provisioning.remove_user(self._tenant_id, resource_id, version=version)
        else:
            self._provisioning.remove_group(self._tenant, resource_id, version=version)

    def change_members(self, group_id: str, changes: MemberChanges) -> Resource[Any]:
        """Add and remove members; return the group without its members."""
        group = self._provisioning.change_group_members(
            self._tenant, group_id, added=changes.added, removed=changes.removed
        )
        model: Any = self._provider.model_for("Group")
        return make_group(model, group, ())

    def report(
        self,
        kind: Literal["user", "group"],
        refused: RefusedRequest | None,
        name: str | None,
        resource_id: str | None,
    ) -> None:
        """Store that a request was refused, or remove the error of one that succeeded."""
        self._provisioning.record_result(
            self._tenant_id, kind, refused, name=name, resource_id=resource_id
        )

    @property
    def _tenant(self) -> str:
        """The tenant, which a directory with groups has."""
        if self._tenant_id is None:
            raise NotImplementedException(detail="Only the directory of a tenant has groups")
        return self._tenant_id

    def _part(
        self, lookup: Lookup, offset: int, limit: int, *, is_of_users: bool
    ) -> tuple[int, Sequence[Any]]:
        if is_of_users:
            return self._provisioning.users(self._tenant_id, **lookup.values, offset=offset, limit=limit)
        return self._provisioning.groups(self._tenant, **lookup.values, offset=offset, limit=limit)

    def _scan(
        self,
        lookup: Lookup,
        request: SearchRequest[Any],
        offset: int,
        count: int,
        *,
        is_of_users: bool,
    ) -> SearchPage:
        """Match resources one by one, a part of them in memory at a time."""
        condition = request.filter
        total, start = 0, 0
        page: list[Resource[Any]] = []
        while True:
            number, records = self._part(lookup, start, _PART, is_of_users=is_of_users)
            if number > MAX_SCANNED:
                raise TooManyException(detail="The filter matches too many resources; use eq.")
            for record, resource in zip(records, self._make(records, None), strict=True):
                if condition is not None and not condition.match(_with_status(record, resource)):
                    continue
                if offset <= total < offset + count:
                    page.append(resource)
                total += 1
            start += len(records)
            if start >= number or not records:
                return SearchPage(total, page)

    def _make(
        self, records: Sequence[Any], parameters: ResponseParameters[Any] | None
    ) -> list[Resource[Any]]:
        if records and isinstance(records[0], ProvisionedUserInfo):
            return self._make_users(records, parameters)
        return self._make_groups(records, parameters)

    def _make_users(
        self, users: Sequence[ProvisionedUserInfo], parameters: ResponseParameters[Any] | None
    ) -> list[Resource[Any]]:
        model: Any = self._provider.model_for(_USER)
        groups: dict[str, Sequence[MemberSummary]] = {}
        if self._tenant_id is not None and _is_returned("groups", parameters):
            user_ids = [user.id for user in users]
            groups = dict(self._provisioning.groups_of_users(self._tenant_id, user_ids))
        return [make_user(model, user, groups.get(user.id, ())) for user in users]

    def _make_groups(
        self, groups: Sequence[ProvisionedGroupInfo], parameters: ResponseParameters[Any] | None
    ) -> list[Resource[Any]]:
        model: Any = self._provider.model_for("Group")
        has_members = _is_returned("members", parameters)
        return [
            make_group(
                model,
                group,
                self._provisioning.group_members(self._tenant, group.id) if has_members else (),
            )
            for group in groups
        ]


def _with_status(record: Any, resource: Resource[Any]) -> Resource[Any]:
    """Return a resource to be matched: a user is active, or not, whatever the directory says."""
    if not isinstance(record, ProvisionedUserInfo):
        return resource
    return resource.model_copy(update={"active": record.is_active})


def _is_returned(name: str, parameters: ResponseParameters[Any] | None) -> bool:
    """Return whether a response has an attribute that costs a query (RFC 7644, section 3.9)."""
    if parameters is None:
        return True
    if parameters.attributes:
        return any(_names(path, name) for path in parameters.attributes)
    return not any(str(path).lower() == name for path in parameters.excluded_attributes or ())


def _names(path: "Path[Any]", name: str) -> bool:
    first = str(path).rpartition(":")[2].partition(".")[0]
    return first.lower() == name
