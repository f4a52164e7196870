"""Operations on files. Written by clients/python/generate_client.py from the OpenAPI document."""

import datetime

from ..models import (
    CreateFolderInFolderOnConflict,
    CreateFolderOnConflict,
    Done,
    GetFileIncludeType0,
    ListFilesIncludeType0,
    ListFilesInFolderIncludeType0,
    ListFilesInFolderSort,
    ListFilesInFolderTypeType0,
    ListFilesSort,
    ListFilesTypeType0,
    NewFolder,
    Node,
    NodeCollection,
    UploadFileIntoFolderOnConflict,
    UploadFileOnConflict,
)
from ..operations import UNSET, Content, Operation, Unset, segment


def create_folder(
    tenant_id: str,
    *,
    body: NewFolder,
    on_conflict: CreateFolderOnConflict | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Node]:
    """Create a folder at the top level of a tenant.

    All members of the tenant may; the caller owns the folder. Other members, except administrators, see
    it only by grants.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/folders",
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


def create_folder_in_folder(
    tenant_id: str,
    parent_id: str,
    *,
    body: NewFolder,
    on_conflict: CreateFolderInFolderOnConflict | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Node]:
    """Create a folder in a folder.

    The caller needs the permission `write` on the parent folder, and owns the new one. Grants on the
    parent folder apply to it.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(parent_id)}/folders",
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


def delete_file(
    tenant_id: str,
    file_id: str,
    *,
    override_reason: None | str | Unset = UNSET,
    permanently: bool | Unset = UNSET,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete a file, or a folder with its content.

    It goes to the trash, unless the server has none. With `permanently=true` it is removed at once; that
    requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}",
        Done,
        query={
            "overrideReason": override_reason,
            "permanently": permanently,
        },
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "Lock-Token": lock_token,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def download_file(
    tenant_id: str,
    file_id: str,
    *,
    range_: str | Unset = UNSET,
    if_range: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    if_modified_since: str | Unset = UNSET,
    if_unmodified_since: str | Unset = UNSET,
    want_content_digest: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download a file or ranges of it; several ranges are sent as `multipart/byteranges`.

    The caller needs the permission `read`. `ETag` is made of the checksum, so a download can be resumed
    with `Range` and `If-Range`. Content in quarantine or not yet scanned is refused. With status 307,
    fetch `Location` without the token.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/download",
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


def get_file(
    tenant_id: str,
    file_id: str,
    *,
    include: GetFileIncludeType0 | None | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Node]:
    """Get the details of a file or folder.

    The caller needs the permission `read`. `ETag` and `revision` change with the name, the folder and
    the content.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}",
        Node,
        query={
            "include": include,
        },
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def list_files(
    tenant_id: str,
    owner_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    q: None | str | Unset = UNSET,
    type_: ListFilesTypeType0 | None | Unset = UNSET,
    owner: None | str | Unset = UNSET,
    content_type: None | str | Unset = UNSET,
    modified_after: datetime.datetime | None | Unset = UNSET,
    sort: ListFilesSort | Unset = UNSET,
    folders_first: bool | Unset = UNSET,
    include: ListFilesIncludeType0 | None | Unset = UNSET,
) -> Operation[NodeCollection]:
    """List a user's top-level files and folders: those without a parent folder that the user can see.

    `me` is the caller; only an administrator of the tenant may list the files of other users.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/owners/{segment(owner_id)}/files",
        NodeCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "q": q,
            "type": type_,
            "owner": owner,
            "contentType": content_type,
            "modifiedAfter": modified_after,
            "sort": sort,
            "foldersFirst": folders_first,
            "include": include,
        },
    )


def list_files_in_folder(
    tenant_id: str,
    owner_id: str,
    parent_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    q: None | str | Unset = UNSET,
    type_: ListFilesInFolderTypeType0 | None | Unset = UNSET,
    owner: None | str | Unset = UNSET,
    content_type: None | str | Unset = UNSET,
    modified_after: datetime.datetime | None | Unset = UNSET,
    sort: ListFilesInFolderSort | Unset = UNSET,
    folders_first: bool | Unset = UNSET,
    include: ListFilesInFolderIncludeType0 | None | Unset = UNSET,
) -> Operation[NodeCollection]:
    """List the files a user can access inside a folder.

    `me` is the caller; only an administrator of the tenant may list as another user. The nodes are
    those directly in the folder, sorted by name unless `sort` is given.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/owners/{segment(owner_id)}/files/{segment(parent_id)}/files",
        NodeCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "q": q,
            "type": type_,
            "owner": owner,
            "contentType": content_type,
            "modifiedAfter": modified_after,
            "sort": sort,
            "foldersFirst": folders_first,
            "include": include,
        },
    )


def upload_file(
    tenant_id: str,
    *,
    content: Content,
    on_conflict: UploadFileOnConflict | Unset = UNSET,
    relative_path: None | str | Unset = UNSET,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Node]:
    """Upload a file to the top level of a tenant, as a form or as the raw body.

    With `relativePath`, such as the `webkitRelativePath` of a browser, the missing folders of the path
    are created together with the file.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files",
        Node,
        query={
            "onConflict": on_conflict,
            "relativePath": relative_path,
        },
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Lock-Token": lock_token,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )


def upload_file_into_folder(
    tenant_id: str,
    parent_id: str,
    *,
    content: Content,
    on_conflict: UploadFileIntoFolderOnConflict | Unset = UNSET,
    relative_path: None | str | Unset = UNSET,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Node]:
    """Upload a file into a folder, as a form or as the raw body.

    The caller needs the permission `write` on the folder, and owns the file. With `relativePath`, the
    missing folders of the path are created together with it. The file is stored durably when the
    response arrives.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(parent_id)}/files",
        Node,
        query={
            "onConflict": on_conflict,
            "relativePath": relative_path,
        },
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Lock-Token": lock_token,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )
