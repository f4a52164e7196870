"""The rows of lists of files."""

from collections.abc import Mapping
from typing import Any

from strongroom.plugin_api.file_pages import icon_of, size_text


def row(node: Mapping[str, Any], included: Mapping[str, Mapping[str, str]]) -> Mapping[str, Any]:
    """Return what a list shows of a file or folder."""
    is_folder = node["type"] == "folder"
    essence = (node.get("contentType") or "").partition(";")[0]
    owner = included.get(node["owner"]["$ref"], {})
    return {
        **node,
        "is_folder": is_folder,
        "icon": "folder" if is_folder else icon_of(essence),
        "size_text": "" if is_folder else size_text(node["size"]),
        "owner_name": owner.get("name", ""),
    }
