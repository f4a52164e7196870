"""Links to download a file, or to upload one, without its content in the results of tools."""

from typing import Any

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.times import iso_format
from strongroom_mcp.links import SECONDS, Link, get_url, make_link
from strongroom_mcp.protocol.registry import Hints, ToolResult
from strongroom_mcp.tools.arguments import (
    MAX_REVISION,
    FileArguments,
    TenantArguments,
    identifier,
    integer,
)
from strongroom_mcp.tools.failures import ToolFailed
from strongroom_mcp.tools.records import data_result
from strongroom_mcp.tools.spaces import find_tenant
from strongroom_mcp.tools.tool import READ_ONLY, FileTool
from strongroom_mcp.tools.writing import find_folder, name_field, require_target


class UploadLinkArguments(TenantArguments):
    """The arguments of a link for an upload."""

    name = name_field("The name of a new file; not together with fileId")
    folderId = identifier("Id of the folder. Without it: the folder of the access key.")
    fileId = identifier("Id of the file whose content is replaced; needs revision")
    revision = integer("The revision that you have read", 1, MAX_REVISION, required=False)


def link_download(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Return a link to the content of a file."""
    file = host.files.stat(find_tenant(host, values), values["fileId"])
    if file.is_folder:
        raise ToolFailed("This is a folder. Use files_list for its files.", "error.not-a-file")
    return _link_result(host, make_link(host, "downloads", file.tenant_id, file.id), "GET")


def link_upload(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Return a link that stores the body of a request."""
    tenant_id = find_tenant(host, values)
    require_target(values)
    target_id = values.get("fileId") or find_folder(host, values)
    if target_id is None:
        raise ToolFailed("Name the folder by folderId.", "invalid-arguments")
    # Whether it exists within the reach of the caller; rights are checked by the upload itself.
    host.files.stat(tenant_id, target_id)
    link = make_link(
        host,
        "uploads",
        tenant_id,
        target_id,
        name=values.get("name"),
        revision=values.get("revision"),
    )
    return _link_result(host, link, "PUT")


def _link_result(host: HostAPI, link: Link, method: str) -> ToolResult:
    return data_result(
        {
            "url": get_url(host, link),
            "method": method,
            "expiresAt": iso_format(link.expires_at),
        }
    )


TOOLS = (
    FileTool(
        "files_download_link",
        "Link a download",
        "Get a URL by which a program downloads a file without a token, for large or binary files. "
        f"Anyone who has it can open it for {SECONDS['downloads']} seconds.",
        FileArguments,
        link_download,
        hints=READ_ONLY,
    ),
    FileTool(
        "files_upload_link",
        "Link an upload",
        "Get a URL that takes the content of a file as the body of one PUT without a token, for large "
        "or binary files: a new file by name, or new content of a file by fileId and revision. Anyone "
        f"who has it can use it for {SECONDS['uploads'] // 60} minutes. A taken name, or a file that "
        "has changed meanwhile, is never overwritten.",
        UploadLinkArguments,
        link_upload,
        Scope.FILES_WRITE,
        Hints(is_destructive=True),
    ),
)
