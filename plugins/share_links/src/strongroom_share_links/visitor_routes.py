"""The routes of visitors, who have the secret of a share and need no account."""

from typing import Any, Final

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.request import current_host, get_service
from strongroom.plugin_api.schemas import collection_schema
from strongroom.plugin_api.web import Access, Blueprint, HostErrors
from strongroom_share_links.errors import (
    FULL,
    LENGTH_REQUIRED,
    NAME_REQUIRED,
    NOT_SHOWN,
    PASSWORD_WRONG,
    TOO_LARGE,
    VISITOR_ERRORS,
)
from strongroom_share_links.models import READERS, RECEIVERS, SHOWN, Kind
from strongroom_share_links.proofs import HEADER, ISSUED, LIFETIME, SENT
from strongroom_share_links.schemas import (
    DescriptionSchema,
    DropPathQuery,
    DroppedSchema,
    DropQuery,
    IssuedProofSchema,
    PreviewQuery,
    ProofSchema,
    SharedBundleSchema,
    SharedFileSchema,
    SharedFilesQuery,
)
from strongroom_share_links.sending import Sender
from strongroom_share_links.service import Shares
from strongroom_share_links.share_opener import OpenedShare

Json = dict[str, Any]

ROOT: Final = "/api/v1/shares/<secret>"
PATH_PARAMETERS: Final = {"secret": "The secret of the share: the last segment of its link"}
_FILE: Final = f"{ROOT}/files/<file_id>"
_UPLOAD: Final = f"{ROOT}/uploads/<upload_id>"
_DROP_ERRORS: Final = (*VISITOR_ERRORS, NAME_REQUIRED, LENGTH_REQUIRED, TOO_LARGE, FULL)
_UPLOAD_ERRORS: Final = (*_DROP_ERRORS, HostErrors.UPLOADS)
_BYTES: Final = {"schema": {"type": "string", "format": "binary"}}
# Generators of clients treat only application/octet-stream as bytes.
_CONTENT: Final = {"application/octet-stream": _BYTES}
_ANY: Final = {**_CONTENT, "*/*": _BYTES}


def _download(media_type: str) -> Json:
    content = {**_CONTENT, media_type: _BYTES}
    ranges = {**content, "multipart/byteranges": _BYTES}
    return {
        "responses": {
            "200": {"description": "The content", "content": content},
            "206": {"description": "The requested range", "content": ranges},
            "304": {"description": "The visitor's copy is current"},
        }
    }


_DOWNLOAD: Final = _download("*/*")
_ARCHIVE: Final = _download("application/zip")
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "The content, with the file name of this part",
                        }
                    },
                    "additionalProperties": False,
                }
            },
            **_CONTENT,
        },
    }
}
_TUS: Final = {
    "requestBody": {
        "description": "The bytes. tus clients send them as `application/offset+octet-stream`, "
        "which is the same.",
        "content": _CONTENT,
    }
}


def protect(response: Any) -> Any:
    """Keep a response with a secret in its URL out of caches, search engines and referrers."""
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def count() -> None:
    """Count a request of a visitor."""
    get_service(Shares).opener.count()


routes = Blueprint(
    "visits",
    description="Share links and drop boxes, for their visitors.",
    parameters=PATH_PARAMETERS,
)
uploads = Blueprint(
    "visitor-uploads",
    description="Resumable uploads into drop boxes.",
    parameters=PATH_PARAMETERS,
)
routes.after_request(protect)
uploads.after_request(protect)


@uploads.after_request
def finish_upload(response: Any) -> Any:
    """Add the headers of tus."""
    return current_host().uploads.finish(response)


@routes.operation(
    "GET",
    ROOT,
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    returns=DescriptionSchema,
    errors=VISITOR_ERRORS,
)
def get_shared(secret: str) -> Json:
    """Get the description of a share; with a password, names and limits need the proof.

    No account is needed, unless the audience is limited. A secret that is wrong and a share that
    has ended are the same 404. The request counts as an opening once the password is proven.
    """
    opened = get_service(Shares).opener.open(secret, needs_proof=False)
    if opened.is_proven:
        get_service(Shares).access_log.record_opening(opened.link)
    return describe(opened)


