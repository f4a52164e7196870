"""The first page: the tenants of the user, recent files, and what others share."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.times import iso_format
from strongroom_console.ages import ages
from strongroom_console.my_files.nodes import node_icon
from strongroom_console.server.first_steps import open_steps
from strongroom_console.tenant.frame import tenant_path
from strongroom_console.tenant.member_list import ROLES
from strongroom_console.visit import ConsoleVisit, console_visit

home: Final = Blueprint("home", __name__)

MOST_SPACES: Final = 100
"""The spaces of the switcher; the page of all spaces has the others."""

CARDS: Final = 12
"""The tenants of a page."""

FACES: Final = 3
"""The members whose initials a card shows."""

MOST_SEARCHED: Final = 3
"""The tenants whose recent files are shown."""

MOST_RECENT: Final = 6
MOST_SHARED: Final = 5

Json = Mapping[str, Any]

_RECENT: Final = 30 * 24 * 3600 * 1000
_SHARED: Final = "/api/v1/shared-with-me"
_TENANTS: Final = "/api/v1/tenants"
_NO_MEMBERS: Final[Json] = {"included": {}, "meta": {"totalCount": 0}}


@home.get("/")
def show_home() -> Any:
    """Show the tenants, recent files and what others share; the files of the only tenant."""
    visit = console_visit()
    tenants = visit.read(_TENANTS, pageSize=CARDS, pageNumber=page_number())
    if tenants["meta"]["totalCount"] == 1 == len(tenants["data"]) and not visit.is_administrator:
        return visit.redirect(f"/tenants/{tenants['data'][0]['id']}/files/")
    return visit.page(
        "home.html",
        cards=[_card(visit, tenant) for tenant in tenants["data"]],
        recent=_recent(visit, tenants["data"][:MOST_SEARCHED]),
        shares=_shared(visit),
        steps=open_steps(visit) if visit.is_administrator else (),
        links=page_links(tenants["meta"]),
        age=ages(visit.host),
    )


def _card(visit: ConsoleVisit, tenant: Json) -> Json:
    """Return what the card of a tenant shows: the role of the user, the usage, and some people."""
    quota, used = tenant["quotaBytes"], tenant["usedBytes"]
    response = visit.rest("GET", f"{tenant_path(tenant['id'])}/members?pageSize={FACES}")
    members = _NO_MEMBERS if response.error else visit.labelled(response.json)
    return {
        **tenant,
        "role_key": ROLES.get(visit.host.tenants.role(tenant["id"]) or "", "role-member"),
        "count": members["meta"]["totalCount"],
        "people": [(person["name"], person["id"]) for person in members["included"].values()],
        "used": size_text(used),
        "quota": None if quota is None else size_text(quota),
        "percent": min(100, used * 100 // quota) if quota else 0,
    }


def _recent(visit: ConsoleVisit, tenants: Sequence[Json]) -> Sequence[Json]:
    """Return the files that have changed last, of some tenants."""
    after = iso_format(visit.host.clock.now() - _RECENT)
    query = {"type": "file", "sort": "-updatedAt", "modifiedAfter": after}
    nodes = [
        {
            **node,
            "place": tenant["name"],
            "path": f"{visit.root}/tenants/{tenant['id']}/nodes/{node['id']}",
            "icon": node_icon(node["contentType"]),
        }
        for tenant in tenants
        for node in visit.find(tenant_path(tenant["id"], "search"), pageSize=MOST_RECENT, **query)
    ]
    return sorted(nodes, key=lambda node: str(node["updatedAt"]), reverse=True)[:MOST_RECENT]


def _shared(visit: ConsoleVisit) -> Sequence[Json] | None:
    """Return what others share with the user; ``None`` if no plugin has links."""
    if not visit.host.pages.has_route("GET", _SHARED):
        return None
    return visit.find(_SHARED, pageSize=MOST_SHARED)


@home.get("/spaces")
def list_spaces() -> Any:
    """Return the list of the switcher: the spaces, without a page around them."""
    visit = console_visit()
    tenants = visit.host.tenants.list(size=MOST_SPACES)
    return visit.render("spaces.html", status=HTTPStatus.OK, tenants=tenants.items)


@home.post("/tenants")
def create_tenant() -> Any:
    """Create a tenant, and open its files."""
    visit = console_visit()
    response = visit.rest("POST", _TENANTS, {"name": request.form.get("name", "").strip()})
    if response.error is not None:
        return visit.follow(response, "/")
    return visit.follow(response, f"/tenants/{response.json['id']}/files/", "tenant-created")
