"""Who can see a file or folder, and why: roles, and grants on it and on the folders around it."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Visit, current_visit
from strongroom_console.my_files.nodes import node_page, node_path, read_node
from strongroom_console.tenant.frame import tenant_path

access: Final = Blueprint("access", __name__)

ROLES: Final = {"admin": "reason-admin", "records": "reason-records", "member": "reason-member"}
"""The keys of the roles in a tenant, as reasons."""

# Each of them costs a request.
_PEOPLE: Final = 20


@access.get("/tenants/<tenant_id>/nodes/<node_id>/access")
def show_access(tenant_id: str, node_id: str) -> Any:
    """Show the user's permission; to users who manage the node, each member's with its reasons."""
    visit = current_visit()
    node = read_node(visit, tenant_id, node_id)
    if node["permission"] != "manage":
        return node_page(visit, "my_files/node_access.html", node, "access", people=None, links=None)
    page = visit.read(f"{tenant_path(tenant_id)}/members", pageSize=_PEOPLE, pageNumber=page_number())
    people = [_person(visit, node, page["included"], member) for member in page["data"]]
    return node_page(
        visit,
        "my_files/node_access.html",
        node,
        "access",
        people=people,
        roles=ROLES,
        links=page_links(page["meta"]),
    )


def _person(
    visit: Visit,
    node: Mapping[str, Any],
    included: Mapping[str, Mapping[str, str]],
    member: Mapping[str, Any],
) -> Mapping[str, Any]:
    user = included[member["user"]["$ref"]]
    path = f"{node_path(node['tenantId'], node['id'])}/access"
    explained = visit.read(path, userId=user["id"])
    return {**explained, **user, "is_me": user["id"] == visit.session.user_id}