@routes.operation(
    "POST",
    f"{ROOT}/proofs",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    body=ProofSchema,
    returns=IssuedProofSchema,
    response_headers=ISSUED,
    errors=(*VISITOR_ERRORS, PASSWORD_WRONG),
)
def prove_password(secret: str, body: Json) -> Any:
    """Prove the knowledge of the password. The proof is in `X-Share-Proof`, and in a cookie.

    A proof is valid for 15 minutes, until the password changes. After several wrong passwords a
    captcha is required.
    """
    opened = get_service(Shares).opener.open(secret, needs_proof=False)
    proof = get_service(Shares).proofs.issue(opened.link, body["password"], body["captcha"])
    ends_at = current_host().clock.now() + LIFETIME * 1000
    cookie = get_service(Shares).cookies.set_cookie_header("share", opened.link.id, proof, LIFETIME)
    return {"expiresAt": ends_at}, {HEADER: proof, "Set-Cookie": cookie}


@routes.operation(
    "GET",
    f"{ROOT}/files",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    query=SharedFilesQuery,
    returns=collection_schema(SharedFileSchema),
    errors=VISITOR_ERRORS,
)
def list_shared_files(secret: str, query: Json) -> Any:
    """List the files of a share by name, or the one file that it is of.

    Not for the kind `drop`. Folders can be opened by `listSharedFilesInFolder`.
    """
    opened = get_service(Shares).opener.open(secret, SHOWN)
    return _list_page(opened, opened.file.id, query)


@routes.operation(
    "GET",
    f"{_FILE}/files",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    query=SharedFilesQuery,
    returns=collection_schema(SharedFileSchema),
    errors=VISITOR_ERRORS,
)
def list_shared_files_in_folder(secret: str, file_id: str, query: Json) -> Any:
    """List the files in a folder of a share by name.

    The folder is in the shared folder, at any depth. Not for the kind `drop`.
    """
    return _list_page(get_service(Shares).opener.open(secret, SHOWN), file_id, query)


@routes.operation(
    "GET",
    _FILE,
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    returns=SharedFileSchema,
    errors=VISITOR_ERRORS,
)
def get_shared_file(secret: str, file_id: str) -> Json:
    """Get the details of a file or folder of a share.

    Not for the kind `drop`, and not for files outside the shared folder.
    """
    opened = get_service(Shares).opener.open(secret, SHOWN)
    with get_service(Shares).opener.acting(opened):
        return _shown(current_host().files.stat(opened.link.tenant_id, file_id))


@routes.operation(
    "GET",
    f"{_FILE}/download",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    errors=VISITOR_ERRORS,
    document=_DOWNLOAD,
)
def download_shared_file(secret: str, file_id: str) -> Any:
    """Download a file of a share, or ranges of it.

    A download counts when its first bytes are sent. Its cookie continues it without counting again.
    """
    return get_service(Sender).file(get_service(Sender).open(secret, READERS), file_id)


@routes.operation(
    "GET",
    f"{_FILE}/preview",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    query=PreviewQuery,
    errors=(*VISITOR_ERRORS, NOT_SHOWN),
    document={"responses": {"200": {"description": "A picture, or text", "content": _ANY}}},
)
def preview_shared_file(secret: str, file_id: str, query: Json) -> Any:
    """Get a picture in a smaller size without metadata, or the beginning of a text.

    Pictures are scaled to 1,600 pixels, small ones to 480. Texts have their first 64 KiB as plain text,
    and other files are refused. With `maxDownloads`, it counts as a download.
    """
    return get_service(Sender).preview(get_service(Sender).open(secret, SHOWN), file_id, query["size"])


