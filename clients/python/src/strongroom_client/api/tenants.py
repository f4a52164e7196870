"""Operations on tenants. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Done,
    Member,
    MemberCollection,
    NewTenant,
    Role,
    Successor,
    Tenant,
    TenantChanges,
    TenantCollection,
    Usage,
)
from ..operations import UNSET, Operation, Unset, segment


def create_tenant(
    *,
    body: NewTenant,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Tenant]:
    """Create a tenant; the caller becomes its administrator.

    The server's configuration decides whether all users may, or only its administrators. The tenant
    gets the server's default quota.
    """
    return Operation(
        "POST",
        "/api/v1/tenants",
        Tenant,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def delete_member(
    tenant_id: str,
    user_id: str,
) -> Operation[Done]:
    """Remove a member from a tenant; members may remove themselves.

    Only administrators of the tenant remove other members; a missing membership is not an error. The
    user's grants, open uploads and access keys for this tenant end, and owned files stay: transfer them
    to another member. The last administrator cannot be removed.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/members/{segment(user_id)}",
        Done,
    )


def delete_tenant(
    tenant_id: str,
    *,
    override_reason: None | str | Unset = UNSET,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete a tenant with all its files: it is hidden immediately and purged after a grace period.

    During `tenants.purge_after_days` the operator can restore it with `strongroom tenants restore`.
    A tenant with held or retained content cannot be deleted; `overrideReason` requires a fresh proof.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}",
        Done,
        query={
            "overrideReason": override_reason,
        },
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_tenant(
    tenant_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Tenant]:
    """Get one of the caller's tenants.

    Only members may read it: other callers get 403, whether or not the tenant exists. `revision` is
    needed to change it without losing a concurrent change.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}",
        Tenant,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_usage(
    tenant_id: str,
) -> Operation[Usage]:
    """Get the usage and the quota of a tenant. The trash and earlier contents of files count as used.

    For members of the tenant and administrators of the server. Other callers get 403, whether or not
    the tenant exists.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/usage",
        Usage,
    )


def list_members(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[MemberCollection]:
    """List the members of a tenant.

    Oldest first, with the role of each, for all members of the tenant. Other callers get 403, whether
    or not the tenant exists.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/members",
        MemberCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_tenants(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    all_: bool | Unset = UNSET,
    member_id: None | str | Unset = UNSET,
) -> Operation[TenantCollection]:
    """List the caller's tenants, or, for administrators of the server, all or a user's tenants.

    Sorted by name; deleted tenants are left out. An access key that is limited to a tenant lists only
    this one.
    """
    return Operation(
        "GET",
        "/api/v1/tenants",
        TenantCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "all": all_,
            "memberId": member_id,
        },
    )


def put_member(
    tenant_id: str,
    user_id: str,
    *,
    body: Role,
) -> Operation[Member]:
    """Add a member to a tenant, or change a member's role.

    With `tenants.add_members = "invited"`, only administrators of the server add users by their ids;
    administrators of the tenant invite them.
    """
    return Operation(
        "PUT",
        f"/api/v1/tenants/{segment(tenant_id)}/members/{segment(user_id)}",
        Member,
        body=body,
    )


def transfer_tenant(
    tenant_id: str,
    *,
    body: Successor,
) -> Operation[Member]:
    """Make a member the administrator of the tenant in the caller's place.

    Administrators of the server appoint an administrator by it, also in a tenant without one.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/transfer",
        Member,
        body=body,
    )


def update_tenant(
    tenant_id: str,
    *,
    body: TenantChanges,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Tenant]:
    """Rename a tenant, set its quota, or set what it demands of logins.

    Only server administrators may set the quota. With `assurance`, every route of the tenant refuses
    weaker or older logins with `error.step-up-required`, and access keys with `error.key-not-accepted`.
    """
    return Operation(
        "PATCH",
        f"/api/v1/tenants/{segment(tenant_id)}",
        Tenant,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )
