"""The rows of lists of files."""

from collections.abc import Mapping
from typing import Any

from strongroom.plugin_api.file_pages import get_icon, size_text
from strongroom_console.my_files.nodes import essence_of
from strongroom_console.my_files.previews import preview_of


def rows_of(page: Mapping[str, Any], user_id: str) -> Mapping[str, Any]:
    """Return the rows of a page of files and folders, and what its list needs for them.

    Args:
        user_id: the user, whose own nodes need no owner in the list.
    """
    rows = [row(node, page["included"]) for node in page["data"]]
    permissions = {row["permission"] for row in rows}
    return {
        "rows": rows,
        "has_other_owners": any(row["owner"]["$ref"] != user_id for row in rows),
        "can_rename": not permissions.isdisjoint(("write", "manage")),
        "can_remove": "manage" in permissions,
    }


def row(node: Mapping[str, Any], included: Mapping[str, Mapping[str, str]]) -> Mapping[str, Any]:
    """Return what a list shows of a file or folder."""
    is_folder = node["type"] == "folder"
    owner = included.get(node["owner"]["$ref"], {})
    return {
        **node,
        "is_folder": is_folder,
        "icon": "folder" if is_folder else get_icon(essence_of(node)),
        "size_text": "" if is_folder else size_text(node["size"]),
        "owner_name": owner.get("name", ""),
        "is_picture": preview_of(node) == "picture",
    }
