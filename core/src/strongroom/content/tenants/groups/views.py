"""Endpoints for groups of a tenant's members."""

from typing import Any

from strongroom.content.tenants import operations
from strongroom.content.tenants.groups.service import GroupService
from strongroom.content.tenants.models import Group, GroupMember
from strongroom.content.tenants.schemas import (
    GroupMemberSchema,
    GroupNameSchema,
    GroupSchema,
    GroupsQuery,
    NewGroupSchema,
)
from strongroom.foundation import errors
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

_GROUP = "/<group_id>"
_MEMBERS = f"{_GROUP}/members"
_MEMBER = f"{_MEMBERS}/<user_id>"

blueprint = Blueprint(
    "groups",
    url_prefix="/api/v1/tenants/<tenant_id>/groups",
    description="Groups of a tenant's members, which hold grants on files.",
    parameters={
        "user_id": "Id of the member, as in the list of the tenant's members",
    },
)


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    rule=operations.CHANGE_GROUP,
    body=NewGroupSchema,
    returns=GroupSchema,
    status=201,
    location=Location("groups.get_group", {"tenant_id": "tenant_id", "group_id": "id"}),
    errors=(errors.Forbidden, errors.GroupNameTaken, errors.TooManyGroups),
)
def create_group(tenant_id: str, body: Json) -> Group:
    """Create a group without members, as an administrator of the tenant.

    The name is unique in the tenant. The server limits the number of groups of a tenant.
    """
    return get_service(GroupService).create(current_identity(), tenant_id, body["name"], origin())


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST_GROUPS,
    query=GroupsQuery,
    returns=collection_schema(GroupSchema),
    compress=True,
    errors=(errors.Forbidden,),
)
def list_groups(tenant_id: str, query: Json) -> Json:
    """List the groups of a tenant, sorted by name; for all of its members.

    With `userId`, only the groups of this user; administrators of the tenant may choose any user,
    others only themselves.
    """
    identity = current_identity()
    user_id = identity.user_id if query["userId"] == "me" else query["userId"]
    return envelope(get_service(GroupService).page(identity, tenant_id, user_id, paging(query)))


@blueprint.operation(
    "GET",
    _GROUP,
    access=Access.USER,
    rule=operations.LIST_GROUPS,
    returns=GroupSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def get_group(tenant_id: str, group_id: str) -> Group:
    """Get a group of a tenant.

    All members of the tenant may read it. Who is in the group is another request, `listGroupMembers`.
    """
    return get_service(GroupService).get(current_identity(), tenant_id, group_id)


@blueprint.operation(
    "PATCH",
    _GROUP,
    access=Access.USER,
    rule=operations.CHANGE_GROUP,
    body=GroupNameSchema,
    returns=GroupSchema,
    errors=(errors.Forbidden, errors.NotFound, errors.RevisionConflict, errors.GroupNameTaken),
)
def rename_group(tenant_id: str, group_id: str, body: Json, revision: int | None) -> Group:
    """Rename a group, as an administrator of the tenant.

    Its members and grants stay. Another group of the tenant must not have the name.
    """
    service = get_service(GroupService)
    return service.rename(current_identity(), tenant_id, group_id, body["name"], revision, origin())


@blueprint.operation(
    "DELETE",
    _GROUP,
    access=Access.USER,
    rule=operations.CHANGE_GROUP,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def delete_group(tenant_id: str, group_id: str, revision: int | None) -> dict[str, bool]:
    """Delete a group with its grants, as an administrator of the tenant.

    Its members lose the access that only this group gave them, from the next request on. They stay
    members of the tenant.
    """
    service = get_service(GroupService)
    service.delete(current_identity(), tenant_id, group_id, origin(), revision)
    return DONE


@blueprint.operation(
    "GET",
    _MEMBERS,
    access=Access.USER,
    rule=operations.LIST_GROUPS,
    query=PagingQuery,
    returns=collection_schema(GroupMemberSchema),
    compress=True,
    errors=(errors.Forbidden, errors.NotFound),
)
def list_group_members(tenant_id: str, group_id: str, query: dict[str, int]) -> Json:
    """List the members of a group, oldest first; for its members and administrators of the tenant.

    Other members of the tenant get 403.
    """
    service = get_service(GroupService)
    page, included = service.members(current_identity(), tenant_id, group_id, paging(query))
    return envelope(page, _serialize, included)


@blueprint.operation(
    "PUT",
    _MEMBER,
    access=Access.USER,
    rule=operations.CHANGE_GROUP_MEMBERS,
    returns=GroupMemberSchema,
    errors=(errors.Forbidden, errors.NotFound, errors.NotAMember, errors.TooManyGroups),
)
def put_group_member(tenant_id: str, group_id: str, user_id: str) -> Json:
    """Add a member of the tenant to a group, as an administrator; repeating it changes nothing.

    The grants of the group apply to the user from the next request on. The user must be a member of the
    tenant already, and the server limits the number of groups of a user.
    """
    service = get_service(GroupService)
    return _serialize(service.add_member(current_identity(), tenant_id, group_id, user_id, origin()))


@blueprint.operation(
    "DELETE",
    _MEMBER,
    access=Access.USER,
    rule=operations.CHANGE_GROUP_MEMBERS,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def delete_group_member(tenant_id: str, group_id: str, user_id: str) -> dict[str, bool]:
    """Remove a member from a group; the group's grants end for the user at once.

    Members may remove themselves.
    """
    service = get_service(GroupService)
    service.remove_member(current_identity(), tenant_id, group_id, user_id, origin())
    return DONE


def _serialize(member: GroupMember) -> Json:
    return {
        "user": reference(member.user_id),
        "addedBy": reference(member.added_by) if member.added_by else None,
        "createdAt": member.created_at,
    }
