"""The service accounts of a tenant."""

from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import named

service_accounts: Final = Blueprint(
    "service_accounts", __name__, url_prefix="/tenants/<tenant_id>/service-accounts"
)

SECTION: Final = "service-accounts/"


@service_accounts.get("/")
def show_service_accounts(tenant_id: str) -> Any:
    """List the service accounts, with the form of a new one."""
    visit = current_visit()
    page = visit.read(
        tenant_path(tenant_id, "service-accounts"), pageSize=PAGE_SIZE, pageNumber=page_number()
    )
    included = page["included"]
    return tenant_page(
        visit,
        "tenant/service_accounts.html",
        tenant_id,
        SECTION,
        rows=[{**item, "creator": named(item["createdBy"], included)["name"]} for item in page["data"]],
        links=page_links(page["meta"]),
    )


@service_accounts.post("/")
def create_service_account(tenant_id: str) -> Any:
    """Create a service account, and open its page."""
    visit = current_visit()
    body = {"name": request.form.get("name", "").strip()}
    response = visit.rest("POST", tenant_path(tenant_id, "service-accounts"), body)
    page = page_path(tenant_id, "service-accounts")
    if response.error is None:
        page = page_path(tenant_id, "service-accounts", response.json["id"])
    return visit.follow(response, page, "service-account-created")


@service_accounts.get("/<account_id>/removal")
def ask_about_account_removal(tenant_id: str, account_id: str) -> Any:
    """Ask whether a service account is to be deleted."""
    visit = current_visit()
    account = visit.read(tenant_path(tenant_id, "service-accounts", account_id))
    return tenant_page(visit, "tenant/account_removal.html", tenant_id, SECTION, account=account)


@service_accounts.post("/<account_id>/removal")
def delete_service_account(tenant_id: str, account_id: str) -> Any:
    """Delete a service account with its keys."""
    visit = current_visit()
    response = visit.rest("DELETE", tenant_path(tenant_id, "service-accounts", account_id))
    page = page_path(tenant_id, "service-accounts")
    if response.error is not None:
        page = page_path(tenant_id, "service-accounts", account_id) + "removal"
    return visit.follow(response, page, "service-account-deleted")
