"""What was done with the files of a tenant, for its administrators."""

import re
from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.times import start_of_day
from strongroom.plugin_api.visits import current_visit
from strongroom_console.file_actions import ACTIONS
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.tenant.frame import require_section, tenant_page, tenant_path
from strongroom_console.tenant.member_list import named, offered_members

activity: Final = Blueprint("activity", __name__, url_prefix="/tenants/<tenant_id>/activity")

_SECTION: Final = "activity/"
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


@activity.get("/")
def show_activity(tenant_id: str) -> Any:
    """Show a page of the actions, newest first, with filters."""
    visit = current_visit()
    require_section(visit, tenant_id, _SECTION)
    page = visit.read(
        tenant_path(tenant_id, "file-events"),
        pageSize=PAGE_SIZE,
        pageNumber=page_number(),
        **_filters(),
    )
    return tenant_page(
        visit,
        "tenant/activity.html",
        tenant_id,
        _SECTION,
        rows=[_row(item, page["included"]) for item in page["data"]],
        links=page_links(page["meta"]),
        actions=ACTIONS,
        actors=_actors(tenant_id),
        asked=_asked(),
    )


def _actors(tenant_id: str) -> Mapping[str, str]:
    """Return the members that the filter offers, and the one that it has, who may be another."""
    actor, members = _asked()["actor"], offered_members(current_visit(), tenant_id)
    return members if not actor or actor in members else {actor: actor, **members}


def _asked() -> Mapping[str, str]:
    """Return what the form shows: no day that is none, because messengers append ``from`` to links."""
    asked = request.args
    days = {name: asked[name] for name in ("from", "to") if _DAY.fullmatch(asked.get(name, ""))}
    return {"action": asked.get("action", ""), "actor": asked.get("actor", ""), **days}


def _filters() -> Mapping[str, str | None]:
    """Return the filters that the query has, without those that are none."""
    asked, zone = request.args, current_visit().host.browser.zone
    action, actor = asked.get("action"), asked.get("actor", "")
    first, last = (asked.get(name, "") for name in ("from", "to"))
    return {
        "action": action if action in ACTIONS else None,
        "actorId": actor[:_LONGEST_ID] or None,
        "from": start_of_day(first, zone) if _DAY.fullmatch(first) else None,
        # The REST API takes the moment after the last one.
        "to": start_of_day(last, zone, later=1) if _DAY.fullmatch(last) else None,
    }


_LONGEST_ID: Final = 36


def _row(item: Mapping[str, Any], included: Mapping[str, Mapping[str, str]]) -> Mapping[str, Any]:
    is_folder = item["action"].startswith("folder.")
    return {
        **item,
        "key": ACTIONS.get(item["action"]),
        "actor_name": named(item["actor"], included)["name"],
        "represented": item["onBehalfOf"] and named(item["onBehalfOf"], included)["name"],
        "size_text": "" if is_folder or not item["size"] else size_text(item["size"]),
    }
