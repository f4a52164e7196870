"""The webhooks of a tenant, if their plugin is enabled: the list, new ones, and their secrets."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Visit, current_visit, is_form_error, join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_console.file_actions import ACTIONS
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.tenant.frame import page_path, tenant_page

webhooks: Final = Blueprint("webhooks", __name__, url_prefix="/tenants/<tenant_id>/webhooks")

SECTION: Final = "webhooks/"
ENDPOINTS: Final = "/api/v1/webhook-endpoints"
"""The path of the endpoints in the REST API."""

EVENTS: Final = {
    "*": "all-events",
    "file.*": "all-file-events",
    "folder.*": "all-folder-events",
    **ACTIONS,
}
"""The keys of the types and groups of events."""

STATES: Final = {"enabled": "webhook-enabled", "disabled": "webhook-disabled"}
"""The keys of the states of endpoints."""


@webhooks.get("/")
def show_webhooks(tenant_id: str) -> Any:
    """List the endpoints."""
    visit = current_visit()
    page = visit.read(ENDPOINTS, tenantId=tenant_id, pageSize=PAGE_SIZE, pageNumber=page_number())
    return tenant_page(
        visit,
        "tenant/webhooks.html",
        tenant_id,
        SECTION,
        rows=page["data"],
        links=page_links(page["meta"]),
        states=STATES,
        events=EVENTS,
    )


@webhooks.get("/new")
def show_new_webhook(tenant_id: str) -> Any:
    """Show the form of a new endpoint."""
    return _form(tenant_id, {"url": "", "description": "", "eventTypes": ["*"], "ordered": True})


@webhooks.post("/new")
def create_webhook(tenant_id: str) -> Any:
    """Create an endpoint, and show its secret, which the server does not show again."""
    visit = current_visit()
    body = {**endpoint_of_form(), "tenantId": tenant_id}
    response = visit.rest("POST", ENDPOINTS, body)
    if is_form_error(response):
        return _form(tenant_id, body, response)
    if response.error is not None:
        return visit.follow(response, page_path(tenant_id, "webhooks") + "new")
    return secret_page(tenant_id, response.json["id"], response)


def _form(tenant_id: str, endpoint: Mapping[str, Any], refusal: RestResponse | None = None) -> Any:
    visit = current_visit()
    return tenant_page(
        visit,
        "tenant/webhook_new.html",
        tenant_id,
        SECTION,
        refusal=refusal,
        endpoint=endpoint,
        types=event_types(visit, endpoint["eventTypes"]),
        events=EVENTS,
    )


def secret_page(tenant_id: str, endpoint_id: str, response: RestResponse) -> Any:
    """Return the page with a new secret; neither a URL nor a cookie has it."""
    return tenant_page(
        current_visit(),
        "tenant/secret.html",
        tenant_id,
        SECTION,
        secret=response.json["secret"],
        public_key=response.json["publicKey"],
        following=page_path(tenant_id, "webhooks", endpoint_id),
        title="new-secret",
    )


def endpoint_of_form() -> Mapping[str, Any]:
    """Return what the form of an endpoint has, as the REST API expects it."""
    form = request.form
    return {
        "url": form.get("url", "").strip(),
        "description": form.get("description", "").strip(),
        "eventTypes": form.getlist("types"),
        "ordered": "ordered" in form,
    }


def event_types(visit: Visit, chosen: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the offered types of events by their groups, with all that are chosen already."""
    known = visit.host.events.types()
    names = sorted(name for name, kind in known.items() if kind.is_of_tenant_stream)
    groups = dict[str, list[str]]()
    for name in dict.fromkeys((*names, *chosen)):
        subject, _, event = name.partition(".")
        if event:
            types = groups.setdefault(f"{subject}.*", [])
            types += [name] if event != "*" else []
    return groups


def find_endpoint(visit: Visit, tenant_id: str, endpoint_id: str) -> Mapping[str, Any]:
    """Return an endpoint of a tenant.

    Raises:
        NotFound: it belongs to another tenant.
        Refused: it does not exist, or the user may not see it.
    """
    endpoint: Mapping[str, Any] = visit.read(join_path(ENDPOINTS, endpoint_id))
    if endpoint["tenantId"] != tenant_id:
        raise NotFound
    return endpoint