@routes.operation(
    "GET",
    f"{ROOT}/download",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    errors=VISITOR_ERRORS,
    document=_DOWNLOAD,
)
def download_shared(secret: str) -> Any:
    """Download the whole share: its file, or its folder as a ZIP archive.

    For the kinds `read` and `write`. It counts as a download, as `downloadSharedFile` does.
    """
    opened = get_service(Sender).open(secret, READERS)
    if opened.file.is_folder:
        return get_service(Sender).bundle(opened, [opened.file.id], None)
    return get_service(Sender).file(opened, opened.file.id)


@routes.operation(
    "POST",
    f"{ROOT}/multi-files-download",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    body=SharedBundleSchema,
    errors=VISITOR_ERRORS,
    document=_ARCHIVE,
)
def download_shared_files(secret: str, body: Json) -> Any:
    """Download files and folders of a share as one ZIP archive, or a range of it.

    For the kinds `read` and `write`. It counts as one download. `Content-Location` is the path of
    the archive, at which an interrupted download is resumed.
    """
    opened = get_service(Sender).open(secret, READERS)
    return get_service(Sender).bundle(opened, body["fileIds"] or [opened.file.id], body["name"])


@routes.operation(
    "GET",
    f"{ROOT}/multi-files-download/<bundle_id>",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    errors=VISITOR_ERRORS,
    document=_ARCHIVE,
)
def download_shared_files_again(secret: str, bundle_id: str) -> Any:
    """Continue the download of an archive.

    The id is from `Content-Location` of the request that made the archive. With `Range` and
    `If-Range`, the rest is downloaded without being counted again.
    """
    return get_service(Sender).bundle_again(get_service(Sender).open(secret, READERS), bundle_id)


@routes.operation(
    "POST",
    f"{ROOT}/files",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    query=DropPathQuery,
    returns=DroppedSchema,
    status=201,
    errors=_DROP_ERRORS,
    document=_BODY,
)
def drop_file(secret: str, query: Json) -> Json:
    """Upload a file into a share, as a form or as the raw body. It never replaces another one.

    For the kinds `drop` and `write`. A taken name gets a number. The maker owns the file, whose
    size counts in the tenant's quota and in the limits of the share.
    """
    opened = get_service(Shares).opener.open(secret, RECEIVERS)
    return _received(opened, opened.file.id, query)


@routes.operation(
    "POST",
    f"{_FILE}/files",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    query=DropPathQuery,
    returns=DroppedSchema,
    status=201,
    errors=_DROP_ERRORS,
    document=_BODY,
)
def drop_file_into_folder(secret: str, file_id: str, query: Json) -> Json:
    """Upload a file into a folder of a share of the kind `write`.

    The folder is in the shared folder, at any depth. A taken name gets a number.
    """
    opened = get_service(Shares).opener.open(secret, (Kind.WRITE,))
    return _received(opened, file_id, query)


@uploads.operation("OPTIONS", f"{ROOT}/uploads", access=Access.PUBLIC, status=204)
def describe_visitor_uploads(secret: str) -> Any:  # noqa: ARG001  the same for all shares
    """Get the supported tus version, extensions and limits, as headers.

    The response is the same for all shares. `Tus-Max-Size` is in bytes.
    """
    return current_host().uploads.describe()


@uploads.operation(
    "POST",
    f"{ROOT}/uploads",
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    query=DropQuery,
    status=201,
    errors=_UPLOAD_ERRORS,
    document=_TUS,
)
def create_visitor_upload(secret: str, query: Json) -> Any:
    """Create a resumable upload (tus 1.0) into a share.

    For the kinds `drop` and `write`, for files that are too large for one request. `Location` is
    the path of the upload; `Upload-Metadata` must contain `filename`. Few uploads of a visitor may
    be open, and one without progress for an hour ends.
    """
    opened = get_service(Shares).opener.open(secret, RECEIVERS)
    return get_service(Shares).file_requests.begin(
        opened, opened.file.id, query["uploadedBy"], lambda upload_id: _upload_url(secret, upload_id)
    )


