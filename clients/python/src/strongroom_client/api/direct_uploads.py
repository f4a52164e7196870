"""Operations on direct uploads. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import BeginDirectUploadOnConflict, DirectUpload, NewDirectUpload, Node
from ..operations import UNSET, Operation, Unset, segment


def begin_direct_upload(
    tenant_id: str,
    *,
    body: NewDirectUpload,
    on_conflict: BeginDirectUploadOnConflict | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[DirectUpload]:
    """Get a presigned request that stores a file. Complete the upload after sending it."""
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/direct-uploads",
        DirectUpload,
        query={
            "onConflict": on_conflict,
        },
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def complete_direct_upload(
    tenant_id: str,
    upload_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Node]:
    """Create the file if the stored content matches the declared size and checksum. Idempotent."""
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/direct-uploads/{segment(upload_id)}/complete",
        Node,
        headers={
            "Idempotency-Key": idempotency_key,
        },
    )
