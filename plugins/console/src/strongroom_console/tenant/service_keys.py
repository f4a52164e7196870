"""The access keys of a service account."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit, is_form_error
from strongroom.plugin_api.web import RestResponse
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.numbers import form_number
from strongroom_console.scopes import OF_SPACES
from strongroom_console.tenant.forms import OVERLAPS
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.service_accounts import SECTION

service_keys: Final = Blueprint(
    "service_keys", __name__, url_prefix="/tenants/<tenant_id>/service-accounts/<account_id>"
)

DAYS: Final = (7, 30, 90, 365)
"""The lifetimes that the form offers."""


@service_keys.get("/")
def show_service_account(tenant_id: str, account_id: str) -> Any:
    """Show a service account with its keys, and the form of a new one."""
    return _page(tenant_id, account_id)


@service_keys.get("/keys")
@service_keys.get("/keys/<key_id>/rotation")
def leave_key(tenant_id: str, account_id: str, key_id: str | None = None) -> Any:  # noqa: ARG001  of the URL
    """Lead from the address of a key, which is shown once, to its account."""
    return current_visit().redirect(page_path(tenant_id, "service-accounts", account_id))


@service_keys.post("/keys")
def create_key(tenant_id: str, account_id: str) -> Any:
    """Create a key, and show it once."""
    visit = current_visit()
    response = visit.rest("POST", _keys_path(tenant_id, account_id), _request())
    if is_form_error(response):
        return _page(tenant_id, account_id, response)
    return _new_key(tenant_id, account_id, response)


@service_keys.post("/keys/<key_id>/rotation")
def rotate_key(tenant_id: str, account_id: str, key_id: str) -> Any:
    """Give a key a new secret, and show it once."""
    body = {"overlapSeconds": form_number("overlap") or 0}
    path = _keys_path(tenant_id, account_id, key_id, "rotate")
    return _new_key(tenant_id, account_id, current_visit().rest("POST", path, body))


@service_keys.post("/keys/<key_id>/removal")
def revoke_key(tenant_id: str, account_id: str, key_id: str) -> Any:
    """Revoke a key."""
    visit = current_visit()
    response = visit.rest("DELETE", _keys_path(tenant_id, account_id, key_id))
    return visit.follow(
        response, page_path(tenant_id, "service-accounts", account_id), "service-key-revoked"
    )


def _keys_path(tenant_id: str, account_id: str, *names: str) -> str:
    return tenant_path(tenant_id, "service-accounts", account_id, "access-keys", *names)


def _new_key(tenant_id: str, account_id: str, response: RestResponse) -> Any:
    """Return the page with a new key; neither a URL nor a cookie has it."""
    visit, following = current_visit(), page_path(tenant_id, "service-accounts", account_id)
    if response.error is not None:
        return visit.follow(response, following)
    return tenant_page(
        visit,
        "tenant/secret.html",
        tenant_id,
        SECTION,
        secret=response.json["key"],
        public_key=None,
        following=following,
        title="new-key",
    )


def _request() -> Mapping[str, Any]:
    form = request.form
    addresses = form.get("addresses", "").replace(",", " ").split()
    body = {
        "name": form.get("name", "").strip(),
        "scopes": form.getlist("scopes"),
        "addresses": addresses,
    }
    days = form_number("days")
    if days in DAYS:
        now = datetime.fromtimestamp(current_visit().host.clock.now() / 1000, UTC)
        end = now + timedelta(days=int(days or 0))
        body["expiresAt"] = end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return body


def _page(tenant_id: str, account_id: str, refusal: RestResponse | None = None) -> Any:
    visit = current_visit()
    account = visit.read(tenant_path(tenant_id, "service-accounts", account_id))
    page = visit.read(_keys_path(tenant_id, account_id), pageSize=PAGE_SIZE, pageNumber=page_number())
    return tenant_page(
        visit,
        "tenant/service_account.html",
        tenant_id,
        SECTION,
        refusal=refusal,
        account=account,
        keys=page["data"],
        links=page_links(page["meta"]),
        form=request.form,
        scopes=OF_SPACES,
        days=DAYS,
        overlaps=OVERLAPS,
    )
