"""Endpoints for resumable uploads (tus 1.0, https://tus.io/protocols/resumable-upload)."""

from typing import Any

from flask import Response, request, url_for
from marshmallow import Schema, fields
from werkzeug.http import http_date

from strongroom.content.nodes import operations
from strongroom.content.scanning.states import INSPECTION_ERRORS
from strongroom.extensions.uploads import protocol
from strongroom.extensions.uploads.repository import Upload
from strongroom.extensions.uploads.service import UploadService
from strongroom.foundation import errors
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.binary_content import binary_content
from strongroom.web.http.locations import absolute_url
from strongroom.web.http.request import get_service
from strongroom.web.http.response import no_content
from strongroom.web.http.routing import Blueprint


class UploadSchema(Schema):
    """A resumable upload."""

    id = fields.String(
        required=True, metadata={"description": "Identifies the upload in paths; not the id of the file"}
    )
    name = fields.String(required=True, metadata={"description": "Name of the file that is created"})
    parentId = fields.String(
        required=True,
        allow_none=True,
        attribute="parent_id",
        metadata={"description": "The folder of the file; null: the top level"},
    )
    size = fields.Integer(required=True, metadata={"description": "In bytes"})
    offset = fields.Integer(
        required=True, attribute="received", metadata={"description": "Number of stored bytes"}
    )
    fileId = fields.String(
        required=True,
        allow_none=True,
        attribute="file_id",
        metadata={"description": "The created file; null until the upload is complete"},
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When an unfinished upload is removed"},
    )


blueprint = Blueprint(
    "uploads",
    url_prefix="/api/v1/tenants/<tenant_id>/uploads",
    description="Resumable uploads (tus 1.0).",
)

_BODY: dict[str, Any] = {
    "description": f"The bytes. tus clients send them as `{protocol.MEDIA_TYPE}`, which is the same.",
    "content": binary_content(),
}
_PROGRESS_HEADERS = ("Tus-Resumable", "Upload-Offset", "Upload-Expires")
RECEIVE_ERRORS = (
    errors.ValidationFailed,
    errors.UploadIncomplete,
    errors.Forbidden,
    errors.NotFound,
    errors.NotAFolder,
    errors.NameConflict,
    errors.FileLocked,
    errors.OffsetConflict,
    errors.TusVersionUnsupported,
    errors.PayloadTooLarge,
    errors.UnsupportedMediaType,
    *INSPECTION_ERRORS,
    errors.UploadLocked,
    errors.ChecksumMismatch,
    errors.TooManyOpenUploads,
    errors.StorageFull,
)


def add_version(response: Response) -> Response:
    """Add the protocol version to every response; a 412 also names the supported versions."""
    if request.method != "OPTIONS":
        response.headers["Tus-Resumable"] = protocol.VERSION
    if response.status_code == errors.TusVersionUnsupported.status:
        response.headers["Tus-Version"] = protocol.VERSION
    return response


# after_request also covers error responses.
blueprint.after_request(add_version)


@blueprint.operation(
    "OPTIONS",
    "",
    access=Access.PUBLIC,
    status=204,
    response_headers=("Tus-Version", "Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm"),
)
def describe_uploads(tenant_id: str) -> Response:  # noqa: ARG001  the same for all tenants
    """Get the supported tus version, extensions and limits, as headers.

    No token is needed, and the response is the same for all tenants. `Tus-Max-Size` is in bytes.
    """
    return description()


def description() -> Response:
    """Return the supported tus version, extensions and limits, as headers."""
    headers = {
        "Tus-Version": protocol.VERSION,
        "Tus-Extension": protocol.EXTENSIONS,
        "Tus-Max-Size": str(get_service(UploadService).max_size),
        "Tus-Checksum-Algorithm": ",".join(protocol.CHECKSUM_ALGORITHMS),
    }
    return no_content(headers)


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    rule=operations.CREATE,
    returns=UploadSchema,
    status=201,
    errors=RECEIVE_ERRORS,
    document={"requestBody": _BODY},
    request_headers=("Tus-Resumable", "Upload-Length", "Upload-Metadata", "Upload-Checksum"),
    response_headers=(*_PROGRESS_HEADERS, "Location"),
)
def create_upload(tenant_id: str) -> tuple[Upload, dict[str, str]]:
    """Create an upload of `Upload-Length` bytes; the body, if any, contains its first bytes.

    `Upload-Metadata` must contain `filename`, and may contain `parentId`, `onConflict` (fail, rename,
    replace) and `relativePath`, whose missing folders are created together with the file.

    The tus extension creation-defer-length is not offered: `Upload-Defer-Length` is refused with 400.
    """
    protocol.require_version()
    protocol.refuse_other_extensions()
    uploads, identity = get_service(UploadService), current_identity()
    size, metadata = protocol.read_number("Upload-Length"), protocol.read_metadata()
    piece = protocol.read_piece() if protocol.has_piece() else None
    upload = uploads.create(identity, metadata.target(tenant_id), size, metadata.text, piece)
    return upload, {"Location": _url(upload), **_progress(upload)}


