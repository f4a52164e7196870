"""What all pages of one file or folder share: its name, the path to it, and the tabs."""

from collections.abc import Mapping
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


def essence_of(node: Mapping[str, Any]) -> str:
    """Return the media type of a file without its parameters."""
    return str(node["contentType"] or "").partition(";")[0]


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
        icon_name=_icon(node),
        node_root=root,
        tabs=tabs,
        tab=f"{root}/{tab}" if tab else root,
        crumbs=crumbs(visit, node),
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


def _icon(node: Mapping[str, Any]) -> str:
    return "folder" if node["type"] == "folder" else get_icon(essence_of(node))
