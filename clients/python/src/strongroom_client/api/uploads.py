"""Operations on uploads. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Upload
from ..operations import UNSET, Content, Operation, Unset, segment


def append_to_upload(
    tenant_id: str,
    upload_id: str,
    *,
    content: Content = b"",
    tus_resumable: str | Unset = UNSET,
    upload_offset: str | Unset = UNSET,
    upload_checksum: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
) -> Operation[None]:
    """Append to an upload at `Upload-Offset`; the last byte completes it and creates the file.

    Only the user who created it may, one request at a time. What arrives before an interruption is
    stored, unless `Upload-Checksum` is sent. When the file is complete, `Content-Location` is its path.
    """
    return Operation(
        "PATCH",
        f"/api/v1/tenants/{segment(tenant_id)}/uploads/{segment(upload_id)}",
        type(None),
        headers={
            "Tus-Resumable": tus_resumable,
            "Upload-Offset": upload_offset,
            "Upload-Checksum": upload_checksum,
            "Lock-Token": lock_token,
        },
        content=content,
        media_type="application/octet-stream",
    )


def change_upload(
    tenant_id: str,
    upload_id: str,
    *,
    content: Content = b"",
    tus_resumable: str | Unset = UNSET,
    x_http_method_override: str | Unset = UNSET,
    upload_offset: str | Unset = UNSET,
    upload_checksum: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
) -> Operation[None]:
    """Apply the method in `X-HTTP-Method-Override`, for clients that cannot send PATCH or DELETE.

    `PATCH` appends the body at `Upload-Offset`, and `DELETE` deletes the upload. Other methods are
    refused.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/uploads/{segment(upload_id)}",
        type(None),
        headers={
            "Tus-Resumable": tus_resumable,
            "X-HTTP-Method-Override": x_http_method_override,
            "Upload-Offset": upload_offset,
            "Upload-Checksum": upload_checksum,
            "Lock-Token": lock_token,
        },
        content=content,
        media_type="application/octet-stream",
    )


def create_upload(
    tenant_id: str,
    *,
    content: Content = b"",
    tus_resumable: str | Unset = UNSET,
    upload_length: str | Unset = UNSET,
    upload_metadata: str | Unset = UNSET,
    upload_checksum: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Upload]:
    """Create an upload of `Upload-Length` bytes; the body, if any, contains its first bytes.

    `Upload-Metadata` must contain `filename`, and may contain `parentId`, `onConflict` (fail, rename,
    replace) and `relativePath`, whose missing folders are created together with the file.

    The tus extension creation-defer-length is not offered: `Upload-Defer-Length` is refused with 400.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/uploads",
        Upload,
        headers={
            "Tus-Resumable": tus_resumable,
            "Upload-Length": upload_length,
            "Upload-Metadata": upload_metadata,
            "Upload-Checksum": upload_checksum,
            "Lock-Token": lock_token,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )


def describe_uploads(
    tenant_id: str,
) -> Operation[None]:
    """Get the supported tus version, extensions and limits, as headers.

    No token is needed, and the response is the same for all tenants. `Tus-Max-Size` is in bytes.
    """
    return Operation(
        "OPTIONS",
        f"/api/v1/tenants/{segment(tenant_id)}/uploads",
        type(None),
    )


def get_upload(
    tenant_id: str,
    upload_id: str,
    *,
    tus_resumable: str | Unset = UNSET,
) -> Operation[Upload]:
    """Get the state of an upload; tus clients use HEAD, which returns only the headers.

    Only the user who created it may. Continue at `offset` or the header `Upload-Offset`.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/uploads/{segment(upload_id)}",
        Upload,
        headers={
            "Tus-Resumable": tus_resumable,
        },
    )


def terminate_upload(
    tenant_id: str,
    upload_id: str,
    *,
    tus_resumable: str | Unset = UNSET,
) -> Operation[None]:
    """Delete an upload; a file that was created from it remains.

    Only the user who created it may. The reserved bytes of the quota are free again.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/uploads/{segment(upload_id)}",
        type(None),
        headers={
            "Tus-Resumable": tus_resumable,
        },
    )
