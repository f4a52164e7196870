"""Endpoints for business files: photos, illustrations, covers, logos and other files."""

from typing import Any

from flask import Response

from strongroom.business_files.models import BusinessFile
from strongroom.business_files.schemas import BusinessFileSchema, WidthQuery
from strongroom.business_files.service import BusinessFileService
from strongroom.business_files.variants import FILES
from strongroom.errors import (
    DigestMismatch,
    Forbidden,
    LengthRequired,
    NotFound,
    PayloadTooLarge,
    PictureTooLarge,
    PictureUnreadable,
    PreconditionFailed,
    RangeNotSatisfiable,
    StorageFull,
    TokenInvalid,
    TokenRequired,
    Unavailable,
    UnsupportedMediaType,
    UploadIncomplete,
    ValidationFailed,
)
from strongroom.http.access import TOKEN_HEADER, Access, current_identity, optional_identity
from strongroom.http.downloads import DOWNLOAD_CONTENT, Content, send_content
from strongroom.http.headers import DOWNLOAD_REQUEST, DOWNLOAD_RESPONSE, UPLOAD_REQUEST
from strongroom.http.request import get_service, origin
from strongroom.http.routing import Blueprint, Location, absolute_url
from strongroom.http.schema import DONE, DoneSchema
from strongroom.http.uploads import UPLOAD_BODY, receive_upload

blueprint = Blueprint(
    "business_files",
    __name__,
    url_prefix="/api/v1/files",
    description="Photos, illustrations, covers, logos and other files, addressed only by their name.",
)

Json = dict[str, Any]

_YEAR = 31_536_000
_UPLOAD_ERRORS = (
    ValidationFailed,
    LengthRequired,
    UploadIncomplete,
    DigestMismatch,
    PayloadTooLarge,
    UnsupportedMediaType,
    StorageFull,
)
_PICTURE_ERRORS = (*_UPLOAD_ERRORS, PictureUnreadable, PictureTooLarge, Unavailable)
_DOWNLOAD_DOCUMENT: Json = {
    "responses": {
        "200": {"description": "The content", "content": DOWNLOAD_CONTENT},
        "206": {"description": "The requested range", "content": DOWNLOAD_CONTENT},
        "304": {"description": "The client's copy is current"},
    }
}


_LOCATION = Location("business_files.download_business_file", {"file_name": "fileName"})


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    returns=BusinessFileSchema,
    status=201,
    location=_LOCATION,
    errors=_UPLOAD_ERRORS,
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def upload_business_file() -> Json:
    """Upload a file of any media type that the configuration allows."""
    return _upload(FILES)


@blueprint.operation(
    "POST",
    "/photos",
    access=Access.USER,
    returns=BusinessFileSchema,
    status=201,
    location=_LOCATION,
    errors=_PICTURE_ERRORS,
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def upload_photo() -> Json:
    """Upload a photo; it is re-encoded without its metadata."""
    return _upload("photos")


@blueprint.operation(
    "POST",
    "/figures",
    access=Access.USER,
    returns=BusinessFileSchema,
    status=201,
    location=_LOCATION,
    errors=_PICTURE_ERRORS,
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def upload_figure() -> Json:
    """Upload an illustration; it is re-encoded without its metadata."""
    return _upload("figures")


@blueprint.operation(
    "POST",
    "/covers",
    access=Access.USER,
    returns=BusinessFileSchema,
    status=201,
    location=_LOCATION,
    errors=_PICTURE_ERRORS,
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def upload_cover() -> Json:
    """Upload a cover; it is re-encoded without its metadata."""
    return _upload("covers")


@blueprint.operation(
    "POST",
    "/avatars",
    access=Access.USER,
    returns=BusinessFileSchema,
    status=201,
    location=_LOCATION,
    errors=_PICTURE_ERRORS,
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def upload_avatar() -> Json:
    """Upload a logo; it is re-encoded without its metadata."""
    return _upload("avatars")


@blueprint.operation(
    "GET",
    "/<file_name>",
    access=Access.OPTIONAL,
    query=WidthQuery,
    errors=(
        TokenRequired,
        TokenInvalid,
        NotFound,
        PreconditionFailed,
        PictureTooLarge,
        PictureUnreadable,
        RangeNotSatisfiable,
        StorageFull,
        Unavailable,
    ),
    document=_DOWNLOAD_DOCUMENT,
    request_headers=DOWNLOAD_REQUEST,
    response_headers=DOWNLOAD_RESPONSE,
)
def download_business_file(file_name: str, query: Json) -> Response:
    """Download a file, ranges of it, or a picture scaled to a smaller width.

    The configuration of the file's profile decides whether a token is required.
    """
    files = get_service(BusinessFileService)
    shown = files.get(optional_identity(), file_name, query["width"])
    content = Content(
        name=shown.file.name,
        content_type=shown.file.content_type,
        size=shown.blob.size,
        checksum=shown.blob.checksum,
        modified_at=shown.file.created_at,
        open=lambda start, length: files.open(shown.blob, start, length),
    )
    scope = "public" if shown.is_public else "private"
    # The content under a name never changes, so caches may store it for a year.
    response = send_content(content, cache_control=f"{scope}, max-age={_YEAR}, immutable")
    if not shown.is_public:
        # A browser must not display a cached copy to its next user without a token.
        response.vary.update(("Authorization", TOKEN_HEADER))
    return response


@blueprint.operation(
    "DELETE",
    "/<file_name>",
    access=Access.USER,
    returns=DoneSchema,
    errors=(Forbidden, NotFound),
)
def delete_business_file(file_name: str) -> dict[str, bool]:
    """Delete a file and its variants; only its owner and server administrators may."""
    get_service(BusinessFileService).delete(current_identity(), file_name, origin())
    return DONE


def _upload(profile_name: str) -> Json:
    files = get_service(BusinessFileService)
    incoming = receive_upload(files.profiles[profile_name].max_bytes)
    return _present(files.upload(current_identity(), profile_name, incoming))


def _present(file: BusinessFile) -> Json:
    body: Json = {
        "fileName": file.name,
        "url": absolute_url(_LOCATION.endpoint, file_name=file.name),
        "size": file.size,
        "contentType": file.content_type,
    }
    if file.width is not None:
        body |= {"width": file.width, "height": file.height}
    return body
