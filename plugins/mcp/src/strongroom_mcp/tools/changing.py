"""Moves, new names, and the trash."""

from typing import Any

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.changes import UNCHANGED
from strongroom.plugin_api.host import HostAPI
from strongroom_mcp.protocol.registry import Hints, ToolResult
from strongroom_mcp.tools.arguments import MAX_REVISION, FileArguments, identifier, integer
from strongroom_mcp.tools.failures import ToolFailed
from strongroom_mcp.tools.records import data_result, file_record
from strongroom_mcp.tools.spaces import find_tenant
from strongroom_mcp.tools.tool import FileTool
from strongroom_mcp.tools.writing import name_field


class TrashArguments(FileArguments):
    """The arguments of a removal."""

    revision = integer("The revision of the file or folder, as files_stat returns it", 1, MAX_REVISION)


class MoveArguments(TrashArguments):
    """The arguments of a move."""

    folderId = identifier("Id of the new folder. Without it: the file stays where it is.")
    name = name_field("The new name. Without it: the name stays.")


def move_file(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Move or rename a file or folder, and return it."""
    tenant_id = find_tenant(host, values)
    require_within(host, values["fileId"])
    if not values.keys() & {"folderId", "name"}:
        raise ToolFailed("Name a new folderId, a new name, or both.", "invalid-arguments")
    file = host.files.move(
        tenant_id,
        values["fileId"],
        values.get("folderId", UNCHANGED),
        values.get("name"),
        revision=values["revision"],
    )
    return data_result({"tenantId": tenant_id, **file_record(file)})


def trash_file(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Move a file or folder to the trash; nothing is deleted without one."""
    tenant_id, file_id = find_tenant(host, values), values["fileId"]
    require_within(host, file_id)
    if not host.files.has_trash:
        message = "This server has no trash, and agents delete nothing permanently. Ask the user."
        raise ToolFailed(message, "no-trash")
    host.files.delete(tenant_id, file_id, revision=values["revision"])
    return data_result({"tenantId": tenant_id, "id": file_id, "trashed": True})


def require_within(host: HostAPI, file_id: str) -> None:
    """Refuse to change the folder itself that the access key is limited to.

    Raises:
        ToolFailed: it is this folder.
    """
    caller = host.caller
    if caller and caller.file_id == file_id:
        message = "This is the folder of your access key, which only the user moves or deletes."
        raise ToolFailed(message, "own-folder")


TOOLS = (
    FileTool(
        "files_move",
        "Move or rename",
        "Move a file or folder into another folder, give it a new name, or both. A taken name is an "
        "error. To move it, the access key needs the scope files:share.",
        MoveArguments,
        move_file,
        Scope.FILES_WRITE,
        Hints(),
    ),
    FileTool(
        "files_trash",
        "Move to the trash",
        "Move a file, or a folder with everything in it, to the trash, from which the user can restore "
        "it. Agents delete nothing permanently.",
        TrashArguments,
        trash_file,
        Scope.FILES_SHARE,
        Hints(is_destructive=True),
    ),
)
