"""Operations on permissions. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Access,
    Done,
    Grant,
    GrantCollection,
    GroupGrant,
    GroupGrantCollection,
    NewGrant,
    NewGroupGrant,
)
from ..operations import UNSET, Operation, Unset, segment


def delete_grant(
    tenant_id: str,
    file_id: str,
    owner_id: str,
) -> Operation[Done]:
    """Revoke a user's grant on a file or folder; revoking a missing grant is not an error.

    The caller needs the permission `manage`. The user keeps what other grants give, such as those on
    parent folders or to groups; `explainAccess` lists them. Only an administrator of the tenant may
    revoke the permission of the owner.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/owners/{segment(owner_id)}",
        Done,
    )


def delete_group_grant(
    tenant_id: str,
    file_id: str,
    group_id: str,
) -> Operation[Done]:
    """Revoke a group's grant on a file or folder; revoking a missing grant is not an error.

    The caller needs the permission `manage`. Members of the group keep what other grants give.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/group-grants/{segment(group_id)}",
        Done,
    )


def explain_access(
    tenant_id: str,
    file_id: str,
    *,
    user_id: None | str | Unset = UNSET,
) -> Operation[Access]:
    """Explain a user's permission on a file or folder: the role and the grants it comes from.

    The caller needs the permission `manage`. Expired grants are listed with `inForce` false. The report
    on a user who is no member of the tenant is empty.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/access",
        Access,
        query={
            "userId": user_id,
        },
    )


def list_grants(
    tenant_id: str,
    file_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[GrantCollection]:
    """List the grants in force on a file or folder itself, without those on its parent folders.

    The caller needs the permission `manage`. Expired grants are left out.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/owners",
        GrantCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_group_grants(
    tenant_id: str,
    file_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[GroupGrantCollection]:
    """List the grants to groups in force on a file or folder itself, without its parent folders'.

    The caller needs the permission `manage`. Expired grants are left out.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/group-grants",
        GroupGrantCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def put_grant(
    tenant_id: str,
    file_id: str,
    *,
    body: NewGrant,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Grant]:
    """Grant a permission to a member of the tenant; this replaces the member's grant on the same node.

    A grant on a folder applies to everything below it. It may not outlast the caller's own permission.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/owners",
        Grant,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def put_group_grant(
    tenant_id: str,
    file_id: str,
    *,
    body: NewGroupGrant,
    idempotency_key: str | Unset = UNSET,
) -> Operation[GroupGrant]:
    """Grant a permission to a group of the tenant; this replaces the group's grant on the same node.

    It applies to the present and future members of the group, and on a folder to everything below it. It
    may not outlast the caller's own permission.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/group-grants",
        GroupGrant,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )
