"""Operations on quarantine. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, QuarantinedFileCollection, Release
from ..operations import UNSET, Operation, Unset, segment


def delete_from_quarantine(
    scan_id: str,
) -> Operation[Done]:
    """Delete a file in quarantine.

    Only administrators of the server may. The content is removed permanently, not into the trash, and
    the deletion is recorded in the audit log.
    """
    return Operation(
        "DELETE",
        f"/api/v1/quarantine/{segment(scan_id)}",
        Done,
    )


def list_quarantine(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[QuarantinedFileCollection]:
    """List the files in quarantine, newest first.

    Only administrators of the server may. Files whose content is `infected` or `rejected` are listed,
    until they are released or deleted.
    """
    return Operation(
        "GET",
        "/api/v1/quarantine",
        QuarantinedFileCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def release_from_quarantine(
    scan_id: str,
    *,
    body: Release,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Done]:
    """Permit reading a file in quarantine.

    Requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    return Operation(
        "POST",
        f"/api/v1/quarantine/{segment(scan_id)}/release",
        Done,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
        body=body,
    )
