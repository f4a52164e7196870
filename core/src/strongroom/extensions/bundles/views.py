"""Endpoints to download files and folders as one archive."""

from collections.abc import Callable
from typing import Any, Final

from flask import Response, request, url_for
from marshmallow import Schema, fields, validate

from strongroom.content.nodes import operations
from strongroom.content.nodes.events import SENT, DownloadRecorder
from strongroom.content.nodes.names import MAX_LENGTH
from strongroom.content.scanning.states import UNREADABLE_ERRORS
from strongroom.extensions.bundles.service import Bundle, BundleService
from strongroom.foundation import errors
from strongroom.foundation.caller import AnyCaller
from strongroom.plugin_api.files import BeforeSending
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.binary_content import binary_content
from strongroom.web.http.caching import PRIVATE_REVALIDATED
from strongroom.web.http.downloads import Content, check_sending, send_content
from strongroom.web.http.header_descriptions import DOWNLOAD_REQUEST, DOWNLOAD_RESPONSE
from strongroom.web.http.parsing import identifier, text
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint

MAX_IDS: Final = 1000


class BundleSchema(Schema):
    """Files and folders to download as one archive."""

    fileIds = fields.List(
        identifier(),
        required=True,
        validate=validate.Length(1, MAX_IDS),
        metadata={"description": "Files, and folders with their content"},
    )
    name = text(
        MAX_LENGTH,
        load_default=None,
        metadata={"description": "File name of the archive; `.zip` is appended if missing"},
    )


blueprint = Blueprint(
    "bundles",
    url_prefix="/api/v1/tenants/<tenant_id>",
    description="Downloads of several files as one archive.",
)

_ZIP: Final = "application/zip"
_ARCHIVE = binary_content(_ZIP)
_RANGES = binary_content(_ZIP, "multipart/byteranges")
_DOCUMENT: dict[str, Any] = {
    "responses": {
        "200": {
            "description": "The ZIP archive; Content-Location is its URL for further downloads",
            "content": _ARCHIVE,
        },
        "206": {"description": "The requested range of the ZIP archive", "content": _RANGES},
        "304": {"description": "The client's copy is current"},
    }
}
_ERRORS = (
    errors.Forbidden,
    errors.NotFound,
    *UNREADABLE_ERRORS,
    errors.PayloadTooLarge,
    errors.PreconditionFailed,
    errors.RangeNotSatisfiable,
)


@blueprint.operation(
    "POST",
    "/multi-files-download",
    access=Access.USER,
    impersonation=True,
    rule=operations.DOWNLOAD_BUNDLE,
    body=BundleSchema,
    errors=_ERRORS,
    document=_DOCUMENT,
    request_headers=DOWNLOAD_REQUEST,
    response_headers=(*DOWNLOAD_RESPONSE, "Content-Location"),
)
def download_files(tenant_id: str, body: dict[str, Any]) -> Response:
    """Download several files, and whole folders, as one ZIP archive, or a range of it.

    Files in quarantine are left out of folders. A file that is not scanned yet refuses the request.

    `Content-Location` is the URL of the archive: an interrupted download can be resumed there by GET
    with Range and If-Range until the bundle expires. This POST accepts Range, too.
    """
    caller = current_identity()
    bundle = get_service(BundleService).make(caller, tenant_id, body["fileIds"], body["name"])
    return send_bundle(bundle, caller, _path_in(tenant_id))


@blueprint.operation(
    "GET",
    "/multi-files-download/<bundle_id>",
    access=Access.USER,
    rule=operations.DOWNLOAD_BUNDLE,
    errors=_ERRORS,
    document=_DOCUMENT,
    request_headers=DOWNLOAD_REQUEST,
    response_headers=(*DOWNLOAD_RESPONSE, "Content-Location"),
)
def download_files_again(tenant_id: str, bundle_id: str) -> Response:
    """Download a previously requested archive, or a range of it.

    Only the user who requested it may, until the bundle expires, with the permission `read` on all its
    files. It has the same bytes and the same `ETag` unless a file has changed, so `Range` and
    `If-Range` resume it.
    """
    caller = current_identity()
    bundle = get_service(BundleService).get(caller, tenant_id, bundle_id)
    return send_bundle(bundle, caller, _path_in(tenant_id))


def _path_in(tenant_id: str) -> Callable[[str], str]:
    return lambda bundle_id: url_for(
        "bundles.download_files_again", tenant_id=tenant_id, bundle_id=bundle_id
    )


def send_bundle(
    bundle: Bundle,
    caller: AnyCaller,
    location: Callable[[str], str],
    before: BeforeSending | None = None,
) -> Response:
    """Return the response with a bundle to the current request, and record the download.

    Args:
        bundle: the bundle, which the response closes.
        caller: the caller, for the record.
        location: returns the path of the bundle for its id.
        before: may refuse the content, see :func:`~strongroom.web.http.downloads.check_sending`.
    """
    content = Content(
        name=bundle.name,
        content_type=_ZIP,
        size=bundle.manifest.size,
        checksum=None,
        modified_at=None,
        open=bundle.open,
        tag=bundle.manifest.tag,
    )
    try:
        response = send_content(content, cache_control=PRIVATE_REVALIDATED)
    except BaseException:
        bundle.manifest.close()
        raise
    response.call_on_close(bundle.manifest.close)
    response.headers["Content-Location"] = location(bundle.id)
    if request.method != "HEAD" and response.status_code in SENT:
        if before is not None:
            check_sending(response, before, content.size)
        for node in bundle.selected:
            get_service(DownloadRecorder).record(caller, node)
    return response
