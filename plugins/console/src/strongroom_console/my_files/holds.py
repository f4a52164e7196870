"""The holds that keep a file or folder: shown, placed and released."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import Visit, current_visit
from strongroom_console.my_files.ends import requested_end
from strongroom_console.my_files.nodes import node_page, node_page_path, node_path, read_node
from strongroom_console.my_files.versions import override_query
from strongroom_console.tenant.frame import tenant_path

holds: Final = Blueprint("holds", __name__)

_HOLD: Final = "/tenants/<tenant_id>/nodes/<node_id>/hold"


@holds.get(_HOLD)
def show_holds(tenant_id: str, node_id: str) -> Any:
    """Show the holds on a file or folder and around it, and the forms that change its own."""
    visit = current_visit()
    node = read_node(visit, tenant_id, node_id)
    in_force = _in_force(visit, tenant_id, node_id)
    return node_page(
        visit,
        "my_files/node_hold.html",
        node,
        "hold",
        holds=in_force,
        own=next((hold for hold in in_force if hold["fileId"] == node_id), None),
    )


@holds.post(_HOLD)
def place_hold(tenant_id: str, node_id: str) -> Any:
    """Place a hold, or replace the one of the file or folder itself."""
    visit = current_visit()
    body = {"reason": request.form.get("reason", "").strip(), "until": requested_end()}
    response = visit.rest("PUT", f"{node_path(tenant_id, node_id)}/hold", body)
    return visit.follow(response, node_page_path(tenant_id, node_id, "hold"), "hold-placed")


@holds.post(f"{_HOLD}/release")
def release_hold(tenant_id: str, node_id: str) -> Any:
    """Release the hold of the file or folder itself."""
    visit = current_visit()
    response = visit.rest("DELETE", f"{node_path(tenant_id, node_id)}/hold{override_query()}")
    return visit.follow(response, node_page_path(tenant_id, node_id, "hold"), "hold-released")


def _in_force(visit: Visit, tenant_id: str, node_id: str) -> Sequence[Mapping[str, Any]]:
    """Return the holds with the names of those who placed them."""
    records = visit.read_all(f"{tenant_path(tenant_id)}/holds", fileId=node_id)
    return [
        {**hold, "by": records.included.get(hold["placedBy"]["$ref"], {}).get("name", "")}
        for hold in records.data
    ]