@blueprint.operation(
    "GET",
    "/<upload_id>",
    access=Access.USER,
    rule=operations.CONTINUE_UPLOAD,
    returns=UploadSchema,
    errors=(errors.Forbidden, errors.NotFound),
    request_headers=("Tus-Resumable",),
    response_headers=(
        "Tus-Resumable",
        "Upload-Offset",
        "Upload-Length",
        "Upload-Metadata",
        "Upload-Expires",
    ),
)
def get_upload(tenant_id: str, upload_id: str) -> tuple[Upload, dict[str, str]]:
    """Get the state of an upload; tus clients use HEAD, which returns only the headers.

    Only the user who created it may. Continue at `offset` or the header `Upload-Offset`.
    """
    if request.method == "HEAD":
        protocol.require_version()
    upload = get_service(UploadService).get(current_identity(), tenant_id, upload_id)
    return upload, {**_progress(upload), **state_headers(upload)}


@blueprint.operation(
    "PATCH",
    "/<upload_id>",
    access=Access.USER,
    rule=operations.CONTINUE_UPLOAD,
    status=204,
    errors=RECEIVE_ERRORS,
    document={"requestBody": _BODY},
    request_headers=("Tus-Resumable", "Upload-Offset", "Upload-Checksum"),
    response_headers=(*_PROGRESS_HEADERS, "Content-Location"),
)
def append_to_upload(tenant_id: str, upload_id: str) -> Response:
    """Append to an upload at `Upload-Offset`; the last byte completes it and creates the file.

    Only the user who created it may, one request at a time. What arrives before an interruption is
    stored, unless `Upload-Checksum` is sent. When the file is complete, `Content-Location` is its path.
    """
    return _append(tenant_id, upload_id)


@blueprint.operation(
    "DELETE",
    "/<upload_id>",
    access=Access.USER,
    rule=operations.CONTINUE_UPLOAD,
    status=204,
    errors=(errors.Forbidden, errors.NotFound, errors.TusVersionUnsupported),
    request_headers=("Tus-Resumable",),
    response_headers=("Tus-Resumable",),
)
def terminate_upload(tenant_id: str, upload_id: str) -> Response:
    """Delete an upload; a file that was created from it remains.

    Only the user who created it may. The reserved bytes of the quota are free again.
    """
    return _terminate(tenant_id, upload_id)


@blueprint.operation(
    "POST",
    "/<upload_id>",
    access=Access.USER,
    rule=operations.CONTINUE_UPLOAD,
    status=204,
    errors=(errors.MalformedRequest, *RECEIVE_ERRORS),
    document={"requestBody": _BODY},
    request_headers=("Tus-Resumable", "X-HTTP-Method-Override", "Upload-Offset", "Upload-Checksum"),
    response_headers=_PROGRESS_HEADERS,
)
def change_upload(tenant_id: str, upload_id: str) -> Response:
    """Apply the method in `X-HTTP-Method-Override`, for clients that cannot send PATCH or DELETE.

    `PATCH` appends the body at `Upload-Offset`, and `DELETE` deletes the upload. Other methods are
    refused.
    """
    act = _append if protocol.overridden_method() == "PATCH" else _terminate
    return act(tenant_id, upload_id)


def _append(tenant_id: str, upload_id: str) -> Response:
    protocol.require_version()
    offset, piece = protocol.read_number("Upload-Offset"), protocol.read_piece()
    upload = get_service(UploadService).append(current_identity(), tenant_id, upload_id, offset, piece)
    return no_content(_progress(upload))


def _terminate(tenant_id: str, upload_id: str) -> Response:
    protocol.require_version()
    get_service(UploadService).terminate(current_identity(), tenant_id, upload_id)
    return no_content()


def state_headers(upload: Upload) -> dict[str, str]:
    """Return the headers of an upload's state, which are sent with the headers of its progress."""
    metadata = {"Upload-Metadata": upload.metadata} if upload.metadata else {}
    return {"Upload-Length": str(upload.size), **metadata}


def progress_headers(upload: Upload) -> dict[str, str]:
    """Return the offset of an upload, and when it expires."""
    return {
        "Upload-Offset": str(upload.received),
        "Upload-Expires": http_date(upload.expires_at / 1000),
    }


def _progress(upload: Upload) -> dict[str, str]:
    headers = progress_headers(upload)
    if upload.file_id:
        headers["Content-Location"] = url_for(
            "files.get_file", tenant_id=upload.tenant_id, file_id=upload.file_id
        )
    return headers


def _url(upload: Upload) -> str:
    return absolute_url("uploads.get_upload", tenant_id=upload.tenant_id, upload_id=upload.id)