@uploads.operation(
    "GET",
    _UPLOAD,
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    errors=_UPLOAD_ERRORS,
)
def get_visitor_upload(secret: str, upload_id: str) -> Any:
    """Get the state of an upload, as headers; tus clients use HEAD.

    `Upload-Offset` is where to continue.
    """
    return get_service(Shares).file_requests.state(_continued(secret), upload_id)


@uploads.operation(
    "PATCH",
    _UPLOAD,
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    status=204,
    errors=_UPLOAD_ERRORS,
    document=_TUS,
)
def append_to_visitor_upload(secret: str, upload_id: str) -> Any:
    """Append to an upload at `Upload-Offset`; the last byte creates the file.

    What arrives before an interruption is stored, unless `Upload-Checksum` is sent.
    """
    return get_service(Shares).file_requests.append(_continued(secret), upload_id)


@uploads.operation(
    "DELETE",
    _UPLOAD,
    access=Access.OPTIONAL,
    limit=count,
    request_headers=SENT,
    status=204,
    errors=_UPLOAD_ERRORS,
)
def terminate_visitor_upload(secret: str, upload_id: str) -> Any:
    """Delete an upload.

    Its share of the limits is free again. A file that was created from it remains.
    """
    return get_service(Shares).file_requests.terminate(_continued(secret), upload_id)


def _upload_url(secret: str, upload_id: str) -> str:
    return f"{current_host().public_url}/api/v1/shares/{secret}/uploads/{upload_id}"


def _list_page(opened: OpenedShare, folder_id: str, query: Json) -> Any:
    host = current_host()
    with get_service(Shares).opener.acting(opened):
        if not opened.file.is_folder and folder_id == opened.file.id:
            listed = host.lists.page([opened.file], query, lambda file: (file.id,))
        else:
            listed = host.files.list(
                opened.link.tenant_id, folder_id, folders_first=query["foldersFirst"], query=query
            )
    return host.lists.collection(listed.map(_shown), query)


def _continued(secret: str) -> OpenedShare:
    # The upload has its room since it was created, also if no other file has any.
    return get_service(Shares).opener.open(secret, RECEIVERS, continues=True)


def describe(opened: OpenedShare) -> Json:
    """Return what a visitor may know: hardly anything before the proof, and no URL at any time."""
    link = opened.link
    known: Json = {
        "id": link.id,
        "kind": link.kind,
        "needsPassword": link.password_hash is not None,
        "expired": False,
    }
    if not opened.is_proven:
        return known
    known |= {"label": link.label, "expiresAt": link.expires_at}
    if opened.kind in SHOWN:
        left = None if link.max_downloads is None else link.max_downloads - link.downloads
        shown = _shown(opened.file)
        known |= {"fileId": shown.pop("id"), **shown, "remainingDownloads": left}
    if opened.kind in RECEIVERS:
        files = None if link.max_files is None else link.max_files - link.dropped_files
        size = None if link.max_bytes is None else link.max_bytes - link.dropped_bytes
        known |= {"drop": link, "remainingFiles": files, "remainingBytes": size}
    return known


def _shown(file: FileInfo) -> Json:
    return {
        "id": file.id,
        "name": file.name,
        "type": "folder" if file.is_folder else "file",
        "size": file.size,
        "contentType": file.content_type,
        "updatedAt": file.updated_at,
    }


def _received(opened: OpenedShare, folder_id: str, query: Json) -> Json:
    file = get_service(Shares).file_requests.receive(
        opened, folder_id, query["uploadedBy"], query["relativePath"]
    )
    # Nothing can be done with the id of a file that the visitor may not see.
    shown = {"id": file.id} if opened.is_shown else {}
    return {"name": file.name, "size": file.size, **shown}
