"""The deliveries of a webhook, with their last attempts."""

from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit, join_path
from strongroom_console.file_actions import ACTIONS
from strongroom_console.filters import make_chips
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.tenant.frame import page_path, tenant_page
from strongroom_console.tenant.webhooks import ENDPOINTS, SECTION, find_endpoint

webhook_deliveries: Final = Blueprint(
    "webhook_deliveries",
    __name__,
    url_prefix="/tenants/<tenant_id>/webhooks/<endpoint_id>/deliveries",
)

OUTCOMES: Final = {
    "pending": "delivery-pending",
    "succeeded": "delivery-succeeded",
    "failed": "delivery-failed",
    "refused": "delivery-refused",
}
"""The keys of the outcomes of deliveries."""


@webhook_deliveries.get("")
def show_deliveries(tenant_id: str, endpoint_id: str) -> Any:
    """List the deliveries, newest first, of one outcome or all."""
    visit = current_visit()
    endpoint = find_endpoint(visit, tenant_id, endpoint_id)
    outcome = request.args.get("outcome")
    page = visit.read(
        join_path(ENDPOINTS, endpoint_id, "deliveries"),
        pageSize=PAGE_SIZE,
        pageNumber=page_number(),
        outcome=outcome if outcome in OUTCOMES else None,
    )
    return tenant_page(
        visit,
        "tenant/webhook_deliveries.html",
        tenant_id,
        SECTION,
        endpoint=endpoint,
        rows=page["data"],
        links=page_links(page["meta"]),
        outcomes=OUTCOMES,
        chips=make_chips({("outcome", name): key for name, key in OUTCOMES.items()}, request.args),
        actions=ACTIONS,
    )


@webhook_deliveries.post("/<delivery_id>")
def redeliver(tenant_id: str, endpoint_id: str, delivery_id: str) -> Any:
    """Send a delivery again."""
    visit = current_visit()
    find_endpoint(visit, tenant_id, endpoint_id)
    path = join_path(ENDPOINTS, endpoint_id, "deliveries", delivery_id, "redeliver")
    page = page_path(tenant_id, "webhooks", endpoint_id) + "deliveries"
    return visit.follow(visit.rest("POST", path), page, "redelivered")
