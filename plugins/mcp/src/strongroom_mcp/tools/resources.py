"""Files as resources, by URIs such as ``strongroom://{tenantId}/{fileId}``."""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_mcp.protocol.registry import (
    Client,
    InvalidCursor,
    ResourceNotFound,
    ResourcePage,
    Resources,
)
from strongroom_mcp.tools.failures import ToolFailed, translate
from strongroom_mcp.tools.reading import MAX_BYTES, decode_text, read_bytes
from strongroom_mcp.tools.records import SCHEME, file_uri
from strongroom_mcp.tools.tool import record_call

_URI: Final = re.compile(re.escape(SCHEME) + r"([A-Za-z0-9-]{1,36})/([A-Za-z0-9-]{1,36})")
_PAGE: Final = 100
_PAGE_NUMBER: Final = re.compile("[1-9][0-9]{0,4}")
_READ: Final = "resources/read"

TEMPLATE: Final[Mapping[str, Any]] = {
    "uriTemplate": f"{SCHEME}{{tenantId}}/{{fileId}}",
    "name": "file",
    "title": "File",
    "description": f"A file of up to {MAX_BYTES} bytes, by the ids of its space and its own.",
}


def make_resources(host: HostAPI) -> Resources:
    """Return the resources of a host."""

    def list_page(cursor: str | None) -> ResourcePage:
        return list_resources(host, cursor)

    def read(uri: str, client: Client) -> Sequence[Mapping[str, Any]]:
        return read_resource(host, uri, client)

    return Resources(list_page, read, [TEMPLATE])


def list_resources(host: HostAPI, cursor: str | None) -> ResourcePage:
    """Return the files at the top of what an access key is limited to; nothing without such a limit."""
    if cursor is not None and not _PAGE_NUMBER.fullmatch(cursor):
        raise InvalidCursor
    caller = host.caller
    if caller is None or caller.tenant_id is None:
        return ResourcePage([])
    try:
        page = host.files.list(caller.tenant_id, caller.file_id, page=int(cursor or 1), size=_PAGE)
    except ApiError as error:
        # The folder was deleted, or is a file.
        translate(error)
        return ResourcePage([])
    files = [_describe(file) for file in page.items if not file.is_folder]
    return ResourcePage(files, None if page.next is None else str(page.next))


def read_resource(host: HostAPI, uri: str, client: Client) -> Sequence[Mapping[str, Any]]:
    """Return the content of a small file, and record the call.

    Raises:
        ResourceNotFound: the file does not exist within the caller's reach, or is too large.
    """
    match = _URI.fullmatch(uri)
    if match is None:
        raise ResourceNotFound
    arguments = {"tenantId": match[1], "fileId": match[2]}
    try:
        contents = _read(host, *match.groups())
    except ToolFailed as error:
        record_call(host, _READ, arguments, client, error)
        raise ResourceNotFound(str(error)) from error
    record_call(host, _READ, arguments, client)
    return contents


def _read(host: HostAPI, tenant_id: str, file_id: str) -> Sequence[Mapping[str, Any]]:
    try:
        file = host.files.stat(tenant_id, file_id)
        if file.size > MAX_BYTES:
            raise ToolFailed(f"It has more than {MAX_BYTES} bytes; use files_read.", "too-large")
        data = read_bytes(host, file, 0, MAX_BYTES)
    except ApiError as error:
        raise translate(error) from error
    return [{"uri": file_uri(file), **_media_type(file), **_content(data)}]


def _content(data: bytes) -> dict[str, str]:
    try:
        return {"text": decode_text(data, is_last=True)[0]}
    except ToolFailed:
        return {"blob": base64.b64encode(data).decode("ascii")}


def _describe(file: FileInfo) -> dict[str, Any]:
    return {"uri": file_uri(file), "name": file.name, "size": file.size, **_media_type(file)}


def _media_type(file: FileInfo) -> dict[str, str]:
    return {"mimeType": file.content_type} if file.content_type else {}
