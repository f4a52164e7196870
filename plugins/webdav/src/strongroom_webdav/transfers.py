"""COPY and MOVE (RFC 4918, sections 9.8 and 9.9)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from strongroom.plugin_api.changes import UNCHANGED
from strongroom.plugin_api.files import FileInfo, OnConflict
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav.changing import require_file
from strongroom_webdav.dead_properties import copy_attributes
from strongroom_webdav.errors import DavError
from strongroom_webdav.replies import Reply
from strongroom_webdav.requests import INFINITY, DavRequest
from strongroom_webdav.resources import Place, Resource, Resources

_CONFLICTS: Final = ("error.name-conflict", "error.revision-conflict")


@dataclass(frozen=True, slots=True)
class _Ends:
    """The source and the destination of a request.

    Args:
        replaced: what is at the destination.
    """

    file: FileInfo
    place: Place
    replaced: FileInfo | None

    @property
    def deleted(self) -> FileInfo | None:
        """What is deleted: what is at the destination, unless a file replaces a file."""
        is_deleted = self.file.is_folder or (self.replaced is not None and self.replaced.is_folder)
        return self.replaced if is_deleted else None

    @property
    def on_conflict(self) -> OnConflict:
        """What happens with the name."""
        return "fail" if self.replaced is None or self.deleted is not None else "replace"

    @property
    def reply(self) -> Reply:
        """The response."""
        if self.replaced is None:
            return Reply(HTTPStatus.CREATED, {"Content-Length": "0"})
        return Reply(HTTPStatus.NO_CONTENT)


def copy(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Copy a file, or a folder with its content."""
    ends = _find_ends(host, request, resource)
    if request.depth not in (0, INFINITY):
        raise DavError(HTTPStatus.BAD_REQUEST, "Depth must be 0 or infinity.")
    place = ends.place
    with _conflicts():
        if ends.file.is_folder and request.depth == 0:
            target = host.files.create_folder(
                place.tenant_id, place.parent_id, place.name, replaces=ends.deleted
            )
            copy_attributes(host, _read_attributes(host, ends.file), target)
        else:
            target = host.files.copy(
                place.tenant_id,
                ends.file.id,
                place.parent_id,
                place.name,
                on_conflict=ends.on_conflict,
                replaces=ends.deleted,
            )
    if ends.on_conflict == "replace":
        copy_attributes(host, *(_read_attributes(host, file) for file in (ends.file, target)))
    return ends.reply


def move(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Move or rename a file, or a folder with its content."""
    ends = _find_ends(host, request, resource)
    if ends.file.is_folder and request.depth != INFINITY:
        raise DavError(HTTPStatus.BAD_REQUEST, "A folder is moved with everything in it.")
    # What is shared with the caller is at the top level, and in a folder that the caller cannot see.
    is_rename = request.path[:-1] == request.destination[:-1]

    with _conflicts():
        host.files.move(
            ends.place.tenant_id,
            ends.file.id,
            UNCHANGED if is_rename else ends.place.parent_id,
            ends.place.name,
            on_conflict=ends.on_conflict,
            replaces=ends.deleted,
        )
    return ends.reply


def _find_ends(host: HostAPI, request: DavRequest, resource: Resource | None) -> _Ends:
    file, resources = require_file(resource), Resources(host)
    source, destination = request.path, request.destination
    is_inside = file.is_folder and source == destination[: len(source)]
    if destination == source[: len(destination)] or is_inside:
        text = "Nothing can be copied or moved onto itself, into itself or over a folder around it."
        raise DavError(HTTPStatus.FORBIDDEN, text)
    place = resources.find_place(destination)
    if place.tenant_id != file.tenant_id:
        # RFC 4918, section 9.9.4: the destination is on another server. Programs then copy the bytes.
        raise DavError(HTTPStatus.BAD_GATEWAY, "The destination is in another space.")
    replaced = resources.find(destination)
    if replaced is not None and not request.overwrites:
        raise DavError(HTTPStatus.PRECONDITION_FAILED, "The destination exists.")
    return _Ends(file, place, None if replaced is None else replaced.file)


@contextmanager
def _conflicts() -> Iterator[None]:
    """Answer 412 if another request has changed the destination in the meantime."""
    try:
        yield
    except ApiError as error:
        if error.code in _CONFLICTS:
            raise DavError(HTTPStatus.PRECONDITION_FAILED, str(error)) from error
        raise


def _read_attributes(host: HostAPI, file: FileInfo) -> FileInfo:
    return host.files.stat(file.tenant_id, file.id, with_attributes=True)
