"""Downloads of files and of archives, and the pictures of lists."""

from typing import Any, Final

from flask import Blueprint, Response, request

from strongroom.plugin_api.visits import Visit, current_visit, join_path
from strongroom_console.my_files.selection import list_path, selected_nodes

downloads: Final = Blueprint("downloads", __name__)

_PICTURE_WIDTH: Final = 320


@downloads.get("/tenants/<tenant_id>/nodes/<node_id>/download")
def download_file(tenant_id: str, node_id: str) -> Any:
    """Send a file to be saved."""
    # After a form, browsers follow no redirect to a store, so the server sends the bytes itself.
    before = None if request.args.get("direct") != "no" else lambda _: None
    response = current_visit().host.files.send(tenant_id, node_id, before=before)
    disposition = response.headers.get("Content-Disposition", "")
    if disposition.startswith("inline"):
        # The content of users is not shown as a page of this origin.
        response.headers["Content-Disposition"] = disposition.replace("inline", "attachment", 1)
    return response


@downloads.post("/tenants/<tenant_id>/selection/download")
def download_nodes(tenant_id: str) -> Any:
    """Lead to the selected file, or to an archive of the selected nodes."""
    visit, nodes = current_visit(), selected_nodes()
    if not nodes:
        return visit.redirect(list_path(tenant_id), "nothing-selected")
    if len(nodes) == 1 and not visit.host.files.stat(tenant_id, nodes[0]).is_folder:
        return visit.redirect(f"/tenants/{tenant_id}/nodes/{nodes[0]}/download?direct=no")
    # A browser resumes the download of a path, but not a form's.
    bundle = visit.host.files.make_bundle(tenant_id, nodes)
    return visit.redirect(_bundle_path(tenant_id, bundle))


@downloads.get("/tenants/<tenant_id>/bundles/<bundle_id>")
def download_bundle(tenant_id: str, bundle_id: str) -> Any:
    """Send the archive of a selection."""
    visit = current_visit()
    return visit.host.files.send_bundle_again(tenant_id, bundle_id, location=_location(visit, tenant_id))


@downloads.get("/tenants/<tenant_id>/nodes/<node_id>/thumbnail")
def show_thumbnail(tenant_id: str, node_id: str) -> Response:
    """Send a small picture of a picture."""
    picture: Response = current_visit().host.files.send_picture(tenant_id, node_id, _PICTURE_WIDTH)
    return picture


def _location(visit: Visit, tenant_id: str) -> Any:
    return lambda bundle_id: f"{visit.root}{_bundle_path(tenant_id, bundle_id)}"


def _bundle_path(tenant_id: str, bundle_id: str) -> str:
    return join_path("/tenants", tenant_id, "bundles", bundle_id)
