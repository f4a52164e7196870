"""What all pages of one file or folder share: its name, the path to it, and the tabs."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from strongroom.plugin_api.file_pages import get_icon, size_text
from strongroom.plugin_api.visits import Visit
from strongroom_console.my_files.folders import crumbs
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path

LEVELS: Final[Mapping[str, str]] = {
    "read": "level-read",
    "write": "level-write",
    "manage": "level-manage",
}
"""The keys of the permissions that can be granted, from the lowest on."""

PERMISSIONS: Final[Mapping[str, str]] = {"none": "level-none", **LEVELS}
"""The keys of all permissions."""


def node_path(tenant_id: str, node_id: str) -> str:
    """Return the path of a file or folder in the REST API."""
    return tenant_path(tenant_id, "files", node_id)


def node_page_path(tenant_id: str, node_id: str, tab: str = "") -> str:
    """Return the path of the page of a file or folder, below the console's."""
    path = page_path(tenant_id, "nodes", node_id)
    return f"{path}{tab}" if tab else path.rstrip("/")


def read_node(visit: Visit, tenant_id: str, node_id: str) -> Mapping[str, Any]:
    """Return a file or folder with its path.

    Raises:
        Refused: it is missing, or the user may not see it.
    """
    node: Mapping[str, Any] = visit.read(node_path(tenant_id, node_id), include="path")
    return node


# A list has few media types.
@lru_cache(maxsize=256)
def node_icon(content_type: str | None) -> str:
    """Return the name of the icon of a file with a media type, or of a folder, which has none."""
    return "folder" if content_type is None else get_icon(media_essence(content_type))


def media_essence(content_type: str) -> str:
    """Return a media type without its parameters."""
    return content_type.partition(";")[0]


def node_page(visit: Visit, template: str, node: Mapping[str, Any], tab: str = "", **values: Any) -> Any:
    """Return the response with a page of a file or folder.

    Args:
        node: the result of :func:`read_node`.
        tab: the path of the tab that the page belongs to.
    """
    tenant_id = node["tenantId"]
    root = f"{visit.root}{node_page_path(tenant_id, node['id'])}"
    tabs = {f"{root}/{path}" if path else root: key for path, key in _tabs(visit, node).items()}
    return tenant_page(
        visit,
        template,
        tenant_id,
        "files/",
        node=node,
        is_folder=node["type"] == "folder",
        icon_name=node_icon(node["contentType"]),
        node_root=root,
        tabs=tabs,
        tab=f"{root}/{tab}" if tab else root,
        crumbs=crumbs(visit, tenant_id, node["path"]),
        size_text=size_text,
        levels=LEVELS,
        permissions=PERMISSIONS,
        **values,
    )


def _tabs(visit: Visit, node: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the keys of the tabs that the user may open, by their paths."""
    tabs = {"": "tab-details"}
    if node["type"] == "file":
        tabs["versions"] = "tab-versions"
    if node["permission"] == "manage":
        tabs["share"] = "tab-share"
    tabs["access"] = "tab-access"
    role = visit.host.tenants.role(node["tenantId"])
    if role in ("admin", "records"):
        tabs["hold"] = "tab-hold"
    if role == "admin":
        tabs["activity"] = "tab-activity"
    return tabs
