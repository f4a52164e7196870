"""Lists of folders, a search by name, and the details of one file."""

from typing import Any, Final

from marshmallow import fields, validate

from strongroom.plugin_api.host import HostAPI
from strongroom_mcp.protocol.registry import ToolResult
from strongroom_mcp.tools.arguments import PageArguments, TenantArguments, identifier
from strongroom_mcp.tools.failures import ToolFailed
from strongroom_mcp.tools.records import data_result, file_record, page_result
from strongroom_mcp.tools.spaces import find_tenant
from strongroom_mcp.tools.tool import FileTool

_MAX_TEXT: Final = 255
_MAX_PATH: Final = 4096
_MAX_NAMES: Final = 32


class ListArguments(PageArguments):
    """The arguments of a list."""

    folderId = identifier("Id of the folder. Without it: the top of what you can reach.")


class SearchArguments(PageArguments):
    """The arguments of a search."""

    text = fields.String(
        required=True,
        validate=validate.Length(1, _MAX_TEXT),
        metadata={"description": "Text that the name contains; case does not matter"},
    )
    folderId = identifier("Id of a folder: find only what is in it, at any depth")
    type = fields.String(
        validate=validate.OneOf(["file", "folder"]), metadata={"description": "Find only this type"}
    )


class StatArguments(TenantArguments):
    """The arguments for details: an id, or a path."""

    fileId = identifier("Id of the file or folder")
    path = fields.String(
        validate=validate.Length(1, _MAX_PATH),
        metadata={
            "description": "Instead of fileId: names separated by /, such as reports/2026/may.txt, "
            "from the top of what you can reach"
        },
    )


def list_files(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Return a page of a folder."""
    tenant_id, folder_id = find_tenant(host, values), values.get("folderId")
    page = host.files.list(
        tenant_id, folder_id, folders_first=True, page=values["page"], size=values["pageSize"]
    )
    return page_result(tenant_id, page)


def search_files(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Return a page of the files and folders whose names contain a text."""
    tenant_id = find_tenant(host, values)
    page = host.files.search(
        tenant_id,
        values["text"],
        parent_id=values.get("folderId"),
        kind=values.get("type"),
        page=values["page"],
        size=values["pageSize"],
    )
    return page_result(tenant_id, page)


def stat_file(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Return the details of a file or folder, with its path."""
    tenant_id, file_id = find_tenant(host, values), values.get("fileId")
    if (file_id is None) == ("path" not in values):
        raise ToolFailed("Name the file either by fileId or by path.", "invalid-arguments")
    if file_id is None:
        names = [name for name in values["path"].split("/") if name]
        if not 0 < len(names) <= _MAX_NAMES:
            raise ToolFailed(f"A path has 1 to {_MAX_NAMES} names.", "invalid-arguments")
        file_id = host.files.resolve(tenant_id, names).id
    file = host.files.stat(tenant_id, file_id, with_path=True)
    return data_result({"tenantId": tenant_id, **file_record(file)})


TOOLS = (
    FileTool(
        "files_list",
        "List a folder",
        "List the files and folders in a folder, folders first, sorted by name. Without folderId, list "
        "the top of what you can reach.",
        ListArguments,
        list_files,
    ),
    FileTool(
        "files_search",
        "Find files by name",
        "Find files and folders whose names contain a text, at any depth. To find text inside of files, "
        "use files_grep.",
        SearchArguments,
        search_files,
    ),
    FileTool(
        "files_stat",
        "Get details of a file",
        "Get the name, path, size, type, checksum and revision of a file or folder.",
        StatArguments,
        stat_file,
    ),
)
