"""Operations on versions. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, Node, Version, VersionChanges, VersionCollection
from ..operations import UNSET, Operation, Unset, segment


def change_version(
    tenant_id: str,
    file_id: str,
    number: str,
    *,
    body: VersionChanges,
) -> Operation[Version]:
    """Label an earlier content, or keep it whatever its age.

    The caller needs the permission `write` on the file. The body has at least one of `label` and
    `keep`.
    """
    return Operation(
        "PATCH",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/versions/{segment(number)}",
        Version,
        body=body,
    )


def delete_version(
    tenant_id: str,
    file_id: str,
    number: str,
    *,
    override_reason: None | str | Unset = UNSET,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Done]:
    """Remove an earlier content permanently.

    Requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/versions/{segment(number)}",
        Done,
        query={
            "overrideReason": override_reason,
        },
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )


def download_version(
    tenant_id: str,
    file_id: str,
    number: str,
    *,
    range_: str | Unset = UNSET,
    if_range: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    if_modified_since: str | Unset = UNSET,
    if_unmodified_since: str | Unset = UNSET,
    want_content_digest: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download an earlier content of a file, or ranges of it, as the file itself.

    The caller needs the permission `read` on the file. It has the file's present name, and the content
    and `ETag` of the version.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/versions/{segment(number)}/download",
        bytes,
        headers={
            "Range": range_,
            "If-Range": if_range,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
            "If-Modified-Since": if_modified_since,
            "If-Unmodified-Since": if_unmodified_since,
            "Want-Content-Digest": want_content_digest,
        },
    )


def list_versions(
    tenant_id: str,
    file_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[VersionCollection]:
    """List the earlier contents of a file, newest first. The current content is not among them.

    The caller needs the permission `read`. Versions count in the quota, and are removed by the tenant's
    retention unless `keep` is set.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/versions",
        VersionCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def restore_version(
    tenant_id: str,
    file_id: str,
    number: str,
    *,
    lock_token: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Node]:
    """Give a file an earlier content again. The current content becomes a version.

    The caller needs the permission `write`. The version itself stays in the list. The restored content
    counts in the quota once more.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/versions/{segment(number)}/restore",
        Node,
        headers={
            "Lock-Token": lock_token,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )
