"""Operations on groups. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Done,
    Group,
    GroupCollection,
    GroupMember,
    GroupMemberCollection,
    GroupName,
    NewGroup,
)
from ..operations import UNSET, Operation, Unset, segment


def create_group(
    tenant_id: str,
    *,
    body: NewGroup,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Group]:
    """Create a group without members, as an administrator of the tenant.

    The name is unique in the tenant. The server limits the number of groups of a tenant.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/groups",
        Group,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def delete_group(
    tenant_id: str,
    group_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete a group with its grants, as an administrator of the tenant.

    Its members lose the access that only this group gave them, from the next request on. They stay
    members of the tenant.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/groups/{segment(group_id)}",
        Done,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def delete_group_member(
    tenant_id: str,
    group_id: str,
    user_id: str,
) -> Operation[Done]:
    """Remove a member from a group; the group's grants end for the user at once.

    Members may remove themselves.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/groups/{segment(group_id)}/members/{segment(user_id)}",
        Done,
    )


def get_group(
    tenant_id: str,
    group_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Group]:
    """Get a group of a tenant.

    All members of the tenant may read it. Who is in the group is another request, `listGroupMembers`.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/groups/{segment(group_id)}",
        Group,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def list_group_members(
    tenant_id: str,
    group_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[GroupMemberCollection]:
    """List the members of a group, oldest first; for its members and administrators of the tenant.

    Other members of the tenant get 403.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/groups/{segment(group_id)}/members",
        GroupMemberCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_groups(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    user_id: None | str | Unset = UNSET,
) -> Operation[GroupCollection]:
    """List the groups of a tenant, sorted by name; for all of its members.

    With `userId`, only the groups of this user; administrators of the tenant may choose any user,
    others only themselves.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/groups",
        GroupCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "userId": user_id,
        },
    )


def put_group_member(
    tenant_id: str,
    group_id: str,
    user_id: str,
) -> Operation[GroupMember]:
    """Add a member of the tenant to a group, as an administrator; repeating it changes nothing.

    The grants of the group apply to the user from the next request on. The user must be a member of the
    tenant already, and the server limits the number of groups of a user.
    """
    return Operation(
        "PUT",
        f"/api/v1/tenants/{segment(tenant_id)}/groups/{segment(group_id)}/members/{segment(user_id)}",
        GroupMember,
    )


def rename_group(
    tenant_id: str,
    group_id: str,
    *,
    body: GroupName,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Group]:
    """Rename a group, as an administrator of the tenant.

    Its members and grants stay. Another group of the tenant must not have the name.
    """
    return Operation(
        "PATCH",
        f"/api/v1/tenants/{segment(tenant_id)}/groups/{segment(group_id)}",
        Group,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )
