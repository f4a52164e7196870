"""The rows of lists of files."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from strongroom.plugin_api.file_pages import size_text
from strongroom_console.my_files.nodes import node_icon
from strongroom_console.my_files.previews import UNREADABLE, type_preview

_ANONYMOUS: Final[Mapping[str, str]] = {"name": ""}
# The same pages are shown again and again.
_size_text = lru_cache(maxsize=4096)(size_text)


def rows_of(page: Mapping[str, Any], user_id: str) -> Mapping[str, Any]:
    """Return the rows of a page of files and folders, and what its list needs for them.

    Args:
        user_id: the user, whose own nodes need no owner in the list.
    """
    included = page["included"]
    # Hot: without a function for a row, because a page has a hundred of them.
    rows = [
        {
            **node,
            "is_folder": node["type"] == "folder",
            "icon": node_icon(node["contentType"]),
            "size_text": "" if node["type"] == "folder" else _size_text(node["size"]),
            "owner_name": included.get(node["owner"]["$ref"], _ANONYMOUS)["name"],
            "is_picture": node["scan"] not in UNREADABLE
            and type_preview(node["contentType"]) == "picture",
        }
        for node in page["data"]
    ]
    permissions = {row["permission"] for row in rows}
    return {
        "rows": rows,
        "kinds_of_rows": {row["icon"] for row in rows},
        "has_other_owners": not {row["owner"]["$ref"] for row in rows} <= {user_id},
        "can_rename": not permissions.isdisjoint(("write", "manage")),
        "can_remove": "manage" in permissions,
    }
