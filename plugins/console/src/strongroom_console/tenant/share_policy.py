"""What may be shared by links in a tenant, if the plugin of shares is enabled."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import current_visit, is_form_error
from strongroom.plugin_api.web import RestResponse
from strongroom_console.numbers import form_number
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path

share_policy: Final = Blueprint("share_policy", __name__, url_prefix="/tenants/<tenant_id>/share-policy")

KINDS: Final = {
    "read": "kind-read",
    "preview": "kind-preview",
    "drop": "kind-drop",
    "write": "kind-write",
}
"""The keys of the names of the kinds of shares."""

MAKERS: Final = {
    "manage": "makers-manage",
    "tenant-admins": "makers-administrators",
    "nobody": "makers-none",
}
"""The keys of the names of those who may share, from the most to the fewest."""

_SECTION: Final = "share-policy/"


@share_policy.get("/")
def show_share_policy(tenant_id: str) -> Any:
    """Show the rules, which are never less strict than the server's."""
    return _page(tenant_id)


@share_policy.post("/")
def set_share_policy(tenant_id: str) -> Any:
    """Replace the rules of the tenant."""
    visit = current_visit()
    response = visit.rest("PUT", tenant_path(tenant_id, "share-policy"), _request())
    if is_form_error(response):
        return _page(tenant_id, response)
    return visit.follow(response, page_path(tenant_id, "share-policy"), "share-policy-saved")


def _request() -> Mapping[str, Any]:
    form = request.form
    days = form_number("maxLifetimeDays")
    return {
        "enabled": "enabled" in form,
        "kinds": form.getlist("kinds"),
        "maxLifetimeDays": 0 if days is None else days,
        "password": "required" if "password" in form else "optional",
        "who": form.get("who", ""),
    }


def _page(tenant_id: str, refusal: RestResponse | None = None) -> Any:
    visit = current_visit()
    stored = visit.read(tenant_path(tenant_id, "share-policy"))
    return tenant_page(
        visit,
        "tenant/share_policy.html",
        tenant_id,
        _SECTION,
        refusal=refusal,
        rules=_request() if refusal is not None else stored,
        kinds=KINDS,
        makers=MAKERS,
    )
