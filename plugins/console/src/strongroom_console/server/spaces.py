"""All tenants of the server: their use, quotas and deletion."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.page_lists import page_number
from strongroom.plugin_api.visits import current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.lists import PAGE_SIZE, read_matching
from strongroom_console.server.forms import field, filters
from strongroom_console.server.frame import server_page
from strongroom_console.server.questions import Question, ask
from strongroom_console.tenant.frame import tenant_path
from strongroom_console.tenant.usage import UNITS, bytes_of_form, parts_of, quota_form

spaces: Final = Blueprint("spaces", __name__, url_prefix="/server/tenants")

_SECTION: Final = "tenants/"
_TENANTS: Final = "/api/v1/tenants"


@spaces.get("/")
def list_spaces() -> Any:
    """Show all tenants."""
    visit = current_visit()
    query = filters("q")
    sought = query.get("q", "")
    tenants, _, links = read_matching(
        visit, f"{_TENANTS}", sought, lambda tenant, _: str(tenant["name"]), all="true"
    )
    own = {tenant["id"] for tenant in visit.read_all(_TENANTS).data}
    return server_page(
        visit,
        "server/spaces.html",
        _SECTION,
        rows=[_row(tenant, 1 if sought else links.number) for tenant in tenants],
        own=own,
        query=query,
        size_text=size_text,
        links=links,
    )


def _row(tenant: Mapping[str, Any], page: int) -> Mapping[str, Any]:
    """Return what the list shows of a tenant.

    Args:
        page: the page of the list without a search.
    """
    used, quota = tenant["usedBytes"], tenant["quotaBytes"]
    percent = min(100, used * 100 // quota) if quota else 0
    return {**tenant, "used": size_text(used), "percent": percent, "page": page}


@spaces.get("/<tenant_id>/")
def show_space(tenant_id: str) -> Any:
    """Show the usage of a tenant, with the form of its quota."""
    visit = current_visit()
    numbers = visit.read(tenant_path(tenant_id, "usage"))
    quota = numbers["quotaBytes"]
    return server_page(
        visit,
        "server/space.html",
        _SECTION,
        tenant_id=tenant_id,
        name=_name(tenant_id),
        space_root=f"{visit.root}{_here(tenant_id)}",
        query=_list_query(),
        used=size_text(numbers["usedBytes"]),
        quota=None if quota is None else size_text(quota),
        free=None if quota is None else size_text(max(0, numbers["freeBytes"])),
        parts=parts_of(numbers),
        form=quota_form(quota),
        units=UNITS,
    )


@spaces.post("/<tenant_id>/quota")
def set_quota(tenant_id: str) -> Any:
    """Set the quota of a tenant."""
    visit = current_visit()
    response = visit.rest("PATCH", tenant_path(tenant_id), {"quotaBytes": bytes_of_form()})
    return visit.follow(response, _here(tenant_id), "quota-saved")


@spaces.get("/<tenant_id>/deletion")
def ask_about_deletion(tenant_id: str) -> Any:
    """Show the question before the deletion."""
    return _ask(tenant_id)


@spaces.post("/<tenant_id>/deletion")
def delete_space(tenant_id: str) -> Any:
    """Delete a tenant with its files; with a reason, also those that are retained."""
    visit = current_visit()
    reason = field("reason")
    query = f"?{urlencode({'overrideReason': reason})}" if reason else ""
    response = visit.rest("DELETE", tenant_path(tenant_id) + query)
    if response.error == "error.retained":
        return _ask(tenant_id, response)
    if response.error is not None:
        return visit.follow(response, f"{_here(tenant_id)}deletion?{_list_query()}")
    return visit.redirect("/server/tenants/", "space-was-deleted")


def _here(tenant_id: str) -> str:
    return f"/server{tenant_path(tenant_id).removeprefix('/api/v1')}/"


def _list_query() -> str:
    return urlencode({"page": page_number()})


def _page() -> Any:
    return current_visit().read(_TENANTS, all="true", pageSize=PAGE_SIZE, pageNumber=page_number())


def _ask(tenant_id: str, refusal: RestResponse | None = None) -> Any:
    """Ask about the deletion; after a refusal of retained files, for a reason, too."""
    usage = current_visit().read(tenant_path(tenant_id, "usage"))
    question = Question(
        heading="delete-space-named",
        name=_name(tenant_id),
        hint="delete-space-hint",
        button="delete-space",
        action=f"{_here(tenant_id)}deletion?{_list_query()}",
        back=f"{_here(tenant_id)}?{_list_query()}",
        facts={"used": size_text(usage["usedBytes"]), "space-id": tenant_id},
        reason=None if refusal is None else "deletion-override",
    )
    return ask(_SECTION, question, refusal)


def _name(tenant_id: str) -> str:
    """Return the name of a tenant, which only the list has; the query names the page of the list."""
    names = {tenant["id"]: str(tenant["name"]) for tenant in _page()["data"]}
    if tenant_id not in names:
        # A search leads to tenants of all pages.
        listed = current_visit().read_all(_TENANTS, all="true").data
        names = {tenant["id"]: str(tenant["name"]) for tenant in listed}
    return names.get(tenant_id, tenant_id)
