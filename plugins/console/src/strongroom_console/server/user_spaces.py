"""The tenants of a user, with what they use."""

from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.server.people import find_user_id, person_page

user_spaces: Final = Blueprint("user_spaces", __name__, url_prefix="/server/users/<user_id>")


@user_spaces.get("/spaces")
def list_spaces(user_id: str) -> Any:
    """Show the tenants that the user is a member of."""
    visit = current_visit()
    query = {
        "memberId": find_user_id(visit, user_id),
        "pageSize": PAGE_SIZE,
        "pageNumber": page_number(),
    }
    page = visit.read("/api/v1/tenants", **query)
    return person_page(
        visit,
        "server/user_spaces.html",
        user_id,
        "spaces",
        spaces=page["data"],
        links=page_links(page["meta"]),
        size_text=size_text,
    )
