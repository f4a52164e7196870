"""What a user has done, as the audit log has it."""

from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit
from strongroom_console.days import find_days
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.server.audit_names import keys_of_action
from strongroom_console.server.people import find_user_id, person_page
from strongroom_console.server.stories import make_pieces, names_in, without_names

user_activity: Final = Blueprint("user_activity", __name__, url_prefix="/server/users/<user_id>")


@user_activity.get("/activity")
def show_activity(user_id: str) -> Any:
    """Show what the user has done, newest first."""
    visit = current_visit()
    query = {"actorId": find_user_id(visit, user_id), "pageSize": PAGE_SIZE, "pageNumber": page_number()}
    page = visit.read("/audit-events", **query)
    return person_page(
        visit,
        "server/user_activity.html",
        user_id,
        "activity",
        days=find_days(page["data"]),
        included=page["included"],
        names=names_in(visit, page["data"], page["included"]),
        links=page_links(page["meta"]),
        sentences=visit.host.server.audit_sentences(),
        make_pieces=make_pieces,
        without_names=without_names,
        keys_of_action=keys_of_action,
    )
