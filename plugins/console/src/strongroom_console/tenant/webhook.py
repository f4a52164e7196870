"""One webhook of a tenant: what it is, and what administrators do with it."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import current_visit, is_form_error, join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_console.numbers import form_number
from strongroom_console.tenant.forms import OVERLAPS
from strongroom_console.tenant.frame import page_path, tenant_page
from strongroom_console.tenant.member_list import member_names
from strongroom_console.tenant.webhooks import (
    ENDPOINTS,
    EVENTS,
    SECTION,
    STATES,
    endpoint_of_form,
    event_types,
    find_endpoint,
    secret_page,
)

webhook: Final = Blueprint("webhook", __name__, url_prefix="/tenants/<tenant_id>/webhooks/<endpoint_id>")


@webhook.get("/")
def show_webhook(tenant_id: str, endpoint_id: str) -> Any:
    """Show an endpoint with its form and actions."""
    return _page(tenant_id, endpoint_id)


@webhook.post("/")
def change_webhook(tenant_id: str, endpoint_id: str) -> Any:
    """Change an endpoint."""
    changes = endpoint_of_form()
    response = _patch(tenant_id, endpoint_id, changes)
    if is_form_error(response):
        return _page(tenant_id, endpoint_id, response, changes)
    page = page_path(tenant_id, "webhooks", endpoint_id)
    return current_visit().follow(response, page, "webhook-saved")


@webhook.post("/status")
def set_status(tenant_id: str, endpoint_id: str) -> Any:
    """Enable or disable an endpoint."""
    status = request.form.get("status", "")
    response = _patch(tenant_id, endpoint_id, {"status": status})
    page = page_path(tenant_id, "webhooks", endpoint_id)
    return current_visit().follow(response, page, STATES.get(status))


def _patch(tenant_id: str, endpoint_id: str, changes: Mapping[str, Any]) -> RestResponse:
    visit = current_visit()
    find_endpoint(visit, tenant_id, endpoint_id)
    body = {**changes, "revision": form_number("revision")}
    return visit.rest("PATCH", join_path(ENDPOINTS, endpoint_id), body)


def _page(
    tenant_id: str,
    endpoint_id: str,
    refusal: RestResponse | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Any:
    visit = current_visit()
    endpoint = find_endpoint(visit, tenant_id, endpoint_id)
    form = {**endpoint, **(changes or {})}
    names = member_names(visit, tenant_id)
    return tenant_page(
        visit,
        "tenant/webhook.html",
        tenant_id,
        SECTION,
        refusal=refusal,
        stored=endpoint,
        endpoint=form,
        owner_name=names.get(endpoint["ownerId"]),
        types=event_types(visit, form["eventTypes"]),
        events=EVENTS,
        states=STATES,
        overlaps=OVERLAPS,
    )


def _act(tenant_id: str, endpoint_id: str, action: str, body: Any = None) -> RestResponse:
    """Send one of the actions on an endpoint to the REST API."""
    visit = current_visit()
    find_endpoint(visit, tenant_id, endpoint_id)
    return visit.rest("POST", join_path(ENDPOINTS, endpoint_id, action), body)


@webhook.get("/secret")
def leave_secret(tenant_id: str, endpoint_id: str) -> Any:
    """Lead from the address of a secret, which is shown once, to the endpoint."""
    return current_visit().redirect(page_path(tenant_id, "webhooks", endpoint_id))


@webhook.post("/secret")
def rotate_secret(tenant_id: str, endpoint_id: str) -> Any:
    """Create a new secret, and show it once."""
    body = {"overlapSeconds": form_number("overlap") or 0}
    response = _act(tenant_id, endpoint_id, "rotate-secret", body)
    if response.error is not None:
        return current_visit().follow(response, page_path(tenant_id, "webhooks", endpoint_id))
    return secret_page(tenant_id, endpoint_id, response)


@webhook.post("/take-over")
def take_over(tenant_id: str, endpoint_id: str) -> Any:
    """Become the owner of an endpoint."""
    response = _act(tenant_id, endpoint_id, "take-over")
    page = page_path(tenant_id, "webhooks", endpoint_id)
    return current_visit().follow(response, page, "webhook-taken-over")


@webhook.post("/test")
def send_test(tenant_id: str, endpoint_id: str) -> Any:
    """Send a test message, and show the deliveries."""
    response = _act(tenant_id, endpoint_id, "test")
    page = page_path(tenant_id, "webhooks", endpoint_id)
    if response.error is None:
        page += "deliveries"
    return current_visit().follow(response, page, "test-sent")


@webhook.post("/replay")
def replay(tenant_id: str, endpoint_id: str) -> Any:
    """Send the events from a sequence on again."""
    body = {"fromSequence": form_number("sequence")}
    response = _act(tenant_id, endpoint_id, "replay", body)
    page, visit = page_path(tenant_id, "webhooks", endpoint_id), current_visit()
    if response.error is not None:
        return visit.follow(response, page)
    count, following = str(response.json["count"]), response.json["nextSequence"]
    if following is None:
        return visit.follow(response, page, "replayed", count=count)
    return visit.follow(response, page, "replayed-partly", count=count, sequence=str(following))


@webhook.get("/removal")
def ask_about_webhook_removal(tenant_id: str, endpoint_id: str) -> Any:
    """Ask whether an endpoint is to be deleted."""
    visit = current_visit()
    endpoint = find_endpoint(visit, tenant_id, endpoint_id)
    return tenant_page(visit, "tenant/webhook_removal.html", tenant_id, SECTION, endpoint=endpoint)


@webhook.post("/removal")
def delete_webhook(tenant_id: str, endpoint_id: str) -> Any:
    """Delete an endpoint with its deliveries."""
    visit = current_visit()
    find_endpoint(visit, tenant_id, endpoint_id)
    response = visit.rest("DELETE", join_path(ENDPOINTS, endpoint_id))
    return visit.follow(response, page_path(tenant_id, "webhooks"), "webhook-deleted")
