"""Operations on files batches. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import BatchResults, FilesBatch
from ..operations import UNSET, Operation, Unset, segment


def change_files(
    tenant_id: str,
    *,
    body: FilesBatch,
    lock_token: str | Unset = UNSET,
) -> Operation[BatchResults]:
    """Move, copy, trash, restore or share up to 1,000 files and folders.

    The items are applied in order, each as by its own request. An atomic batch applies all of them or
    none, and responds with the error of the first item that fails; otherwise each has its own result.
    A batch copies up to 1,000 files and folders.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files-batches",
        BatchResults,
        headers={
            "Lock-Token": lock_token,
        },
        body=body,
    )
