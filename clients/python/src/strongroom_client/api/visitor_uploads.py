"""Operations on visitor uploads. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..operations import UNSET, Content, Operation, Unset, segment


def append_to_visitor_upload(
    secret: str,
    upload_id: str,
    *,
    content: Content = b"",
    x_share_proof: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
) -> Operation[None]:
    """Append to an upload at `Upload-Offset`; the last byte creates the file.

    What arrives before an interruption is stored, unless `Upload-Checksum` is sent.
    """
    return Operation(
        "PATCH",
        f"/api/v1/shares/{segment(secret)}/uploads/{segment(upload_id)}",
        type(None),
        headers={
            "X-Share-Proof": x_share_proof,
            "Lock-Token": lock_token,
        },
        content=content,
        media_type="application/octet-stream",
    )


def create_visitor_upload(
    secret: str,
    *,
    content: Content = b"",
    uploaded_by: None | str | Unset = UNSET,
    x_share_proof: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
) -> Operation[None]:
    """Create a resumable upload (tus 1.0) into a share.

    For the kinds `drop` and `write`, for files that are too large for one request. `Location` is
    the path of the upload; `Upload-Metadata` must contain `filename`. Few uploads of a visitor may
    be open, and one without progress for an hour ends.
    """
    return Operation(
        "POST",
        f"/api/v1/shares/{segment(secret)}/uploads",
        type(None),
        query={
            "uploadedBy": uploaded_by,
        },
        headers={
            "X-Share-Proof": x_share_proof,
            "Lock-Token": lock_token,
        },
        content=content,
        media_type="application/octet-stream",
    )


def describe_visitor_uploads(
    secret: str,
) -> Operation[None]:
    """Get the supported tus version, extensions and limits, as headers.

    The response is the same for all shares. `Tus-Max-Size` is in bytes.
    """
    return Operation(
        "OPTIONS",
        f"/api/v1/shares/{segment(secret)}/uploads",
        type(None),
    )


def get_visitor_upload(
    secret: str,
    upload_id: str,
    *,
    x_share_proof: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
) -> Operation[None]:
    """Get the state of an upload, as headers; tus clients use HEAD.

    `Upload-Offset` is where to continue.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/uploads/{segment(upload_id)}",
        type(None),
        headers={
            "X-Share-Proof": x_share_proof,
            "Lock-Token": lock_token,
        },
    )


def terminate_visitor_upload(
    secret: str,
    upload_id: str,
    *,
    x_share_proof: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
) -> Operation[None]:
    """Delete an upload.

    Its share of the limits is free again. A file that was created from it remains.
    """
    return Operation(
        "DELETE",
        f"/api/v1/shares/{segment(secret)}/uploads/{segment(upload_id)}",
        type(None),
        headers={
            "X-Share-Proof": x_share_proof,
            "Lock-Token": lock_token,
        },
    )
