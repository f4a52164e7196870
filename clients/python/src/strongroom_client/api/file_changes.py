"""Operations on file changes. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Copy,
    CopyFileOnConflict,
    Directory,
    MoveFileOnConflict,
    Node,
    Rename,
    RenameFileOnConflict,
)
from ..operations import UNSET, Content, Operation, Unset, segment


def copy_file(
    tenant_id: str,
    file_id: str,
    *,
    body: Copy,
    on_conflict: CopyFileOnConflict | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Node]:
    """Copy a file, or a folder with up to 1,000 files and folders, into a folder or to the top level.

    The caller owns the copies. Grants are not copied. No bytes are copied, but the copies count in the
    quota of the tenant.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/copies",
        Node,
        query={
            "onConflict": on_conflict,
        },
        headers={
            "Lock-Token": lock_token,
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def move_file(
    tenant_id: str,
    file_id: str,
    *,
    body: Directory,
    on_conflict: MoveFileOnConflict | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Node]:
    """Move a file, or a folder with its content, into another folder or to the top level.

    With the `parentId` that the node has, it is renamed as by `PATCH`, which needs only `write`. A move
    needs `manage`, and of an access key the scope `files:share`.

    Grants on the folders it leaves no longer apply to it; grants on the node and on its content remain.
    The response's `permission` is the caller's permission after the move: `none` if the caller can no
    longer see the node.
    """
    return Operation(
        "PUT",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/directory",
        Node,
        query={
            "onConflict": on_conflict,
        },
        headers={
            "Lock-Token": lock_token,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )


def rename_file(
    tenant_id: str,
    file_id: str,
    *,
    body: Rename,
    on_conflict: RenameFileOnConflict | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Node]:
    """Rename a file or folder.

    The caller needs the permission `write`. Id, content and grants stay. With `onConflict=replace`, a
    file that has the name goes to the trash, which needs `manage` on it.
    """
    return Operation(
        "PATCH",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}",
        Node,
        query={
            "onConflict": on_conflict,
        },
        headers={
            "Lock-Token": lock_token,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )


def replace_content(
    tenant_id: str,
    file_id: str,
    *,
    content: Content,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Node]:
    """Replace the content of a file, sent as for an upload. The name in the upload is ignored.

    The caller needs the permission `write`. Id and grants stay, and the former content becomes a
    version if the tenant keeps versions. Send `If-Match` with the `ETag` that you know, so that no
    concurrent change is lost.
    """
    return Operation(
        "PUT",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/content",
        Node,
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Lock-Token": lock_token,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        content=content,
        media_type="application/octet-stream",
    )
