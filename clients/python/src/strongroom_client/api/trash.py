"""Operations on trash. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, Node, Restoration, TrashedFileCollection
from ..operations import UNSET, Operation, Unset, segment


def delete_from_trash(
    tenant_id: str,
    file_id: str,
    *,
    override_reason: None | str | Unset = UNSET,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Done]:
    """Remove a file or folder permanently.

    Requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/trash/{segment(file_id)}",
        Done,
        query={
            "overrideReason": override_reason,
        },
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )


def empty_trash(
    tenant_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Done]:
    """Permanently remove all entries of the trash that the caller sees, except held and retained ones.

    Requires a fresh proof, as the removal of a single file.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/trash",
        Done,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )


def list_trash(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[TrashedFileCollection]:
    """List the files and folders that the caller deleted, newest first.

    An administrator of the tenant sees all users' entries.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/trash",
        TrashedFileCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def restore_from_trash(
    tenant_id: str,
    file_id: str,
    *,
    body: Restoration | Unset = UNSET,
    lock_token: str | Unset = UNSET,
) -> Operation[Node]:
    """Restore a file, or a folder with its content, with its id and its grants.

    It returns to the folder that it was in, or to the one that is named.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/trash/{segment(file_id)}/restore",
        Node,
        headers={
            "Lock-Token": lock_token,
        },
        body=body,
    )
