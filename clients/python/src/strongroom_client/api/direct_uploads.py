"""Operations on direct uploads. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import BeginDirectUploadOnConflict, DirectUpload, NewDirectUpload, Node
from ..operations import UNSET, Operation, Unset, segment


def begin_direct_upload(
    tenant_id: str,
    *,
    body: NewDirectUpload,
    on_conflict: BeginDirectUploadOnConflict | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[DirectUpload]:
    """Get a presigned request that stores a file. Complete the upload after sending it.

    The caller needs the permission `write` on the folder. The size is reserved in the quota until
    `expiresAt`, and the server limits the open uploads of a user. It is 501 if the store has no
    presigned requests.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/direct-uploads",
        DirectUpload,
        query={
            "onConflict": on_conflict,
        },
        headers={
            "Lock-Token": lock_token,
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def complete_direct_upload(
    tenant_id: str,
    upload_id: str,
    *,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Node]:
    """Create the file if the stored content matches the declared size and checksum. Idempotent.

    Only the user who began it may. If the store has not received the content yet, it is refused and can
    be repeated; wrong content ends the upload. Repeated requests return the same file.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/direct-uploads/{segment(upload_id)}/complete",
        Node,
        headers={
            "Lock-Token": lock_token,
            "Idempotency-Key": idempotency_key,
        },
    )
