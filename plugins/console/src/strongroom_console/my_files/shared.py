"""What other users share with the user by links."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.tenant.frame import tenant_page
from strongroom_console.tenant.member_list import member_names

shared: Final = Blueprint("shared", __name__)

KINDS: Final[Mapping[str, str]] = {
    "read": "shared-read",
    "preview": "shared-preview",
    "drop": "shared-drop",
    "write": "shared-write",
}
"""The keys of what a link lets its visitors do."""


@shared.get("/tenants/<tenant_id>/shared/")
def show_shared(tenant_id: str) -> Any:
    """Show the links for the user, of all tenants: as a named user, or as a member."""
    visit = current_visit()
    page = visit.read("/api/v1/shared-with-me", pageSize=PAGE_SIZE, pageNumber=page_number())
    names = member_names(visit, tenant_id) if page["data"] else {}
    return tenant_page(
        visit,
        "my_files/shared.html",
        tenant_id,
        "shared/",
        shares=[
            {**share, "kind_key": KINDS[share["kind"]], "maker": names.get(share["makerId"], "")}
            for share in page["data"]
        ],
        links=page_links(page["meta"]),
    )
