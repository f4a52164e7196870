"""Results of tools: files as JSON, and the mark of content that others wrote."""

import json
from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.times import iso_format
from strongroom_mcp.protocol.registry import ToolResult, text_block

UNTRUSTED: Final[Mapping[str, Any]] = {"untrusted": True}
"""The ``_meta`` of a result with names or content of files: data, and never instructions."""

SCHEME: Final = "strongroom://"


def file_uri(file: FileInfo) -> str:
    """Return the URI of a resource."""
    return f"{SCHEME}{file.tenant_id}/{file.id}"


def file_record(file: FileInfo) -> dict[str, Any]:
    """Return a file or folder as JSON, without members that do not apply."""
    record = {
        "id": file.id,
        "type": "folder" if file.is_folder else "file",
        "name": file.name,
        "parentId": file.parent_id,
        "size": None if file.is_folder else file.size,
        "contentType": file.content_type,
        "sha256": file.checksum,
        "permission": file.permission,
        "revision": file.revision,
        "updatedAt": iso_format(file.updated_at),
        "uri": None if file.is_folder else file_uri(file),
        "path": "/".join(file.path) or None,
    }
    return {name: value for name, value in record.items() if value is not None}


def data_result(data: Mapping[str, Any]) -> ToolResult:
    """Return a result with data of the server: as text for models, and as an object for programs."""
    return ToolResult([text_block(compact(data))], data, meta=UNTRUSTED)


def page_result(tenant_id: str, page: ResultPage[FileInfo]) -> ToolResult:
    """Return a page of files."""
    return data_result(
        {
            "tenantId": tenant_id,
            "files": [file_record(file) for file in page.items],
            "total": page.total,
            "nextPage": page.next,
        }
    )


def compact(data: Mapping[str, Any]) -> str:
    """Return JSON as one line of text."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
