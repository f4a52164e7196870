"""COPY and MOVE (RFC 4918, sections 9.8 and 9.9)."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from secrets import token_hex
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

_NAME_CONFLICT: Final = "error.name-conflict"

Transfer = Callable[[Place, str, OnConflict], FileInfo]
"""Puts a copy, or the moved file itself, into a place under a name."""


@dataclass(frozen=True, slots=True)
class _Ends:
    """The source and the destination of a request.

    Args:
        replaced: what is at the destination.
    """

    file: FileInfo
    place: Place
    replaced: FileInfo | None


def copy(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Copy a file, or a folder with its content."""
    ends = _find_ends(host, request, resource)
    if request.depth not in (0, INFINITY):
        raise DavError(HTTPStatus.BAD_REQUEST, "Depth must be 0 or infinity.")
    is_shallow = ends.file.is_folder and request.depth == 0

    def transfer(place: Place, name: str, on_conflict: OnConflict) -> FileInfo:
        if is_shallow:
            folder = host.files.create_folder(place.tenant_id, place.parent_id, name)
            copy_attributes(host, _read_attributes(host, ends.file), folder)
            return folder
        return host.files.copy(
            place.tenant_id, ends.file.id, place.parent_id, name, on_conflict=on_conflict
        )

    if ends.replaced is None:
        return _created(transfer, ends)
    if ends.file.is_folder or ends.replaced.is_folder:
        copied = transfer(ends.place, _temporary_name(), "fail")
        _put_in_place(host, copied, ends, undo=lambda: _remove(host, copied))
    else:
        target = transfer(ends.place, ends.place.name, "replace")
        copy_attributes(host, *(_read_attributes(host, file) for file in (ends.file, target)))
    return Reply(HTTPStatus.NO_CONTENT)


def move(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Move or rename a file, or a folder with its content."""
    ends = _find_ends(host, request, resource)
    if ends.file.is_folder and request.depth != INFINITY:
        raise DavError(HTTPStatus.BAD_REQUEST, "A folder is moved with everything in it.")
    # What is shared with the caller is at the top level, and in a folder that the caller cannot see.
    is_rename = request.path[:-1] == request.destination[:-1]

    def transfer(place: Place, name: str, on_conflict: OnConflict) -> FileInfo:
        parent_id = UNCHANGED if is_rename else place.parent_id
        return host.files.move(place.tenant_id, ends.file.id, parent_id, name, on_conflict=on_conflict)

    if ends.replaced is None:
        return _created(transfer, ends)
    if ends.file.is_folder or ends.replaced.is_folder:
        moved = transfer(ends.place, _temporary_name(), "fail")
        _put_in_place(host, moved, ends, undo=lambda: _move_back(host, ends.file, is_rename=is_rename))
    else:
        transfer(ends.place, ends.place.name, "replace")
    return Reply(HTTPStatus.NO_CONTENT)


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


def _created(transfer: Transfer, ends: _Ends) -> Reply:
    try:
        transfer(ends.place, ends.place.name, "fail")
    except ApiError as error:
        if error.code == _NAME_CONFLICT:
            raise DavError(HTTPStatus.PRECONDITION_FAILED, str(error)) from error
        raise
    return Reply(HTTPStatus.CREATED, {"Content-Length": "0"})


def _put_in_place(host: HostAPI, file: FileInfo, ends: _Ends, *, undo: Callable[[], object]) -> None:
    """Delete what is at the destination, and give a file or folder its name.

    The file or folder has a temporary name next to it. So everything that can be refused is refused
    before something is deleted.
    """
    if ends.replaced is not None:
        try:
            host.files.delete(ends.replaced.tenant_id, ends.replaced.id)
        except ApiError:
            undo()
            raise
    host.files.move(file.tenant_id, file.id, name=ends.place.name)


def _read_attributes(host: HostAPI, file: FileInfo) -> FileInfo:
    return host.files.stat(file.tenant_id, file.id, with_attributes=True)


def _temporary_name() -> str:
    return f".transfer-{token_hex(8)}"


def _remove(host: HostAPI, copied: FileInfo) -> None:
    host.files.delete(copied.tenant_id, copied.id)


def _move_back(host: HostAPI, file: FileInfo, *, is_rename: bool) -> None:
    parent_id = UNCHANGED if is_rename else file.parent_id
    host.files.move(file.tenant_id, file.id, parent_id, file.name)
