"""Operations on retention. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, Hold, HoldCollection, NewHold, NewRetention, Retention
from ..operations import UNSET, Operation, Unset, segment


def delete_hold(
    tenant_id: str,
    file_id: str,
    *,
    override_reason: None | str | Unset = UNSET,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Done]:
    """Release a hold. Requires the role `records` in the tenant, and a fresh proof.

    In governance mode, administrators of the tenant may release it with `overrideReason`. In compliance
    mode, a hold with an end cannot be released before it.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/hold",
        Done,
        query={
            "overrideReason": override_reason,
        },
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )


def get_retention(
    tenant_id: str,
) -> Operation[Retention]:
    """Get the retention that applies to a tenant.

    For all members of the tenant. It combines the tenant's own settings with the server's, whichever is
    stricter.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/retention",
        Retention,
    )


def list_holds(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    file_id: None | str | Unset = UNSET,
) -> Operation[HoldCollection]:
    """List the holds in force, newest first, for the role `records` and administrators of the tenant.

    With `fileId`, those on the file or folder and on the folders around it; the last to end is first.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/holds",
        HoldCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "fileId": file_id,
        },
    )


def put_hold(
    tenant_id: str,
    file_id: str,
    *,
    body: NewHold,
) -> Operation[Hold]:
    """Place a hold on a file, or on a folder with everything in it, or replace the hold.

    Requires the role `records` in the tenant. Nothing under a hold can be removed, deleted or moved out
    of it; replaced content becomes a version. A file in the trash can be held, too.
    """
    return Operation(
        "PUT",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/hold",
        Hold,
        body=body,
    )


def put_retention(
    tenant_id: str,
    *,
    body: NewRetention | Unset = UNSET,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Retention]:
    """Set the retention of a tenant. Requires an administrator of the tenant and a fresh proof.

    In compliance mode, no setting may become less strict.
    """
    return Operation(
        "PUT",
        f"/api/v1/tenants/{segment(tenant_id)}/retention",
        Retention,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
        body=body,
    )
