"""New files and folders, and new content of a file that has not changed meanwhile."""

import base64
import io
from binascii import Error as Base64Error
from typing import Any, Final

from marshmallow import fields, validate

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom_mcp.protocol.registry import Hints, ToolResult
from strongroom_mcp.tools.arguments import MAX_REVISION, TenantArguments, identifier, integer
from strongroom_mcp.tools.failures import ToolFailed
from strongroom_mcp.tools.records import data_result, file_record
from strongroom_mcp.tools.spaces import find_tenant
from strongroom_mcp.tools.tool import FileTool

MAX_BYTES: Final = 512 * 1024
"""The most bytes of a file that one call writes."""

_MAX_NAME: Final = 255
_MAX_TEXT: Final = MAX_BYTES * 4 // 3 + 4
"""The most characters of content, which is perhaps Base64."""

_FOLDER: Final = "Id of the folder. Without it: the folder of the access key, or the top of the space."


def name_field(description: str, *, required: bool = False) -> fields.String:
    """Return the field of the name of a file or folder."""
    return fields.String(
        required=required,
        validate=validate.Length(1, _MAX_NAME),
        metadata={"description": description},
    )


class WriteArguments(TenantArguments):
    """The arguments for a new file, or for new content of a file."""

    name = name_field("The name of a new file; not together with fileId")
    folderId = identifier(_FOLDER)
    fileId = identifier("Id of the file whose content is replaced; needs revision")
    revision = integer("The revision that you have read", 1, MAX_REVISION, required=False)
    content = fields.String(
        required=True,
        validate=validate.Length(0, _MAX_TEXT),
        metadata={"description": f"The whole content, at most {MAX_BYTES} bytes"},
    )
    encoding = fields.String(
        load_default="text",
        validate=validate.OneOf(["text", "base64"]),
        metadata={"description": "How content is encoded: text is stored as UTF-8"},
    )


class FolderArguments(TenantArguments):
    """The arguments for a new folder."""

    name = name_field("The name of the new folder", required=True)
    folderId = identifier(_FOLDER)


def find_folder(host: HostAPI, values: dict[str, Any]) -> str | None:
    """Return the folder that the arguments name, or the one that the access key is limited to."""
    caller = host.caller
    folder_id: str | None = values.get("folderId") or (caller.file_id if caller else None)
    return folder_id


def write_file(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Create a file, or replace the content of one, and return it."""
    tenant_id, content = find_tenant(host, values), decode_content(values)
    source, file_id = io.BytesIO(content), values.get("fileId")
    require_target(values)
    if file_id is None:
        folder_id = find_folder(host, values)
        file = host.files.upload(tenant_id, folder_id, values["name"], source, size=len(content))
    else:
        file = host.files.replace(
            tenant_id, file_id, source, size=len(content), revision=values["revision"]
        )
    return data_result({"tenantId": tenant_id, **file_record(file)})


def require_target(values: dict[str, Any]) -> None:
    """Require either the name of a new file, or the id and the revision of an existing one.

    Raises:
        ToolFailed: the arguments have both, or neither.
    """
    if ("fileId" in values) == ("name" in values) or ("fileId" in values) != ("revision" in values):
        message = "Name either a new file by name, or an existing one by fileId with its revision."
        raise ToolFailed(message, "invalid-arguments")


def decode_content(values: dict[str, Any]) -> bytes:
    """Return the bytes of the content.

    Raises:
        ToolFailed: it is malformed, or too large.
    """
    text: str = values["content"]
    try:
        is_text = values["encoding"] == "text"
        content = text.encode() if is_text else base64.b64decode(text, validate=True)
    except (Base64Error, ValueError) as error:
        raise ToolFailed("The content is not valid Base64.", "invalid-arguments") from error
    if len(content) > MAX_BYTES:
        raise ToolFailed(f"One call writes at most {MAX_BYTES} bytes.", "too-large")
    return content


def create_folder(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Create a folder, and return it."""
    tenant_id = find_tenant(host, values)
    folder = host.files.create_folder(tenant_id, find_folder(host, values), values["name"])
    return data_result({"tenantId": tenant_id, **file_record(folder)})


TOOLS = (
    FileTool(
        "files_write",
        "Write a file",
        "Create a file by name, or replace the content of a file by fileId and the revision that you "
        "have read. A file that has changed meanwhile, or a taken name, is never overwritten. The "
        "former content stays a version if the server keeps versions.",
        WriteArguments,
        write_file,
        Scope.FILES_WRITE,
        Hints(is_destructive=True),
    ),
    FileTool(
        "folders_create",
        "Create a folder",
        "Create a folder in a folder.",
        FolderArguments,
        create_folder,
        Scope.FILES_WRITE,
        Hints(),
    ),
)
