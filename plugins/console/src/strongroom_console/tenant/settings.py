"""The settings of a tenant: its name, the logins that it demands, its administration, and its end."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import read_number
from strongroom.plugin_api.visits import current_visit, is_form_error
from strongroom.plugin_api.web import RestResponse
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import successors_of

settings: Final = Blueprint("settings", __name__, url_prefix="/tenants/<tenant_id>/settings")

_SECTION: Final = "settings/"

LEVELS: Final[Mapping[str, str]] = {
    "": "login-any",
    "urn:strongroom:mfa": "login-two-factors",
    "phr": "login-passkey",
    "phrh": "login-security-key",
}
"""The keys of the names of the logins that a tenant demands, by the least ``acr``."""

AGES: Final[Mapping[int, str]] = {
    900: "minutes-15",
    3600: "hour-1",
    28800: "hours-8",
    86400: "day-1",
    604800: "days-7",
    2592000: "days-30",
}
"""The keys of the longest times since the proof of a login that the form offers, by their seconds."""


@settings.get("/")
def show_settings(tenant_id: str) -> Any:
    """Show the forms of the settings."""
    visit = current_visit()
    return tenant_page(
        visit,
        "tenant/settings.html",
        tenant_id,
        _SECTION,
        demand=visit.read(tenant_path(tenant_id))["assurance"] or {},
        levels=LEVELS,
        ages=AGES,
        successors=successors_of(visit, tenant_id, visit.session.user_id),
    )


def _change(tenant_id: str, body: Mapping[str, Any], notice: str) -> Any:
    visit = current_visit()
    response = visit.rest("PATCH", tenant_path(tenant_id), body)
    return visit.follow(response, page_path(tenant_id, "settings"), notice)


@settings.post("/name")
def rename(tenant_id: str) -> Any:
    """Rename the tenant."""
    return _change(tenant_id, {"name": request.form.get("name", "").strip()}, "space-renamed")


@settings.post("/assurance")
def demand_logins(tenant_id: str) -> Any:
    """Set what the tenant demands of the logins of its members."""
    age = request.form.get("age", "")
    acr = request.form.get("level") or None
    seconds = read_number(age)
    demand = {"acr": acr, "maxAgeSeconds": seconds} if acr or seconds else None
    return _change(tenant_id, {"assurance": demand}, "assurance-saved")


@settings.post("/transfer")
def transfer(tenant_id: str) -> Any:
    """Make another member the administrator in the place of the user."""
    visit = current_visit()
    body = {"toUserId": request.form.get("successor", "")}
    response = visit.rest("POST", tenant_path(tenant_id, "transfer"), body)
    section = "settings" if response.error is not None else "members"
    return visit.follow(response, page_path(tenant_id, section), "space-transferred")


@settings.get("/deletion")
def ask_about_deletion(tenant_id: str) -> Any:
    """Ask whether the tenant is to be deleted, by its name."""
    return _question(tenant_id)


@settings.post("/deletion")
def delete_tenant(tenant_id: str) -> Any:
    """Delete the tenant, if the form has its name."""
    visit = current_visit()
    tenant = visit.read(tenant_path(tenant_id))
    if request.form.get("name", "").strip() != tenant["name"].strip():
        return _question(tenant_id, is_misnamed=True)
    response = visit.rest("DELETE", _deletion_path(tenant_id))
    if is_form_error(response):
        return _question(tenant_id, response)
    if response.error is not None:
        return visit.follow(response, page_path(tenant_id, "settings") + "deletion")
    return visit.follow(response, "/", "space-deleted", name=tenant["name"])


def _deletion_path(tenant_id: str) -> str:
    reason = request.form.get("reason", "").strip()
    query = f"?{urlencode({'overrideReason': reason})}" if reason else ""
    return tenant_path(tenant_id) + query


def _question(tenant_id: str, refusal: RestResponse | None = None, *, is_misnamed: bool = False) -> Any:
    visit = current_visit()
    return tenant_page(
        visit,
        "tenant/deletion.html",
        tenant_id,
        _SECTION,
        refusal=refusal,
        status=HTTPStatus.BAD_REQUEST if is_misnamed else 0,
        is_misnamed=is_misnamed,
        is_retained=refusal is not None and refusal.error == "error.retained",
        name=request.form.get("name", ""),
    )
