"""PUT, MKCOL and DELETE."""

from http import HTTPStatus
from typing import Final

from strongroom.plugin_api.files import AttributesOfContent, FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav.content import open_content
from strongroom_webdav.dead_properties import make_modification_time, parse_modification_time
from strongroom_webdav.errors import DavError
from strongroom_webdav.replies import Reply
from strongroom_webdav.requests import INFINITY, DavRequest
from strongroom_webdav.resources import Place, Resource, Resources

_NAME_CONFLICT: Final = "error.name-conflict"
_REVISION_CONFLICT: Final = "error.revision-conflict"


def put_file(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Store or replace a file by a PUT (RFC 4918, section 9.7).

    Nothing is visible before the content is complete.
    """
    if request.is_of_collection or (resource is not None and resource.is_collection):
        raise DavError(HTTPStatus.METHOD_NOT_ALLOWED, "A folder has no content.")
    modified_at = parse_modification_time(request)
    attributes = make_modification_time(modified_at)
    if resource is not None and resource.file is not None:
        file, status = _replace(host, request, resource.file, attributes), HTTPStatus.NO_CONTENT
    else:
        place = Resources(host).find_place(request.path)
        file, status = _create(host, request, place, attributes), HTTPStatus.CREATED
    headers = {"ETag": f'"{file.checksum}"'}
    if modified_at is not None:
        headers["X-OC-Mtime"] = "accepted"
    return Reply(
        status, headers if status == HTTPStatus.NO_CONTENT else {**headers, "Content-Length": "0"}
    )


def _replace(
    host: HostAPI, request: DavRequest, file: FileInfo, attributes: AttributesOfContent | None
) -> FileInfo:
    source = open_content(request)
    # A conditional request must not replace what was changed after its condition was checked.
    is_conditional = request.header("If-Match") is not None or request.header("If") is not None
    try:
        return host.files.replace(
            file.tenant_id,
            file.id,
            source,
            size=source.size,
            checksum=source.checksum,
            revision=file.revision if is_conditional else None,
            attributes=attributes,
        )
    except ApiError as error:
        if error.code == _REVISION_CONFLICT:
            raise DavError(HTTPStatus.PRECONDITION_FAILED, str(error)) from error
        raise


def _create(
    host: HostAPI, request: DavRequest, place: Place, attributes: AttributesOfContent | None
) -> FileInfo:
    source = open_content(request)
    # Another request may have created the file since, which only a PUT without conditions replaces.
    is_conditional = request.header("If-None-Match") is not None or request.header("If") is not None
    try:
        return host.files.upload(
            place.tenant_id,
            place.parent_id,
            place.name,
            source,
            size=source.size,
            checksum=source.checksum,
            on_conflict="fail" if is_conditional else "replace",
            attributes=attributes,
        )
    except ApiError as error:
        if is_conditional and error.code == _NAME_CONFLICT:
            raise DavError(HTTPStatus.PRECONDITION_FAILED, str(error)) from error
        raise


def make_collection(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Create a folder by a MKCOL (RFC 4918, section 9.3)."""
    if request.content_length != 0 and request.read_body():
        raise DavError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "MKCOL with a body is not supported.")
    if resource is not None:
        raise DavError(HTTPStatus.METHOD_NOT_ALLOWED, "The name is taken.")
    place = Resources(host).find_place(request.path)
    try:
        host.files.create_folder(place.tenant_id, place.parent_id, place.name)
    except ApiError as error:
        if error.code == _NAME_CONFLICT:
            raise DavError(HTTPStatus.METHOD_NOT_ALLOWED, str(error)) from error
        raise
    return Reply(HTTPStatus.CREATED, {"Content-Length": "0"})


def delete(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Delete a file, or a folder with everything in it (RFC 4918, section 9.6); to the trash."""
    file = require_file(resource)
    if file.is_folder and request.depth != INFINITY:
        raise DavError(HTTPStatus.BAD_REQUEST, "A folder is deleted with everything in it.")
    is_conditional = request.header("If-Match") is not None
    host.files.delete(file.tenant_id, file.id, revision=file.revision if is_conditional else None)
    return Reply(HTTPStatus.NO_CONTENT)


def require_file(resource: Resource | None) -> FileInfo:
    """Return the file or folder of a resource that is changed as a whole.

    Raises:
        DavError: 404, or 403 for a tenant and the list of tenants.
    """
    if resource is None:
        raise DavError(HTTPStatus.NOT_FOUND)
    if resource.file is None:
        raise DavError(HTTPStatus.FORBIDDEN, "Spaces are changed in the console.")
    return resource.file
