"""Operations on visits. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Description,
    Dropped,
    IssuedProof,
    PreviewSharedFileSize,
    Proof,
    SharedBundle,
    SharedFile,
    SharedFileCollection,
)
from ..operations import UNSET, Content, Operation, Unset, segment


def download_shared(
    secret: str,
    *,
    x_share_proof: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download the whole share: its file, or its folder as a ZIP archive.

    For the kinds `read` and `write`. It counts as a download, as `downloadSharedFile` does.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/download",
        bytes,
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def download_shared_file(
    secret: str,
    file_id: str,
    *,
    x_share_proof: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download a file of a share, or ranges of it.

    A download counts when its first bytes are sent. Its cookie continues it without counting again.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/files/{segment(file_id)}/download",
        bytes,
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def download_shared_files(
    secret: str,
    *,
    body: SharedBundle | Unset = UNSET,
    x_share_proof: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download files and folders of a share as one ZIP archive, or a range of it.

    For the kinds `read` and `write`. It counts as one download. `Content-Location` is the path of
    the archive, at which an interrupted download is resumed.
    """
    return Operation(
        "POST",
        f"/api/v1/shares/{segment(secret)}/multi-files-download",
        bytes,
        headers={
            "X-Share-Proof": x_share_proof,
        },
        body=body,
    )


def download_shared_files_again(
    secret: str,
    bundle_id: str,
    *,
    x_share_proof: str | Unset = UNSET,
) -> Operation[bytes]:
    """Continue the download of an archive.

    The id is from `Content-Location` of the request that made the archive. With `Range` and
    `If-Range`, the rest is downloaded without being counted again.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/multi-files-download/{segment(bundle_id)}",
        bytes,
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def drop_file(
    secret: str,
    *,
    content: Content,
    uploaded_by: None | str | Unset = UNSET,
    relative_path: None | str | Unset = UNSET,
    x_share_proof: str | Unset = UNSET,
) -> Operation[Dropped]:
    """Upload a file into a share, as a form or as the raw body. It never replaces another one.

    For the kinds `drop` and `write`. A taken name gets a number. The maker owns the file, whose
    size counts in the tenant's quota and in the limits of the share.
    """
    return Operation(
        "POST",
        f"/api/v1/shares/{segment(secret)}/files",
        Dropped,
        query={
            "uploadedBy": uploaded_by,
            "relativePath": relative_path,
        },
        headers={
            "X-Share-Proof": x_share_proof,
        },
        content=content,
        media_type="application/octet-stream",
    )


def drop_file_into_folder(
    secret: str,
    file_id: str,
    *,
    content: Content,
    uploaded_by: None | str | Unset = UNSET,
    relative_path: None | str | Unset = UNSET,
    x_share_proof: str | Unset = UNSET,
) -> Operation[Dropped]:
    """Upload a file into a folder of a share of the kind `write`.

    The folder is in the shared folder, at any depth. A taken name gets a number.
    """
    return Operation(
        "POST",
        f"/api/v1/shares/{segment(secret)}/files/{segment(file_id)}/files",
        Dropped,
        query={
            "uploadedBy": uploaded_by,
            "relativePath": relative_path,
        },
        headers={
            "X-Share-Proof": x_share_proof,
        },
        content=content,
        media_type="application/octet-stream",
    )


def get_shared(
    secret: str,
    *,
    x_share_proof: str | Unset = UNSET,
) -> Operation[Description]:
    """Get the description of a share; with a password, names and limits need the proof.

    No account is needed, unless the audience is limited. A secret that is wrong and a share that
    has ended are the same 404. The request counts as an opening once the password is proven.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}",
        Description,
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def get_shared_file(
    secret: str,
    file_id: str,
    *,
    x_share_proof: str | Unset = UNSET,
) -> Operation[SharedFile]:
    """Get the details of a file or folder of a share.

    Not for the kind `drop`, and not for files outside the shared folder.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/files/{segment(file_id)}",
        SharedFile,
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def list_shared_files(
    secret: str,
    *,
    folders_first: bool | Unset = UNSET,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    x_share_proof: str | Unset = UNSET,
) -> Operation[SharedFileCollection]:
    """List the files of a share by name, or the one file that it is of.

    Not for the kind `drop`. Folders can be opened by `listSharedFilesInFolder`.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/files",
        SharedFileCollection,
        query={
            "foldersFirst": folders_first,
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def list_shared_files_in_folder(
    secret: str,
    file_id: str,
    *,
    folders_first: bool | Unset = UNSET,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    x_share_proof: str | Unset = UNSET,
) -> Operation[SharedFileCollection]:
    """List the files in a folder of a share by name.

    The folder is in the shared folder, at any depth. Not for the kind `drop`.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/files/{segment(file_id)}/files",
        SharedFileCollection,
        query={
            "foldersFirst": folders_first,
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def preview_shared_file(
    secret: str,
    file_id: str,
    *,
    size: PreviewSharedFileSize | Unset = UNSET,
    x_share_proof: str | Unset = UNSET,
) -> Operation[bytes]:
    """Get a picture in a smaller size without metadata, or the beginning of a text.

    Pictures are scaled to 1,600 pixels, small ones to 480. Texts have their first 64 KiB as plain text,
    and other files are refused. With `maxDownloads`, it counts as a download.
    """
    return Operation(
        "GET",
        f"/api/v1/shares/{segment(secret)}/files/{segment(file_id)}/preview",
        bytes,
        query={
            "size": size,
        },
        headers={
            "X-Share-Proof": x_share_proof,
        },
    )


def prove_password(
    secret: str,
    *,
    body: Proof,
    x_share_proof: str | Unset = UNSET,
) -> Operation[IssuedProof]:
    """Prove the knowledge of the password. The proof is in `X-Share-Proof`, and in a cookie.

    A proof is valid for 15 minutes, until the password changes. After several wrong passwords a
    captcha is required.
    """
    return Operation(
        "POST",
        f"/api/v1/shares/{segment(secret)}/proofs",
        IssuedProof,
        headers={
            "X-Share-Proof": x_share_proof,
        },
        body=body,
    )
